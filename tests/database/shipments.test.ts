import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { STAGES } from "../../app/models/shipment.ts";
import { runInSession } from "../support/staff-members.ts";
import { startTestBackend, toUntypedClient } from "../support/test-backend.ts";

type TestClient = Awaited<ReturnType<typeof testBackend.newClient>>;
type ShipmentColumns = { id: string; user_id: string; stage: number; status: string; name: string; awb: string | null };

let testBackend: Awaited<ReturnType<typeof startTestBackend>>;
let owner: TestClient;
let stranger: TestClient;
/** A fresh shipment of the owner's for each test. */
let shipment: ShipmentColumns;

beforeAll(async () => {
  testBackend = await startTestBackend();
  owner = await testBackend.newClient("owner@client.example");
  stranger = await testBackend.newClient("stranger@client.example");
});
afterAll(() => testBackend.close());
beforeEach(async () => {
  const { data, error } = await owner.supabase
    .from("shipments")
    .insert({ name: "Tea", user_id: owner.id })
    .select()
    .single();
  if (error) throw error;
  shipment = data;
});

test("a new shipment has its four documents and stands at stage 1", async () => {
  expect(shipment).toMatchObject({ stage: 1, status: "Client Onboarding", awb: null, user_id: owner.id });
  const documents = await owner.supabase.from("documents").select("uploaded, verified").eq("shipment_id", shipment.id);
  expect(documents.data).toEqual(Array(4).fill({ uploaded: false, verified: false }));
});

test("the same request again makes no second shipment, however many arrive at once", async () => {
  const requestId = randomUUID();
  const results = await Promise.all(
    Array.from({ length: 10 }, () =>
      owner.supabase.from("shipments").insert({ name: "Coffee", user_id: owner.id, idempotency_key: requestId }),
    ),
  );
  expect(results.map(({ error }) => error?.code ?? "made").sort()).toEqual([...Array(9).fill("23505"), "made"]);
  const made = await query<ShipmentColumns>("select * from public.shipments where idempotency_key = $1", [requestId]);
  expect(made).toHaveLength(1);
  expect(await query("select 1 from public.documents where shipment_id = $1", [made[0]?.id])).toHaveLength(4);
});

test("the same request of two clients makes a shipment for each", async () => {
  const requestId = randomUUID();
  for (const client of [owner, stranger]) {
    const { error } = await client.supabase
      .from("shipments")
      .insert({ name: "Coffee", user_id: client.id, idempotency_key: requestId });
    expect(error).toBeNull();
  }
});

const createColumnCase = (name: string, value: unknown) => ({ name, value });
test.each([
  createColumnCase("id", "00000000-0000-4000-8000-000000000001"),
  createColumnCase("created_at", "2001-01-01T00:00:00Z"),
  createColumnCase("version", 7),
  createColumnCase("turn", "closed"),
  createColumnCase("stage", 2),
  createColumnCase("stage", 10),
  createColumnCase("stage", 0),
  createColumnCase("stage", -1),
  createColumnCase("stage", null),
  createColumnCase("user_id", null),
])("a client cannot open a shipment with $name $value", async ({ name, value }) => {
  const before = await listShipments();
  const { error } = await toUntypedClient(owner.supabase)
    .from("shipments")
    .insert({ name: "Gold", user_id: owner.id, [name]: value });
  expect(error).not.toBeNull();
  expect(await listShipments()).toEqual(before);
});

const invisibleCharacters = [
  "\n",
  "\t",
  "\u001b[2J",
  "\u007f",
  "\u0085",
  "\u009b",
  "\u2028",
  "\u2029",
  "\u202e",
  "\u2066",
  "\u2069",
];
const forgedNames = invisibleCharacters.map((sign) => `Gold${sign}Gold`);
const invisibleNames = [
  "\u200b",
  "\u00a0",
  "\u3164",
  "\u2800",
  "\u061c",
  "\ufeff\u200e",
  "\ufe0f",
  "\u0301",
  "\u{e0041}",
  "\u{e0100}",
];
test.each(["", " ", " Gold", "Gold ", "x".repeat(121), ...forgedNames, ...invisibleNames])(
  "a shipment cannot be named %j",
  async (name) => {
    const before = await listShipments();
    const { error, status } = await owner.supabase.from("shipments").insert({ name, user_id: owner.id });
    expect([status, error?.code]).toEqual([400, "23514"]);
    expect(await listShipments()).toEqual(before);
  },
);

