import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { isWithdrawableByClient } from "../../app/models/shipment.ts";
import {
  callRpcOrGetRejection,
  fileColumns,
  getRejection,
  hashToken,
  readPage,
  sha256,
} from "../support/database-suite.ts";
import { setUpShipmentEmails } from "../support/shipment-email-suite.ts";
import { callConcurrently, readDeskState, runAsCaller } from "../support/staff-members.ts";
import type { AppSupabaseClient } from "../support/test-backend.ts";

const suite = setUpShipmentEmails();
const { testBackend, owner, clerk, lead, query, callRpc, newShipment, readShipment, listAuditEntries } = suite;
const { setUpClient, uploadDocument, storeFile, listQueuedUpdates, makeDue, claimEmails, setFreeStorageEnd } = suite;
const { addVersion, runConcurrently } = suite;
const stranger = setUpClient("stranger@client.example");

let shipment: string;
beforeEach(async () => {
  shipment = await newShipment(owner, "Withdrawn tea");
});

const withdrawOwn = async (more: object = {}, supabase: AppSupabaseClient = owner.supabase) => {
  const { version } = await readShipment(shipment);
  const args = { shipment_id: shipment, expected_version: version, ...more };
  return callRpcOrGetRejection("withdraw_own_shipment", args, supabase);
};
const withdraw = (more: object = {}, supabase?: AppSupabaseClient) =>
  callRpc("withdraw_shipment", { shipment_id: shipment, reason: "Created twice", ...more }, supabase);
const restore = (more: object = {}, supabase?: AppSupabaseClient) =>
  callRpc("restore_shipment", { shipment_id: shipment, reason: "They need it", ...more }, supabase);
const isWithdrawn = async () => (await readShipment(shipment)).withdrawn_at !== null;
const daysFromNow = (day: unknown) => Math.round((new Date(String(day)).getTime() - Date.now()) / 86_400_000);

/** Returns the names of the lists of the portal and of the desk that contain the shipment. */
async function listPlaces(): Promise<string[]> {
  const q = shipment.slice(0, 8);
  const portal = await readPage(owner.supabase, "portal_page", { q });
  const desk = await readPage(clerk.supabase, "desk_clients", { opened_id: owner.id });
  const today = await readPage(clerk.supabase, "desk_today");
  const lists: Record<string, { id?: string; shipment_id?: string }[]> = {
    "portal search": portal.shipments,
    "portal list": (await readPage(owner.supabase, "portal_page")).shipments,
    "portal work": portal.work.waiting,
    "portal CSV": (await readPage(owner.supabase, "portal_shipments_export")).shipments,
    "portal page": [(await readPage(owner.supabase, "portal_page", { opened_id: shipment })).shipment ?? {}],
    "desk search": (await readPage(clerk.supabase, "desk_shipments", { q: "Withdrawn" })).shipments,
    "desk stage": (await readPage(clerk.supabase, "desk_shipments", { stage: 1 })).shipments,
    "desk to check": (await readPage(clerk.supabase, "desk_shipments", { to_check: true })).shipments,
    "desk CSV": (await readPage(clerk.supabase, "desk_shipments_export")).shipments,
    "desk client": desk.opened.shipments,
    ...Object.fromEntries(
      ["to_check", "storage", "no_update", "waiting_for_client"].map((name) => [`today ${name}`, today[name].rows]),
    ),
  };
  const isIn = (rows: { id?: string; shipment_id?: string }[]) =>
    rows.some(({ id, shipment_id }) => (shipment_id ?? id) === shipment);
  return Object.keys(lists).filter((name) => isIn(lists[name] ?? []));
}

test("A withdrawn shipment leaves every list and count, stays in the log and in the data export, and the desk can open it.", async () => {
  await uploadDocument(shipment);
  await setFreeStorageEnd(shipment, 2);
  await query("update public.shipments set waiting_since = now() - interval '8 days' where id = $1", [shipment]);
  const places = await listPlaces();
  expect(places).toEqual([
    ...["portal search", "portal list", "portal work", "portal CSV", "portal page", "desk search", "desk stage"],
    ...["desk to check", "desk CSV", "desk client", "today to_check", "today storage", "today waiting_for_client"],
  ]);
  const countWork = async () => {
    const { client, company, nobody } = (await readPage(owner.supabase, "portal_page")).work;
    return { client, company, nobody };
  };
  const counts = await countWork();
  await withdraw();
  expect(await listPlaces()).toEqual([]);
  expect(await countWork()).toEqual({ ...counts, client: counts.client - 1 });

  const withdrawal = { at: expect.any(String), reason: "Created twice" };
  const page = await readPage(owner.supabase, "portal_page", { opened_id: shipment });
  expect([page.shipment, page.withdrawal]).toEqual([null, withdrawal]);
  expect((await readPage(stranger.supabase, "portal_page", { opened_id: shipment })).withdrawal).toBeNull();
  const { opened } = await readPage(clerk.supabase, "desk_shipments", { opened_id: shipment });
  expect(opened).toMatchObject({ id: shipment, withdrawal, waiting_on: "nobody" });
  const log = await readPage(clerk.supabase, "desk_log", { shipment_prefix: shipment });
  const entry = { action: "shipment withdraw", shipment_name: "Withdrawn tea", reason: "Created twice" };
  expect(log.audit_entries).toEqual([expect.objectContaining({ ...entry, actor_name: clerk.name })]);
  const { shipments } = await readPage(owner.supabase, "data_export");
  expect(shipments).toContainEqual(expect.objectContaining({ id: shipment, withdrawal }));

  await restore();
  expect(await listPlaces()).toEqual(places.filter((place) => place !== "today waiting_for_client"));
  expect(await countWork()).toEqual(counts);
});

