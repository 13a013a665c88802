import { beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_DOCUMENTS } from "../../app/models/document.ts";
import { readPage, sha256 } from "../support/database-suite.ts";
import {
  type ClaimedEmail,
  createChargeArgs,
  createMoveArgs,
  setUpShipmentEmails,
} from "../support/shipment-email-suite.ts";
import { callRepeatedly, runAsCaller, runInSession } from "../support/staff-members.ts";

const suite = setUpShipmentEmails();
const { testBackend, owner, clerk, query, callRpc, newShipment, uploadDocument, claimEmails, finishEmails } = suite;
const { makeDue, listQueuedUpdates, setFreeStorageEnd } = suite;

const unset = { reason: null, note: null, previous_stage: null, opened: null };

let shipment: string;
beforeEach(async () => {
  shipment = await newShipment(owner);
});

describe("Claiming emails from the outbox", () => {
  test("A claim returns all of a shipment's updates when the first update is due, oldest first, with the stage but no amounts.", async () => {
    await callRpc("move_shipment", createMoveArgs(shipment));
    await callRpc("set_charge", { ...createChargeArgs(shipment), due_on: "2031-07-29", note: "Account 77001122" });
    await callRpc("reject_document", { document_id: (await uploadDocument(shipment)).id, reason: "Blurred" });
    await query(`update auth.users set raw_user_meta_data = '{"full_name": "Grace"}' where id = $1`, [owner.id]);
    const otherShipment = await newShipment(owner);
    await callRpc("send_note", { shipment_id: otherShipment, note: "It came" });
    expect(await claimEmails()).toEqual([]);
    await query("update public.email_outbox set due_at = now() where kind = 'stage'");
    const claimed = await claimEmails();
    const [text, day] = [expect.any(String), expect.stringMatching(/^\d{4}-\d\d-\d\d$/)];
    expect(claimed).toEqual([
      {
        ...{ ids: expect.any(Array), account_id: owner.id, email: owner.email, shipment_id: shipment, name: "Tea" },
        ...{ stage: 2, status: "Document Verification", waiting_on: "client" },
        ...{
          id: shipment,
          awb: null,
          container_numbers: [],
          arrival: null,
          withdrawal: null,
          version: 1,
          retention_ends_on: day,
        },
        ...{ waiting_since: text, changed_at: text, created_at: text, full_name: "Grace" },
        documents: [...DEFAULT_DOCUMENTS].sort().map((name) => ({
          ...{ name, uploaded: false },
          rejected_at: name === "Packing List" ? text : null,
        })),
        charges: [{ item: "duties", due_on: "2031-07-29", paid_at: null }],
        events: [
          { kind: "stage", detail: "2", ...unset, previous_stage: 1 },
          { kind: "charge", detail: "duties", ...unset },
          { kind: "rejected", detail: "Packing List", ...unset, reason: "Blurred" },
        ],
      },
    ]);
    expect(claimed[0]?.ids).toHaveLength(3);
    expect(await claimEmails()).toEqual([]);
    await makeDue(otherShipment);
    expect(await claimEmails()).toMatchObject([{ shipment_id: otherShipment, events: [{ kind: "note" }] }]);
  });

  test("A claim returns updates with their own notes, and stage changes with the previous stage.", async () => {
    await callRpc("send_note", { shipment_id: shipment, note: "It came" });
    await callRpc("move_shipment", { ...createMoveArgs(shipment), note: "It\n  moved" });
    await callRpc("move_shipment", createMoveArgs(shipment));
    await callRpc("send_note", { shipment_id: shipment, note: "It rains" });
    await callRpc("correct_stage", { shipment_id: shipment, stage: 1, reason: "Secret reason" });
    await makeDue(shipment);
    const [email] = await claimEmails();
    expect(email?.events).toEqual([
      { kind: "note", detail: "note", ...unset, note: "It came" },
      { kind: "stage", detail: "2", ...unset, note: "It\n  moved", previous_stage: 1 },
      { kind: "stage", detail: "3", ...unset, previous_stage: 2 },
      { kind: "note", detail: "note", ...unset, note: "It rains" },
      { kind: "stage", detail: "1", ...unset, previous_stage: 3 },
    ]);
    expect(JSON.stringify(email)).not.toContain("Secret reason");
  });

  test("A claim returns at most the requested number of emails, one email per shipment.", async () => {
    const shipments = [shipment, await newShipment(owner), await newShipment(owner)];
    for (const id of shipments) await callRpc("send_note", { shipment_id: id, note: "It came" });
    await query("update public.email_outbox set due_at = now()");
    const [first, second, third] = [await claimEmails(2), await claimEmails(2), await claimEmails(2)];
    expect([first.length, second.length, third.length]).toEqual([2, 1, 0]);
    expect([...first, ...second].map(({ shipment_id }) => shipment_id).sort()).toEqual([...shipments].sort());
  });

  test("An email that is not reported as sent can be claimed again after five minutes, and the database counts the attempts.", async () => {
    await callRpc("move_shipment", createMoveArgs(shipment));
    await makeDue(shipment);
    const [first] = await claimEmails();
    const setClaimTime = "update public.email_outbox set claimed_at = now() - $1::interval";
    await query(setClaimTime, ["4 minutes 50 seconds"]);
    expect(await claimEmails()).toEqual([]);
    await query(setClaimTime, ["5 minutes 1 second"]);
    const [second] = await claimEmails();
    expect(second).toEqual(first);
    expect(await claimEmails()).toEqual([]);
    expect(await query("select attempt_count from public.email_outbox")).toEqual([{ attempt_count: 2 }]);
  });

  test("Four parallel processes claim each update of 100 shipments exactly once, in one email per shipment.", async () => {
    await query(
      `with created as (
         insert into public.shipments (user_id, name) select $1, 'Crate ' || number from generate_series(1, 100) as number
         returning id
       )
       insert into public.email_outbox (account_id, shipment_id, kind, detail, due_at)
       select $1, created.id, kind, 'note', now() - interval '1 minute' from unnest('{note,stage}'::text[]) as kind, created`,
      [owner.id],
    );
    const claimed: ClaimedEmail[] = [];
    let round: ClaimedEmail[];
    do {
      const call = { name: "claim_shipment_emails", args: { max_count: 30 } };
      const results = await callRepeatedly(testBackend, 4, call);
      expect(results.flatMap(({ rejection }) => rejection ?? [])).toEqual([]);
      round = results.flatMap(({ result }) => result as ClaimedEmail[]);
      claimed.push(...round);
    } while (round.length > 0);
    const ids = claimed.flatMap((email) => email.ids);
    expect([ids.length, new Set(ids).size, claimed.length]).toEqual([200, 200, 100]);
    expect(await query("select from public.email_outbox where attempt_count <> 1 or claimed_at is null")).toEqual([]);
  });

  test("A claim does not wait for an update that another transaction has locked.", async () => {
    const otherShipment = await newShipment(owner);
    for (const shipment_id of [shipment, otherShipment]) {
      await callRpc("send_note", { shipment_id, note: "It came" });
      await makeDue(shipment_id);
    }
    await runInSession(testBackend, async (session) => {
      await session`select from public.email_outbox where shipment_id = ${shipment} for update`;
      const claimed = await runAsCaller(testBackend, undefined, async (other) => {
        await other`set local lock_timeout = '5s'`;
        return other`select public.claim_shipment_emails() as emails`;
      });
      expect(claimed[0]?.emails).toMatchObject([{ shipment_id: otherShipment }]);
    });
    expect(await claimEmails()).toMatchObject([{ shipment_id: shipment }]);
  });

  test("A claim returns no updates for an account that was closed after the updates were queued.", async () => {
    await callRpc("send_note", { shipment_id: shipment, note: "It came" });
    await makeDue(shipment);
    await callRpc("close_account", { account_id: owner.id, reason: "They asked" });
    try {
      expect(await claimEmails()).toEqual([]);
    } finally {
      await callRpc("reopen_account", { account_id: owner.id, reason: "They called" });
    }
  });
});

