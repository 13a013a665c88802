import { CompiledQuery } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { OpenDatabase, SqlSession } from "./database.ts";
import { openPglite } from "./pglite.ts";

let database: OpenDatabase;
let db: SqlSession;
beforeAll(async () => {
  database = await openPglite(null);
  db = database.db;
});
afterAll(() => database.close());

type QueryExecutor = {
  executeQuery: (query: CompiledQuery) => Promise<{ rows: unknown[] }>;
  connection: () => { execute: <T>(work: (db: QueryExecutor) => Promise<T>) => Promise<T> };
};

const runQuery = (session: QueryExecutor, text: string, ...values: unknown[]) =>
  session.executeQuery(CompiledQuery.raw(text, values)).then(({ rows }) => rows);
const libraryExecutor = () => (database.connection as unknown as { kysely: QueryExecutor }).kysely;

/** Runs the SQL statement `text` as `role` in a transaction, as @supabase/lite does for each request. */
async function runAsRole(role: string, text: string, ...values: unknown[]) {
  return libraryExecutor()
    .connection()
    .execute(async (session) => {
      await runQuery(session, "begin");
      try {
        await runQuery(session, "select set_config('role', $1, true)", role);
        return await runQuery(session, text, ...values);
      } finally {
        await runQuery(session, "rollback");
      }
    });
}

test("A prepared statement checks the privileges of the current role on each run, even if Postgres inlines a function.", async () => {
  await db.exec(`
    create table chest (weight int); insert into chest values (3);
    create function heavy(more int) returns setof chest language sql stable as 'select * from chest where weight > more';
    create function doubled(weight int) returns int language sql immutable as 'select 2 * weight';
    revoke all on function heavy, doubled from public;
    create role porter; create role guest; grant select on chest to porter, guest; grant execute on function heavy to porter;
  `);
  const heavy = "select * from heavy(2)";
  for (let turn = 0; turn < 10; turn++) {
    expect(await runAsRole("porter", heavy)).toEqual([{ weight: 3 }]);
    await expect(runAsRole("guest", heavy)).rejects.toMatchObject({ code: "42501" });
  }
  // After the transaction, the role is the database's owner again.
  const doubled = "select doubled(2) as weight";
  for (let turn = 0; turn < 3; turn++) {
    await expect(runAsRole("guest", doubled)).rejects.toMatchObject({ code: "42501" });
    expect(await runQuery(libraryExecutor(), doubled)).toEqual([{ weight: 4 }]);
  }
  // A new role within a transaction applies to the transaction's next statements.
  for (const take of ["select set_config('role', $1, true)", "set local role guest"]) {
    await libraryExecutor()
      .connection()
      .execute(async (session) => {
        await runQuery(session, "begin");
        expect(await runQuery(session, heavy)).toEqual([{ weight: 3 }]);
        await runQuery(session, take, ...(take.includes("$1") ? ["guest"] : []));
        await expect(runQuery(session, heavy)).rejects.toMatchObject({ code: "42501" });
        await runQuery(session, "rollback");
      });
  }
});

test("After a first statement with an invalid value, a transaction still has its role.", async () => {
  await db.exec("create role sailor");
  // PGlite rejects a text for a bytea parameter before Postgres receives the statement, so the transaction continues.
  const size = "select length($1::bytea) as size";
  expect(await runAsRole("sailor", size, Uint8Array.of(1))).toEqual([{ size: 1 }]);
  for (const values of [["abc"], Array(32_768).fill("x")]) {
    await libraryExecutor()
      .connection()
      .execute(async (session) => {
        await runQuery(session, "begin");
        await runQuery(session, "select set_config('role', $1, true)", "sailor");
        await expect(runQuery(session, size, ...values)).rejects.toThrow();
        expect(await runQuery(session, "select current_user::text as name")).toEqual([{ name: "sailor" }]);
        await runQuery(session, "rollback");
        expect(await runQuery(session, "select current_user::text as name")).toEqual([{ name: "postgres" }]);
      });
  }
});

