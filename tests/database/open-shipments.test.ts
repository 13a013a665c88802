import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { DEFAULT_DOCUMENTS } from "../../app/models/document.ts";
import { createContainerNumber } from "../support/container-numbers.ts";
import { getRejection, type TestClient } from "../support/database-suite.ts";
import { setUpShipmentEmails } from "../support/shipment-email-suite.ts";
import { callRepeatedly, readDeskState } from "../support/staff-members.ts";

const suite = setUpShipmentEmails();
const { testBackend, clerk, query, callRpc, newShipment, readShipment, listAuditEntries, claimEmails } = suite;
const { listQueuedUpdates, setEmailsEnabled } = suite;

let client: TestClient;
beforeEach(async () => {
  client = await testBackend.newClient(`${randomUUID()}@client.example`);
});

type Opened = { id: string; name: string }[];
const [first = "", second = ""] = [createContainerNumber(1), createContainerNumber(2)];
const newShipments = [
  { name: " Pumps ", awb: " BILL1 ", container_numbers: [first, second] },
  { name: "Tea", awb: "", container_numbers: [] },
  { name: "Rice" },
];
const openShipments = (args: object = {}, supabase = clerk.supabase) =>
  callRpc(
    "open_shipments",
    { account_id: client.id, new_shipments: newShipments, despite_repeated: true, ...args },
    supabase,
  ) as Promise<Opened>;

const countShipments = async () =>
  Number((await query("select count(*) from public.shipments where user_id = $1", [client.id]))[0]?.count);

test("Shipments that a team member opens are like a client's new shipments, and their history begins with the opening.", async () => {
  const opened = await openShipments();
  expect(opened.map(({ name }) => name)).toEqual(["Pumps", "Tea", "Rice"]);
  const [pumps = { id: "" }, tea = { id: "" }] = opened;
  expect(await readShipment(pumps.id)).toMatchObject({
    ...{ user_id: client.id, name: "Pumps", awb: "BILL1", container_numbers: [first, second] },
    ...{ stage: 1, status: "Client Onboarding", waiting_on: "client", version: 0 },
  });
  expect(await readShipment(tea.id)).toMatchObject({ name: "Tea", awb: null, container_numbers: [] });
  for (const { id } of opened) {
    expect(await query("select name from public.documents where shipment_id = $1", [id])).toHaveLength(
      DEFAULT_DOCUMENTS.length,
    );
    expect(
      await query("select kind, stage, status, note from public.tracking_events where shipment_id = $1", [id]),
    ).toEqual([{ kind: "stage", stage: 1, status: "Shipment opened by us", note: null }]);
  }
  const entry = { action: "shipment open-several", actor_name: clerk.name, staff_id: clerk.id, before: null };
  const numbers = { awb: "BILL1", container_numbers: [first, second] };
  expect(await listAuditEntries(pumps.id)).toMatchObject([{ ...entry, after: numbers }]);
  expect(await listAuditEntries(tea.id)).toMatchObject([{ ...entry, after: null }]);
  const [one = { id: "" }] = await openShipments({ new_shipments: [{ name: "Single" }] });
  expect(await listAuditEntries(one.id)).toMatchObject([{ action: "shipment open" }]);
  const { data } = await client.supabase.from("shipments").select("name").order("created_at", { ascending: false });
  expect(data?.map(({ name }) => name)).toEqual(["Single", "Pumps", "Tea", "Rice"]);
});

test("Shipments are opened once if the form arrives four times in parallel, and each call returns these shipments.", async () => {
  const args = { account_id: client.id, new_shipments: newShipments, idempotency_key: randomUUID() };
  const results = await callRepeatedly(testBackend, 4, { name: "open_shipments", args, token: clerk.accessToken });
  const names = newShipments.map(({ name }) => ({ id: expect.any(String), name: name.trim() }));
  expect(results).toEqual(Array(4).fill({ result: results[0]?.result }));
  expect(results[0]?.result).toEqual(names);
  expect(await countShipments()).toBe(3);
  await openShipments({ new_shipments: [{ name: "Other lines" }], idempotency_key: args.idempotency_key });
  expect(await countShipments()).toBe(4);
});

test("The client gets one email with the names of all shipments that were opened together, in their order.", async () => {
  const opened = await openShipments();
  const [pumps = { id: "" }, ...others] = opened;
  await newShipment(client, "Older");
  expect(await listQueuedUpdates(pumps.id)).toEqual([{ kind: "opened", detail: "3", reason: null }]);
  for (const { id } of others) expect(await listQueuedUpdates(id)).toEqual([]);
  await query("update public.email_outbox set due_at = now()");
  const claimed = await claimEmails();
  expect(claimed).toMatchObject([{ email: client.email, shipment_id: pumps.id, events: [{ kind: "opened" }] }]);
  const numbers = ["BILL1", null, null];
  expect(claimed[0]?.events).toMatchObject([
    { opened: opened.map((shipment, index) => ({ ...shipment, awb: numbers[index] })) },
  ]);
});