describe("Reporting claimed emails as sent or failed", () => {
  const listFailures = () =>
    query("select kind, sent_to, account_id from public.failed_emails where kind = 'shipment update'");

  test("An email that was reported as sent is never claimed again, even if it is later reported as failed.", async () => {
    await callRpc("move_shipment", createMoveArgs(shipment));
    await makeDue(shipment);
    const [email] = await claimEmails();
    await finishEmails(email, true);
    await query("update public.email_outbox set created_at = now() - interval '25 hours'");
    await finishEmails(email, false);
    await query("update public.email_outbox set due_at = now() - interval '1 hour'");
    expect(await claimEmails()).toEqual([]);
    expect(await query("select from public.email_outbox where sent_at is null")).toEqual([]);
    expect(await listFailures()).toEqual([]);
  });

  test("A failed email is retried after increasing delays of at most one hour.", async () => {
    await callRpc("move_shipment", createMoveArgs(shipment));
    await makeDue(shipment);
    const waits: number[] = [];
    for (let round = 0; round < 9; round += 1) {
      const [email] = await claimEmails();
      await finishEmails(email, false);
      expect(await claimEmails()).toEqual([]);
      const [row] = await query("select extract(epoch from due_at - now())::integer as wait from public.email_outbox");
      waits.push(Number(row?.wait));
      await query("update public.email_outbox set due_at = now()");
    }
    const hour = 3600;
    expect(waits.every((wait, index) => wait > (waits[index - 1] ?? 0) - 2 && wait <= hour)).toBe(true);
    expect(waits.slice(0, 4).every((wait, index) => wait > (waits[index - 1] ?? 0) + 30)).toBe(true);
    expect(waits.at(-1)).toBeGreaterThan(hour - 5);
    expect(await listFailures()).toEqual([]);
  });

  test("After a day of failures, an email is not retried, and the desk lists the email once as failed.", async () => {
    await callRpc("move_shipment", createMoveArgs(shipment));
    await callRpc("send_note", { shipment_id: shipment, note: "It came" });
    await makeDue(shipment);
    await query("update public.email_outbox set created_at = now() - interval '23 hours 59 minutes'");
    await finishEmails((await claimEmails())[0], false);
    expect(await listFailures()).toEqual([]);
    await query("update public.email_outbox set created_at = now() - interval '24 hours 1 minute', due_at = now()");
    const [email] = await claimEmails();
    expect(email?.events).toHaveLength(2);
    await finishEmails(email, false);
    expect(await listFailures()).toEqual([{ kind: "shipment update", sent_to: owner.email, account_id: owner.id }]);
    const { rows } = (await readPage(clerk.supabase, "desk_today")).failed_emails;
    expect(rows).toEqual([expect.objectContaining({ kind: "shipment update", sent_to: owner.email })]);
    await finishEmails(email, false);
    expect(await listFailures()).toHaveLength(1);
    await query("update public.email_outbox set due_at = now(), claimed_at = null");
    expect(await claimEmails()).toEqual([]);
    await callRpc("dismiss_failed_email", { email_id: rows[0].id });
    await query("delete from public.failed_emails");
  });

  test("Sent and unsent shipment updates are deleted after 30 days.", async () => {
    await callRpc("move_shipment", createMoveArgs(shipment));
    await callRpc("send_note", { shipment_id: shipment, note: "It came" });
    const age = "update public.email_outbox set sent_at = now(), created_at = now() - $2::interval where kind = $1";
    await query(age, ["note", "29 days 23 hours"]);
    await query(age, ["stage", "30 days 1 hour"]);
    await claimEmails();
    expect(await query("select kind from public.email_outbox")).toEqual([{ kind: "note" }]);
  });
});

