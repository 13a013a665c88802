import { CompiledQuery } from "kysely";
import { expect, test } from "vitest";
import { openPglite } from "./database.ts";

test("a statement with more values than PGlite can count is refused, and the next is answered", async () => {
  const database = await openPglite(null);
  const { kysely } = database.connection as unknown as {
    kysely: { executeQuery: (query: CompiledQuery) => Promise<{ rows: unknown[] }> };
  };
  const count = (values: number) => {
    const list = Array.from({ length: values }, (_, index) => `$${index + 1}::text`).join(", ");
    return kysely.executeQuery(
      CompiledQuery.raw(`select cardinality(array[${list}]) as count`, Array(values).fill("x")),
    );
  };
  await expect(count(32_768)).rejects.toMatchObject({ code: "54023" });
  expect((await count(32_767)).rows).toEqual([{ count: 32_767 }]);
  await database.close();
});

test("numbers, times and lists arrive as what they are, also where a list is empty or has a comma in it", async () => {
  const { db, close } = await openPglite(null);
  const { rows } = await db.query(
    `select 1 as whole, true as yes, '{"a":[1]}'::jsonb as json, '2026-11-24 10:00+03'::timestamptz as time,
       array['a,b', 'c "d"'] as texts, array[1, 2] as numbers, '{}'::uuid[] as none,
       array['5a000000-0000-4000-8000-000000000001'::uuid] as ids, array[true] as flags,
       array_agg(typname) filter (where typname = 'bool') as names from pg_type`,
  );
  expect(rows).toEqual([
    {
      whole: 1,
      yes: true,
      json: { a: [1] },
      time: "2026-11-24T07:00:00+00:00",
      texts: ["a,b", 'c "d"'],
      numbers: [1, 2],
      none: [],
      ids: ["5a000000-0000-4000-8000-000000000001"],
      flags: [true],
      names: ["bool"],
    },
  ]);
  await close();
});
