import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { ensureHistoryTable } from "@supabase/lite";
import { PgliteConnection } from "@supabase/lite/pglite";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { applyMigrations, runSeedOnce, transaction } from "./migrations.ts";

let connection: PgliteConnection;
let target: Parameters<typeof applyMigrations>[0];
let folder: string;

beforeAll(async () => {
  connection = new PgliteConnection({ url: undefined });
  await connection.driver.waitReady;
  target = { connection, db: connection.driver };
});
afterAll(() => connection.close());
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "migrations-"));
  await ensureHistoryTable(connection);
});
afterEach(async () => {
  rmSync(folder, { recursive: true, force: true });
  await connection.driver.exec(
    "drop schema public cascade; create schema public; drop schema supabase_migrations cascade",
  );
});

test("Migrations run in the order of their versions, and the database records their SQL statements.", async () => {
  writeSqlFile("20260102000000_second.sql", "insert into step values (2); insert into step values (22);");
  writeFirstMigration();
  await applyMigrations(target, folder);
  expect(await readSteps()).toEqual([1, 2, 22]);
  expect(await readHistory()).toEqual([
    { version: "20260101000000", name: "first" },
    { version: "20260102000000", name: "second" },
  ]);
  const { rows } = await connection.driver.query<{ statements: string[] }>(
    "select statements from supabase_migrations.schema_migrations order by version",
  );
  expect(rows.map(({ statements }) => statements.length)).toEqual([2, 2]);
});

test("A migration runs only once, even if its text or name changes afterwards.", async () => {
  writeFirstMigration();
  await applyMigrations(target, folder);
  await applyMigrations(target, folder);
  rmSync(path.join(folder, "20260101000000_first.sql"));
  writeSqlFile("20260101000000_renamed.sql", "insert into step values (99);");
  writeSqlFile("20260102000000_second.sql", "insert into step values (2);");
  await applyMigrations(target, folder);
  await applyMigrations(target, folder);
  expect(await readSteps()).toEqual([1, 2]);
  expect(await readHistory()).toHaveLength(2);
});

test.each([
  ["an error after statements that worked", "insert into step values (3); select 1 / 0;"],
  ["a violated constraint at the end", "create unique index on step (number); insert into step values (7), (7);"],
])("A migration with %s is rolled back, and the database does not record the migration.", async (_what, text) => {
  writeFirstMigration();
  writeSqlFile("20260102000000_broken.sql", `insert into step values (2); create table half (id int); ${text}`);
  writeSqlFile("20260103000000_third.sql", "insert into step values (3);");
  await expect(applyMigrations(target, folder)).rejects.toThrow(/^The migration 20260102000000_broken\.sql failed: /);
  expect(await readSteps()).toEqual([1]);
  expect(await tableExists("half")).toBe(false);
  expect(await readHistory()).toEqual([{ version: "20260101000000", name: "first" }]);
});

test("After the correction of a failed migration, this migration and all later migrations run.", async () => {
  writeSqlFile("20260101000000_first.sql", "create table step (number int);");
  writeSqlFile("20260102000000_second.sql", "insert into step values (2); select 1 / 0;");
  writeSqlFile("20260103000000_third.sql", "insert into step values (3);");
  await expect(applyMigrations(target, folder)).rejects.toThrow(/second/);
  await connection.driver.query("insert into step values (1)");
  writeSqlFile("20260102000000_second.sql", "insert into step values (2);");
  await applyMigrations(target, folder);
  expect(await readSteps()).toEqual([1, 2, 3]);
});

test("A migration can create a function whose body contains semicolons.", async () => {
  writeSqlFile(
    "20260101000000_function.sql",
    `create table step (number int);
     -- a comment; with a semicolon
     create function add_steps() returns void language plpgsql as $body$
     begin insert into step values (1); insert into step values (2); end $body$;
     select add_steps();`,
  );
  await applyMigrations(target, folder);
  expect(await readSteps()).toEqual([1, 2]);
});

test("Files whose names do not have the form of a migration's name are ignored.", async () => {
  const names = "README.md 20260101_short.sql 20260101000000.sql x20260101000000_a.sql 20260101000000_a.sql.bak";
  for (const name of names.split(" ")) writeSqlFile(name, "create table half (id int);");
  await applyMigrations(target, folder);
  expect(await tableExists("half")).toBe(false);
  expect(await readHistory()).toEqual([]);
});

test("A seed file runs only once, even if its text changes. A failed seed file runs again after its correction.", async () => {
  await connection.driver.exec("create table step (number int)");
  writeSqlFile("one.sql", "insert into step values (1);");
  writeSqlFile("two.sql", "insert into step values (2); select 1 / 0;");
  await runSeedOnce(target, folder, "one.sql");
  await expect(runSeedOnce(target, folder, "two.sql")).rejects.toThrow(/^The seed file two\.sql failed: /);
  expect(await readSteps()).toEqual([1]);
  writeSqlFile("one.sql", "insert into step values (3);");
  writeSqlFile("two.sql", "insert into step values (2);");
  for (const file of ["one.sql", "two.sql"]) await runSeedOnce(target, folder, file);
  expect(await readSteps()).toEqual([1, 2]);
});

test("A transaction commits the callback's changes and returns the callback's result. An error rolls the changes back.", async () => {
  await connection.driver.exec("create table step (number int)");
  const result = await transaction(connection.driver, async () => {
    await connection.driver.query("insert into step values (1)");
    return "done";
  });
  expect(result).toBe("done");
  const reason = new Error("no");
  await expect(
    transaction(connection.driver, async () => {
      await connection.driver.query("insert into step values (2)");
      throw reason;
    }),
  ).rejects.toBe(reason);
  expect(await readSteps()).toEqual([1]);
});

/** Writes a migration that creates the table `step` with one row, the number 1. */
function writeFirstMigration(): void {
  writeSqlFile("20260101000000_first.sql", "create table step (number int); insert into step values (1);");
}

function writeSqlFile(name: string, text: string): void {
  writeFileSync(path.join(folder, name), text);
}

async function readSteps(): Promise<number[]> {
  const { rows } = await connection.driver.query<{ number: number }>("select number from step order by number");
  return rows.map(({ number }) => number);
}

async function tableExists(table: string): Promise<boolean> {
  const { rows } = await connection.driver.query("select 1 from pg_class where relname = $1", [table]);
  return rows.length > 0;
}

async function readHistory() {
  const { rows } = await connection.driver.query(
    "select version, name from supabase_migrations.schema_migrations order by version",
  );
  return rows;
}
