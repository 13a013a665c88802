import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eraseAccount } from "../../app/models/retention.server.ts";
import { atOnce, deskState, inSession, newColleague } from "../support/colleague.ts";
import { type Handle, memoryBackend, raw } from "../support/memory-backend.ts";

type Client = Awaited<ReturnType<typeof world.newClient>>;
type Happened = { kind: string; what: string; reason: string | null };
type Claim = { ids: string[]; shipment: string; happened: Happened[] } & Record<string, unknown>;

let world: Awaited<ReturnType<typeof memoryBackend>>;
let clerk: Awaited<ReturnType<typeof newColleague>>;
let owner: Client;
/** A fresh shipment of the owner's for each test, alone with what is to be told. */
let shipment: string;

const sha256 = "0".repeat(64);

beforeAll(async () => {
  world = await memoryBackend();
  owner = await world.newClient("owner@client.example");
  clerk = await newColleague(world, "clerk", "clerk@company.example");
});
afterAll(() => world.close());
beforeEach(async () => {
  await query(
    "update public.shipments set arrival_place = null, arrived_on = null, container_size = null, free_until = null",
  );
  await query("delete from public.notices");
  shipment = await newShipment();
});

const sendBack = async () => ({ document_id: (await upload()).id, reason: "Blurred" });
/** The acts that a client is told of, with their arguments and what the notice says. */
const told: [string, string, () => object | Promise<object>, Happened][] = [
  ["a move", "move_shipment", moving, { kind: "stage", what: "Document Verification", reason: null }],
  [
    "a correction",
    "correct_stage",
    () => ({ shipment_id: shipment, stage: 7, reason: "It is there" }),
    { kind: "stage", what: "Inspection & Release", reason: null },
  ],
  [
    "a note",
    "send_note",
    () => ({ shipment_id: shipment, note: "Wire 5 USD" }),
    { kind: "note", what: "note", reason: null },
  ],
  [
    "a document sent back",
    "send_back_document",
    sendBack,
    { kind: "sent back", what: "Packing List", reason: "Blurred" },
  ],
  ["a charge", "set_charge", charging, { kind: "charge", what: "duties", reason: null }],
  [
    "a move of many",
    "move_shipments",
    async () => {
      for (const name of ["Packing List", "Commercial Invoice", "Insurance Certificate", "Bill of Lading"])
        await upload(name);
      return { moves: [{ id: shipment }] };
    },
    { kind: "stage", what: "Document Verification", reason: null },
  ],
];

describe.each(told)("%s", (_what, name, args, happened) => {
  test.each(["the desk", "a command"])(
    "by %s writes one notice in its own transaction, due in ten minutes",
    async (who) => {
      await act(name, await args(), who === "the desk" ? clerk.handle : world.company);
      expect(await waiting()).toEqual([happened]);
      const [row] = await query(
        `select notice.account, notice.xmin = act.xmin as in_one, notice.due_at - notice.made_at = interval '10 minutes' as in_ten
       from public.notices as notice join public.acts as act on act.shipment = notice.shipment_id`,
      );
      expect(row).toEqual({ account: owner.id, in_one: true, in_ten: true });
    },
  );

  test("is told once of a form that comes eight times at once", async () => {
    const form = { ...(await args()), request: randomUUID() };
    const calls = Array.from({ length: 8 }, () => ({ name, args: { ...form }, token: clerk.accessToken }));
    expect((await atOnce(world, calls)).map(({ refused }) => refused)).toEqual(calls.map(() => undefined));
    await act(name, form);
    expect(await waiting()).toEqual([happened]);
  });

  test("is not done where its notice cannot be written", async () => {
    const given = await args();
    await world.backend.db.exec(`
      create function public.refuse_notice() returns trigger language plpgsql as
        $$ begin raise exception 'the outbox is full'; end $$;
      create trigger refuse_notice before insert on public.notices for each row execute function public.refuse_notice();
    `);
    try {
      const before = await deskState(world);
      const { error } = await raw(clerk.handle).rpc(name, given);
      expect(error?.message).toBe("the outbox is full");
      expect(await deskState(world)).toEqual(before);
    } finally {
      await world.backend.db.exec("drop trigger refuse_notice on public.notices; drop function public.refuse_notice");
    }
  });

  test("that is rolled back, or is done for an account that is closed or wants none, is told to nobody", async () => {
    const given = await args();
    const named = Object.keys(given).map((key, index) => `${key} => $${index + 1}`);
    const rolledBack = inSession(world, async (session) => {
      await session`select set_config('role', 'service_role', true)`;
      await session.unsafe(`select public.${name}(${named.join(", ")})`, Object.values(given) as never[]);
      await session`select set_config('role', 'none', true)`;
      const [row] = await session`select count(*)::integer from public.notices`;
      throw new Error(`${row?.count} was written`);
    });
    await expect(rolledBack).rejects.toThrow("1 was written");
    expect(await waiting()).toEqual([]);
    await want(false);
    await act(name, given);
    expect(await waiting()).toEqual([]);
    await want(true);
    await act("close_account", { account: owner.id, reason: "They asked" });
    shipment = await newShipment();
    await act(name, await args());
    expect(await waiting()).toEqual([]);
    await act("open_account", { account: owner.id, reason: "They called" });
    shipment = await newShipment();
    await act(name, await args());
    expect(await waiting()).toEqual([happened]);
  });
});

