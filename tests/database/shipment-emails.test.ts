import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eraseAccount } from "../../app/models/retention.server.ts";
import { callConcurrently, newStaffMember, readDeskState, runInSession } from "../support/staff-members.ts";
import { type AppSupabaseClient, startTestBackend, toUntypedClient } from "../support/test-backend.ts";

type TestClient = Awaited<ReturnType<typeof testBackend.newClient>>;
type QueuedUpdate = { kind: string; detail: string; reason: string | null };
type ClaimedEmail = { ids: string[]; shipment_id: string; events: QueuedUpdate[] } & Record<string, unknown>;

let testBackend: Awaited<ReturnType<typeof startTestBackend>>;
let clerk: Awaited<ReturnType<typeof newStaffMember>>;
let owner: TestClient;
/** A fresh shipment of the owner's for each test, alone with what is to be told. */
let shipment: string;

const sha256 = "0".repeat(64);

beforeAll(async () => {
  testBackend = await startTestBackend();
  owner = await testBackend.newClient("owner@client.example");
  clerk = await newStaffMember(testBackend, "clerk", "clerk@company.example");
});
afterAll(() => testBackend.close());
beforeEach(async () => {
  await query(
    "update public.shipments set arrival_place = null, arrived_on = null, container_size = null, free_storage_ends_on = null",
  );
  await query("delete from public.email_outbox");
  shipment = await newShipment();
});

const createRejectionArgs = async () => ({ document_id: (await uploadDocument()).id, reason: "Blurred" });
/** The acts that a client is told of, with their arguments and what the notice says. */
const emailedActions: [string, string, () => object | Promise<object>, QueuedUpdate][] = [
  ["a move", "move_shipment", createMoveArgs, { kind: "stage", detail: "2", reason: null }],
  [
    "a correction",
    "correct_stage",
    () => ({ shipment_id: shipment, stage: 7, reason: "It is there" }),
    { kind: "stage", detail: "7", reason: null },
  ],
  [
    "a note",
    "send_note",
    () => ({ shipment_id: shipment, note: "Wire 5 USD" }),
    { kind: "note", detail: "note", reason: null },
  ],
  [
    "a document sent back",
    "reject_document",
    createRejectionArgs,
    { kind: "rejected", detail: "Packing List", reason: "Blurred" },
  ],
  ["a charge", "set_charge", createChargeArgs, { kind: "charge", detail: "duties", reason: null }],
  [
    "a move of many",
    "move_shipments",
    async () => {
      for (const name of ["Packing List", "Commercial Invoice", "Insurance Certificate", "Bill of Lading"])
        await uploadDocument(name);
      return { moves: [{ id: shipment }] };
    },
    { kind: "stage", detail: "2", reason: null },
  ],
];

