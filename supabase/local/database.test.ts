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