describe("Updates about free storage", () => {
  test.each([
    [-1, 0],
    [0, 1],
    [2, 1],
    [3, 0],
  ])("If free storage ends in %i days, the number of queued updates is %i.", async (days, count) => {
    const day = await setFreeStorageEnd(shipment, days);
    for (let round = 0; round < 2; round += 1) await claimEmails();
    expect(await listQueuedUpdates(shipment)).toEqual(
      Array(count).fill({ kind: "storage", detail: day, reason: null }),
    );
  });

  test("If the last day of free storage changes after the update about it was sent, a second update is queued.", async () => {
    const day = await setFreeStorageEnd(shipment, 1);
    await claimEmails();
    await makeDue(shipment);
    const [email] = await claimEmails();
    expect(email?.events).toMatchObject([{ kind: "storage", detail: day, reason: null }]);
    await finishEmails(email, true);
    await claimEmails();
    expect(await listQueuedUpdates(shipment)).toEqual([]);
    const nextDay = await setFreeStorageEnd(shipment, 2);
    await claimEmails();
    expect(await listQueuedUpdates(shipment)).toEqual([{ kind: "storage", detail: nextDay, reason: null }]);
  });

  test("An update about the end of free storage is queued up to stage 8, but not at stages 9 and 10.", async () => {
    const counts: Record<number, number> = {};
    for (const stage of [10, 9, 8]) {
      await setFreeStorageEnd(shipment, 2, stage);
      await claimEmails();
      counts[stage] = (await listQueuedUpdates(shipment)).length;
    }
    expect(counts).toEqual({ 8: 1, 9: 0, 10: 0 });
  });

  test("No update about free storage is queued without a last free day, and the removal of an arrival drops the update.", async () => {
    const arrival = { shipment_id: shipment, storage_location: "mombasa", day: "2026-03-01", cargo: "vehicle" };
    await callRpc("save_arrival", arrival);
    await query("delete from public.email_outbox");
    await claimEmails();
    expect(await listQueuedUpdates(shipment)).toEqual([]);
    const day = await setFreeStorageEnd(shipment, 1);
    await claimEmails();
    expect(await listQueuedUpdates(shipment)).toMatchObject([{ kind: "storage", detail: day }]);
    await callRpc("remove_arrival", { shipment_id: shipment, reason: "Another ship" });
    await makeDue(shipment);
    expect(await claimEmails()).toEqual([]);
    expect(await listQueuedUpdates(shipment)).toEqual([]);
  });

  test("Eight parallel claims queue only one update about free storage.", async () => {
    await setFreeStorageEnd(shipment, 1);
    const results = await callRepeatedly(testBackend, 8, { name: "claim_shipment_emails", args: {} });
    expect(results.flatMap(({ rejection }) => rejection ?? [])).toEqual([]);
    expect(await listQueuedUpdates(shipment)).toHaveLength(1);
  });
});