describe.each(emailedActions)("%s", (_what, name, args, happened) => {
  test.each(["the desk", "a command"])(
    "by %s writes one notice in its own transaction, due in ten minutes",
    async (who) => {
      await callRpc(name, await args(), who === "the desk" ? clerk.supabase : testBackend.serviceRole);
      expect(await listQueuedUpdates()).toEqual([happened]);
      const [row] = await query(
        `select notice.account_id, notice.xmin = act.xmin as in_one, notice.due_at - notice.created_at = interval '10 minutes' as in_ten
       from public.email_outbox as notice join public.audit_log as act on act.shipment_id = notice.shipment_id`,
      );
      expect(row).toEqual({ account_id: owner.id, in_one: true, in_ten: true });
    },
  );

  test("is told once of a form that comes eight times at once", async () => {
    const form = { ...(await args()), idempotency_key: randomUUID() };
    const calls = Array.from({ length: 8 }, () => ({ name, args: { ...form }, token: clerk.accessToken }));
    expect((await callConcurrently(testBackend, calls)).map(({ rejection }) => rejection)).toEqual(
      calls.map(() => undefined),
    );
    await callRpc(name, form);
    expect(await listQueuedUpdates()).toEqual([happened]);
  });

  test("is not done where its notice cannot be written", async () => {
    const given = await args();
    await testBackend.backend.db.exec(`
      create function public.refuse_notice() returns trigger language plpgsql as
        $$ begin raise exception 'the outbox is full'; end $$;
      create trigger refuse_notice before insert on public.email_outbox for each row execute function public.refuse_notice();
    `);
    try {
      const before = await readDeskState(testBackend);
      const { error } = await toUntypedClient(clerk.supabase).rpc(name, given);
      expect(error?.message).toBe("the outbox is full");
      expect(await readDeskState(testBackend)).toEqual(before);
    } finally {
      await testBackend.backend.db.exec(
        "drop trigger refuse_notice on public.email_outbox; drop function public.refuse_notice",
      );
    }
  });

  test("that is rolled back, or is done for an account that is closed or wants none, is told to nobody", async () => {
    const given = await args();
    const named = Object.keys(given).map((key, index) => `${key} => $${index + 1}`);
    const rolledBack = runInSession(testBackend, async (session) => {
      await session`select set_config('role', 'service_role', true)`;
      await session.unsafe(`select public.${name}(${named.join(", ")})`, Object.values(given) as never[]);
      await session`select set_config('role', 'none', true)`;
      const [row] = await session`select count(*)::integer from public.email_outbox`;
      throw new Error(`${row?.count} was written`);
    });
    await expect(rolledBack).rejects.toThrow("1 was written");
    expect(await listQueuedUpdates()).toEqual([]);
    await setEmailsEnabled(false);
    await callRpc(name, given);
    expect(await listQueuedUpdates()).toEqual([]);
    await setEmailsEnabled(true);
    await callRpc("close_account", { account_id: owner.id, reason: "They asked" });
    shipment = await newShipment();
    await callRpc(name, await args());
    expect(await listQueuedUpdates()).toEqual([]);
    await callRpc("reopen_account", { account_id: owner.id, reason: "They called" });
    shipment = await newShipment();
    await callRpc(name, await args());
    expect(await listQueuedUpdates()).toEqual([happened]);
  });
});

test("other acts are told by no mail", async () => {
  const list = await uploadDocument();
  await callRpc("set_charge", createChargeArgs());
  await query("delete from public.email_outbox");
  const arrival = { place: "mombasa", day: "2026-03-01", size: 20, free_storage_ends_on: "2026-03-05" };
  const quiet: [string, object][] = [
    ["save_awb", { shipment_id: shipment, awb: "MEDUX4471203" }],
    ["save_arrival", { shipment_id: shipment, ...arrival }],
    ["verify_document", { document_id: list.id, sha256, storage_version: list.version }],
    ["open_document", { document_id: list.id, shipment_id: shipment }],
    ["unverify_document", { document_id: list.id, reason: "Wrong" }],
    ["set_charge_paid", { shipment_id: shipment, item: "duties", paid: true }],
    ["set_charge_paid", { shipment_id: shipment, item: "duties", paid: false, reason: "It bounced" }],
    ["announce", { text: "All is well" }],
    ["end_announcement", {}],
    ["request_password_link", { account_id: owner.id }],
    ["issue_client_ids", { how_many: 1 }],
  ];
  for (const [name, args] of quiet) await callRpc(name, args);
  await callRpc("extend_shipment_retention", { shipment_id: shipment, day: "2099-01-01" }, testBackend.serviceRole);
  expect(await query("select from public.audit_log where created_at > now() - interval '1 minute'")).not.toEqual([]);
  expect(await query("select kind from public.email_outbox")).toEqual([]);
});

test("acts that are refused, or ask back, are told by no mail", async () => {
  const { id } = await uploadDocument();
  const rejection: [string, object][] = [
    ["move_shipment", { shipment_id: shipment }],
    ["move_shipment", { shipment_id: shipment, despite_missing: true, expected_version: 99 }],
    ["move_shipments", { moves: [{ id: shipment }] }],
    ["correct_stage", { shipment_id: shipment, stage: 1, reason: "It is there" }],
    ["correct_stage", { shipment_id: shipment, stage: 4, reason: " " }],
    ["send_note", { shipment_id: shipment, note: " " }],
    ["set_charge", { shipment_id: shipment, item: "duties", amount: -1, currency: "KES" }],
    ["set_charge", { shipment_id: shipment, item: "bribe", amount: 1, currency: "KES" }],
    ["reject_document", { document_id: id, reason: "" }],
    ["reject_document", { document_id: id, reason: "Blurred", expected_version: 99 }],
  ];
  for (const [name, args] of rejection) await callRpc(name, args).catch(() => undefined);
  expect(await query("select kind from public.email_outbox")).toEqual([]);
  expect(await query("select action from public.audit_log where shipment_id = $1", [shipment])).toEqual([]);
});

