import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_DOCUMENTS } from "../../app/models/document.ts";
import { eraseAccount } from "../../app/models/retention.server.ts";
import { sha256 } from "../support/database-suite.ts";
import {
  createChargeArgs,
  createMoveArgs,
  type QueuedUpdate,
  setUpShipmentEmails,
} from "../support/shipment-email-suite.ts";
import { callRepeatedly, readDeskState } from "../support/staff-members.ts";
import { toUntypedClient } from "../support/test-backend.ts";

const suite = setUpShipmentEmails();
const { testBackend, owner, clerk, lead, runConcurrently } = suite;
const { query, callRpc, addVersion, newShipment, readShipment, uploadDocument, listQueuedUpdates, claimEmails } = suite;
const { finishEmails, setEmailsEnabled, makeDue, setFreeStorageEnd, runWithRejectedWrites } = suite;
let shipment: string;
beforeEach(async () => {
  shipment = await newShipment(owner);
});

const createRejectionArgs = async () => ({ document_id: (await uploadDocument(shipment)).id, reason: "Blurred" });
const createCorrectionArgs = () => ({ shipment_id: shipment, stage: 7, reason: "It is there" });
const createNoteArgs = () => ({ shipment_id: shipment, note: "Wire 5 USD" });
const createBulkMoveArgs = async () => {
  for (const name of DEFAULT_DOCUMENTS) await uploadDocument(shipment, name);
  return { moves: [{ id: shipment, expected_version: (await readShipment(shipment)).version }] };
};
const arrival = {
  storage_location: "mombasa",
  day: "2026-03-01",
  cargo: "container-20",
  free_storage_ends_on: "2026-03-05",
};
const arrivalUpdate = { kind: "arrived", detail: "mombasa 2026-03-01", reason: null };
const verificationUpdate = { kind: "verified", detail: "documents", reason: null };
const createVerificationArgs = async () => {
  for (const name of DEFAULT_DOCUMENTS.slice(1)) await uploadDocument(shipment, name, { verified: true });
  const { id, version } = await uploadDocument(shipment, DEFAULT_DOCUMENTS[0]);
  return { document_id: id, sha256, storage_version: version };
};
const createPaymentArgs = async () => {
  await query("insert into public.charges (shipment_id, item, amount, currency) values ($1, 'duties', 5, 'KES')", [
    shipment,
  ]);
  return { shipment_id: shipment, item: "duties", paid: true };
};
const rejection = { kind: "rejected", reason: "Blurred" };

/** The actions that queue a shipment update, with their arguments and the queued update. */
const emailedActions: [string, string, () => object | Promise<object>, QueuedUpdate][] = [
  ["A move", "move_shipment", () => createMoveArgs(shipment), { kind: "stage", detail: "2", reason: null }],
  ["A correction", "correct_stage", createCorrectionArgs, { kind: "stage", detail: "7", reason: null }],
  ["A note", "send_note", createNoteArgs, { kind: "note", detail: "note", reason: null }],
  ["A rejected document", "reject_document", createRejectionArgs, { ...rejection, detail: "Packing List" }],
  ["A charge", "set_charge", () => createChargeArgs(shipment), { kind: "charge", detail: "duties", reason: null }],
  ["A payment", "set_charge_paid", createPaymentArgs, { kind: "paid", detail: "duties", reason: null }],
  ["An arrival", "save_arrival", () => ({ shipment_id: shipment, ...arrival }), arrivalUpdate],
  ["The last verification", "verify_document", createVerificationArgs, verificationUpdate],
  ["A bulk move", "move_shipments", createBulkMoveArgs, { kind: "stage", detail: "2", reason: null }],
];

describe.each(emailedActions)("%s", (action, name, args, update) => {
  test(`${action} queues one update that is due in ten minutes, even if the form arrives four times in parallel.`, async () => {
    const form = { ...(await addVersion(name, await args())), idempotency_key: randomUUID() };
    const results = await callRepeatedly(testBackend, 4, { name, args: form, token: clerk.accessToken });
    expect(results.flatMap(({ rejection }) => rejection ?? [])).toEqual([]);
    expect(await listQueuedUpdates(shipment)).toEqual([update]);
    const [row] = await query(
      `select email.account_id, email.xmin = entry.xmin as is_atomic,
         email.due_at - email.created_at = interval '10 minutes' as is_delayed
       from public.email_outbox as email join public.audit_log as entry on entry.shipment_id = email.shipment_id`,
    );
    expect(row).toEqual({ account_id: owner.id, is_atomic: true, is_delayed: true });
  });

  test(`${action} changes nothing if the shipment update cannot be queued.`, async () => {
    const actionArgs = await addVersion(name, await args());
    await runWithRejectedWrites("public.email_outbox", "the outbox is full", async () => {
      const before = await readDeskState(testBackend);
      const { error } = await toUntypedClient(clerk.supabase).rpc(name, actionArgs);
      expect(error?.message).toBe("the outbox is full");
      expect(await readDeskState(testBackend)).toEqual(before);
    });
  });

  test(`${action} queues no update if the client's account is closed or unsubscribed.`, async () => {
    await setEmailsEnabled(false);
    await callRpc(name, await args(), testBackend.serviceRole);
    expect(await listQueuedUpdates(shipment)).toEqual([]);
    await setEmailsEnabled(true);
    await callRpc("close_account", { account_id: owner.id, reason: "They asked" });
    shipment = await newShipment(owner);
    await callRpc(name, await args());
    expect(await listQueuedUpdates(shipment)).toEqual([]);
    await callRpc("reopen_account", { account_id: owner.id, reason: "They called" });
    shipment = await newShipment(owner);
    await callRpc(name, await args(), testBackend.serviceRole);
    expect(await listQueuedUpdates(shipment)).toEqual([update]);
  });
});

