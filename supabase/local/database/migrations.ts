import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { appliedVersions, recordVersion, splitSqlStatements } from "@supabase/lite";
import type { OpenDatabase, SqlSession } from "./database.ts";

type MigrationTarget = Pick<OpenDatabase, "connection" | "db">;

export async function transaction<T>(db: SqlSession, job: () => Promise<T>): Promise<T> {
  await db.query("begin");
  try {
    const result = await job();
    await db.query("commit");
    return result;
  } catch (error) {
    await db.query("rollback");
    throw error;
  }
}

/** Applies each new file `<14 digits>_<name>.sql` in its own transaction. Throws an error that names the file. */
export async function applyMigrations({ connection, db }: MigrationTarget, folder: string): Promise<void> {
  const applied = new Set(await appliedVersions(connection));
  for (const file of readdirSync(folder).sort()) {
    const [, version, name] = /^(\d{14})_(.+)\.sql$/.exec(file) ?? [];
    if (!version || !name || applied.has(version)) continue;
    const text = readFileSync(path.join(folder, file), "utf8");
    try {
      await transaction(db, async () => {
        await db.exec(text);
        await recordVersion(connection, { version, name, statements: splitSqlStatements(text) });
      });
    } catch (error) {
      throw new Error(`The migration ${file} failed: ${(error as Error).message}`, { cause: error });
    }
  }
}

/** Runs a seed file once, in one transaction. Throws an error that names the file. */
export async function runSeedOnce({ db }: MigrationTarget, folder: string, file: string): Promise<void> {
  const seeded = await db.query("select from supabase_migrations.seed_files where path = $1", [file]);
  if (seeded.rows.length > 0) return;
  const text = readFileSync(path.join(folder, file), "utf8");
  try {
    await transaction(db, async () => {
      await db.exec(text);
      await db.query("insert into supabase_migrations.seed_files (path, hash) values ($1, $2)", [
        file,
        createHash("sha256").update(text).digest("hex"),
      ]);
    });
  } catch (error) {
    throw new Error(`The seed file ${file} failed: ${(error as Error).message}`, { cause: error });
  }
}