describe("Withdrawal by the client", () => {
  const closed =
    "409 You can withdraw a shipment only at stage 1, before you upload a file or we add a charge. Call us to withdraw it now.";

  test("A client can withdraw an untouched shipment once, without a reason and without an email.", async () => {
    expect(await withdrawOwn({ expected_version: 7 })).toBe(
      "409 This shipment has changed. Check the shipment, then try again.",
    );
    expect(await withdrawOwn()).toBeNull();
    const after = await readShipment(shipment);
    expect(after).toMatchObject({ withdrawal_reason: null, waiting_on: "nobody", version: 1 });
    expect(await withdrawOwn({ expected_version: 0 })).toBeNull();
    expect(await readShipment(shipment)).toEqual(after);
    expect(await listAuditEntries(shipment)).toEqual([
      expect.objectContaining({ action: "client withdraw", actor_name: "Client", staff_id: null, reason: null }),
    ]);
    expect(await listQueuedUpdates(shipment)).toEqual([]);
  });

  test("Only the owner can withdraw an own shipment.", async () => {
    const before = await readDeskState(testBackend);
    for (const supabase of [stranger.supabase, clerk.supabase])
      expect(await withdrawOwn({}, supabase)).toBe("404 Shipment not found.");
    expect(await withdrawOwn({ shipment_id: randomUUID() })).toBe("404 Shipment not found.");
    expect(await readDeskState(testBackend)).toEqual(before);
  });

  test("In every combination of stage, documents and charges, the site and the database agree on what a client can withdraw.", async () => {
    const states: [documents: string, charge: boolean, stage: number][] = ["none", "uploaded", "rejected"].flatMap(
      (documents) => [false, true].flatMap((charge) => [1, 2, 10].map((stage) => [documents, charge, stage] as never)),
    );
    const withdrawable: string[] = [];
    for (const [documents, hasCharge, stage] of states) {
      shipment = await newShipment(owner);
      const file = documents === "none" ? null : await uploadDocument(shipment);
      if (documents === "rejected") await callRpc("reject_document", { document_id: file?.id, reason: "Blurred" });
      if (hasCharge) await callRpc("set_charge", { shipment_id: shipment, item: "duties", amount: 5, currency: "KES" });
      await query("update public.shipments set stage = $2 where id = $1", [shipment, stage]);
      const { shipment: shown } = await readPage(owner.supabase, "portal_page", { opened_id: shipment });
      const expected = isWithdrawableByClient(shown);
      expect(await withdrawOwn(), [documents, hasCharge, stage].join()).toBe(expected ? null : closed);
      expect(await isWithdrawn()).toBe(expected);
      if (expected) withdrawable.push([documents, hasCharge, stage].join());
    }
    expect(withdrawable).toEqual(["none,false,1"]);
  });

  test.each(["upload", "withdrawal"])(
    "If a client uploads a file and withdraws the shipment in parallel, only the %s succeeds if it starts first.",
    async (first) => {
      const path = await storeFile(shipment, "Packing List");
      const upload = (session: { unsafe: (text: string, values: never[]) => Promise<unknown> }) =>
        session.unsafe(
          `update public.documents set uploaded = true, storage_path = $1, sha256 = $2, file_name = $3, file_size = $4,
             media_type = $5 where shipment_id = $6 and name = 'Packing List'`,
          [path, sha256, fileColumns.file_name, fileColumns.file_size, fileColumns.media_type, shipment] as never[],
        );
      const remove = (session: { unsafe: (text: string, values: never[]) => Promise<unknown> }) =>
        session.unsafe("select public.withdraw_own_shipment($1, 0)", [shipment] as never[]);
      const jobs: [string | undefined, typeof upload][] =
        first === "upload"
          ? [
              [undefined, upload],
              [owner.accessToken, remove],
            ]
          : [
              [owner.accessToken, remove],
              [undefined, upload],
            ];
      const [[firstToken, firstJob], [secondToken, secondJob]] = jobs as [(typeof jobs)[0], (typeof jobs)[0]];
      let second: Promise<unknown> = Promise.resolve();
      await runAsCaller(testBackend, firstToken, async (session) => {
        await firstJob(session);
        second = runAsCaller(testBackend, secondToken, secondJob).catch(({ message }: Error) => message);
        await session.unsafe("select pg_sleep(0.3)");
      });
      expect(await second).toBe(first === "upload" ? closed.slice(4) : "This shipment is withdrawn.");
      expect(await isWithdrawn()).toBe(first === "withdrawal");
    },
  );

  test("A form that is sent eight times in parallel withdraws the shipment once.", async () => {
    const call = { name: "withdraw_own_shipment", args: { shipment_id: shipment, expected_version: 0 } };
    const calls = Array.from({ length: 8 }, () => ({ ...call, token: owner.accessToken }));
    const results = await callConcurrently(testBackend, calls);
    expect(results.filter(({ rejection }) => rejection)).toEqual([]);
    expect(await listAuditEntries(shipment)).toHaveLength(1);
  });
});

