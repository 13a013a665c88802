import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { countPastActs, deletePastActs, type LoggedAct, listActs, recordAct } from "../../app/models/act.server.ts";
import { memoryBackend } from "../support/memory-backend.ts";

let world: Awaited<ReturnType<typeof memoryBackend>>;
let people: Record<string, SupabaseClient>;
beforeAll(async () => {
  world = await memoryBackend();
  const client = await world.newClient("client@client.example");
  people = { "a visitor": world.anonymous(), "a client": client.handle, "the company": world.company };
});
afterAll(() => world.close());

const shipment = "5a000000-0000-4000-8000-000000000001";

// Only with its trigger disabled can the table be emptied: no user of the API or the database may do that.
beforeEach(async () => {
  await world.backend.db.exec(
    "alter table public.acts disable trigger user; delete from public.acts; alter table public.acts enable trigger user;",
  );
});

/** An act of so many years and days ago. */
const anAct = (act: string, years = 0, days = 0) =>
  world.backend.db.query(
    `insert into public.acts (by_name, act, shipment, at)
     values ('Wanjiru', $1, $2, now() - make_interval(years => $3, days => $4))`,
    [act, shipment, years, days],
  );

async function logged(since?: string): Promise<LoggedAct[]> {
  const all = [];
  for await (const page of listActs(world.company, since)) all.push(...page);
  return all;
}

test("an act is kept with who did it, to what, what it changed and why", async () => {
  const before = { awb: null };
  const after = { awb: "MEDUX4471203" };
  await recordAct(world.company, "Wanjiru", {
    act: "shipment set-awb",
    shipment,
    before,
    after,
    reason: "It came late",
  });
  expect(await logged()).toEqual([
    {
      id: expect.any(String),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*[+-]\d\d:\d\d$/),
      by_name: "Wanjiru",
      colleague: null,
      act: "shipment set-awb",
      shipment,
      document: null,
      account: null,
      before,
      after,
      reason: "It came late",
    },
  ]);
});

test("the log comes newest first, whole however long it is, and from a day on where one is named", async () => {
  await world.backend.db.query(
    `insert into public.acts (by_name, act, at)
     select 'Wanjiru', 'act ' || number, timestamptz '2026-01-01' + make_interval(hours => number)
     from generate_series(1, 2100) as number`,
  );
  const all = await logged();
  expect(all.map(({ act }) => act)).toEqual(Array.from({ length: 2100 }, (_, index) => `act ${2100 - index}`));
  expect((await logged(all[1]?.at)).map(({ act }) => act)).toEqual(["act 2100", "act 2099"]);
});

describe("what is written stays", () => {
  type Attempt = (handle: SupabaseClient) => PromiseLike<{ data: unknown; error: { code?: string } | null }>;
  const attempts: Record<string, Attempt> = {
    insert: (handle) => handle.from("acts").insert({ by_name: "x", act: "forged" }).select("*"),
    update: (handle) => handle.from("acts").update({ by_name: "x" }).eq("act", "written").select("*"),
    delete: (handle) => handle.from("acts").delete().eq("act", "written").select("*"),
  };
  const others: Record<string, Attempt> = {
    "record_act()": (handle) => handle.rpc("record_act", { by_name: "x", act: "forged" }),
    "past_acts()": (handle) => handle.rpc("past_acts"),
    "delete_past_acts()": (handle) => handle.rpc("delete_past_acts"),
  };
  const cases = [
    ...["a visitor", "a client", "the company"].flatMap((who) => Object.keys(attempts).map((what) => [what, who])),
    ...["a visitor", "a client"].flatMap((who) => Object.keys(others).map((what) => [what, who])),
  ];
  test.each(cases)("%s is refused to %s", async (what = "", who = "") => {
    await anAct("written", 8);
    const attempt = attempts[what] ?? others[what];
    const { data, error } = (await attempt?.(people[who] as SupabaseClient)) ?? {};
    expect(error?.code).toBe("42501");
    expect(data).toBeNull();
    expect((await logged()).map(({ act, by_name }) => [act, by_name])).toEqual([["written", "Wanjiru"]]);
  });

  test("and clients read none of it", async () => {
    await anAct("written");
    expect(await people["a client"]?.from("acts").select("*")).toMatchObject({ data: [], error: null });
    expect((await people["a visitor"]?.from("acts").select("*"))?.error?.code).toBe("42501");
  });

  test.each([
    "update public.acts set by_name = 'x'",
    "delete from public.acts",
    "truncate public.acts",
    "truncate public.acts cascade",
  ])("even to the database's owner: %s", async (statement) => {
    await anAct("written", 6, 364);
    await expect(world.backend.db.exec(statement)).rejects.toThrow("What was done stays in the log.");
    expect((await logged()).map(({ act, by_name }) => [act, by_name])).toEqual([["written", "Wanjiru"]]);
  });
});

test("an act is deleted after seven years, not a day before, and never rewritten", async () => {
  await anAct("past", 7, 1);
  await anAct("kept", 6, 364);
  await expect(world.backend.db.exec("update public.acts set reason = 'x' where act = 'past'")).rejects.toThrow();
  expect(await countPastActs(world.company)).toBe(1);
  expect(await deletePastActs(world.company)).toBe(1);
  expect((await logged()).map(({ act }) => act)).toEqual(["kept"]);
  expect(await deletePastActs(world.company)).toBe(0);
});

test("deleting a shipment or an account leaves what was done to it", async () => {
  const client = await world.newClient("leaving@client.example");
  await recordAct(world.company, "Wanjiru", { act: "account reset-2fa", account: client.id });
  await world.company.from("client_ids").delete().eq("claimed_by", client.id);
  expect((await world.company.auth.admin.deleteUser(client.id)).error).toBeNull();
  const acts = await logged();
  expect(acts.filter(({ act }) => act === "account reset-2fa").map(({ account }) => account)).toEqual([client.id]);
});