describe("an account that wants no notices", () => {
  test("has those dropped that wait, nobody else's and none that was sent, and gets them again once it wants", async () => {
    const other = await testBackend.newClient("other@client.example");
    const theirs = await newShipment(other);
    await callRpc("move_shipment", createMoveArgs());
    await makeDue();
    const [first] = await claimEmails();
    await finishEmails(first, true);
    await callRpc("send_note", { shipment_id: shipment, note: "It came" });
    await callRpc("send_note", { shipment_id: theirs, note: "It came" });
    for (const twice of [1, 2]) {
      await setEmailsEnabled(false);
      expect(await listQueuedUpdates(), `${twice}`).toEqual([]);
    }
    expect(await query("select from public.email_outbox where shipment_id = $1", [shipment])).toHaveLength(1);
    expect(await listQueuedUpdates(theirs)).toHaveLength(1);
    await callRpc("move_shipment", createMoveArgs());
    expect(await listQueuedUpdates()).toEqual([]);
    for (const twice of [1, 2]) {
      await setEmailsEnabled(true);
      await callRpc("send_note", { shipment_id: shipment, note: `Again ${twice}` });
      expect(await listQueuedUpdates()).toHaveLength(twice);
    }
  });

  test("is not told of free storage, and an account that there is not is nothing", async () => {
    await setFreeStorageEnd(2);
    await setEmailsEnabled(false);
    await claimEmails();
    expect(await query("select from public.email_outbox")).toEqual([]);
    await setEmailsEnabled(true);
    for (const wanted of [false, true]) await setEmailsEnabled(wanted, randomUUID());
    expect(await query("select from private.email_opt_outs")).toEqual([]);
  });
});