test("An unconfirmed account gets no shipment updates, even if updates are already in the outbox.", async () => {
  const client = await testBackend.newClient("unconfirmed@client.example");
  shipment = await newShipment(client);
  await callRpc("send_note", createNoteArgs());
  expect(await listQueuedUpdates(shipment)).toHaveLength(1);
  await query("update auth.users set email_confirmed_at = null where id = $1", [client.id]);
  await makeDue(shipment);
  expect(await claimEmails()).toEqual([]);
  expect(await listQueuedUpdates(shipment)).toEqual([]);
  await callRpc("send_note", { ...createNoteArgs(), note: "Another note" });
  expect(await listQueuedUpdates(shipment)).toEqual([]);
});

test("A correction of an arrival that changes the last free day queues a second update about the arrival.", async () => {
  await callRpc("save_arrival", { shipment_id: shipment, ...arrival });
  const { free_storage_ends_on: _, ...uncovered } = { ...arrival, cargo: "vehicle" };
  await callRpc("save_arrival", { shipment_id: shipment, ...uncovered });
  expect(await listQueuedUpdates(shipment)).toEqual([arrivalUpdate, arrivalUpdate]);
});

test("Actions without news for the client queue no shipment update.", async () => {
  const list = await uploadDocument(shipment);
  await callRpc("set_charge_paid", await createPaymentArgs());
  await callRpc("save_arrival", { shipment_id: shipment, ...arrival });
  await query("delete from public.email_outbox");
  const actions: [string, object][] = [
    ["save_shipment_numbers", { shipment_id: shipment, awb: "MEDUX4471203" }],
    ["save_arrival", { shipment_id: shipment, ...arrival }],
    ["save_arrival", { shipment_id: shipment, ...arrival, cargo: "container-40" }],
    ["remove_arrival", { shipment_id: shipment, reason: "Another ship" }],
    ["verify_document", { document_id: list.id, sha256, storage_version: list.version }],
    ["open_document", { document_id: list.id, shipment_id: shipment }],
    ["unverify_document", { document_id: list.id, reason: "Wrong" }],
    ["set_charge_paid", { shipment_id: shipment, item: "duties", paid: false, reason: "It bounced" }],
    ["announce", { text: "All is well" }],
    ["remove_announcement", {}],
    ["request_password_link", { account_id: owner.id }],
    ["issue_client_ids", { how_many: 1 }],
  ];
  for (const [name, args] of actions) await callRpc(name, args);
  await callRpc("extend_shipment_retention", { shipment_id: shipment, day: "2099-01-01" }, testBackend.serviceRole);
  expect(await query("select from public.audit_log where created_at > now() - interval '1 minute'")).not.toEqual([]);
  expect(await query("select kind from public.email_outbox")).toEqual([]);
});

test("Saving a charge queues an update only if the save changes the amount, currency, due date or note.", async () => {
  const charge = { ...createChargeArgs(shipment), amount: 1234.5, due_on: "2026-04-01", note: "KRA e-slip" };
  const changes = [{ amount: 7 }, { currency: "USD" }, { due_on: null }, { note: "Receipt 7" }, { note: null }];
  for (const change of [{}, ...changes]) {
    Object.assign(charge, change);
    await query("delete from public.email_outbox");
    await callRpc("set_charge", charge);
    const update = { kind: "charge", detail: "duties", reason: null };
    expect(await listQueuedUpdates(shipment), JSON.stringify(change)).toEqual([update]);
    await callRpc("set_charge", {
      ...charge,
      amount: `${charge.amount.toFixed(2)}0`,
      note: charge.note && ` ${charge.note} `,
    });
    expect(await listQueuedUpdates(shipment), JSON.stringify(change)).toEqual([update]);
  }
});