test("other acts are told by no mail", async () => {
  const list = await upload();
  await act("set_charge", charging());
  await query("delete from public.notices");
  const arrival = { place: "mombasa", day: "2026-03-01", size: 20, free_until: "2026-03-05" };
  const quiet: [string, object][] = [
    ["save_awb", { shipment_id: shipment, awb: "MEDUX4471203" }],
    ["save_arrival", { shipment_id: shipment, ...arrival }],
    ["verify_document", { document_id: list.id, sha256, file_version: list.version }],
    ["open_document", { document_id: list.id, shipment_id: shipment }],
    ["unverify_document", { document_id: list.id, reason: "Wrong" }],
    ["mark_charge", { shipment_id: shipment, item: "duties", paid: true }],
    ["mark_charge", { shipment_id: shipment, item: "duties", paid: false, reason: "It bounced" }],
    ["announce", { text: "All is well" }],
    ["end_announcement", {}],
    ["ask_password_link", { account: owner.id }],
    ["issue_client_ids", { how_many: 1 }],
  ];
  for (const [name, args] of quiet) await act(name, args);
  await act("keep_shipment", { shipment_id: shipment, day: "2099-01-01" }, world.company);
  expect(await query("select from public.acts where at > now() - interval '1 minute'")).not.toEqual([]);
  expect(await query("select kind from public.notices")).toEqual([]);
});

test("acts that are refused, or ask back, are told by no mail", async () => {
  const { id } = await upload();
  const refused: [string, object][] = [
    ["move_shipment", { shipment_id: shipment }],
    ["move_shipment", { shipment_id: shipment, despite_missing: true, seen: 99 }],
    ["move_shipments", { moves: [{ id: shipment }] }],
    ["correct_stage", { shipment_id: shipment, stage: 1, reason: "It is there" }],
    ["correct_stage", { shipment_id: shipment, stage: 4, reason: " " }],
    ["send_note", { shipment_id: shipment, note: " " }],
    ["set_charge", { shipment_id: shipment, item: "duties", amount: -1, currency: "KES" }],
    ["set_charge", { shipment_id: shipment, item: "bribe", amount: 1, currency: "KES" }],
    ["send_back_document", { document_id: id, reason: "" }],
    ["send_back_document", { document_id: id, reason: "Blurred", seen: 99 }],
  ];
  for (const [name, args] of refused) await act(name, args).catch(() => undefined);
  expect(await query("select kind from public.notices")).toEqual([]);
  expect(await query("select act from public.acts where shipment = $1", [shipment])).toEqual([]);
});

describe("an account that wants no notices", () => {
  test("has those dropped that wait, nobody else's and none that was sent, and gets them again once it wants", async () => {
    const other = await world.newClient("other@client.example");
    const theirs = await newShipment(other);
    await act("move_shipment", moving());
    await makeDue();
    const [first] = await claim();
    await settle(first, true);
    await act("send_note", { shipment_id: shipment, note: "It came" });
    await act("send_note", { shipment_id: theirs, note: "It came" });
    for (const twice of [1, 2]) {
      await want(false);
      expect(await waiting(), `${twice}`).toEqual([]);
    }
    expect(await query("select from public.notices where shipment_id = $1", [shipment])).toHaveLength(1);
    expect(await waiting(theirs)).toHaveLength(1);
    await act("move_shipment", moving());
    expect(await waiting()).toEqual([]);
    for (const twice of [1, 2]) {
      await want(true);
      await act("send_note", { shipment_id: shipment, note: `Again ${twice}` });
      expect(await waiting()).toHaveLength(twice);
    }
  });

  test("is not told of free storage, and an account that there is not is nothing", async () => {
    await freeUntil(2);
    await want(false);
    await claim();
    expect(await query("select from public.notices")).toEqual([]);
    await want(true);
    for (const wanted of [false, true]) await want(wanted, randomUUID());
    expect(await query("select from private.notice_refusals")).toEqual([]);
  });
});