test.each(["706-51093844", "MEDUX4471203", "x".repeat(64), null])(
  "a client opens a shipment with the AWB/BL %j",
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
  "a client cannot open a shipment with the AWB/BL %j",
  async (awb) => {
    const before = await listShipments();
    const { error, status } = await owner.supabase.from("shipments").insert({ name: "Gold", user_id: owner.id, awb });
    expect([status, error?.code]).toEqual([400, "23514"]);
    expect(await listShipments()).toEqual(before);
  },
);

test("an account opens three hundred shipments in a day and no more, however they are sent", async () => {
  const busy = await testBackend.newClient("busy@client.example");
  const { db } = testBackend.backend;
  const made = (count: number, at: string) =>
    db.query(
      "insert into public.shipments (user_id, name, created_at) select $1, 'Tea', $3 from generate_series(1, $2::int)",
      [busy.id, count, at],
    );
  await made(3, new Date(Date.now() - 25 * 60 * 60 * 1000).toISOString());
  await made(298, new Date().toISOString());
  const open = (count: number) =>
    busy.supabase.from("shipments").insert(Array.from({ length: count }, () => ({ name: "Tea", user_id: busy.id })));
  const rejection = await open(3);
  expect([rejection.status, rejection.error?.code]).toEqual([429, "PT429"]);
  expect((await open(2)).error).toBeNull();
  expect((await open(1)).status).toBe(429);
  const { rows } = await db.query("select from public.shipments where user_id = $1", [busy.id]);
  expect(rows).toHaveLength(303);
});

