import { randomUUID } from "node:crypto";
import postgres from "postgres";
import type { SqlSession } from "../../supabase/local/database/database.ts";

/**
 * Creates a database as a copy of `template`, which must have no connections. `server` is a URL without a database
 * name.
 */
export async function createDatabase(server: string, template = "template1") {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await runAsSuperuser(server, `create database ${name} template ${template}`);
  return {
    name,
    url: `${server}/${name}`,
    drop: () => runAsSuperuser(server, `drop database if exists ${name} with (force)`),
  };
}

/**
 * Returns how many rows of `table` the SQL expression `call` reads. In `call`, `given.value` stands for the argument
 * `value`. The counter is read in the same statement as the call, so that other statements do not change the count.
 */
export async function countRowsRead(db: SqlSession, table: string, call: string, value: string): Promise<number> {
  const read = (when: string) => `(
    select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)
    from pg_stat_xact_all_tables where relid = '${table}'::regclass and ${when} is not null
  )`;
  const { rows } = await db.query<{ read: number }>(
    `select (${read("called.result")} - before.read)::int as read
     from (select $1::text as value) as given,
     lateral (select ${read("given.value")} as read offset 0) as before,
     lateral (select ${call} as result where before.read is not null offset 0) as called`,
    [value],
  );
  return rows[0]?.read ?? Number.NaN;
}

/** Runs the SQL statements in `text` as the superuser of a server, in the database `database`. */
export async function runAsSuperuser(server: string, text: string, database = "postgres"): Promise<void> {
  const sql = postgres(`${server}/${database}`, { max: 1, onnotice: () => undefined });
  try {
    await sql.unsafe(text);
  } finally {
    await sql.end();
  }
}
