import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { promisify } from "node:util";
import type { Sql } from "postgres";
import { createRoles, openPostgresSession } from "../../../supabase/contract/postgres.ts";
import { getChildEnvironment } from "../../lib/http/env.server.ts";
import { findPostgres } from "../programs.ts";

/** Writes a dump that only the current user may read. Throws if a site uses the database or the dump fails. */
export async function dumpDatabase(url: string, file: string): Promise<void> {
  await withLockedDatabase(url, async () => {
    // Creates the file first, because pg_dump does not change the permissions of an existing file.
    writeFileSync(file, "", { mode: 0o600 });
    await runPostgresProgram("pg_dump", url, ["--format=custom", "--no-owner", `--file=${file}`]);
  });
}

/** Restores a dump in one transaction. Throws if the database is not empty or the restore fails. */
export async function restoreDatabase(url: string, file: string): Promise<void> {
  await withLockedDatabase(url, async (driver) => {
    const tables = await driver.unsafe(
      `select from pg_class join pg_namespace on pg_namespace.oid = relnamespace
       where nspname not in ('pg_catalog', 'information_schema', 'pg_toast') limit 1`,
    );
    if (tables.length > 0)
      throw new Error("The database at DATABASE_URL is not empty. Set DATABASE_URL to the URL of an empty database.");
    await createRoles((sql) => driver.unsafe(sql));
    await runPostgresProgram("pg_restore", url, ["--no-owner", "--single-transaction", "--exit-on-error", file]);
  });
}

async function withLockedDatabase(url: string, work: (driver: Sql) => Promise<void>): Promise<void> {
  const { driver } = await openPostgresSession(url);
  try {
    await work(driver);
  } finally {
    await driver.end({ timeout: 1 });
  }
}

async function runPostgresProgram(name: string, url: string, args: string[]): Promise<void> {
  const program = findPostgres(name);
  if (!program)
    throw new Error(`The PostgreSQL program ${name} is missing. Install the Debian package postgresql-client.`);
  const address = new URL(url);
  // PGPASSWORD carries the password, because other users of the system can read a program's arguments.
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
