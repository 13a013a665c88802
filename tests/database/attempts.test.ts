import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rowsRead } from "../support/database.ts";
import { memoryBackend } from "../support/memory-backend.ts";

let world: Awaited<ReturnType<typeof memoryBackend>>;
beforeAll(async () => {
  world = await memoryBackend();
});
afterAll(() => world.close());

type Limit = { key: string; most: number; seconds: number };

async function take(...limits: Limit[]) {
  const { data, error } = await world.company.rpc("take_attempt", { limits });
  if (error) throw error;
  return data as { attempt: string } | { refused: string; wait: number };
}

/** How many attempts lie in the table. */
async function kept(): Promise<number> {
  const { rows } = await world.backend.db.query<{ kept: number }>("select count(*)::int as kept from private.attempts");
  return rows[0]?.kept ?? -1;
}

/** Moves all counted attempts this many seconds into the past. */
const pass = (seconds: number) =>
  world.backend.db.query("update private.attempts set counts_until = counts_until - make_interval(secs => $1)", [
    seconds,
  ]);

/** Expects refusals whose wait is `seconds`, less at most the time since this call. */
function refusalsFromNow() {
  const began = performance.now();
  return {
    expect(answer: Awaited<ReturnType<typeof take>>, key: string, seconds: number) {
      const passed = (performance.now() - began) / 1000;
      expect(answer).toEqual({ refused: key, wait: expect.any(Number) });
      const wait = "wait" in answer ? answer.wait : 0;
      expect(wait).toBeLessThanOrEqual(seconds);
      expect(wait).toBeGreaterThanOrEqual(seconds - passed);
    },
  };
}

test("as many as the limit get through, of fifty that ask at once", async () => {
  const limit = { key: "fifty", most: 5, seconds: 60 };
  const refusals = refusalsFromNow();
  const answers = await Promise.all(Array.from({ length: 50 }, () => take(limit)));
  expect(answers.filter((answer) => "attempt" in answer)).toHaveLength(5);
  for (const answer of answers.filter((one) => "refused" in one)) refusals.expect(answer, "fifty", 60);
});

test("an attempt counts for its time, counted from itself, and no longer", async () => {
  const limit = { key: "sliding", most: 2, seconds: 100 };
  const refusals = refusalsFromNow();
  await take(limit);
  await pass(40);
  await take(limit);
  refusals.expect(await take(limit), "sliding", 60);
  await pass(60);
  expect(await take(limit)).toHaveProperty("attempt");
  refusals.expect(await take(limit), "sliding", 40);
});

test("of two limits, one that is reached keeps the other from counting; the longer wait is named", async () => {
  const short = { key: "short", most: 1, seconds: 30 };
  const long = { key: "long", most: 2, seconds: 90 };
  const refusals = refusalsFromNow();
  await take(short, long);
  refusals.expect(await take(short, long), "short", 30);
  expect(await take(long)).toHaveProperty("attempt");
  refusals.expect(await take(short, long), "long", 90);
});

test("a released attempt makes room in all of its limits, by a call of its own and for the one that takes it along", async () => {
  const limits = [
    { key: "one", most: 2, seconds: 60 },
    { key: "other", most: 2, seconds: 60 },
  ];
  const taken = async () => {
    const answer = await take(...limits);
    if (!("attempt" in answer)) throw new Error("nothing was taken");
    return answer.attempt;
  };
  const attempts = [await taken(), await taken()];
  expect(await take(...limits)).toHaveProperty("refused");
  await world.company.rpc("release_attempts", { attempts });
  const [along] = [await taken(), await taken()];
  expect(await take(...limits)).toHaveProperty("refused");
  const { data } = await world.company.rpc("take_attempt", { limits, released: [along] });
  expect(data).toHaveProperty("attempt");
  expect(await take(...limits)).toHaveProperty("refused");
});

test("the table keeps only what still counts, however much is asked", async () => {
  await pass(1000);
  await take({ key: "clean", most: 1, seconds: 60 });
  expect(await kept()).toBe(1);
  for (let asked = 0; asked < 30; asked += 1) await take({ key: "many", most: 3, seconds: 60 });
  expect(await kept()).toBe(4);
});

test("an attempt looks at its own keys, however many others were counted", async () => {
  const { db } = world.backend;
  await db.query(
    `insert into private.attempts (attempt, key, counts_until)
     select gen_random_uuid(), 'other ' || number, now() + interval '1 hour' from generate_series(1, 3000) as number`,
  );
  await db.exec("analyze private.attempts");
  const limits = JSON.stringify([{ key: "other 1", most: 2, seconds: 60 }]);
  const read = await rowsRead(db, "private.attempts", "public.take_attempt(given.value::jsonb)", limits);
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThan(100);
  await db.query("delete from private.attempts where key like 'other %'");
});

describe("clients and visitors", () => {
  const handles = async (): Promise<SupabaseClient[]> => {
    const { handle } = await world.newClient(`${Math.random().toString(36).slice(2)}@client.example`);
    return [world.anonymous(), handle];
  };

  test("cannot count, nor take back what was counted", async () => {
    const taken = await take({ key: "theirs", most: 1, seconds: 60 });
    for (const handle of await handles()) {
      const counted = await handle.rpc("take_attempt", { limits: [{ key: "mine", most: 9, seconds: 60 }] });
      expect(counted.error?.code).toBe("42501");
      const released = await handle.rpc("release_attempts", { attempts: "attempt" in taken ? [taken.attempt] : [] });
      expect(released.error?.code).toBe("42501");
    }
    expect(await take({ key: "theirs", most: 1, seconds: 60 })).toHaveProperty("refused");
  });

  test("cannot reach the table, and neither can the company through the API", async () => {
    for (const handle of [...(await handles()), world.company as SupabaseClient]) {
      for (const table of ["attempts", "private.attempts"]) {
        expect((await handle.from(table).select("*")).error, table).not.toBeNull();
      }
      expect((await handle.schema("private").from("attempts").select("*")).error).not.toBeNull();
    }
  });
});