describe("Withdrawal by a team member", () => {
  test("The desk can withdraw a shipment at stages 1 to 3 with a reason, and not at later stages.", async () => {
    for (const stage of [1, 2, 3, 4, 10]) {
      shipment = await newShipment(owner);
      await query("update public.shipments set stage = $2 where id = $1", [shipment, stage]);
      const rejection = "409 You can withdraw a shipment only at stages 1 to 3.";
      expect(await getRejection(withdraw()), String(stage)).toBe(stage <= 3 ? "done" : rejection);
      expect(await isWithdrawn()).toBe(stage <= 3);
    }
  });

  test("A withdrawal ends share links and drops queued emails. The client gets one email with the reason.", async () => {
    const token_hash = hashToken("link");
    await callRpc("create_share_link", { id: randomUUID(), shipment_id: shipment, token_hash }, owner.supabase);
    await callRpc("send_note", { shipment_id: shipment, note: "It came" });
    await setFreeStorageEnd(shipment, 1);
    await withdraw();
    expect(await query("select from private.share_links where expires_at > now()")).toEqual([]);
    expect(await listQueuedUpdates(shipment)).toEqual([
      { kind: "withdrawn", detail: "withdrawn", reason: "Created twice" },
    ]);
    await makeDue(shipment);
    const events = [expect.objectContaining({ kind: "withdrawn", reason: "Created twice" })];
    expect(await claimEmails()).toEqual([expect.objectContaining({ shipment_id: shipment, events })]);
    const link = { id: randomUUID(), shipment_id: shipment, token_hash: hashToken("another link") };
    expect(await getRejection(callRpc("create_share_link", link, owner.supabase))).toBe("404 Shipment not found.");
  });

  test("A form that is sent twice withdraws the shipment once, and an outdated form is rejected.", async () => {
    const form = { expected_version: 0, idempotency_key: randomUUID() };
    expect([await withdraw(form), await withdraw(form)]).toEqual([{}, {}]);
    expect(await listAuditEntries(shipment)).toHaveLength(1);
    expect(await getRejection(withdraw())).toBe("409 This shipment is withdrawn. Restore the shipment first.");
    const outdated = "409 Someone has changed this shipment. Check the new values, then try again.";
    expect(await getRejection(restore({ expected_version: 0 }))).toBe(outdated);
    shipment = await newShipment(owner);
    const args = { shipment_id: shipment, reason: "Created twice" };
    const results = await runConcurrently([
      ["withdraw_shipment", args, clerk],
      ["withdraw_shipment", args, lead],
    ]);
    expect(results.sort()).toEqual(["This shipment is withdrawn. Restore the shipment first.", "done"]);
  });

  test("Withdrawing a shipment with an amount due needs a confirmation that names the present amount.", async () => {
    const charge = { shipment_id: shipment, item: "idf-fee", currency: "KES" };
    await callRpc("set_charge", { ...charge, amount: 10 });
    const listDue = (amount: number) => ({ due: [{ item: "idf-fee", currency: "KES", amount }] });
    expect(await withdraw()).toEqual(listDue(10));
    await callRpc("set_charge", { ...charge, amount: 12 });
    expect(await withdraw({ confirmed: listDue(10) })).toEqual(listDue(12));
    expect(await isWithdrawn()).toBe(false);
    expect(await withdraw({ confirmed: { missing: [], ...listDue(12) } })).toEqual({});
    expect(await isWithdrawn()).toBe(true);
  });

  test("A withdrawn shipment rejects every other change, also by the secret key.", async () => {
    const file = await uploadDocument(shipment);
    const second = await uploadDocument(shipment, "Bill of Lading");
    await callRpc("verify_document", { document_id: second.id, sha256, storage_version: second.version });
    await callRpc("set_charge", { shipment_id: shipment, item: "duties", amount: 5, currency: "KES" });
    await callRpc("withdraw_shipment", { shipment_id: shipment, reason: "Created twice", despite_due: true });
    const before = await readDeskState(testBackend);
    const at = { shipment_id: shipment };
    const arrival = { storage_location: "nairobi", day: "2026-03-01", cargo: "vehicle" };
    const staffCalls: [string, object][] = [
      ["move_shipment", { ...at, despite_missing: true, despite_due: true }],
      ["correct_stage", { ...at, stage: 2, reason: "By hand" }],
      ["save_shipment_numbers", { ...at, awb: "MEDUX4471203" }],
      ["save_arrival", { ...at, ...arrival }],
      ["send_note", { ...at, note: "It came" }],
      ["set_charge", { ...at, item: "agent-fee", amount: 5, currency: "KES" }],
      ["set_charge_paid", { ...at, item: "duties", paid: true }],
      ["verify_document", { document_id: file.id, sha256, storage_version: file.version }],
      ["unverify_document", { document_id: second.id, reason: "By hand" }],
      ["reject_document", { document_id: file.id, reason: "Blurred" }],
    ];
    for (const supabase of [clerk.supabase, testBackend.serviceRole])
      for (const [name, args] of staffCalls)
        expect(await getRejection(callRpc(name, args, supabase)), name).toMatch(/^409 This shipment is withdrawn\./);
    const moves = [{ id: shipment, expected_version: (await readShipment(shipment)).version }];
    expect(await callRpc("move_shipments", { moves })).toEqual([{ id: shipment, failure: "withdrawn" }]);
    const change = { ...at, name: "Coffee", awb: "", container_numbers: [] };
    const removal = { document_id: file.id };
    for (const [name, args, rejection] of [
      ["change_shipment", change, "404 Shipment not found."],
      ["remove_file", removal, "409 This shipment is withdrawn."],
      ["require_upload_allowed", removal, "404 Document not found."],
    ] as const)
      expect(await getRejection(callRpc(name, await addVersion(name, args), owner.supabase)), name).toBe(rejection);
    const stored = { document_id: file.id, shipment_id: shipment };
    expect((await readPage(owner.supabase, "portal_file", stored)).file).toBeNull();
    expect(await readDeskState(testBackend)).toEqual(before);
  });
});