test("If two team members verify the last two documents in parallel, one update is queued.", async () => {
  const file = await createVerificationArgs();
  const other = String(
    (await query("select id from public.documents where shipment_id = $1 and verified", [shipment]))[0]?.id,
  );
  await query("update public.documents set verified = false where id = $1", [other]);
  const [row] = await query("select storage_version from public.documents where id = $1", [other]);
  const calls: Parameters<typeof runConcurrently>[0] = [
    ["verify_document", file, clerk],
    ["verify_document", { ...file, document_id: other, storage_version: row?.storage_version }, lead],
  ];
  expect(await runConcurrently(calls)).toEqual(["done", "done"]);
  expect(await listQueuedUpdates(shipment)).toEqual([verificationUpdate]);
});

test("Turning shipment updates off deletes only the account's unsent updates. After turning them on, new updates are queued.", async () => {
  const otherClient = await testBackend.newClient("other@client.example");
  const otherShipment = await newShipment(otherClient);
  await callRpc("move_shipment", createMoveArgs(shipment));
  await makeDue(shipment);
  const [first] = await claimEmails();
  await finishEmails(first, true);
  await callRpc("send_note", { shipment_id: shipment, note: "It came" });
  await callRpc("send_note", { shipment_id: otherShipment, note: "It came" });
  for (const round of [1, 2]) {
    await setEmailsEnabled(false);
    expect(await listQueuedUpdates(shipment), `${round}`).toEqual([]);
  }
  expect(await query("select from public.email_outbox where shipment_id = $1", [shipment])).toHaveLength(1);
  expect(await listQueuedUpdates(otherShipment)).toHaveLength(1);
  await callRpc("move_shipment", createMoveArgs(shipment));
  expect(await listQueuedUpdates(shipment)).toEqual([]);
  for (const round of [1, 2]) {
    await setEmailsEnabled(true);
    await callRpc("send_note", { shipment_id: shipment, note: `Again ${round}` });
    expect(await listQueuedUpdates(shipment)).toHaveLength(round);
  }
});

test("An unsubscribed account gets no update about free storage, and turning updates off for an unknown account does nothing.", async () => {
  await setFreeStorageEnd(shipment, 2);
  await setEmailsEnabled(false);
  await claimEmails();
  expect(await query("select from public.email_outbox")).toEqual([]);
  await setEmailsEnabled(true);
  for (const enabled of [false, true]) await setEmailsEnabled(enabled, randomUUID());
  expect(await query("select from private.email_opt_outs")).toEqual([]);
});

test("The metrics about emails count only due updates that were not sent, and the seconds since the first became due.", async () => {
  const readBacklog = () => callRpc("email_backlog", {}, testBackend.serviceRole);
  const nothing = { waiting: 0, oldest_seconds: 0, failed: 0 };
  await callRpc("send_note", { shipment_id: shipment, note: "It came" });
  expect(await readBacklog()).toEqual(nothing);
  await query("update public.email_outbox set due_at = now() - interval '1 hour'");
  const { oldest_seconds, ...counts } = (await readBacklog()) as typeof nothing;
  expect(counts).toEqual({ waiting: 1, failed: 0 });
  expect(oldest_seconds).toBeGreaterThanOrEqual(3600);
  await finishEmails((await claimEmails())[0], true);
  expect(await readBacklog()).toEqual(nothing);
});

test("Deleting a shipment deletes its updates, and erasing an account deletes all of its updates.", async () => {
  const client = await testBackend.newClient("leaving@client.example");
  const [first, second] = [await newShipment(client), await newShipment(client)];
  for (const id of [first, second]) await callRpc("send_note", { shipment_id: id, note: "It came" });
  for (const enabled of [false, true]) await setEmailsEnabled(enabled, client.id);
  for (const id of [first, second]) await callRpc("send_note", { shipment_id: id, note: "It came" });
  await query("update public.shipments set retention_ends_on = '2020-01-01' where user_id = $1", [client.id]);
  const listEmails = () => query("select shipment_id from public.email_outbox where account_id = $1", [client.id]);
  expect(await listEmails()).toHaveLength(2);
  await query("update public.email_outbox set claimed_at = now() where shipment_id = $1", [first]);
  await query("delete from public.shipments where id = $1", [first]);
  expect(await listEmails()).toEqual([{ shipment_id: second }]);
  await callRpc("send_note", { shipment_id: shipment, note: "It came" });
  await query("insert into private.email_opt_outs (account_id) values ($1)", [client.id]);
  expect(await eraseAccount(testBackend.serviceRole, testBackend.serviceRole, client.id, "They asked")).toEqual({
    result: client.email,
  });
  expect(await listEmails()).toEqual([]);
  expect(await query("select from private.email_opt_outs")).toEqual([]);
  expect(await listQueuedUpdates(shipment)).toHaveLength(1);
});