describe("what is claimed", () => {
  test("is all that happened to a shipment once the first of it is due, oldest first, as it stands now", async () => {
    await act("move_shipment", moving());
    await act("set_charge", charging());
    await act(...(["send_back_document", await sendBack()] as const));
    const other = await newShipment();
    await act("send_note", { shipment_id: other, note: "It came" });
    expect(await claim()).toEqual([]);
    await query("update public.notices set due_at = now() where kind = 'stage'");
    const claimed = await claim();
    expect(claimed).toEqual([
      {
        ...{ ids: expect.any(Array), account: owner.id, email: owner.email, shipment, name: "Tea" },
        ...{ stage: 2, status: "Document Verification", turn: "client" },
        happened: [
          { kind: "stage", what: "Document Verification", reason: null },
          { kind: "charge", what: "duties", reason: null },
          { kind: "sent back", what: "Packing List", reason: "Blurred" },
        ],
      },
    ]);
    expect(claimed[0]?.ids).toHaveLength(3);
    expect(await claim()).toEqual([]);
    await makeDue(other);
    expect((await claim()).map((one) => [one.shipment, one.happened.length])).toEqual([[other, 1]]);
  });

  test("is nothing that is due a moment later", async () => {
    await act("move_shipment", moving());
    await query("update public.notices set due_at = now() + interval '2 seconds'");
    expect(await claim()).toEqual([]);
  });

  test("stays apart for two shipments of one client, and is as many as were asked for", async () => {
    const shipments = [shipment, await newShipment(), await newShipment()];
    for (const id of shipments) await act("send_note", { shipment_id: id, note: "It came" });
    await query("update public.notices set due_at = now()");
    const [two, one, none] = [await claim(2), await claim(2), await claim(2)];
    expect([two.length, one.length, none.length]).toEqual([2, 1, 0]);
    expect([...two, ...one].map((each) => each.shipment).sort()).toEqual([...shipments].sort());
  });

  test("is claimed again after five minutes and not before, and counts the attempts", async () => {
    await act("move_shipment", moving());
    await makeDue();
    const [first] = await claim();
    await ago("claimed_at", "4 minutes 50 seconds");
    expect(await claim()).toEqual([]);
    await ago("claimed_at", "5 minutes 1 second");
    const [second] = await claim();
    expect(second).toEqual(first);
    expect(await claim()).toEqual([]);
    expect(await query("select attempts from public.notices")).toEqual([{ attempts: 2 }]);
  });

  test("by eight at once is each notice of 200 shipments exactly once", async () => {
    await query(
      `with made as (
         insert into public.shipments (user_id, name) select $1, 'Crate ' || number from generate_series(1, 200) as number
         returning id
       )
       insert into public.notices (account, shipment_id, kind, what, due_at)
       select $1, made.id, kind, 'note', now() - interval '1 minute' from made, unnest(array['note', 'stage']) as kind`,
      [owner.id],
    );
    const claimed = await claimAll();
    const ids = claimed.flatMap((one) => one.ids);
    expect([ids.length, new Set(ids).size]).toEqual([400, 400]);
    expect(await query("select from public.notices where attempts <> 1 or claimed_at is null")).toEqual([]);
  });

  test("by eight at once is one mail for each shipment, however much happened to it", async () => {
    await query(
      `with made as (
         insert into public.shipments (user_id, name) select $1, 'Box ' || number from generate_series(1, 20) as number
         returning id
       )
       insert into public.notices (account, shipment_id, kind, what, due_at)
       select $1, made.id, 'note', 'note', now() - interval '1 minute' from generate_series(1, 50), made`,
      [owner.id],
    );
    const mails = (await claimAll(2000)).map((one) => one.shipment);
    expect([mails.length, new Set(mails).size]).toEqual([20, 20]);
  });

  test("is nothing of an account that was closed while it waited", async () => {
    await act("send_note", { shipment_id: shipment, note: "It came" });
    await makeDue();
    await act("close_account", { account: owner.id, reason: "They asked" });
    try {
      expect(await claim()).toEqual([]);
    } finally {
      await act("open_account", { account: owner.id, reason: "They called" });
    }
  });

  /** Claims as eight processes at the same time, until nothing is left. */
  async function claimAll(most = 50): Promise<Claim[]> {
    const claimed: Claim[] = [];
    for (;;) {
      const calls = Array.from({ length: 8 }, () => ({ name: "claim_notices", args: { most } }));
      const answers = await atOnce(world, calls);
      expect(answers.map(({ refused }) => refused)).toEqual(calls.map(() => undefined));
      const round = answers.flatMap(({ answer }) => answer as Claim[]);
      if (round.length === 0) return claimed;
      claimed.push(...round);
    }
  }
});

