import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { DEFAULT_DOCUMENTS } from "../../app/models/document.ts";
import { STAGES } from "../../app/models/shipment.ts";
import { type DatabaseRow, setUpTestBackend } from "../support/database-suite.ts";
import { runAsCaller } from "../support/staff-members.ts";
import { toUntypedClient } from "../support/test-backend.ts";

const { testBackend, query, setUpClient } = setUpTestBackend();
const owner = setUpClient("owner@client.example");
const stranger = setUpClient("stranger@client.example");
let shipment: DatabaseRow;

beforeEach(async () => {
  const row = { name: "Tea", user_id: owner.id, idempotency_key: randomUUID() };
  const { data, error } = await owner.supabase.from("shipments").insert(row).select().single();
  if (error) throw error;
  shipment = data;
});

test("A new shipment is at stage 1 and has the four default documents without files.", async () => {
  expect(shipment).toMatchObject({ stage: 1, status: "Client Onboarding", awb: null, user_id: owner.id });
  const documents = await owner.supabase
    .from("documents")
    .select("name, uploaded, verified")
    .eq("shipment_id", String(shipment.id))
    .order("name");
  const names = [...DEFAULT_DOCUMENTS].sort();
  expect(documents.data).toEqual(names.map((name) => ({ name, uploaded: false, verified: false })));
});

test("Ten parallel requests with the same idempotency key create only one shipment.", async () => {
  const requestId = randomUUID();
  const results = await Promise.all(
    Array.from({ length: 10 }, () =>
      owner.supabase.from("shipments").insert({ name: "Coffee", user_id: owner.id, idempotency_key: requestId }),
    ),
  );
  expect(results.map(({ error }) => error?.code ?? "created").sort()).toEqual([...Array(9).fill("23505"), "created"]);
  const created = await query("select id from public.shipments where idempotency_key = $1", [requestId]);
  expect(created).toHaveLength(1);
  expect(await query("select 1 from public.documents where shipment_id = $1", [created[0]?.id])).toHaveLength(4);
});

test("Two clients with the same idempotency key create one shipment each.", async () => {
  const requestId = randomUUID();
  for (const client of [owner, stranger]) {
    const row = { name: "Coffee", user_id: client.id, idempotency_key: requestId };
    expect((await client.supabase.from("shipments").insert(row)).error).toBeNull();
  }
});

test("A client cannot set the stage of a new shipment, or create a shipment without an owner.", async () => {
  const before = await listShipments();
  const shipments = toUntypedClient(owner.supabase).from("shipments");
  for (const wrong of [...[2, 10, 0, -1, null].map((stage) => ({ stage })), { user_id: null }]) {
    const { error } = await shipments.insert({ name: "Gold", user_id: owner.id, ...wrong });
    expect(error, JSON.stringify(wrong)).not.toBeNull();
  }
  expect(await listShipments()).toEqual(before);
});

const invisibleCharacters = [
  ...["\n", "\t", "\u001b[2J", "\u007f", "\u0085", "\u009b"],
  ...["\u2028", "\u2029", "\u202e", "\u2066", "\u2069"],
];
const forgedNames = invisibleCharacters.map((character) => `Gold${character}Gold`);
const invisibleNames = [
  ...["\u200b", "\u00a0", "\u3164", "\u2800", "\u061c"],
  ...["\ufeff\u200e", "\ufe0f", "\u0301", "\u{e0041}", "\u{e0100}"],
];
async function expectRejectedByCheck(rows: { name: string; awb?: string }[]): Promise<void> {
  const before = await listShipments();
  const results = await Promise.all(
    rows.map((row) => owner.supabase.from("shipments").insert({ ...row, user_id: owner.id })),
  );
  const rejections = results.map(({ error, status }, index) => [rows[index], status, error?.code]);
  expect(rejections).toEqual(rows.map((row) => [row, 400, "23514"]));
  expect(await listShipments()).toEqual(before);
}

