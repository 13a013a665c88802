import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { countRowsRead } from "../support/database.ts";
import { startTestBackend } from "../support/test-backend.ts";

let testBackend: Awaited<ReturnType<typeof startTestBackend>>;
beforeAll(async () => {
  testBackend = await startTestBackend();
});
afterAll(() => testBackend.close());

type RateLimitInput = { key: string; max_hits: number; window_seconds: number };

async function consumeRateLimit(...limits: RateLimitInput[]) {
  const { data, error } = await testBackend.serviceRole.rpc("consume_rate_limit", { limits });
  if (error) throw error;
  return data as { attempt_id: string } | { exceeded_key: string; retry_after: number };
}

/** How many attempts lie in the table. */
async function countHits(): Promise<number> {
  const { rows } = await testBackend.backend.db.query<{ kept: number }>(
    "select count(*)::int as kept from private.rate_limit_hits",
  );
  return rows[0]?.kept ?? -1;
}

/** Moves all counted attempts this many seconds into the past. */
const passTime = (seconds: number) =>
  testBackend.backend.db.query(
    "update private.rate_limit_hits set expires_at = expires_at - make_interval(secs => $1)",
    [seconds],
  );

/** Expects refusals whose wait is `seconds`, less at most the time since this call. */
function startWaitCheck() {
  const began = performance.now();
  return {
    expect(result: Awaited<ReturnType<typeof consumeRateLimit>>, key: string, seconds: number) {
      const passed = (performance.now() - began) / 1000;
      expect(result).toEqual({ exceeded_key: key, retry_after: expect.any(Number) });
      const wait = "retry_after" in result ? result.retry_after : 0;
      expect(wait).toBeLessThanOrEqual(seconds);
      expect(wait).toBeGreaterThanOrEqual(seconds - passed);
    },
  };
}

test("as many as the limit get through, of fifty that ask at once", async () => {
  const limit = { key: "fifty", max_hits: 5, window_seconds: 60 };
  const rejections = startWaitCheck();
  const results = await Promise.all(Array.from({ length: 50 }, () => consumeRateLimit(limit)));
  expect(results.filter((result) => "attempt_id" in result)).toHaveLength(5);
  for (const result of results.filter((one) => "exceeded_key" in one)) rejections.expect(result, "fifty", 60);
});

test("an attempt counts for its time, counted from itself, and no longer", async () => {
  const limit = { key: "sliding", max_hits: 2, window_seconds: 100 };
  const rejections = startWaitCheck();
  await consumeRateLimit(limit);
  await passTime(40);
  await consumeRateLimit(limit);
  rejections.expect(await consumeRateLimit(limit), "sliding", 60);
  await passTime(60);
  expect(await consumeRateLimit(limit)).toHaveProperty("attempt_id");
  rejections.expect(await consumeRateLimit(limit), "sliding", 40);
});

test("of two limits, one that is reached keeps the other from counting; the longer wait is named", async () => {
  const short = { key: "short", max_hits: 1, window_seconds: 30 };
  const long = { key: "long", max_hits: 2, window_seconds: 90 };
  const rejections = startWaitCheck();
  await consumeRateLimit(short, long);
  rejections.expect(await consumeRateLimit(short, long), "short", 30);
  expect(await consumeRateLimit(long)).toHaveProperty("attempt_id");
  rejections.expect(await consumeRateLimit(short, long), "long", 90);
});

test("a released attempt makes room in all of its limits, by a call of its own and for the one that takes it along", async () => {
  const limits = [
    { key: "one", max_hits: 2, window_seconds: 60 },
    { key: "other", max_hits: 2, window_seconds: 60 },
  ];
  const taken = async () => {
    const result = await consumeRateLimit(...limits);
    if (!("attempt_id" in result)) throw new Error("nothing was taken");
    return result.attempt_id;
  };
  const attempts = [await taken(), await taken()];
  expect(await consumeRateLimit(...limits)).toHaveProperty("exceeded_key");
  await testBackend.serviceRole.rpc("refund_rate_limits", { attempt_ids: attempts });
  const [along] = [await taken(), await taken()];
  expect(await consumeRateLimit(...limits)).toHaveProperty("exceeded_key");
  const { data } = await testBackend.serviceRole.rpc("consume_rate_limit", { limits, refunded_ids: [along] });
  expect(data).toHaveProperty("attempt_id");
  expect(await consumeRateLimit(...limits)).toHaveProperty("exceeded_key");
});

test("the table keeps only what still counts, however much is asked", async () => {
  await passTime(1000);
  await consumeRateLimit({ key: "clean", max_hits: 1, window_seconds: 60 });
  expect(await countHits()).toBe(1);
  for (let asked = 0; asked < 30; asked += 1) await consumeRateLimit({ key: "many", max_hits: 3, window_seconds: 60 });
  expect(await countHits()).toBe(4);
});

test("an attempt looks at its own keys, however many others were counted", async () => {
  const { db } = testBackend.backend;
  await db.query(
    `insert into private.rate_limit_hits (attempt_id, key, expires_at)
     select gen_random_uuid(), 'other ' || number, now() + interval '1 hour' from generate_series(1, 3000) as number`,
  );
  await db.exec("analyze private.rate_limit_hits");
  const limits = JSON.stringify([{ key: "other 1", max_hits: 2, window_seconds: 60 }]);
  const read = await countRowsRead(
    db,
    "private.rate_limit_hits",
    "public.consume_rate_limit(given.value::jsonb)",
    limits,
  );
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThan(100);
  await db.query("delete from private.rate_limit_hits where key like 'other %'");
});

describe("clients and visitors", () => {
  const handles = async (): Promise<SupabaseClient[]> => {
    const { supabase } = await testBackend.newClient(`${Math.random().toString(36).slice(2)}@client.example`);
    return [testBackend.anonymous(), supabase];
  };

  test("cannot count, nor take back what was counted", async () => {
    const taken = await consumeRateLimit({ key: "theirs", max_hits: 1, window_seconds: 60 });
    for (const supabase of await handles()) {
      const counted = await supabase.rpc("consume_rate_limit", {
        limits: [{ key: "mine", max_hits: 9, window_seconds: 60 }],
      });
      expect(counted.error?.code).toBe("42501");
      const released = await supabase.rpc("refund_rate_limits", {
        attempt_ids: "attempt_id" in taken ? [taken.attempt_id] : [],
      });
      expect(released.error?.code).toBe("42501");
    }
    expect(await consumeRateLimit({ key: "theirs", max_hits: 1, window_seconds: 60 })).toHaveProperty("exceeded_key");
  });

  test("cannot reach the table, and neither can the company through the API", async () => {
    for (const supabase of [...(await handles()), testBackend.serviceRole as SupabaseClient]) {
      for (const table of ["rate_limit_hits", "private.rate_limit_hits"]) {
        expect((await supabase.from(table).select("*")).error, table).not.toBeNull();
      }
      expect((await supabase.schema("private").from("rate_limit_hits").select("*")).error).not.toBeNull();
    }
  });
});
