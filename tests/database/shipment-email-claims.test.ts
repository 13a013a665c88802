import { beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_DOCUMENTS } from "../../app/models/document.ts";
import { readPage } from "../support/database-suite.ts";
import {
  type ClaimedEmail,
  createChargeArgs,
  createMoveArgs,
  setUpShipmentEmails,
} from "../support/shipment-email-suite.ts";
import { callRepeatedly } from "../support/staff-members.ts";

const { testBackend, owner, clerk, query, callRpc, newShipment, uploadDocument, claimEmails, finishEmails, makeDue } =
  setUpShipmentEmails();
const unset = { reason: null, note: null, previous_stage: null };
let shipment: string;
beforeEach(async () => {
  shipment = await newShipment(owner);
});

describe("claiming shipment emails", () => {
  test("A claim returns all updates of a shipment as soon as the first update is due, oldest first, with the current stage.", async () => {
    await callRpc("move_shipment", createMoveArgs(shipment));
    await callRpc("set_charge", createChargeArgs(shipment));
    await callRpc("reject_document", { document_id: (await uploadDocument(shipment)).id, reason: "Blurred" });
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
        ...{ id: shipment, awb: null, container_numbers: [], arrival: null, version: 1, retention_ends_on: day },
        ...{ waiting_since: text, changed_at: text, created_at: text, full_name: text },
        documents: [...DEFAULT_DOCUMENTS].sort().map((name) => ({
          ...{ name, uploaded: false },
          rejected_at: name === "Packing List" ? text : null,
        })),
        charges: [{ item: "duties", paid_at: null }],
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

  test("A claim returns each update with its own note, and each move with the stage before it.", async () => {
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

  test("A claim returns the name of the client.", async () => {
    await query(`update auth.users set raw_user_meta_data = '{"full_name": "Grace"}' where id = $1`, [owner.id]);
    await callRpc("send_note", { shipment_id: shipment, note: "It came" });
    await makeDue(shipment);
    expect((await claimEmails())[0]?.full_name).toBe("Grace");
  });

  test("A claim returns no amount, due day or note of a charge.", async () => {
    await callRpc("set_charge", { ...createChargeArgs(shipment), due_on: "2031-07-29", note: "Account 77001122" });
    await makeDue(shipment);
    expect(JSON.stringify((await claimEmails())[0])).not.toMatch(/1234|KES|2031-07|77001122/);
  });

  test("A claim returns no update that is due later.", async () => {
    await callRpc("move_shipment", createMoveArgs(shipment));
    await query("update public.email_outbox set due_at = now() + interval '2 seconds'");
    expect(await claimEmails()).toEqual([]);
  });

  test("A claim returns at most the requested number of emails, one for each shipment.", async () => {
    const shipments = [shipment, await newShipment(owner), await newShipment(owner)];
    for (const id of shipments) await callRpc("send_note", { shipment_id: id, note: "It came" });
    await query("update public.email_outbox set due_at = now()");
    const [first, second, third] = [await claimEmails(2), await claimEmails(2), await claimEmails(2)];
    expect([first.length, second.length, third.length]).toEqual([2, 1, 0]);
    expect([...first, ...second].map(({ shipment_id }) => shipment_id).sort()).toEqual([...shipments].sort());
  });

  test("An unfinished email can be claimed again after five minutes, and its attempts are counted.", async () => {
    await callRpc("move_shipment", createMoveArgs(shipment));
    await makeDue(shipment);
    const [first] = await claimEmails();
    await setClaimTime("4 minutes 50 seconds");
    expect(await claimEmails()).toEqual([]);
    await setClaimTime("5 minutes 1 second");
    const [second] = await claimEmails();
    expect(second).toEqual(first);
    expect(await claimEmails()).toEqual([]);
    expect(await query("select attempt_count from public.email_outbox")).toEqual([{ attempt_count: 2 }]);
  });

  test("Eight parallel processes claim each update of 200 shipments exactly once.", async () => {
    await query(
      `with created as (
         insert into public.shipments (user_id, name) select $1, 'Crate ' || number from generate_series(1, 200) as number
         returning id
       )
       insert into public.email_outbox (account_id, shipment_id, kind, detail, due_at)
       select $1, created.id, kind, 'note', now() - interval '1 minute' from created, unnest(array['note', 'stage']) as kind`,
      [owner.id],
    );
    const claimed = await claimAll();
    const ids = claimed.flatMap(({ ids }) => ids);
    expect([ids.length, new Set(ids).size]).toEqual([400, 400]);
    expect(await query("select from public.email_outbox where attempt_count <> 1 or claimed_at is null")).toEqual([]);
  });

  test("Eight parallel processes claim only one email for each shipment with several updates.", async () => {
    await query(
      `with created as (
         insert into public.shipments (user_id, name) select $1, 'Box ' || number from generate_series(1, 20) as number
         returning id
       )
       insert into public.email_outbox (account_id, shipment_id, kind, detail, due_at)
       select $1, created.id, 'note', 'note', now() - interval '1 minute' from generate_series(1, 50), created`,
      [owner.id],
    );
    const emails = (await claimAll(2000)).map(({ shipment_id }) => shipment_id);
    expect([emails.length, new Set(emails).size]).toEqual([20, 20]);
  });

  test("A claim returns no update of an account that was closed after the update was queued.", async () => {
    await callRpc("send_note", { shipment_id: shipment, note: "It came" });
    await makeDue(shipment);
    await callRpc("close_account", { account_id: owner.id, reason: "They asked" });
    try {
      expect(await claimEmails()).toEqual([]);
    } finally {
      await callRpc("reopen_account", { account_id: owner.id, reason: "They called" });
    }
  });

  /** Claims emails in eight parallel processes until no email is due. */
  async function claimAll(maxCount = 50): Promise<ClaimedEmail[]> {
    const claimed: ClaimedEmail[] = [];
    for (;;) {
      const call = { name: "claim_shipment_emails", args: { max_count: maxCount } };
      const results = await callRepeatedly(testBackend, 8, call);
      expect(results.flatMap(({ rejection }) => rejection ?? [])).toEqual([]);
      const round = results.flatMap(({ result }) => result as ClaimedEmail[]);
      if (round.length === 0) return claimed;
      claimed.push(...round);
    }
  }
});

describe("finishing claimed emails", () => {
  const listFailures = () =>
    query("select kind, sent_to, account_id from public.failed_emails where kind = 'shipment update'");

  test("A sent email is never claimed again, even after a later report of a failure.", async () => {
    await callRpc("move_shipment", createMoveArgs(shipment));
    await makeDue(shipment);
    const [email] = await claimEmails();
    await finishEmails(email, true);
    await finishEmails(email, false);
    await query("update public.email_outbox set due_at = now() - interval '1 hour'");
    expect(await claimEmails()).toEqual([]);
    expect(await query("select from public.email_outbox where sent_at is null")).toEqual([]);
  });

  test("An email that could not be sent is retried after growing delays of at most an hour.", async () => {
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

  test("An email that could not be sent for a day is not retried, and the desk lists it once as failed.", async () => {
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
    await callRpc("resolve_failed_email", { email_id: rows[0].id });
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

/** Sets the time of all claims to `age` ago. */
async function setClaimTime(age: string): Promise<void> {
  await query("update public.email_outbox set claimed_at = now() - $1::interval", [age]);
}