test("A shipment's name must have 1 to 120 visible characters and no spaces at its ends.", async () => {
  const names = ["", " ", " Gold", "Gold ", "x".repeat(121), ...forgedNames, ...invisibleNames];
  await expectRejectedByCheck(names.map((name) => ({ name })));
});

test("An AWB/BL must have 1 to 64 visible characters and no spaces at its ends.", async () => {
  const numbers = ["", " ", " 706", "706 ", "x".repeat(65), ...forgedNames];
  await expectRejectedByCheck(numbers.map((awb) => ({ name: "Gold", awb })));
  for (const awb of ["706-51093844", "x".repeat(64), null]) {
    const created = owner.supabase.from("shipments").insert({ name: "Gold", user_id: owner.id, awb });
    const { data } = await created.select("awb, stage, version").single();
    expect(data).toEqual({ awb, stage: 1, version: 0 });
  }
});

test("A client can create at most 300 shipments per day, even with parallel requests.", async () => {
  const hasty = await testBackend.newClient("hasty@client.example");
  const opened = await Promise.allSettled(
    Array.from({ length: 4 }, () =>
      runAsCaller(testBackend, hasty.accessToken, async (session) => {
        await session`
          insert into public.shipments (user_id, name) select ${hasty.id}, 'Tea' from generate_series(1, 100)`;
      }),
    ),
  );
  expect(opened.map(({ status }) => status).sort()).toEqual(["fulfilled", "fulfilled", "fulfilled", "rejected"]);
  expect(await query("select from public.shipments where user_id = $1", [hasty.id])).toHaveLength(300);
});

test("The database stores a shipment's name unchanged in every script.", async () => {
  for (const name of ["شركة الشحن", "Wanjirũ 🚢", "می\u200cخواهم"]) {
    const { data } = await owner.supabase.from("shipments").insert({ name, user_id: owner.id }).select("name").single();
    expect(data?.name).toBe(name);
  }
});

test("A client cannot create a shipment for another client.", async () => {
  const before = await listShipments();
  const theirs = { name: "Gold", user_id: owner.id };
  for (const rows of [[theirs], [{ name: "Mine", user_id: stranger.id }, theirs]])
    expect((await stranger.supabase.from("shipments").insert(rows)).error?.code).toBe("42501");
  expect(await listShipments()).toEqual(before);
});

test("The database ignores the status in a client's request for a new shipment.", async () => {
  for (const status of [...STAGES.slice(1), "Released", ""]) {
    const created = owner.supabase.from("shipments").insert({ name: "Sugar", user_id: owner.id, status });
    expect((await created.select("stage, status").single()).data).toEqual({ stage: 1, status: "Client Onboarding" });
  }
});

test("A client cannot overwrite a shipment with an insert of the same ID.", async () => {
  const before = await listShipments();
  const { idempotency_key } = shipment;
  const shipments = toUntypedClient(owner.supabase).from("shipments");
  const row = { user_id: owner.id, name: "Gold" };
  const byKey = await shipments.upsert({ ...row, idempotency_key }, { onConflict: "user_id,idempotency_key" });
  const byId = await shipments.upsert({ ...row, id: shipment.id });
  for (const { error } of [byKey, byId]) expect(error?.code).toBe("42501");
  expect(await listShipments()).toEqual(before);
});

test("The database sets the status by the stage and ignores the status in an update.", async () => {
  const shipments = () => toUntypedClient(testBackend.serviceRole).from("shipments");
  await shipments().update({ status: "Shipment Closed" }).eq("id", shipment.id);
  expect((await query("select status from public.shipments where id = $1", [shipment.id]))[0]?.status).toBe(STAGES[0]);
  for (const [index, status] of STAGES.entries()) {
    const stage = index + 1;
    for (const values of [{ stage }, { stage, status: "On its way" }]) {
      const updated = shipments().update(values).eq("id", shipment.id).select("stage, status").single();
      expect((await updated).data).toEqual({ stage, status });
    }
  }
});

function listShipments() {
  return query("select * from public.shipments order by id");
}