test("If the first of several opened shipments is withdrawn, the email reports only the other shipments.", async () => {
  const [first = { id: "" }, ...others] = await openShipments();
  await callRpc("withdraw_shipment", { shipment_id: first.id, reason: "Opened twice" });
  await query("update public.email_outbox set due_at = now()");
  const events = (await claimEmails()).flatMap((email) => email.events).filter(({ kind }) => kind === "opened");
  expect(events).toMatchObject([{ opened: others.map(({ id }) => ({ id })) }]);
});

test("A client who has unsubscribed gets no email about opened shipments.", async () => {
  await setEmailsEnabled(false, client.id);
  const [pumps = { id: "" }] = await openShipments();
  expect(await listQueuedUpdates(pumps.id)).toEqual([]);
});

test("If one of the shipments is invalid, none is opened.", async () => {
  const invalid = [
    ...[{ name: "" }, { name: " " }, { name: null }, { name: "a\nb" }, { name: "n".repeat(121) }],
    ...[
      { name: "Tea", awb: "1".repeat(65) },
      { name: "Tea", container_numbers: ["MSKU1"] },
    ],
    ...[
      { name: "Tea", container_numbers: [first, first] },
      { name: "Tea", container_numbers: "x" },
    ],
  ];
  const before = await readDeskState(testBackend);
  for (const shipment of invalid) {
    const call = openShipments({ new_shipments: [...newShipments, shipment] });
    expect(await getRejection(call), JSON.stringify(shipment)).not.toBe("done");
  }
  for (const [new_shipments, message] of [
    [[], "400 Enter at least one shipment."],
    [Array(101).fill({ name: "Tea" }), "400 Open at most 100 shipments at a time."],
  ] as const)
    expect(await getRejection(openShipments({ new_shipments }))).toBe(message);
  expect(await readDeskState(testBackend)).toEqual(before);
});

test("No shipment is opened for a closed, unconfirmed or unknown account, or for a team member.", async () => {
  const message = "Ask the client to open the link in our confirmation email.";
  const unconfirmed = await testBackend.newClient(`${randomUUID()}@client.example`);
  await query("update auth.users set email_confirmed_at = null where id = $1", [unconfirmed.id]);
  expect(await getRejection(openShipments({ account_id: unconfirmed.id }))).toBe(
    `409 The client has not confirmed the email address yet. ${message}`,
  );
  await callRpc("close_account", { account_id: client.id, reason: "They asked" });
  expect(await getRejection(openShipments())).toBe("409 This account is closed. Reopen the account first.");
  for (const account_id of [randomUUID(), clerk.id])
    expect(await getRejection(openShipments({ account_id }))).toBe("404 Client account not found.");
  expect(await countShipments()).toBe(0);
});

test("A client can get 300 new shipments in 24 hours from the desk, staff commands and the client's own form together.", async () => {
  const many = (count: number) => ({ new_shipments: Array(count).fill({ name: "Tea" }) });
  for (const caller of [clerk.supabase, testBackend.serviceRole]) await openShipments(many(100), caller);
  await openShipments(many(98));
  const create = () => client.supabase.from("shipments").insert({ name: "Tea", user_id: client.id });
  expect((await create()).error).toBeNull();
  const rejection =
    "429 A client can get at most 300 new shipments in 24 hours. Open fewer shipments, or try again tomorrow.";
  expect(await getRejection(openShipments(many(2), testBackend.serviceRole))).toBe(rejection);
  await openShipments(many(1));
  expect(await getRejection(openShipments(many(1)))).toBe(rejection);
  expect((await create()).error?.code).toBe("PT429");
  expect(await countShipments()).toBe(300);
});

test("Numbers that occur in two new shipments or in another open shipment of the client are found in other spellings.", async () => {
  const stored = await newShipment(client, "Stored");
  const closed = await newShipment(client, "Closed");
  const stranger = await testBackend.newClient(`${randomUUID()}@client.example`);
  const foreign = await newShipment(stranger, "Foreign");
  for (const id of [stored, closed, foreign])
    await query("update public.shipments set awb = '706-51093844', container_numbers = $2 where id = $1", [
      id,
      [first],
    ]);
  await query("update public.shipments set stage = 10 where id = $1", [closed]);
  const lines = [
    { name: "Tea", awb: "bill 1", container_numbers: [second] },
    { name: "Rice", awb: "BILL-1", container_numbers: [first, second] },
    { name: "Maize", awb: "706 5109 3844", container_numbers: [] },
    { name: "Salt", awb: "", container_numbers: [] },
    { name: "Pepper", awb: null },
  ];
  const find = (new_shipments: object) => callRpc("find_repeated_numbers", { account_id: client.id, new_shipments });
  const earlier = { first_index: 1, shipment_id: null, shipment_name: null };
  const other = { first_index: null, shipment_id: stored, shipment_name: "Stored" };
  expect(await find(lines)).toEqual([
    { index: 2, number: "BILL-1", ...earlier },
    { index: 2, number: first, ...other },
    { index: 2, number: second, ...earlier },
    { index: 3, number: "706 5109 3844", ...other },
  ]);
  expect(await find([lines[3], lines[4]])).toEqual([]);
  const repeated = await find(lines);
  const before = await readDeskState(testBackend);
  expect(await openShipments({ new_shipments: lines, despite_repeated: false })).toEqual({ repeated });
  expect(await readDeskState(testBackend)).toEqual(before);
});
