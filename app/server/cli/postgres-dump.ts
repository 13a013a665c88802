/** The database of DATABASE_URL as one file, by PostgreSQL's own pg_dump and pg_restore. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { createRoles } from "../../../supabase/local/database/database.ts";
import { openPostgres } from "../../../supabase/local/database/postgres.ts";
import { getChildEnvironment } from "../../lib/http/env.server.ts";
import { findPostgres } from "../programs.ts";

/** Dumps the database into a file only this user may read. Throws when a site uses the database, or the dump fails. */
export async function dumpDatabase(url: string, file: string): Promise<void> {
  const { close } = await openPostgres(url);
  try {
    // pg_dump keeps the permissions of an existing file.
    writeFileSync(file, "", { mode: 0o600 });
    await runPostgresProgram("pg_dump", url, ["--format=custom", "--no-owner", `--file=${file}`]);
  } finally {
    await close();
  }
}

/** Fills an empty database from a dump, wholly or not at all. Throws when it is not empty, or the restore fails. */
export async function restoreDatabase(url: string, file: string): Promise<void> {
  const { db, close } = await openPostgres(url);
  try {
    const { rows } = await db.query(
      `select from pg_class join pg_namespace on pg_namespace.oid = relnamespace
       where nspname not in ('pg_catalog', 'information_schema', 'pg_toast') limit 1`,
    );
    if (rows.length > 0) throw new Error("The database of DATABASE_URL is not empty: give it an empty one.");
    await createRoles(db);
    await runPostgresProgram("pg_restore", url, ["--no-owner", "--single-transaction", "--exit-on-error", file]);
  } finally {
    await close();
  }
}

/** Runs one of PostgreSQL's programs on the database; the password goes by environment, not in the arguments. */
async function runPostgresProgram(name: string, url: string, args: string[]): Promise<void> {
  const program = findPostgres(name);
  if (!program) throw new Error(`This needs PostgreSQL's ${name}: install Debian's postgresql-client.`);
  const address = new URL(url);
  const password = decodeURIComponent(address.password);
  address.password = "";
  try {
    await promisify(execFile)(program, [`--dbname=${address}`, ...args], {
      env: { ...getChildEnvironment(), ...(password ? { PGPASSWORD: password } : {}) },
    });
  } catch (error) {
    throw new Error(String((error as { stderr?: string }).stderr || error).split("\n")[0], { cause: error });
  }
}