describe("Restoration", () => {
  test("The desk can undo a withdrawal with a reason. The client gets an email only if the withdrawal was emailed.", async () => {
    expect(await getRejection(restore())).toBe("409 This shipment is not withdrawn.");
    const before = await readShipment(shipment);
    await withdraw();
    expect(await restore({ idempotency_key: randomUUID() })).toBeNull();
    const after = await readShipment(shipment);
    const { staff_action_at, changed_at, waiting_since } = after;
    expect(after).toEqual({ ...before, staff_action_at, changed_at, waiting_since, version: 2 });
    expect(await listQueuedUpdates(shipment)).toEqual([]);
    expect(await listAuditEntries(shipment)).toMatchObject([
      { action: "shipment withdraw" },
      { action: "shipment restore", reason: "They need it", actor_name: clerk.name },
    ]);
    await withdraw();
    await query("update public.email_outbox set sent_at = now()");
    await restore();
    expect(await listQueuedUpdates(shipment)).toEqual([{ kind: "restored", detail: "restored", reason: null }]);
  });

  test("A withdrawn shipment is stored for 30 days, a restored shipment for seven years, and an extended shipment as long as before.", async () => {
    const readEnd = async () => daysFromNow((await readShipment(shipment)).retention_ends_on);
    await withdrawOwn();
    expect([29, 30]).toContain(await readEnd());
    await restore();
    expect(await readEnd()).toBeGreaterThan(7 * 365);
    const extension = { shipment_id: shipment, day: "2060-01-01" };
    await callRpc("extend_shipment_retention", extension, testBackend.serviceRole);
    await withdraw();
    expect(await readEnd()).toBeGreaterThan(10_000);
  });

  test("A shipment whose retention period ends soon, but was extended, is stored until then and holds its account.", async () => {
    await query("update public.shipments set retention_ends_on = current_date + 100 where id = $1", [shipment]);
    const [{ day } = { day: "" }] = await query<{ day: string }>("select (current_date + 200)::text as day");
    await callRpc("extend_shipment_retention", { shipment_id: shipment, day }, testBackend.serviceRole);
    await withdraw();
    expect((await readShipment(shipment)).retention_ends_on).toBe(day);
    const [{ ends } = { ends: "" }] = await query<{ ends: string }>(
      "select private.account_retention_end(user_id)::text as ends from public.shipments where id = $1",
      [shipment],
    );
    expect(ends >= day).toBe(true);
  });
});