describe("what is claimed", () => {
  test("is all that happened to a shipment once the first of it is due, oldest first, as it stands now", async () => {
    await callRpc("move_shipment", createMoveArgs());
    await callRpc("set_charge", createChargeArgs());
    await callRpc(...(["reject_document", await createRejectionArgs()] as const));
    const other = await newShipment();
    await callRpc("send_note", { shipment_id: other, note: "It came" });
    expect(await claimEmails()).toEqual([]);
    await query("update public.email_outbox set due_at = now() where kind = 'stage'");
    const claimed = await claimEmails();
    expect(claimed).toEqual([
      {
        ...{ ids: expect.any(Array), account_id: owner.id, email: owner.email, shipment_id: shipment, name: "Tea" },
        ...{ stage: 2, status: "Document Verification", waiting_on: "client" },
        events: [
          { kind: "stage", detail: "2", reason: null },
          { kind: "charge", detail: "duties", reason: null },
          { kind: "rejected", detail: "Packing List", reason: "Blurred" },
        ],
      },
    ]);
    expect(claimed[0]?.ids).toHaveLength(3);
    expect(await claimEmails()).toEqual([]);
    await makeDue(other);
    expect((await claimEmails()).map((one) => [one.shipment_id, one.events.length])).toEqual([[other, 1]]);
  });

  test("is nothing that is due a moment later", async () => {
    await callRpc("move_shipment", createMoveArgs());
    await query("update public.email_outbox set due_at = now() + interval '2 seconds'");
    expect(await claimEmails()).toEqual([]);
  });

  test("stays apart for two shipments of one client, and is as many as were asked for", async () => {
    const shipments = [shipment, await newShipment(), await newShipment()];
    for (const id of shipments) await callRpc("send_note", { shipment_id: id, note: "It came" });
    await query("update public.email_outbox set due_at = now()");
    const [two, one, none] = [await claimEmails(2), await claimEmails(2), await claimEmails(2)];
    expect([two.length, one.length, none.length]).toEqual([2, 1, 0]);
    expect([...two, ...one].map((each) => each.shipment_id).sort()).toEqual([...shipments].sort());
  });

  test("is claimed again after five minutes and not before, and counts the attempts", async () => {
    await callRpc("move_shipment", createMoveArgs());
    await makeDue();
    const [first] = await claimEmails();
    await shiftTime("claimed_at", "4 minutes 50 seconds");
    expect(await claimEmails()).toEqual([]);
    await shiftTime("claimed_at", "5 minutes 1 second");
    const [second] = await claimEmails();
    expect(second).toEqual(first);
    expect(await claimEmails()).toEqual([]);
    expect(await query("select attempt_count from public.email_outbox")).toEqual([{ attempt_count: 2 }]);
  });

  test("by eight at once is each notice of 200 shipments exactly once", async () => {
    await query(
      `with made as (
         insert into public.shipments (user_id, name) select $1, 'Crate ' || number from generate_series(1, 200) as number
         returning id
       )
       insert into public.email_outbox (account_id, shipment_id, kind, detail, due_at)
       select $1, made.id, kind, 'note', now() - interval '1 minute' from made, unnest(array['note', 'stage']) as kind`,
      [owner.id],
    );
    const claimed = await claimAll();
    const ids = claimed.flatMap((one) => one.ids);
    expect([ids.length, new Set(ids).size]).toEqual([400, 400]);
    expect(await query("select from public.email_outbox where attempt_count <> 1 or claimed_at is null")).toEqual([]);
  });

  test("by eight at once is one mail for each shipment, however much happened to it", async () => {
    await query(
      `with made as (
         insert into public.shipments (user_id, name) select $1, 'Box ' || number from generate_series(1, 20) as number
         returning id
       )
       insert into public.email_outbox (account_id, shipment_id, kind, detail, due_at)
       select $1, made.id, 'note', 'note', now() - interval '1 minute' from generate_series(1, 50), made`,
      [owner.id],
    );
    const emails = (await claimAll(2000)).map((one) => one.shipment_id);
    expect([emails.length, new Set(emails).size]).toEqual([20, 20]);
  });

  test("is nothing of an account that was closed while it waited", async () => {
    await callRpc("send_note", { shipment_id: shipment, note: "It came" });
    await makeDue();
    await callRpc("close_account", { account_id: owner.id, reason: "They asked" });
    try {
      expect(await claimEmails()).toEqual([]);
    } finally {
      await callRpc("reopen_account", { account_id: owner.id, reason: "They called" });
    }
  });

  /** Claims as eight processes at the same time, until nothing is left. */
  async function claimAll(most = 50): Promise<ClaimedEmail[]> {
    const claimed: ClaimedEmail[] = [];
    for (;;) {
      const calls = Array.from({ length: 8 }, () => ({ name: "claim_shipment_emails", args: { max_count: most } }));
      const results = await callConcurrently(testBackend, calls);
      expect(results.map(({ rejection }) => rejection)).toEqual(calls.map(() => undefined));
      const round = results.flatMap(({ result }) => result as ClaimedEmail[]);
      if (round.length === 0) return claimed;
      claimed.push(...round);
    }
  }
});

describe("free storage", () => {
  test.each([0, 1, 2])(
    "that ends in %i days is told once, ten minutes later, and once more for another last day",
    async (days) => {
      const day = await setFreeStorageEnd(days);
      for (let look = 0; look < 3; look += 1) await claimEmails();
      expect(await listQueuedUpdates()).toEqual([{ kind: "storage", detail: day, reason: null }]);
      await makeDue();
      const [one] = await claimEmails();
      expect(one?.events).toEqual([{ kind: "storage", detail: day, reason: null }]);
      await finishEmails(one, true);
      await claimEmails();
      expect(await listQueuedUpdates()).toEqual([]);
      const other = await setFreeStorageEnd((days + 1) % 3);
      await claimEmails();
      expect(await listQueuedUpdates()).toEqual([{ kind: "storage", detail: other, reason: null }]);
    },
  );

  test.each([-1, 3])("that ends in %i days is not told", async (days) => {
    await setFreeStorageEnd(days);
    await claimEmails();
    expect(await listQueuedUpdates()).toEqual([]);
  });

  test("is told up to stage 8, and not at stage 9 or 10", async () => {
    const seen: Record<number, number> = {};
    for (const stage of [10, 9, 8]) {
      await setFreeStorageEnd(2, stage);
      await claimEmails();
      seen[stage] = (await listQueuedUpdates()).length;
    }
    expect(seen).toEqual({ 8: 1, 9: 0, 10: 0 });
  });

  test("is told once by eight that look at once", async () => {
    await setFreeStorageEnd(1);
    const results = await callConcurrently(
      testBackend,
      Array.from({ length: 8 }, () => ({ name: "claim_shipment_emails", args: {} })),
    );
    expect(results.map(({ rejection }) => rejection)).toEqual(results.map(() => undefined));
    expect(await listQueuedUpdates()).toHaveLength(1);
  });
});

