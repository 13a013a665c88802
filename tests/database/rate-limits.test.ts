import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { countRowsRead } from "../support/database.ts";
import { callRpcOrGetRejection as callRpc, hashToken, setUpDesk } from "../support/database-suite.ts";
import { callRepeatedly } from "../support/staff-members.ts";

const desk = setUpDesk();
const { testBackend, query, owner } = desk;

type RateLimitResult = { attempt_id: string } | { exceeded_key: string; retry_after: number };
type RateLimitInput = { key: string; max_hits: number; window_seconds: number };

async function consumeRateLimit(...limits: RateLimitInput[]) {
  const { data } = await testBackend.serviceRole.rpc("consume_rate_limit", { limits }).throwOnError();
  return data as RateLimitResult;
}

async function countHits(): Promise<number> {
  return (await query("select from private.rate_limit_hits")).length;
}

/** Makes all stored attempts expire earlier by `seconds`. */
const passTime = (seconds: number) =>
  query("update private.rate_limit_hits set expires_at = expires_at - make_interval(secs => $1)", [seconds]);

/**
 * Starts a timer. The returned `expect` checks that `result` is a rejection by the rate limit `key`, with a
 * `retry_after` of `seconds` minus the elapsed time.
 */
function startWaitCheck() {
  const start = performance.now();
  return {
    expect(result: RateLimitResult, key: string, seconds: number) {
      const passed = (performance.now() - start) / 1000;
      expect(result).toEqual({ exceeded_key: key, retry_after: expect.any(Number) });
      const wait = "retry_after" in result ? result.retry_after : 0;
      expect(wait).toBeLessThanOrEqual(seconds);
      expect(wait).toBeGreaterThanOrEqual(seconds - passed);
    },
  };
}

test("If twenty attempts run in parallel transactions, the database accepts only as many as the rate limit allows.", async () => {
  const limits = [{ key: "parallel", max_hits: 5, window_seconds: 60 }];
  const check = startWaitCheck();
  const calls = await callRepeatedly(testBackend, 20, { name: "consume_rate_limit", args: { limits } });
  const results = calls.map(({ result }) => result as RateLimitResult);
  const rejections = results.filter((result) => "exceeded_key" in result);
  expect([results.length - rejections.length, rejections.length]).toEqual([5, 15]);
  for (const rejection of rejections) check.expect(rejection, "parallel", 60);
});

