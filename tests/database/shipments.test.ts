import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { STAGES } from "../../app/models/shipment.ts";
import { decodeClaims, setUpTestBackend } from "../support/database-suite.ts";
import { runInSession } from "../support/staff-members.ts";
import { toUntypedClient } from "../support/test-backend.ts";

type ShipmentColumns = { id: string; user_id: string; stage: number; status: string; name: string; awb: string | null };

const { testBackend, query, setUpClient } = setUpTestBackend();
const owner = setUpClient("owner@client.example");
const stranger = setUpClient("stranger@client.example");
/** A new shipment of the owner for each test. */
let shipment: ShipmentColumns;

beforeEach(async () => {
  const { data, error } = await owner.supabase
    .from("shipments")
    .insert({ name: "Tea", user_id: owner.id })
    .select()
    .single();
  if (error) throw error;
  shipment = data;
});

test("A new shipment is at stage 1 and has its four documents.", async () => {
  expect(shipment).toMatchObject({ stage: 1, status: "Client Onboarding", awb: null, user_id: owner.id });
  const documents = await owner.supabase.from("documents").select("uploaded, verified").eq("shipment_id", shipment.id);
  expect(documents.data).toEqual(Array(4).fill({ uploaded: false, verified: false }));
});

test("Ten parallel requests with one idempotency key create one shipment.", async () => {
  const requestId = randomUUID();
  const results = await Promise.all(
    Array.from({ length: 10 }, () =>
      owner.supabase.from("shipments").insert({ name: "Coffee", user_id: owner.id, idempotency_key: requestId }),
    ),
  );
  expect(results.map(({ error }) => error?.code ?? "created").sort()).toEqual([...Array(9).fill("23505"), "created"]);
  const created = await query<ShipmentColumns>("select * from public.shipments where idempotency_key = $1", [
    requestId,
  ]);
  expect(created).toHaveLength(1);
  expect(await query("select 1 from public.documents where shipment_id = $1", [created[0]?.id])).toHaveLength(4);
});

test("One idempotency key of two clients creates a shipment for each.", async () => {
  const requestId = randomUUID();
  for (const client of [owner, stranger]) {
    const { error } = await client.supabase
      .from("shipments")
      .insert({ name: "Coffee", user_id: client.id, idempotency_key: requestId });
    expect(error).toBeNull();
  }
});