describe("a notice that no longer holds is not claimed, and is gone:", () => {
  test("free storage that ends on another day by now: that day is told, and not the old one", async () => {
    const old = await setFreeStorageEnd(1);
    await claimEmails();
    await makeDue();
    const day = await setFreeStorageEnd(2);
    expect((await claimEmails()).map((one) => one.events)).toEqual([[{ kind: "storage", detail: day, reason: null }]]);
    expect(await query("select detail from public.email_outbox")).toEqual([{ detail: day }]);
    expect(day).not.toBe(old);
  });

  test("free storage of cargo that has left meanwhile", async () => {
    await setFreeStorageEnd(1);
    await claimEmails();
    await makeDue();
    await setFreeStorageEnd(1, 9);
    expect(await claimEmails()).toEqual([]);
    expect(await listQueuedUpdates()).toEqual([]);
  });

  test("a document that was sent back and is there again", async () => {
    await callRpc("reject_document", await createRejectionArgs());
    await makeDue();
    await uploadDocument();
    expect(await claimEmails()).toEqual([]);
    expect(await listQueuedUpdates()).toEqual([]);
  });

  test("a charge that is paid; one whose payment was taken back holds again", async () => {
    const paid = (is: boolean) =>
      callRpc("set_charge_paid", {
        ...{ shipment_id: shipment, item: "duties", paid: is },
        ...(!is && { reason: "It bounced" }),
      });
    await callRpc("set_charge", createChargeArgs());
    await paid(true);
    await paid(false);
    await makeDue();
    const [one] = await claimEmails();
    expect(one?.events).toEqual([{ kind: "charge", detail: "duties", reason: null }]);
    await callRpc("set_charge", { ...createChargeArgs(), amount: 7 });
    await makeDue();
    await paid(true);
    expect(await claimEmails()).toEqual([]);
    expect(await query("select from public.email_outbox where claimed_at is null")).toEqual([]);
  });

  test("while what else happened to that shipment is told, and what holds of another", async () => {
    const other = await newShipment();
    await callRpc("reject_document", await createRejectionArgs());
    await callRpc("send_note", { shipment_id: shipment, note: "It came" });
    await callRpc("set_charge", createChargeArgs());
    await callRpc("set_charge", { ...createChargeArgs(), item: "idf-fee" });
    await callRpc("set_charge", { ...createChargeArgs(), shipment_id: other });
    await uploadDocument();
    await callRpc("set_charge_paid", { shipment_id: shipment, item: "duties", paid: true });
    for (const id of [shipment, other]) await makeDue(id);
    const told = (await claimEmails()).map((one) => [
      one.shipment_id,
      one.events.map(({ kind, detail }) => `${kind} ${detail}`),
    ]);
    expect(new Map(told as [string, string[]][])).toEqual(
      new Map([
        [shipment, ["note note", "charge idf-fee"]],
        [other, ["charge duties"]],
      ]),
    );
    expect(await query("select from public.email_outbox")).toHaveLength(3);
  });

  test("and where that is all of the first shipments, the next ones are claimed by the same call", async () => {
    const shipments = [shipment, await newShipment(), await newShipment()];
    for (const [index, id] of shipments.entries()) {
      await callRpc("set_charge", { ...createChargeArgs(), shipment_id: id });
      if (index < 2) await callRpc("set_charge_paid", { shipment_id: id, item: "duties", paid: true });
      await query("update public.email_outbox set due_at = now() - $2::interval where shipment_id = $1", [
        id,
        `${3 - index} minutes`,
      ]);
    }
    expect((await claimEmails(1)).map((one) => one.shipment_id)).toEqual([shipments[2]]);
    expect(await query("select shipment_id from public.email_outbox")).toEqual([{ shipment_id: shipments[2] }]);
    expect(await claimEmails(1)).toEqual([]);
  });
});