test("An attempt counts exactly for the period of its rate limit.", async () => {
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

test("An attempt that exceeds one of two rate limits counts for neither limit, and the result contains the longer wait.", async () => {
  const short = { key: "short", max_hits: 1, window_seconds: 30 };
  const long = { key: "long", max_hits: 2, window_seconds: 90 };
  const rejections = startWaitCheck();
  await consumeRateLimit(short, long);
  rejections.expect(await consumeRateLimit(short, long), "short", 30);
  expect(await consumeRateLimit(long)).toHaveProperty("attempt_id");
  rejections.expect(await consumeRateLimit(short, long), "long", 90);
});

test("A refunded attempt no longer counts for its rate limits. A separate call or the next attempt can refund an attempt.", async () => {
  const limits = [
    { key: "first", max_hits: 2, window_seconds: 60 },
    { key: "second", max_hits: 2, window_seconds: 60 },
  ];
  const consume = async () => {
    const result = await consumeRateLimit(...limits);
    if (!("attempt_id" in result)) throw new Error("no attempt was counted");
    return result.attempt_id;
  };
  const attempts = [await consume(), await consume()];
  expect(await consumeRateLimit(...limits)).toHaveProperty("exceeded_key");
  await testBackend.serviceRole.rpc("refund_rate_limits", { attempt_ids: attempts });
  const [refunded] = [await consume(), await consume()];
  expect(await consumeRateLimit(...limits)).toHaveProperty("exceeded_key");
  const { data } = await testBackend.serviceRole.rpc("consume_rate_limit", { limits, refunded_ids: [refunded] });
  expect(data).toHaveProperty("attempt_id");
  expect(await consumeRateLimit(...limits)).toHaveProperty("exceeded_key");
});

test("The table of attempts contains only accepted attempts whose period has not ended.", async () => {
  await passTime(1000);
  await consumeRateLimit({ key: "clean", max_hits: 1, window_seconds: 60 });
  expect(await countHits()).toBe(1);
  for (let count = 0; count < 30; count += 1) await consumeRateLimit({ key: "many", max_hits: 3, window_seconds: 60 });
  expect(await countHits()).toBe(4);
});

test("An attempt reads only the table rows with its own keys.", async () => {
  const { db } = testBackend.backend;
  await db.query(
    `insert into private.rate_limit_hits (attempt_id, key, expires_at)
     select gen_random_uuid(), 'other ' || number, now() + interval '1 hour' from generate_series(1, 3000) as number`,
  );
  await db.exec("analyze private.rate_limit_hits");
  const limits = JSON.stringify([{ key: "other 1", max_hits: 2, window_seconds: 60 }]);
  const call = "public.consume_rate_limit(given.value::jsonb)";
  const read = await countRowsRead(db, "private.rate_limit_hits", call, limits);
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThan(100);
  await db.query("delete from private.rate_limit_hits where key like 'other %'");
});

/** Actions with a daily limit of `maximum`. When the limit is reached, `run` returns a rejection with status 429. */
const dailyActions: [actions: string, maximum: number, run: (shipment: string) => Promise<unknown>][] = [
  [
    "new shipments",
    300,
    async () => {
      const { error } = await owner.supabase.from("shipments").insert({ name: "Tea", user_id: owner.id });
      return error && `${error.code.slice(2)} ${error.message}`;
    },
  ],
  [
    "shipment changes",
    300,
    async (shipment_id) => {
      const change = { name: randomUUID(), awb: "", container_numbers: [] };
      const args = await desk.addVersion("change_shipment", { shipment_id, ...change });
      return callRpc("change_shipment", args, owner.supabase);
    },
  ],
  [
    "share links",
    100,
    async (shipment_id) => {
      const link = { id: randomUUID(), shipment_id, token_hash: hashToken(randomUUID()) };
      const created = await callRpc("create_share_link", link, owner.supabase);
      await callRpc("revoke_share_link", { id: link.id }, owner.supabase);
      return created;
    },
  ],
  [
    "uploads",
    1000,
    async (shipment) => {
      const uploaded = await desk.uploadDocument(shipment).catch(({ code, message }) => `${code.slice(2)} ${message}`);
      if (typeof uploaded === "string") return uploaded;
      return callRpc("remove_file", { document_id: uploaded.id, expected_version: 1 }, owner.supabase);
    },
  ],
  [
    "parts of large files",
    4000,
    () => callRpc("count_upload_chunk", { account_id: owner.id }, testBackend.serviceRole),
  ],
  [
    "erasure requests",
    20,
    async () => {
      const requested = await callRpc("set_erasure_request", { requested: true }, owner.supabase);
      await callRpc("set_erasure_request", { requested: false }, owner.supabase);
      return requested;
    },
  ],
];

test.each(dailyActions)("The data API limits a client's %s to %i per day.", async (actions, maximum, run) => {
  const shipments = [await desk.newShipment(owner), await desk.newShipment(owner), await desk.newShipment(owner)];
  await query("delete from private.rate_limit_hits");
  expect(String(await run(shipments[0] ?? ""))).not.toContain("429");
  expect(await countHits()).toBe(1);
  await query(
    `insert into private.rate_limit_hits (attempt_id, key, expires_at)
     select gen_random_uuid(), key, expires_at from private.rate_limit_hits, generate_series(2, $1::int - 1)`,
    [maximum],
  );
  expect(String(await run(shipments[1] ?? ""))).not.toContain("429");
  const rejection = `429 You have reached the limit of ${maximum} ${actions} in 24 hours. Try again tomorrow, or call us.`;
  expect(await run(shipments[2] ?? "")).toBe(rejection);
  expect(await countHits()).toBe(maximum);
  await passTime(24 * 60 * 60);
  expect(String(await run(shipments[2] ?? ""))).not.toContain("429");
});

test("Every function and table with which a client can create rows has a daily limit.", async () => {
  const creators = await query<{ name: string; source: string }>(
    `select proname as name, prosrc as source from pg_proc
     where pronamespace = 'public'::regnamespace and has_function_privilege('authenticated', oid, 'execute')
       and prosrc ilike '%insert into%' and prosrc not like '%private.require_actor(%'
     union all
     select pg_class.relname, coalesce(string_agg(trigger_function.prosrc, ' '), '')
     from pg_class
     left join information_schema.triggers as trigger on event_object_table = relname
     left join pg_proc as trigger_function on action_statement like '%.' || trigger_function.proname || '()'
     where relnamespace in ('public'::regnamespace, 'private'::regnamespace) and relkind = 'r'
       and has_any_column_privilege('authenticated', pg_class.oid, 'insert')
     group by pg_class.oid, pg_class.relname`,
  );
  expect(creators.map(({ name }) => name).sort()).toEqual(["create_share_link", "set_erasure_request", "shipments"]);
  expect(creators.filter(({ source }) => !source.includes("private.limit_daily_actions("))).toEqual([]);
});