test.each([
  ["stage", 2],
  ["stage", 10],
  ["stage", 0],
  ["stage", -1],
  ["stage", null],
  ["user_id", null],
])("A client cannot set the column %s to %s when opening a shipment.", async (column, value) => {
  const before = await listShipments();
  const { error } = await toUntypedClient(owner.supabase)
    .from("shipments")
    .insert({ name: "Gold", user_id: owner.id, [column]: value });
  expect(error).not.toBeNull();
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
test.each(["", " ", " Gold", "Gold ", "x".repeat(121), ...forgedNames, ...invisibleNames])(
  "A shipment cannot be named %j.",
  async (name) => {
    const before = await listShipments();
    const { error, status } = await owner.supabase.from("shipments").insert({ name, user_id: owner.id });
    expect([status, error?.code]).toEqual([400, "23514"]);
    expect(await listShipments()).toEqual(before);
  },
);

test.each(["706-51093844", "MEDUX4471203", "x".repeat(64), null])(
  "A client can open a shipment with the AWB/BL %j.",
  async (awb) => {
    const { data, error } = await owner.supabase
      .from("shipments")
      .insert({ name: "Gold", user_id: owner.id, awb })
      .select("awb, stage, version")
      .single();
    expect(error).toBeNull();
    expect(data).toEqual({ awb, stage: 1, version: 0 });
  },
);

test.each(["", " ", " 706", "706 ", "x".repeat(65), ...forgedNames])(
  "A client cannot open a shipment with the AWB/BL %j.",
  async (awb) => {
    const before = await listShipments();
    const { error, status } = await owner.supabase.from("shipments").insert({ name: "Gold", user_id: owner.id, awb });
    expect([status, error?.code]).toEqual([400, "23514"]);
    expect(await listShipments()).toEqual(before);
  },
);

test("An account opens at most 300 shipments in a day.", async () => {
  const busy = await testBackend.newClient("busy@client.example");
  const { db } = testBackend.backend;
  const addShipments = (count: number, at: string) =>
    db.query(
      "insert into public.shipments (user_id, name, created_at) select $1, 'Tea', $3 from generate_series(1, $2::int)",
      [busy.id, count, at],
    );
  await addShipments(3, new Date(Date.now() - 25 * 60 * 60 * 1000).toISOString());
  await addShipments(298, new Date().toISOString());
  const openShipments = (count: number) =>
    busy.supabase.from("shipments").insert(Array.from({ length: count }, () => ({ name: "Tea", user_id: busy.id })));
  const rejection = await openShipments(3);
  expect([rejection.status, rejection.error?.code]).toEqual([429, "PT429"]);
  expect((await openShipments(2)).error).toBeNull();
  expect((await openShipments(1)).status).toBe(429);
  const { rows } = await db.query("select from public.shipments where user_id = $1", [busy.id]);
  expect(rows).toHaveLength(303);
});

test("An account opens at most 300 shipments in a day, also by parallel requests.", async () => {
  const hasty = await testBackend.newClient("hasty@client.example");
  const claims = JSON.stringify(decodeClaims(hasty.accessToken));
  const opened = await Promise.allSettled(
    Array.from({ length: 4 }, () =>
      runInSession(testBackend, async (session) => {
        await session`
          select set_config('request.jwt.claims', ${claims}, true),
            set_config('request.jwt.claim.sub', ${hasty.id}, true),
            set_config('request.jwt.claim.role', 'authenticated', true), set_config('role', 'authenticated', true)`;
        await session`
          insert into public.shipments (user_id, name) select ${hasty.id}, 'Tea' from generate_series(1, 100)`;
      }),
    ),
  );
  expect(opened.map(({ status }) => status).sort()).toEqual(["fulfilled", "fulfilled", "fulfilled", "rejected"]);
  const { rows } = await testBackend.backend.db.query("select from public.shipments where user_id = $1", [hasty.id]);
  expect(rows).toHaveLength(300);
});

test("A shipment's name in any script is stored unchanged.", async () => {
  for (const name of ["شركة الشحن", "Wanjirũ 🚢", "Tea \u200e(\u200f1)"]) {
    const { data } = await owner.supabase.from("shipments").insert({ name, user_id: owner.id }).select("name").single();
    expect(data?.name).toBe(name);
  }
});

test("A client cannot open a shipment for another client.", async () => {
  const before = await listShipments();
  const { error } = await stranger.supabase.from("shipments").insert({ name: "Gold", user_id: owner.id });
  expect(error?.code).toBe("42501");
  expect(await listShipments()).toEqual(before);
});

test("A client cannot open another client's shipment in one request with an own shipment.", async () => {
  const before = await listShipments();
  const { error } = await stranger.supabase.from("shipments").insert([
    { name: "Mine", user_id: stranger.id },
    { name: "Theirs", user_id: owner.id },
  ]);
  expect(error?.code).toBe("42501");
  expect(await listShipments()).toEqual(before);
});

test.each([...STAGES.slice(1), "Released", ""])("The status %j that a client sends is ignored.", async (status) => {
  const { data, error } = await owner.supabase
    .from("shipments")
    .insert({ name: "Sugar", user_id: owner.id, status })
    .select("stage, status")
    .single();
  expect(error).toBeNull();
  expect(data).toEqual({ stage: 1, status: "Client Onboarding" });
});

test("A client cannot change a shipment by inserting it again.", async () => {
  const before = await listShipments();
  const byRequest = await toUntypedClient(owner.supabase)
    .from("shipments")
    .upsert(
      { user_id: owner.id, idempotency_key: await getIdempotencyKey(shipment.id), name: "Gold", stage: 1 },
      { onConflict: "user_id,idempotency_key" },
    );
  expect(byRequest.error?.code).toBe("42501");
  const byId = await toUntypedClient(owner.supabase)
    .from("shipments")
    .upsert({ id: shipment.id, user_id: owner.id, name: "Gold" });
  expect(byId.error?.code).toBe("42501");
  expect(await listShipments()).toEqual(before);
});

test.each(STAGES.map((status, index) => ({ stage: index + 1, status })))(
  "An update to stage $stage sets the status $status, whatever status it sends.",
  async ({ stage, status }) => {
    for (const values of [{ stage }, { stage, status: "Client Onboarding" }, { stage, status: "On its way" }]) {
      const { data, error } = await toUntypedClient(testBackend.serviceRole)
        .from("shipments")
        .update(values)
        .eq("id", shipment.id)
        .select("stage, status")
        .single();
      expect(error).toBeNull();
      expect(data).toEqual({ stage, status });
    }
  },
);

test("An update of only the status changes nothing.", async () => {
  await toUntypedClient(testBackend.serviceRole)
    .from("shipments")
    .update({ status: "Shipment Closed" })
    .eq("id", shipment.id);
  expect(await readShipment()).toMatchObject({ stage: 1, status: "Client Onboarding" });
});

test.each([0, 11, -3, null])("Even the service role cannot set stage %s.", async (stage) => {
  const { error } = await toUntypedClient(testBackend.serviceRole)
    .from("shipments")
    .update({ stage })
    .eq("id", shipment.id);
  expect(error).not.toBeNull();
  expect(await readShipment()).toMatchObject({ stage: 1, status: "Client Onboarding" });
});

test("The app and the database have the same stages.", async () => {
  const rows = await query<{ name: string | null }>(
    "select private.stage_name(stage::smallint) as name from generate_series(0, 11) as stage order by stage",
  );
  expect(rows.map(({ name }) => name)).toEqual([null, ...STAGES, null]);
});

test("Each move advances a shipment by one stage and adds one tracking event.", async () => {
  for (const [index, status] of STAGES.slice(1).entries()) {
    const location = index % 2 === 0 ? `Berth ${index}` : null;
    const { data, error } = await testBackend.serviceRole.rpc("move_shipment", {
      ...createMoveArgs(),
      ...(location && { location }),
    });
    expect(error).toBeNull();
    expect(data).toEqual({ stage: index + 2, status });
    expect(await readShipment()).toMatchObject({ stage: index + 2, status });
    const events = await listEvents(shipment.id);
    expect(events).toHaveLength(index + 1);
    expect(events.filter((event) => event.status === status)).toEqual([{ status, location }]);
  }
});

test("Parallel moves skip no stage and add one tracking event each.", async () => {
  const results = await Promise.all(
    Array.from({ length: 12 }, () => testBackend.serviceRole.rpc("move_shipment", createMoveArgs())),
  );
  const rejection = results.filter(({ error }) => error?.code === "PT409");
  expect(rejection).toHaveLength(3);
  expect(results.filter(({ error }) => error === null)).toHaveLength(9);
  const events = await listEvents(shipment.id);
  expect(events.map((event) => event.status).sort()).toEqual(STAGES.slice(1).sort());
});

/** Returns the arguments of a move despite missing documents. */
function createMoveArgs(shipment_id = shipment.id) {
  return { shipment_id, despite_missing: true };
}

function listShipments() {
  return query<ShipmentColumns>("select * from public.shipments order by id");
}

async function readShipment() {
  const [row] = await query<ShipmentColumns>("select * from public.shipments where id = $1", [shipment.id]);
  return row;
}

function listEvents(id: string) {
  return query<{ status: string; location: string | null }>(
    "select status, location from public.tracking_events where shipment_id = $1 order by created_at",
    [id],
  );
}

async function getIdempotencyKey(id: string) {
  const [row] = await query<{ idempotency_key: string }>("select idempotency_key from public.shipments where id = $1", [
    id,
  ]);
  return row?.idempotency_key;
}