test("and no more where its requests come at the same moment", async () => {
  const hasty = await testBackend.newClient("hasty@client.example");
  const claims = Buffer.from(hasty.accessToken.split(".")[1] ?? "", "base64url").toString("utf8");
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

test("a name in any script is kept as it is", async () => {
  for (const name of ["شركة الشحن", "Wanjirũ 🚢", "Tea \u200e(\u200f1)"]) {
    const { data } = await owner.supabase.from("shipments").insert({ name, user_id: owner.id }).select("name").single();
    expect(data?.name).toBe(name);
  }
});

test("a client cannot open a shipment for somebody else", async () => {
  const before = await listShipments();
  const { error } = await stranger.supabase.from("shipments").insert({ name: "Gold", user_id: owner.id });
  expect(error?.code).toBe("42501");
  expect(await listShipments()).toEqual(before);
});

test("a client cannot slip somebody else's shipment in among its own", async () => {
  const before = await listShipments();
  const { error } = await stranger.supabase.from("shipments").insert([
    { name: "Mine", user_id: stranger.id },
    { name: "Theirs", user_id: owner.id },
  ]);
  expect(error?.code).toBe("42501");
  expect(await listShipments()).toEqual(before);
});

test.each([...STAGES.slice(1), "Released", ""])("the status %j a client sends is not kept", async (status) => {
  const { data, error } = await owner.supabase
    .from("shipments")
    .insert({ name: "Sugar", user_id: owner.id, status })
    .select("stage, status")
    .single();
  expect(error).toBeNull();
  expect(data).toEqual({ stage: 1, status: "Client Onboarding" });
});

test.each([
  createColumnCase("id", "00000000-0000-4000-8000-000000000001"),
  createColumnCase("user_id", "00000000-0000-4000-8000-000000000001"),
  createColumnCase("idempotency_key", "00000000-0000-4000-8000-000000000001"),
  createColumnCase("name", "Gold"),
  createColumnCase("stage", 2),
  createColumnCase("status", "Shipment Closed"),
  createColumnCase("awb", "706-51093844"),
  createColumnCase("created_at", "2001-01-01T00:00:00Z"),
])("a client cannot change $name of its shipment", async ({ name, value }) => {
  const before = await listShipments();
  const { error } = await toUntypedClient(owner.supabase)
    .from("shipments")
    .update({ [name]: value })
    .eq("id", shipment.id);
  expect(error?.code).toBe("42501");
  expect(await listShipments()).toEqual(before);
});

test("a client cannot change a shipment by inserting it again", async () => {
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
  "when staff set stage $stage, the status says $status whatever they send for it",
  async ({ stage, status }) => {
    for (const sent of [{ stage }, { stage, status: "Client Onboarding" }, { stage, status: "On its way" }]) {
      const { data, error } = await toUntypedClient(testBackend.serviceRole)
        .from("shipments")
        .update(sent)
        .eq("id", shipment.id)
        .select("stage, status")
        .single();
      expect(error).toBeNull();
      expect(data).toEqual({ stage, status });
    }
  },
);

test("staff who write only a status change nothing", async () => {
  await toUntypedClient(testBackend.serviceRole)
    .from("shipments")
    .update({ status: "Shipment Closed" })
    .eq("id", shipment.id);
  expect(await readShipment()).toMatchObject({ stage: 1, status: "Client Onboarding" });
});

test.each([0, 11, -3, null])("not even staff can set stage %s", async (stage) => {
  const { error } = await toUntypedClient(testBackend.serviceRole)
    .from("shipments")
    .update({ stage })
    .eq("id", shipment.id);
  expect(error).not.toBeNull();
  expect(await readShipment()).toMatchObject({ stage: 1, status: "Client Onboarding" });
});

test("the stages of the app and of the database are the same", async () => {
  const rows = await query<{ name: string | null }>(
    "select private.stage_name(stage::smallint) as name from generate_series(0, 11) as stage order by stage",
  );
  expect(rows.map(({ name }) => name)).toEqual([null, ...STAGES, null]);
});

test("each move goes one stage on and writes exactly one event that names it", async () => {
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

test("a closed shipment cannot be moved on and gets no event", async () => {
  await query("update public.shipments set stage = 10 where id = $1", [shipment.id]);
  const { error, status } = await testBackend.serviceRole.rpc("move_shipment", createMoveArgs());
  expect(error?.code).toBe("PT409");
  expect(status).toBe(409);
  expect(await readShipment()).toMatchObject({ stage: 10, status: "Shipment Closed" });
  expect(await listEvents(shipment.id)).toEqual([]);
});

test("an unknown shipment cannot be moved on", async () => {
  const before = await query("select * from public.tracking_events");
  const { error, status } = await testBackend.serviceRole.rpc("move_shipment", createMoveArgs(randomUUID()));
  expect(error?.code).toBe("PT404");
  expect(status).toBe(404);
  expect(await query("select * from public.tracking_events")).toEqual(before);
});

test("a move to a place of 121 characters, which no event takes, leaves the stage", async () => {
  const { error } = await testBackend.serviceRole.rpc("move_shipment", {
    ...createMoveArgs(),
    location: "x".repeat(121),
  });
  expect(error).not.toBeNull();
  expect(await readShipment()).toMatchObject({ stage: 1, status: "Client Onboarding" });
  expect(await listEvents(shipment.id)).toEqual([]);
});

test("moves that arrive together skip no stage and write one event each", async () => {
  const results = await Promise.all(
    Array.from({ length: 12 }, () => testBackend.serviceRole.rpc("move_shipment", createMoveArgs())),
  );
  const rejection = results.filter(({ error }) => error?.code === "PT409");
  expect(rejection).toHaveLength(3);
  expect(results.filter(({ error }) => error === null)).toHaveLength(9);
  const events = await listEvents(shipment.id);
  expect(events.map((event) => event.status).sort()).toEqual(STAGES.slice(1).sort());
});

test.each(["a visitor", "the owner", "a stranger"])("%s cannot move a shipment on", async (who) => {
  const supabase = { "the owner": owner.supabase, "a stranger": stranger.supabase }[who] ?? testBackend.anonymous();
  const { error } = await supabase.rpc("move_shipment", { ...createMoveArgs(), location: "Mombasa" });
  expect(error?.code).toBe(who === "a visitor" ? "42501" : "PT403");
  expect(await readShipment()).toMatchObject({ stage: 1 });
  expect(await listEvents(shipment.id)).toEqual([]);
});

/** The next stage, though documents are missing. */
function createMoveArgs(shipment_id = shipment.id) {
  return { shipment_id, despite_missing: true };
}

async function query<T>(text: string, values: unknown[] = []): Promise<T[]> {
  return (await testBackend.backend.db.query<T>(text, values)).rows;
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