describe("a claimed notice", () => {
  const failures = () =>
    query("select kind, sent_to, account_id from public.failed_emails where kind = 'shipment update'");

  test("that was sent is never claimed again, whatever is said of it later", async () => {
    await callRpc("move_shipment", createMoveArgs());
    await makeDue();
    const [one] = await claimEmails();
    await finishEmails(one, true);
    await finishEmails(one, false);
    await query("update public.email_outbox set due_at = now() - interval '1 hour'");
    expect(await claimEmails()).toEqual([]);
    expect(await query("select from public.email_outbox where sent_at is null")).toEqual([]);
  });

  test("that could not be sent is tried later each time, at last once an hour", async () => {
    await callRpc("move_shipment", createMoveArgs());
    await makeDue();
    const waits: number[] = [];
    for (let round = 0; round < 9; round += 1) {
      const [one] = await claimEmails();
      await finishEmails(one, false);
      expect(await claimEmails()).toEqual([]);
      const [row] = await query<{ wait: number }>(
        "select round(extract(epoch from due_at - now()))::integer as wait from public.email_outbox",
      );
      waits.push(row?.wait ?? 0);
      await query("update public.email_outbox set due_at = now()");
    }
    const hour = 3600;
    expect(waits.every((wait, index) => wait > (waits[index - 1] ?? 0) - 2 && wait <= hour)).toBe(true);
    expect(waits.slice(0, 4).every((wait, index) => wait > (waits[index - 1] ?? 0) + 30)).toBe(true);
    expect(waits.at(-1)).toBeGreaterThan(hour - 5);
    expect(await failures()).toEqual([]);
  });

  test("that could not be sent for a day is not tried any more, and stands at the desk once, to be dealt with", async () => {
    await callRpc("move_shipment", createMoveArgs());
    await callRpc("send_note", { shipment_id: shipment, note: "It came" });
    await makeDue();
    await query("update public.email_outbox set created_at = now() - interval '23 hours 59 minutes'");
    await finishEmails((await claimEmails())[0], false);
    expect(await failures()).toEqual([]);
    await query("update public.email_outbox set created_at = now() - interval '24 hours 1 minute', due_at = now()");
    const [one] = await claimEmails();
    expect(one?.events).toHaveLength(2);
    await finishEmails(one, false);
    expect(await failures()).toEqual([{ kind: "shipment update", sent_to: owner.email, account_id: owner.id }]);
    const { data } = await toUntypedClient(clerk.supabase).rpc("desk_today", {}, { get: true });
    expect(data.failed_emails.rows).toEqual([
      expect.objectContaining({ kind: "shipment update", sent_to: owner.email }),
    ]);
    await finishEmails(one, false);
    expect(await failures()).toHaveLength(1);
    await query("update public.email_outbox set due_at = now(), claimed_at = null");
    expect(await claimEmails()).toEqual([]);
    await callRpc("resolve_failed_email", { email_id: data.failed_emails.rows[0].id });
    await query("delete from public.failed_emails");
  });

  test("is kept for 30 days, sent or not", async () => {
    await callRpc("move_shipment", createMoveArgs());
    await callRpc("send_note", { shipment_id: shipment, note: "It came" });
    await query(
      "update public.email_outbox set sent_at = now(), created_at = now() - interval '29 days 23 hours' where kind = 'note'",
    );
    await query(
      "update public.email_outbox set sent_at = now(), created_at = now() - interval '30 days 1 hour' where kind = 'stage'",
    );
    await claimEmails();
    expect(await query("select kind from public.email_outbox")).toEqual([{ kind: "note" }]);
  });
});

test("a shipment that is deleted takes its notices along, and an account that is erased all of its own", async () => {
  const client = await testBackend.newClient("leaving@client.example");
  const [one, two] = [await newShipment(client), await newShipment(client)];
  for (const id of [one, two]) await callRpc("send_note", { shipment_id: id, note: "It came" });
  await testBackend.serviceRole.rpc("set_shipment_emails_enabled", { account_id: client.id, enabled: false });
  await testBackend.serviceRole.rpc("set_shipment_emails_enabled", { account_id: client.id, enabled: true });
  for (const id of [one, two]) await callRpc("send_note", { shipment_id: id, note: "It came" });
  await query("update public.shipments set retention_ends_on = '2020-01-01' where user_id = $1", [client.id]);
  const left = () => query("select shipment_id from public.email_outbox where account_id = $1", [client.id]);
  expect(await left()).toHaveLength(2);
  await query("update public.email_outbox set claimed_at = now() where shipment_id = $1", [one]);
  await query("delete from public.shipments where id = $1", [one]);
  expect(await left()).toEqual([{ shipment_id: two }]);
  await callRpc("send_note", { shipment_id: shipment, note: "It came" });
  await query("insert into private.email_opt_outs (account_id) values ($1)", [client.id]);
  expect(await eraseAccount(testBackend.serviceRole, testBackend.serviceRole, client.id, "They asked")).toBeNull();
  expect(await left()).toEqual([]);
  expect(await query("select from private.email_opt_outs")).toEqual([]);
  expect(await listQueuedUpdates()).toHaveLength(1);
});