test("After @supabase/lite changes the schema, a prepared statement fails at most once.", async () => {
  await runQuery(libraryExecutor(), "create table shelf (number int)");
  await runQuery(libraryExecutor(), "insert into shelf values ($1)", 1);
  expect(await runQuery(libraryExecutor(), "select * from shelf")).toEqual([{ number: 1 }]);
  await runQuery(libraryExecutor(), "alter table shelf add column label text");
  await expect(runQuery(libraryExecutor(), "select * from shelf")).rejects.toMatchObject({ code: "0A000" });
  expect(await runQuery(libraryExecutor(), "select * from shelf")).toEqual([{ number: 1, label: null }]);
});

test("A long statement returns the correct rows and is not prepared for later runs.", async () => {
  const long = (number: number) => `select $1::int + ${number} as sum /* ${"x".repeat(4000)} */`;
  for (let number = 0; number < 3; number++) {
    expect((await db.query(long(number), [1])).rows).toEqual([{ sum: 1 + number }]);
    expect(await runAsRole("postgres", long(number), 2)).toEqual([{ sum: 2 + number }]);
  }
  const { rows } = await db.query("select from pg_prepared_statements where length(statement) > 4000");
  expect(rows).toEqual([]);
});

test("A prepared statement returns the current rows and columns, even after a failed run.", async () => {
  await db.exec("create table box (weight int not null); insert into box values (3)");
  const all = () => db.query("select * from box where weight > $1", [1]);
  for (let turn = 0; turn < 10; turn++) expect((await all()).rows).toEqual([{ weight: 3 }]);
  await expect(db.query("insert into box values ($1)", [null])).rejects.toMatchObject({ code: "23502" });
  await expect(db.query("insert into crate values ($1)", [1])).rejects.toMatchObject({ code: "42P01" });
  await db.exec(
    "alter table box add column label text; update box set label = 'salt'; create table crate (number int)",
  );
  expect((await all()).rows).toEqual([{ weight: 3, label: "salt" }]);
  expect((await db.query("insert into crate values ($1) returning number", [1])).rows).toEqual([{ number: 1 }]);
  expect(await runAsRole("postgres", "select label from box")).toEqual([{ label: "salt" }]);
});

test("PGlite can run any number of different statements, and only the most recently used statements remain prepared.", async () => {
  for (let number = 0; number < 700; number++) {
    expect((await db.query(`select $1::int + ${number} as sum`, [1])).rows).toEqual([{ sum: 1 + number }]);
  }
  const { rows } = await db.query<{ prepared: number; first: boolean; last: boolean }>(
    `select count(*)::int as prepared, bool_or(statement like $1) as first, bool_or(statement like $2) as last
     from pg_prepared_statements`,
    ["%+ 0 as%", "%+ 699 as%"],
  );
  // The limit is 300 prepared statements. This query prepares statement 301, and the next query closes the oldest one.
  expect(rows).toEqual([{ prepared: 301, first: false, last: true }]);
});

test("PGlite rejects a statement with more than 32,767 parameters and can then run a valid statement.", async () => {
  const count = (values: number) => {
    const list = Array.from({ length: values }, (_, index) => `$${index + 1}::text`).join(", ");
    return runQuery(libraryExecutor(), `select cardinality(array[${list}]) as count`, ...Array(values).fill("x"));
  };
  await expect(count(32_768)).rejects.toMatchObject({ code: "54023" });
  expect(await count(32_767)).toEqual([{ count: 32_767 }]);
});

test("PGlite returns numbers, times and arrays as JavaScript values, including empty arrays and texts with commas.", async () => {
  const { rows } = await db.query(
    `select 1 as whole, true as yes, '{"a":[1]}'::jsonb as json, '2026-11-24 10:00+03'::timestamptz as time,
       array['a,b', 'c "d"'] as texts, array[1, 2] as numbers, '{}'::uuid[] as none,
       array['5a000000-0000-4000-8000-000000000001'::uuid] as ids, array[true] as flags,
       array_agg(typname) filter (where typname = 'bool') as names from pg_type`,
  );
  expect(rows).toEqual([
    {
      ...{ whole: 1, yes: true, json: { a: [1] }, time: "2026-11-24T07:00:00+00:00", texts: ["a,b", 'c "d"'] },
      ...{ numbers: [1, 2], none: [], ids: ["5a000000-0000-4000-8000-000000000001"], flags: [true], names: ["bool"] },
    },
  ]);
});