describe("Outdated updates", () => {
  test("If the last day of free storage changes, an update about the new day replaces the unsent update.", async () => {
    const oldDay = await setFreeStorageEnd(shipment, 1);
    await claimEmails();
    await makeDue(shipment);
    const day = await setFreeStorageEnd(shipment, 2);
    expect(await claimEmails()).toMatchObject([{ events: [{ kind: "storage", detail: day }] }]);
    expect(await query("select detail from public.email_outbox")).toEqual([{ detail: day }]);
    expect(day).not.toBe(oldDay);
  });

  test("A claim deletes the update about free storage if the cargo has left the port.", async () => {
    await setFreeStorageEnd(shipment, 1);
    await claimEmails();
    await makeDue(shipment);
    await setFreeStorageEnd(shipment, 1, 9);
    expect(await claimEmails()).toEqual([]);
    expect(await listQueuedUpdates(shipment)).toEqual([]);
  });

  test("A claim deletes the update about a rejected document after the upload of a new file, and returns the other updates.", async () => {
    await callRpc("reject_document", { document_id: (await uploadDocument(shipment)).id, reason: "Blurred" });
    await callRpc("send_note", { shipment_id: shipment, note: "It came" });
    await makeDue(shipment);
    await uploadDocument(shipment);
    expect(await claimEmails()).toMatchObject([{ events: [{ kind: "note" }] }]);
    expect(await query("select kind from public.email_outbox")).toEqual([{ kind: "note" }]);
  });

  test("A claim deletes the update about a charge if the charge is paid, and the update about a payment if the charge is unpaid again.", async () => {
    const setPaid = (paid: boolean) =>
      callRpc("set_charge_paid", { shipment_id: shipment, item: "duties", paid, reason: paid ? null : "It bounced" });
    await callRpc("set_charge", createChargeArgs(shipment));
    await setPaid(true);
    await setPaid(false);
    await makeDue(shipment);
    const [email] = await claimEmails();
    expect(email?.events).toMatchObject([{ kind: "charge", detail: "duties", reason: null }]);
    await callRpc("set_charge", { ...createChargeArgs(shipment), amount: 7 });
    await makeDue(shipment);
    await setPaid(true);
    expect(await claimEmails()).toMatchObject([{ events: [{ kind: "paid", detail: "duties" }] }]);
    expect(await query("select kind from public.email_outbox where kind = 'charge' and claimed_at is null")).toEqual(
      [],
    );
  });

  test("A claim deletes the update about verified documents if a verification was undone, but not after the next verification.", async () => {
    for (const name of DEFAULT_DOCUMENTS.slice(1)) await uploadDocument(shipment, name, { verified: true });
    const { id: document_id, version } = await uploadDocument(shipment, DEFAULT_DOCUMENTS[0]);
    const verify = () => callRpc("verify_document", { document_id, sha256, storage_version: version });
    await verify();
    await makeDue(shipment);
    await callRpc("unverify_document", { document_id, reason: "Wrong" });
    expect(await claimEmails()).toEqual([]);
    expect(await listQueuedUpdates(shipment)).toEqual([]);
    await verify();
    await makeDue(shipment);
    expect(await claimEmails()).toMatchObject([{ events: [{ kind: "verified" }] }]);
  });

  test("A claim returns only the update about the saved arrival, and deletes the update if the arrival was removed.", async () => {
    const arrival = { shipment_id: shipment, storage_location: "mombasa", day: "2026-03-01", cargo: "container-20" };
    const save = (more: object = {}) =>
      callRpc("save_arrival", { ...arrival, free_storage_ends_on: "2026-03-09", ...more });
    for (const change of [{}, { day: "2026-03-02" }, { storage_location: "nairobi" }]) await save(change);
    await makeDue(shipment);
    expect(await claimEmails()).toMatchObject([{ events: [{ kind: "arrived", detail: "nairobi 2026-03-01" }] }]);
    expect(await query("select from public.email_outbox")).toHaveLength(1);
    await save();
    await makeDue(shipment);
    await callRpc("remove_arrival", { shipment_id: shipment, reason: "Another ship" });
    expect(await claimEmails()).toEqual([]);
  });

  test("If the first shipments have only outdated updates, the same claim returns the next shipment's updates.", async () => {
    const shipments = [shipment, await newShipment(owner), await newShipment(owner)];
    for (const [index, id] of shipments.entries()) {
      await callRpc("set_charge", { ...createChargeArgs(shipment), shipment_id: id });
      if (index < 2) await query("update public.charges set paid_at = now() where shipment_id = $1", [id]);
      const makeOverdue = "update public.email_outbox set due_at = now() - $2::interval where shipment_id = $1";
      await query(makeOverdue, [id, `${3 - index} minutes`]);
    }
    expect((await claimEmails(1)).map(({ shipment_id }) => shipment_id)).toEqual([shipments[2]]);
    expect(await query("select shipment_id from public.email_outbox")).toEqual([{ shipment_id: shipments[2] }]);
    expect(await claimEmails(1)).toEqual([]);
  });
});
