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

test("migrations run in the order of their numbers and the history names each with its statements", async () => {
  writeSqlFile("20260102000000_second.sql", "insert into step values (2); insert into step values (22);");
  writeSqlFile("20260101000000_first.sql", "create table step (number int); insert into step values (1);");
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

test("what is applied is not run again, and what is new is", async () => {
  writeSqlFile("20260101000000_first.sql", "create table step (number int); insert into step values (1);");
  await applyMigrations(target, folder);
  await applyMigrations(target, folder);
  writeSqlFile("20260102000000_second.sql", "insert into step values (2);");
  await applyMigrations(target, folder);
  await applyMigrations(target, folder);
  expect(await readSteps()).toEqual([1, 2]);
  expect(await readHistory()).toHaveLength(2);
});

test("an applied migration is not run again when its text or name changes", async () => {
  writeSqlFile("20260101000000_first.sql", "create table step (number int); insert into step values (1);");
  await applyMigrations(target, folder);
  rmSync(path.join(folder, "20260101000000_first.sql"));
  writeSqlFile("20260101000000_renamed.sql", "insert into step values (99);");
  await applyMigrations(target, folder);
  expect(await readSteps()).toEqual([1]);
});

test.each([
  ["a wrong statement", "selekt;"],
  ["an error after statements that worked", "insert into step values (3); select 1 / 0;"],
  ["a violated constraint at the end", "create unique index on step (number); insert into step values (7), (7);"],
])("a migration with %s leaves nothing of itself and no history", async (_what, text) => {
  writeSqlFile("20260101000000_first.sql", "create table step (number int); insert into step values (1);");
  writeSqlFile("20260102000000_broken.sql", `insert into step values (2); create table half (id int); ${text}`);
  writeSqlFile("20260103000000_third.sql", "insert into step values (3);");
  await expect(applyMigrations(target, folder)).rejects.toThrow(/^Migration 20260102000000_broken\.sql failed: /);
  expect(await readSteps()).toEqual([1]);
  expect(await tableExists("half")).toBe(false);
  expect(await readHistory()).toEqual([{ version: "20260101000000", name: "first" }]);
});

test("after a failed migration the database works, and the corrected one is applied with those behind it", async () => {
  writeSqlFile("20260101000000_first.sql", "create table step (number int);");
  writeSqlFile("20260102000000_second.sql", "insert into step values (2); select 1 / 0;");
  writeSqlFile("20260103000000_third.sql", "insert into step values (3);");
  await expect(applyMigrations(target, folder)).rejects.toThrow(/second/);
  await connection.driver.query("insert into step values (1)");
  writeSqlFile("20260102000000_second.sql", "insert into step values (2);");
  await applyMigrations(target, folder);
  expect(await readSteps()).toEqual([1, 2, 3]);
});

test("functions with semicolons in their bodies arrive whole", async () => {
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

test("files that are no migrations are left alone", async () => {
  for (const name of [
    "README.md",
    "20260101_short.sql",
    "20260101000000.sql",
    "x20260101000000_a.sql",
    "20260101000000_a.sql.bak",
  ]) {
    writeSqlFile(name, "create table half (id int);");
  }
  await applyMigrations(target, folder);
  expect(await tableExists("half")).toBe(false);
  expect(await readHistory()).toEqual([]);
});

test("a seed runs once, even when it has changed", async () => {
  await connection.driver.exec("create table step (number int)");
  writeSqlFile("seed.sql", "insert into step values (1);");
  await runSeedOnce(target, folder, "seed.sql");
  writeSqlFile("seed.sql", "insert into step values (1); insert into step values (2);");
  await runSeedOnce(target, folder, "seed.sql");
  expect(await readSteps()).toEqual([1]);
});

test("each seed file runs once", async () => {
  await connection.driver.exec("create table step (number int)");
  writeSqlFile("one.sql", "insert into step values (1);");
  writeSqlFile("two.sql", "insert into step values (2);");
  for (const file of ["one.sql", "two.sql", "one.sql", "two.sql"]) await runSeedOnce(target, folder, file);
  expect(await readSteps()).toEqual([1, 2]);
});

test("a seed that fails leaves nothing, is named, and runs when it is corrected", async () => {
  await connection.driver.exec("create table step (number int)");
  writeSqlFile("seed.sql", "insert into step values (1); select 1 / 0;");
  await expect(runSeedOnce(target, folder, "seed.sql")).rejects.toThrow(/^Seed seed\.sql failed: /);
  expect(await readSteps()).toEqual([]);
  writeSqlFile("seed.sql", "insert into step values (1);");
  await runSeedOnce(target, folder, "seed.sql");
  expect(await readSteps()).toEqual([1]);
});

test("a transaction keeps what its job did, returns its result, and undoes all when it throws", async () => {
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