describe("free storage", () => {
  test.each([0, 1, 2])(
    "that ends in %i days is told once, ten minutes later, and once more for another last day",
    async (days) => {
      const day = await freeUntil(days);
      for (let look = 0; look < 3; look += 1) await claim();
      expect(await waiting()).toEqual([{ kind: "storage", what: day, reason: null }]);
      await makeDue();
      const [one] = await claim();
      expect(one?.happened).toEqual([{ kind: "storage", what: day, reason: null }]);
      await settle(one, true);
      await claim();
      expect(await waiting()).toEqual([]);
      const other = await freeUntil((days + 1) % 3);
      await claim();
      expect(await waiting()).toEqual([{ kind: "storage", what: other, reason: null }]);
    },
  );

  test.each([-1, 3])("that ends in %i days is not told", async (days) => {
    await freeUntil(days);
    await claim();
    expect(await waiting()).toEqual([]);
  });

  test("is told up to stage 8, and not at stage 9 or 10", async () => {
    const seen: Record<number, number> = {};
    for (const stage of [10, 9, 8]) {
      await freeUntil(2, stage);
      await claim();
      seen[stage] = (await waiting()).length;
    }
    expect(seen).toEqual({ 8: 1, 9: 0, 10: 0 });
  });

  test("is told once by eight that look at once", async () => {
    await freeUntil(1);
    const answers = await atOnce(
      world,
      Array.from({ length: 8 }, () => ({ name: "claim_notices", args: {} })),
    );
    expect(answers.map(({ refused }) => refused)).toEqual(answers.map(() => undefined));
    expect(await waiting()).toHaveLength(1);
  });
});

describe("a notice that no longer holds is not claimed, and is gone:", () => {
  test("free storage that ends on another day by now: that day is told, and not the old one", async () => {
    const old = await freeUntil(1);
    await claim();
    await makeDue();
    const day = await freeUntil(2);
    expect((await claim()).map((one) => one.happened)).toEqual([[{ kind: "storage", what: day, reason: null }]]);
    expect(await query("select what from public.notices")).toEqual([{ what: day }]);
    expect(day).not.toBe(old);
  });

  test("free storage of cargo that has left meanwhile", async () => {
    await freeUntil(1);
    await claim();
    await makeDue();
    await freeUntil(1, 9);
    expect(await claim()).toEqual([]);
    expect(await waiting()).toEqual([]);
  });

  test("a document that was sent back and is there again", async () => {
    await act("send_back_document", await sendBack());
    await makeDue();
    await upload();
    expect(await claim()).toEqual([]);
    expect(await waiting()).toEqual([]);
  });

  test("a charge that is paid; one whose payment was taken back holds again", async () => {
    const paid = (is: boolean) =>
      act("mark_charge", {
        ...{ shipment_id: shipment, item: "duties", paid: is },
        ...(!is && { reason: "It bounced" }),
      });
    await act("set_charge", charging());
    await paid(true);
    await paid(false);
    await makeDue();
    const [one] = await claim();
    expect(one?.happened).toEqual([{ kind: "charge", what: "duties", reason: null }]);
    await act("set_charge", { ...charging(), amount: 7 });
    await makeDue();
    await paid(true);
    expect(await claim()).toEqual([]);
    expect(await query("select from public.notices where claimed_at is null")).toEqual([]);
  });

  test("while what else happened to that shipment is told, and what holds of another", async () => {
    const other = await newShipment();
    await act("send_back_document", await sendBack());
    await act("send_note", { shipment_id: shipment, note: "It came" });
    await act("set_charge", charging());
    await act("set_charge", { ...charging(), item: "idf-fee" });
    await act("set_charge", { ...charging(), shipment_id: other });
    await upload();
    await act("mark_charge", { shipment_id: shipment, item: "duties", paid: true });
    for (const id of [shipment, other]) await makeDue(id);
    const told = (await claim()).map((one) => [one.shipment, one.happened.map(({ kind, what }) => `${kind} ${what}`)]);
    expect(new Map(told as [string, string[]][])).toEqual(
      new Map([
        [shipment, ["note note", "charge idf-fee"]],
        [other, ["charge duties"]],
      ]),
    );
    expect(await query("select from public.notices")).toHaveLength(3);
  });

  test("and where that is all of the first shipments, the next ones are claimed by the same call", async () => {
    const shipments = [shipment, await newShipment(), await newShipment()];
    for (const [index, id] of shipments.entries()) {
      await act("set_charge", { ...charging(), shipment_id: id });
      if (index < 2) await act("mark_charge", { shipment_id: id, item: "duties", paid: true });
      await query("update public.notices set due_at = now() - $2::interval where shipment_id = $1", [
        id,
        `${3 - index} minutes`,
      ]);
    }
    expect((await claim(1)).map((one) => one.shipment)).toEqual([shipments[2]]);
    expect(await query("select shipment_id from public.notices")).toEqual([{ shipment_id: shipments[2] }]);
    expect(await claim(1)).toEqual([]);
  });
});