function createMoveArgs() {
  return { shipment_id: shipment, despite_missing: true };
}

function createChargeArgs() {
  return { shipment_id: shipment, item: "duties", amount: 1234.5, currency: "KES" };
}

/** What an act answers. Throws its refusal. */
async function callRpc(name: string, args: object, supabase: AppSupabaseClient = clerk.supabase): Promise<unknown> {
  const { data, error } = await toUntypedClient(supabase).rpc(name, args);
  if (error) throw new Error(`${name}: ${error.message}`);
  return data;
}

/** What waits to be told of a shipment, oldest first. */
function listQueuedUpdates(id = shipment): Promise<QueuedUpdate[]> {
  return query(
    "select kind, detail, reason from public.email_outbox where shipment_id = $1 and sent_at is null order by created_at, id",
    [id],
  );
}

async function claimEmails(most?: number): Promise<ClaimedEmail[]> {
  const { data, error } = await testBackend.serviceRole.rpc("claim_shipment_emails", most ? { max_count: most } : {});
  if (error) throw error;
  return data as unknown as ClaimedEmail[];
}

async function finishEmails(claimed: ClaimedEmail | undefined, sent: boolean): Promise<void> {
  const { error } = await testBackend.serviceRole.rpc("finish_shipment_emails", {
    email_ids: claimed?.ids ?? [],
    sent,
  });
  if (error) throw error;
}

async function setEmailsEnabled(enabled: boolean, account = owner.id): Promise<void> {
  const { error } = await testBackend.serviceRole.rpc("set_shipment_emails_enabled", { account_id: account, enabled });
  if (error) throw error;
}

const makeDue = (id = shipment) => query("update public.email_outbox set due_at = now() where shipment_id = $1", [id]);
const shiftTime = (column: string, time: string) =>
  query(`update public.email_outbox set ${column} = now() - $1::interval`, [time]);

/** Free storage of the test's shipment ends in so many days, as the calendar is in East Africa. Returns the day. */
async function setFreeStorageEnd(days: number, stage = 1): Promise<string> {
  const [row] = await query<{ day: string }>(
    `update public.shipments
     set arrival_place = 'mombasa', container_size = 20, arrived_on = current_date - 4, stage = $3,
       free_storage_ends_on = (now() at time zone 'Africa/Nairobi')::date + $2::integer
     where id = $1 returning free_storage_ends_on::text as day`,
    [shipment, days, stage],
  );
  return row?.day ?? "";
}

async function newShipment(client = owner): Promise<string> {
  const made = await query<{ id: string }>(
    "insert into public.shipments (user_id, name) values ($1, 'Tea') returning id",
    [client.id],
  );
  return made[0]?.id ?? "";
}

/** A document of the test's shipment that counts a file, as the server leaves it. */
async function uploadDocument(name = "Packing List"): Promise<{ id: string; version: string }> {
  const path = `${owner.id}/${shipment}/${name.toLowerCase().replaceAll(" ", "-")}-${randomUUID().slice(-12)}-list.pdf`;
  const object = "insert into storage.objects (bucket_id, name, version) values ('documents', $1, $2)";
  await query(object, [path, randomUUID()]);
  const file = { sha256, file_name: "list.pdf", file_size: 8, media_type: "application/pdf" };
  const { data, error } = await testBackend.serviceRole
    .from("documents")
    .update({ uploaded: true, storage_path: path, ...file })
    .eq("shipment_id", shipment)
    .eq("name", name)
    .select("id, storage_version")
    .single();
  if (error) throw error;
  return { id: data.id, version: data.storage_version ?? "" };
}

async function query<T = Record<string, unknown>>(text: string, values: unknown[] = []): Promise<T[]> {
  return (await testBackend.backend.db.query<T>(text, values)).rows;
}