describe("a claimed notice", () => {
  const failures = () => query("select kind, sent_to, account from public.undelivered_mails where kind = 'notice'");

  test("that was sent is never claimed again, whatever is said of it later", async () => {
    await act("move_shipment", moving());
    await makeDue();
    const [one] = await claim();
    await settle(one, true);
    await settle(one, false);
    await query("update public.notices set due_at = now() - interval '1 hour'");
    expect(await claim()).toEqual([]);
    expect(await query("select from public.notices where sent_at is null")).toEqual([]);
  });

  test("that could not be sent is tried later each time, at last once an hour", async () => {
    await act("move_shipment", moving());
    await makeDue();
    const waits: number[] = [];
    for (let round = 0; round < 9; round += 1) {
      const [one] = await claim();
      await settle(one, false);
      expect(await claim()).toEqual([]);
      const [row] = await query<{ wait: number }>(
        "select round(extract(epoch from due_at - now()))::integer as wait from public.notices",
      );
      waits.push(row?.wait ?? 0);
      await query("update public.notices set due_at = now()");
    }
    const hour = 3600;
    expect(waits.every((wait, index) => wait > (waits[index - 1] ?? 0) - 2 && wait <= hour)).toBe(true);
    expect(waits.slice(0, 4).every((wait, index) => wait > (waits[index - 1] ?? 0) + 30)).toBe(true);
    expect(waits.at(-1)).toBeGreaterThan(hour - 5);
    expect(await failures()).toEqual([]);
  });

  test("that could not be sent for a day is not tried any more, and stands at the desk once, to be dealt with", async () => {
    await act("move_shipment", moving());
    await act("send_note", { shipment_id: shipment, note: "It came" });
    await makeDue();
    await query("update public.notices set made_at = now() - interval '23 hours 59 minutes'");
    await settle((await claim())[0], false);
    expect(await failures()).toEqual([]);
    await query("update public.notices set made_at = now() - interval '24 hours 1 minute', due_at = now()");
    const [one] = await claim();
    expect(one?.happened).toHaveLength(2);
    await settle(one, false);
    expect(await failures()).toEqual([{ kind: "notice", sent_to: owner.email, account: owner.id }]);
    const { data } = await raw(clerk.handle).rpc("desk_today", {}, { get: true });
    expect(data.undelivered.rows).toEqual([expect.objectContaining({ kind: "notice", sent_to: owner.email })]);
    await settle(one, false);
    expect(await failures()).toHaveLength(1);
    await query("update public.notices set due_at = now(), claimed_at = null");
    expect(await claim()).toEqual([]);
    await act("dismiss_undelivered", { mail: data.undelivered.rows[0].id });
    await query("delete from public.undelivered_mails");
  });

  test("is kept for 30 days, sent or not", async () => {
    await act("move_shipment", moving());
    await act("send_note", { shipment_id: shipment, note: "It came" });
    await query(
      "update public.notices set sent_at = now(), made_at = now() - interval '29 days 23 hours' where kind = 'note'",
    );
    await query(
      "update public.notices set sent_at = now(), made_at = now() - interval '30 days 1 hour' where kind = 'stage'",
    );
    await claim();
    expect(await query("select kind from public.notices")).toEqual([{ kind: "note" }]);
  });
});

test("a shipment that is deleted takes its notices along, and an account that is erased all of its own", async () => {
  const client = await world.newClient("leaving@client.example");
  const [one, two] = [await newShipment(client), await newShipment(client)];
  for (const id of [one, two]) await act("send_note", { shipment_id: id, note: "It came" });
  await world.company.rpc("want_notices", { account: client.id, wanted: false });
  await world.company.rpc("want_notices", { account: client.id, wanted: true });
  for (const id of [one, two]) await act("send_note", { shipment_id: id, note: "It came" });
  await query("update public.shipments set retain_until = '2020-01-01' where user_id = $1", [client.id]);
  const left = () => query("select shipment_id from public.notices where account = $1", [client.id]);
  expect(await left()).toHaveLength(2);
  await query("update public.notices set claimed_at = now() where shipment_id = $1", [one]);
  await query("delete from public.shipments where id = $1", [one]);
  expect(await left()).toEqual([{ shipment_id: two }]);
  await act("send_note", { shipment_id: shipment, note: "It came" });
  await query("insert into private.notice_refusals (account) values ($1)", [client.id]);
  expect(await eraseAccount(world.company, world.company, client.id, "They asked")).toBeNull();
  expect(await left()).toEqual([]);
  expect(await query("select from private.notice_refusals")).toEqual([]);
  expect(await waiting()).toHaveLength(1);
});

function moving() {
  return { shipment_id: shipment, despite_missing: true };
}

function charging() {
  return { shipment_id: shipment, item: "duties", amount: 1234.5, currency: "KES" };
}

/** What an act answers. Throws its refusal. */
async function act(name: string, args: object, handle: Handle = clerk.handle): Promise<unknown> {
  const { data, error } = await raw(handle).rpc(name, args);
  if (error) throw new Error(`${name}: ${error.message}`);
  return data;
}

/** What waits to be told of a shipment, oldest first. */
function waiting(id = shipment): Promise<Happened[]> {
  return query(
    "select kind, what, reason from public.notices where shipment_id = $1 and sent_at is null order by made_at, id",
    [id],
  );
}

async function claim(most?: number): Promise<Claim[]> {
  const { data, error } = await world.company.rpc("claim_notices", most ? { most } : {});
  if (error) throw error;
  return data as unknown as Claim[];
}

async function settle(claimed: Claim | undefined, sent: boolean): Promise<void> {
  const { error } = await world.company.rpc("settle_notices", { ids: claimed?.ids ?? [], sent });
  if (error) throw error;
}

async function want(wanted: boolean, account = owner.id): Promise<void> {
  const { error } = await world.company.rpc("want_notices", { account, wanted });
  if (error) throw error;
}

const makeDue = (id = shipment) => query("update public.notices set due_at = now() where shipment_id = $1", [id]);
const ago = (column: string, time: string) =>
  query(`update public.notices set ${column} = now() - $1::interval`, [time]);

/** Free storage of the test's shipment ends in so many days, as the calendar is in East Africa. Returns the day. */
async function freeUntil(days: number, stage = 1): Promise<string> {
  const [row] = await query<{ day: string }>(
    `update public.shipments
     set arrival_place = 'mombasa', container_size = 20, arrived_on = current_date - 4, stage = $3,
       free_until = (now() at time zone 'Africa/Nairobi')::date + $2::integer
     where id = $1 returning free_until::text as day`,
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
async function upload(name = "Packing List"): Promise<{ id: string; version: string }> {
  const path = `${owner.id}/${shipment}/${name.toLowerCase().replaceAll(" ", "-")}-${randomUUID().slice(-12)}-list.pdf`;
  const object = "insert into storage.objects (bucket_id, name, version) values ('documents', $1, $2)";
  await query(object, [path, randomUUID()]);
  const file = { sha256, file_name: "list.pdf", file_size: 8, media_type: "application/pdf" };
  const { data, error } = await world.company
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
  return (await world.backend.db.query<T>(text, values)).rows;
}
