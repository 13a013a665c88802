import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_DOCUMENTS } from "../../app/models/document.ts";
import { atOnce, deskState, inSession, newColleague } from "../support/colleague.ts";
import { type Handle, memoryBackend, raw } from "../support/memory-backend.ts";

type Client = Awaited<ReturnType<typeof world.newClient>>;
type Colleague = Awaited<ReturnType<typeof newColleague>>;
type Row = Record<string, unknown>;

let world: Awaited<ReturnType<typeof memoryBackend>>;
let clerk: Colleague;
let lead: Colleague;
let owner: Client;
/** A fresh shipment of the owner's for each test. */
let shipment: string;

const stale = "409 This shipment has changed since you opened it.";
const sha256 = "0".repeat(64);
/** What no text of one line has, one of each kind: a tab, a line, an escape, C1, a line separator, two directions. */
const unseen = ["\t", "\n", "\u000b", "\u001b", "\u009b", "\u2028", "\u202e", "\u2066"];
/** Of these, what text of several lines does not have either. */
const unseenInText = unseen.filter((one) => one !== "\t" && one !== "\n");

beforeAll(async () => {
  world = await memoryBackend();
  owner = await world.newClient("owner@client.example");
  clerk = await newColleague(world, "clerk", "clerk@company.example");
  lead = await newColleague(world, "lead", "lead@company.example");
});
afterAll(() => world.close());
beforeEach(async () => {
  shipment = await newShipment();
});

describe("moving a shipment on", () => {
  const move = (more: object = {}, handle: Handle = clerk.handle) =>
    act("move_shipment", { shipment_id: shipment, despite_missing: true, ...more }, handle);

  test("is seen by its client with place and note, and logged with who did it and from where to where", async () => {
    expect(await move({ location: " Mombasa ", note: " Bring the original bill " })).toEqual({
      stage: 2,
      status: "Document Verification",
    });
    expect(await shipmentNow()).toMatchObject({ stage: 2, status: "Document Verification", version: 1 });
    const { data } = await owner.handle.from("tracking_events").select("*").eq("shipment_id", shipment);
    const event = { status: "Document Verification", location: "Mombasa", note: "Bring the original bill" };
    expect(data).toEqual([expect.objectContaining(event)]);
    expect(await log()).toEqual([
      expect.objectContaining({
        ...{ by_name: clerk.name, colleague: clerk.id, act: "shipment advance", shipment, reason: null },
        ...{ before: { stage: 1 }, after: { stage: 2, location: "Mombasa" } },
      }),
    ]);
    expect(JSON.stringify(await log())).not.toContain("original bill");
  });

  test("asks back which documents are missing, and does nothing until it is to go on without them", async () => {
    await upload("Packing List");
    const before = await deskState(world);
    const missing = DEFAULT_DOCUMENTS.filter((name) => name !== "Packing List").sort();
    const request = randomUUID();
    for (const despite_missing of [false, null]) {
      expect(await move({ despite_missing, request })).toEqual({ missing });
    }
    expect(await act("move_shipment", { shipment_id: shipment, request })).toEqual({ missing });
    expect(await deskState(world)).toEqual(before);
    expect(await move({ request })).toMatchObject({ stage: 2 });
    for (const name of missing) await upload(name);
    expect(await move({ despite_missing: false })).toMatchObject({ stage: 3 });
  });

  test("goes to the last stage and no further", async () => {
    for (let stage = 2; stage <= 10; stage += 1) expect(await move()).toMatchObject({ stage });
    expect(await refusal(move())).toBe("409 This shipment is closed: stage 10 is the last.");
    expect(await shipmentNow()).toMatchObject({ stage: 10, status: "Shipment Closed", turn: "closed" });
    expect(await log()).toHaveLength(9);
    expect(await refusal(act("move_shipment", { shipment_id: randomUUID() }))).toBe("404 There is no such shipment.");
  });

  test("is refused from a page that somebody else's move, number or arrival made old", async () => {
    const changes: [string, object][] = [
      ["move_shipment", { despite_missing: true }],
      ["save_awb", { awb: "MEDUX4471203" }],
      ["save_arrival", { place: "nairobi", day: "2026-03-01", size: 40, free_until: "2026-03-05" }],
      ["correct_stage", { stage: 7, reason: "It is there" }],
    ];
    for (const [name, change] of changes) {
      const { version } = await shipmentNow();
      await act(name, { shipment_id: shipment, ...change, seen: version }, lead.handle);
      const before = await deskState(world);
      expect(await refusal(move({ seen: version }))).toBe(stale);
      for (const [other, args] of changes) {
        expect(await refusal(act(other, { shipment_id: shipment, ...args, seen: version }))).toBe(stale);
      }
      expect(await deskState(world)).toEqual(before);
    }
    // A note or a charge changes nothing that the page of a move was based on.
    const { version } = await shipmentNow();
    await act("send_note", { shipment_id: shipment, note: "Your container is at the yard" });
    await act("set_charge", { shipment_id: shipment, item: "duties", amount: 1, currency: "KES" });
    expect(await move({ seen: version })).toMatchObject({ stage: 8 });
  });

  test("happens once for a form that is sent twice, and once more for another form or other words", async () => {
    const request = randomUUID();
    const first = { request, location: "Mombasa" };
    expect(await move({ ...first, seen: 0 })).toMatchObject({ stage: 2 });
    expect(await move({ ...first, seen: 0 })).toEqual({ stage: 2, status: "Document Verification" });
    expect(await log()).toHaveLength(1);
    expect(await move({ request: randomUUID(), location: "Mombasa" })).toMatchObject({ stage: 3 });
    expect(await move({ request, note: "Mombasa" })).toMatchObject({ stage: 4 });
    expect(await move({ request, location: "Mombasa|" })).toMatchObject({ stage: 5 });
    const other = await newShipment();
    expect(await move({ ...first, shipment_id: other })).toMatchObject({ stage: 2 });
    expect(await log()).toHaveLength(4);
  });
});

describe("at the same time, in sessions of their own,", () => {
  test("eight posts of one form make one move, one event and one act", async () => {
    const request = randomUUID();
    const ask = { shipment_id: shipment, despite_missing: true, request };
    const outcomes = await together(Array.from({ length: 8 }, () => ["move_shipment", ask, clerk]));
    expect(outcomes).toEqual(Array.from({ length: 8 }, () => "done"));
    expect(await shipmentNow()).toMatchObject({ stage: 2 });
    expect(await log()).toHaveLength(1);
    expect(await query("select from public.tracking_events where shipment_id = $1", [shipment])).toHaveLength(1);
  });

  test("of eight colleagues who saw the same stage one moves it, and the others are told", async () => {
    const ask = { shipment_id: shipment, despite_missing: true, seen: 0 };
    const outcomes = await together(
      Array.from({ length: 8 }, (_, index) => [
        "move_shipment",
        { ...ask, request: randomUUID() },
        index % 2 ? clerk : lead,
      ]),
    );
    expect(outcomes.sort()).toEqual([...Array.from({ length: 7 }, () => stale.slice(4)), "done"].sort());
    expect(await shipmentNow()).toMatchObject({ stage: 2 });
    expect(await log()).toHaveLength(1);
  });

  test("two colleagues who verify and send back one document make one act of it", async () => {
    const file = await upload("Packing List");
    const outcomes = await together([
      ["verify_document", { document_id: file.id, sha256, file_version: file.version, seen: 1 }, clerk],
      ["send_back_document", { document_id: file.id, reason: "Blurred", seen: 1 }, lead],
    ]);
    expect(outcomes.filter((outcome) => outcome === "done")).toHaveLength(1);
    expect(outcomes).toContain("This document has changed since you opened it.");
    expect(await log()).toHaveLength(1);
  });

  test("two documents of one shipment are sent back, and two files are counted, without waiting for each other", async () => {
    const names = ["Packing List", "Bill of Lading"];
    const files = [await upload("Packing List"), await upload("Bill of Lading")];
    await world.backend.db.exec(`
      create function public.dawdle() returns trigger language plpgsql as
        $$ begin perform pg_sleep(0.3); return new; end $$;
      create trigger z_dawdle before update on public.documents for each row execute function public.dawdle();
    `);
    try {
      expect(
        await together(files.map(({ id }) => ["send_back_document", { document_id: id, reason: "Blurred" }, clerk])),
      ).toEqual(["done", "done"]);
      const paths = await Promise.all(names.map(store));
      const counted = await Promise.allSettled(
        files.map(({ id }, index) =>
          inSession(world, (session) => session.unsafe(counting, [paths[index] ?? "", sha256, id])),
        ),
      );
      expect(counted.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
    } finally {
      await world.backend.db.exec("drop trigger z_dawdle on public.documents; drop function public.dawdle");
    }
    expect(await query("select from public.documents where shipment_id = $1 and uploaded", [shipment])).toHaveLength(2);
  });

  test("two announcements leave one, and two charges for one item one", async () => {
    const outcomes = await together([
      ["announce", { text: "One" }, clerk],
      ["announce", { text: "Two" }, lead],
      ["set_charge", { shipment_id: shipment, item: "duties", amount: 1, currency: "KES", seen: -1 }, clerk],
      ["set_charge", { shipment_id: shipment, item: "duties", amount: 2, currency: "KES", seen: -1 }, lead],
    ]);
    expect(outcomes.sort()).toEqual(["This charge has changed since you opened it.", "done", "done", "done"]);
    expect(await query("select from public.announcements where ended_at is null")).toHaveLength(1);
  });
});

describe("moving many shipments on", () => {
  type Move = { id: string | null; seen?: number };
  type Answer = { id: string | null; why: string | null };
  const moveAll = (moves: Move[], more: object = {}, handle?: Handle) =>
    act("move_shipments", { moves, ...more }, handle) as Promise<Answer[]>;
  /** A shipment all of whose documents have a file, or all but one. */
  async function ready(missing?: string): Promise<string> {
    const [id, before] = [await newShipment(), shipment];
    shipment = id;
    for (const name of DEFAULT_DOCUMENTS.filter((one) => one !== missing)) await upload(name);
    shipment = before;
    return id;
  }
  const stageOf = async (id: string) =>
    (await query("select stage from public.shipments where id = $1", [id]))[0]?.stage;
  const logOf = (id: string) => query("select * from public.acts where shipment = $1 order by at", [id]);
  const eventsOf = (id: string) =>
    query("select status, location from public.tracking_events where shipment_id = $1", [id]);
  const byId = (answer: Answer[]) => [...answer].sort((a, b) => String(a.id).localeCompare(String(b.id)));

  test("moves each by itself: what cannot move says why, and stops no other", async () => {
    const [one, two] = [await ready(), await ready()];
    const [lacking, closed, stale] = [await ready("Packing List"), await ready(), await ready()];
    const unknown = randomUUID();
    await act("correct_stage", { shipment_id: closed, stage: 10, reason: "Done" });
    await act("save_awb", { shipment_id: stale, awb: "MEDUX4471203" }, lead.handle);
    const moves = [
      { id: stale, seen: 0 },
      { id: one, seen: 0 },
      { id: unknown, seen: 0 },
      { id: lacking, seen: 0 },
      { id: closed, seen: 1 },
      { id: two },
    ];
    const quiet = [lacking, closed, stale];
    const before = await Promise.all(quiet.map(async (id) => [await logOf(id), await eventsOf(id)]));
    const answer = await moveAll(moves, { location: " Mombasa ", request: randomUUID() });
    expect(byId(answer)).toEqual(
      byId([
        { id: one, why: null },
        { id: two, why: null },
        { id: lacking, why: "missing" },
        { id: closed, why: "closed" },
        { id: stale, why: "changed" },
        { id: unknown, why: "unknown" },
      ]),
    );
    expect(await Promise.all([one, two, lacking, closed, stale].map(stageOf))).toEqual([2, 2, 1, 10, 1]);
    for (const id of [one, two]) {
      expect(await eventsOf(id)).toEqual([{ status: "Document Verification", location: "Mombasa" }]);
      expect(await logOf(id)).toEqual([
        expect.objectContaining({
          ...{ act: "shipment advance", by_name: clerk.name, colleague: clerk.id },
          ...{ before: { stage: 1 }, after: { stage: 2, location: "Mombasa" } },
        }),
      ]);
    }
    expect(await Promise.all(quiet.map(async (id) => [await logOf(id), await eventsOf(id)]))).toEqual(before);
  });

  test("says of one that was closed meanwhile that it is closed, whatever was seen of it", async () => {
    await act("correct_stage", { shipment_id: shipment, stage: 10, reason: "Done" });
    for (const seen of [0, 1, undefined]) {
      expect(await moveAll([{ id: shipment, ...(seen !== undefined && { seen }) }])).toEqual([
        { id: shipment, why: "closed" },
      ]);
    }
  });

  test("moves each once for a form that is sent twice, and what could not move when it can", async () => {
    const [one, lacking] = [await ready(), await ready("Packing List")];
    const moves = [
      { id: one, seen: 0 },
      { id: lacking, seen: 0 },
    ];
    const form = { request: randomUUID(), location: "Mombasa" };
    const first = await moveAll(moves, form);
    expect(byId(first)).toEqual(
      byId([
        { id: one, why: null },
        { id: lacking, why: "missing" },
      ]),
    );
    expect(await moveAll(moves, form)).toEqual(first);
    expect([await stageOf(one), await stageOf(lacking)]).toEqual([2, 1]);
    shipment = lacking;
    await upload("Packing List");
    expect((await moveAll(moves, form)).map(({ why }) => why)).toEqual([null, null]);
    expect([await stageOf(one), await stageOf(lacking)]).toEqual([2, 2]);
    expect([await logOf(one), await eventsOf(one)].map(({ length }) => length)).toEqual([1, 1]);
    // Another form is based on what has changed since.
    expect((await moveAll(moves, { request: randomUUID() })).map(({ why }) => why)).toEqual(["changed", "changed"]);
  });

  test("moves a shipment once that is on its list twice", async () => {
    const id = await ready();
    expect(await moveAll([{ id }, { id, seen: 0 }, { id }])).toEqual([{ id, why: null }]);
    expect([await stageOf(id), (await logOf(id)).length]).toEqual([2, 1]);
  });

  test("takes at most fifty at once, and a list", async () => {
    const id = await ready();
    const fifty = Array.from({ length: 50 }, () => ({ id: randomUUID() }));
    const before = await deskState(world);
    expect(await refusal(moveAll([...fifty, { id }]))).toBe("400 Move at most 50 shipments at once.");
    for (const moves of [{ id }, "all", 7, [{ id: "%" }], [{ id, seen: "now" }]]) {
      expect(await refusal(moveAll(moves as never)), JSON.stringify(moves)).toMatch(/^400 /);
    }
    expect(await moveAll([])).toEqual([]);
    expect(await moveAll([{ id: null }])).toEqual([{ id: null, why: "unknown" }]);
    expect(await deskState(world)).toEqual(before);
    const answer = await moveAll([...fifty.slice(1), { id }]);
    expect(answer.filter(({ why }) => why === "unknown")).toHaveLength(49);
    expect(answer).toContainEqual({ id, why: null });
  });

  test("by two colleagues at once, of lists that overlap, waits for no one for ever, and moves each once", async () => {
    const ids: string[] = [];
    for (let made = 0; made < 6; made += 1) ids.push(await ready());
    // Slow, so that each has some of the shipments while the other comes for them.
    await world.backend.db.exec(`
      create function public.dawdle() returns trigger language plpgsql as
        $$ begin perform pg_sleep(0.1); return new; end $$;
      create trigger z_dawdle before update on public.shipments for each row execute function public.dawdle();
    `);
    try {
      const moves = (some: string[]) => ({ moves: some.map((id) => ({ id, seen: 0 })), request: randomUUID() });
      const answers = await atOnce(world, [
        { name: "move_shipments", args: moves(ids.slice(0, 5)), token: clerk.accessToken },
        { name: "move_shipments", args: moves([...ids.slice(1)].reverse()), token: lead.accessToken },
      ]);
      expect(answers.map(({ refused }) => refused)).toEqual([undefined, undefined]);
      const told = answers.flatMap(({ answer }) => answer as Answer[]);
      expect(told).toHaveLength(10);
      const whys = ids.map((id) => told.filter((one) => one.id === id).map(({ why }) => why));
      expect(whys.map((one) => one.filter((why) => why === null))).toEqual(ids.map(() => [null]));
      expect(whys.flat().filter(Boolean)).toEqual(["changed", "changed", "changed", "changed"]);
    } finally {
      await world.backend.db.exec("drop trigger z_dawdle on public.shipments; drop function public.dawdle");
    }
    for (const id of ids) {
      const parts = [await stageOf(id), (await logOf(id)).length, (await eventsOf(id)).length];
      expect(parts).toEqual([2, 1, 1]);
    }
  });

  test("of one form that comes four times at once moves each once, and tells all four so", async () => {
    const ids = [await ready(), await ready()];
    const args = { moves: ids.map((id) => ({ id, seen: 0 })), request: randomUUID() };
    const answers = await atOnce(
      world,
      Array.from({ length: 4 }, () => ({ name: "move_shipments", args, token: clerk.accessToken })),
    );
    expect(answers.map(({ answer }) => byId(answer as Answer[]))).toEqual(
      Array.from({ length: 4 }, () => byId(ids.map((id) => ({ id, why: null })))),
    );
    for (const id of ids) expect([await stageOf(id), (await logOf(id)).length]).toEqual([2, 1]);
  });
});

describe("correcting the stage of a shipment", () => {
  const correct = (stage: number, more: object = {}) =>
    act("correct_stage", { shipment_id: shipment, stage, reason: "Pressed twice", ...more });

  test("takes it back or forward, with a reason that stays in the log, and its client sees it", async () => {
    await correct(5);
    expect(await correct(3)).toEqual({ stage: 3, status: "IDF Application" });
    expect(await shipmentNow()).toMatchObject({ stage: 3, status: "IDF Application" });
    const { data } = await owner.handle
      .from("tracking_events")
      .select("status")
      .eq("shipment_id", shipment)
      .order("created_at");
    expect(data).toEqual([{ status: "Corrected: Payment Clearance" }, { status: "Corrected: IDF Application" }]);
    expect((await log()).at(-1)).toMatchObject({
      ...{ act: "shipment correct", before: { stage: 5 }, after: { stage: 3 }, reason: "Pressed twice" },
    });
  });

  test("opens a closed one again", async () => {
    await correct(10);
    expect(await shipmentNow()).toMatchObject({ turn: "closed" });
    await correct(9);
    expect(await shipmentNow()).toMatchObject({ stage: 9, turn: "client" });
    await upload("Packing List");
  });

  test("asks for a reason, and for another stage that there is", async () => {
    for (const reason of [undefined, null, "", "   "]) {
      expect(await refusal(correct(2, { reason }))).toMatch(reason === undefined ? /^404 / : /^400 /);
    }
    expect(await refusal(correct(2, { reason: "x".repeat(2001) }))).toBe("400 Use at most 2,000 characters.");
    expect(await refusal(correct(1))).toBe("409 The shipment is at this stage already.");
    for (const stage of [0, 11, -1]) expect(await refusal(correct(stage))).toMatch(/^400 /);
    expect(await log()).toEqual([]);
  });

  test("is done once for a form that is sent twice", async () => {
    const request = randomUUID();
    for (const seen of [0, 0]) expect(await correct(4, { request, seen })).toMatchObject({ stage: 4 });
    expect(await log()).toHaveLength(1);
  });
});

describe("the AWB/BL", () => {
  const save = (awb: string, more: object = {}) => act("save_awb", { shipment_id: shipment, awb, ...more });
  const why = "400 Say why, in a few words.";

  test("is written, changed and taken off, each time with the one before and why in the log", async () => {
    expect(await save(" MEDUX4471203 ")).toBeNull();
    expect(await save("MEDUX4471204", { reason: " A digit was wrong " })).toBe("MEDUX4471203");
    expect(await refusal(save("MEDUX4471204", { reason: "Again" }))).toBe("409 The shipment has this AWB/BL already.");
    expect(await save("", { reason: "Another shipment's" })).toBe("MEDUX4471204");
    expect(await refusal(save(" ", { reason: "Again" }))).toBe("409 The shipment has this AWB/BL already.");
    const request = randomUUID();
    await save("706-51093844", { request, seen: 3 });
    await save("706-51093844", { request, seen: 3 });
    expect(await shipmentNow()).toMatchObject({ awb: "706-51093844", version: 4 });
    expect((await log()).map(({ act, before, after, reason }) => [act, before, after, reason])).toEqual([
      ["shipment set-awb", { awb: null }, { awb: "MEDUX4471203" }, null],
      ["shipment set-awb", { awb: "MEDUX4471203" }, { awb: "MEDUX4471204" }, "A digit was wrong"],
      ["shipment set-awb", { awb: "MEDUX4471204" }, { awb: null }, "Another shipment's"],
      ["shipment set-awb", { awb: null }, { awb: "706-51093844" }, null],
    ]);
  });

  test("that stands is neither changed nor taken off without a reason", async () => {
    await save("MEDUX4471203", { reason: "  " });
    const before = await deskState(world);
    for (const awb of ["MEDUX4471204", "", "   "]) {
      for (const reason of [undefined, null, "", "   "]) expect(await refusal(save(awb, { reason }))).toBe(why);
    }
    expect(await refusal(save("MEDUX4471204", { reason: "x".repeat(2001) }))).toBe("400 Use at most 2,000 characters.");
    expect(await deskState(world)).toEqual(before);
  });

  test("is changed once by a form that is sent twice", async () => {
    await save("MEDUX4471203");
    const form = { reason: "A digit was wrong", seen: 1, request: randomUUID() };
    expect(await save("MEDUX4471204", form)).toBe("MEDUX4471203");
    expect(await save("MEDUX4471204", form)).toBeNull();
    expect(await log()).toHaveLength(2);
  });
});

test("the arrival is written and changed, whole, with the one before in the log", async () => {
  const save = (place: string, day: string, size: number, free_until: string) =>
    act("save_arrival", { shipment_id: shipment, place, day, size, free_until });
  await save("mombasa", "2026-03-01", 20, "2026-03-05");
  await save("naivasha", "2026-03-02", 40, "2026-03-06");
  expect(await shipmentNow()).toMatchObject({
    ...{
      arrival_place: "naivasha",
      arrived_on: "2026-03-02",
      container_size: 40,
      free_until: "2026-03-06",
      version: 2,
    },
  });
  expect((await log()).at(-1)).toMatchObject({
    act: "shipment arrived",
    before: { place: "mombasa", day: "2026-03-01", size: 20 },
    after: { place: "naivasha", day: "2026-03-02", size: 40 },
  });
  for (const wrong of [
    save("eldoret", "2026-03-02", 40, "2026-03-06"),
    save("nairobi", "2026-03-02", 30, "2026-03-06"),
    save("nairobi", "2026-02-30", 40, "2026-03-06"),
    save("nairobi", "infinity", 40, "2026-03-06"),
    save("nairobi", "-infinity", 40, "2026-03-06"),
    save("nairobi", "infinity", 40, "infinity"),
    save("nairobi", "2026-03-02", 40, "infinity"),
    save("nairobi", "1999-12-31", 40, "2000-01-05"),
    save("nairobi", "2100-01-02", 40, "2100-01-05"),
    save("nairobi", "2026-03-02", 40, "2026-03-01"),
    save("nairobi", "2026-03-02", 40, "2027-03-04"),
  ]) {
    expect(await refusal(wrong)).toMatch(/^400 /);
  }
  expect(await log()).toHaveLength(2);
  expect(await shipmentNow()).toMatchObject({ arrived_on: "2026-03-02", free_until: "2026-03-06", version: 2 });
});

test("a note is in the client's history; its words are not in the log; an empty one is refused", async () => {
  const request = randomUUID();
  for (const note of [" Your container is at the yard ", " Your container is at the yard "]) {
    await act("send_note", { shipment_id: shipment, note, request });
  }
  const { data } = await owner.handle.from("tracking_events").select("status, note").eq("shipment_id", shipment);
  expect(data).toEqual([{ status: "Note", note: "Your container is at the yard" }]);
  expect(await log()).toEqual([expect.objectContaining({ act: "shipment note", after: null })]);
  expect(await refusal(act("send_note", { shipment_id: shipment, note: "  " }))).toBe("400 Write the note.");
  expect(await shipmentNow()).toMatchObject({ version: 0 });
});

test("a note to the client, alone or with a move, may have lines and tabs, and nothing else that is not seen", async () => {
  const move = { shipment_id: shipment, despite_missing: true };
  const before = await deskState(world);
  for (const character of unseenInText) {
    const note = `Pay${character}here`;
    expect(await refusal(act("send_note", { shipment_id: shipment, note })), note).toMatch(/^400 /);
    expect(await refusal(act("move_shipment", { ...move, note })), note).toMatch(/^400 /);
  }
  expect(await deskState(world)).toEqual(before);
  await act("send_note", { shipment_id: shipment, note: "Two\r\nlines,\ttwo columns" });
  const { data } = await owner.handle.from("tracking_events").select("note").eq("shipment_id", shipment);
  expect(data).toEqual([{ note: "Two\r\nlines,\ttwo columns" }]);
});

test("a place and an AWB/BL, which the client reads too, have no character that no page shows", async () => {
  const before = await deskState(world);
  for (const character of unseen) {
    const location = `Mom${character}basa`;
    const move = { despite_missing: true, location };
    expect(await refusal(act("move_shipment", { shipment_id: shipment, ...move })), location).toMatch(/^400 /);
    const awb = `706-${character}51093844`;
    expect(await refusal(act("save_awb", { shipment_id: shipment, awb })), awb).toMatch(/^400 /);
  }
  expect(await deskState(world)).toEqual(before);
});

describe("a charge", () => {
  const set = (more: object = {}) =>
    act("set_charge", { shipment_id: shipment, item: "duties", amount: 1250.5, currency: "KES", ...more });
  const mark = (paid: boolean, more: object = {}) =>
    act("mark_charge", { shipment_id: shipment, item: "duties", paid, ...more });
  const charge = async () => (await query("select * from public.charges where shipment_id = $1", [shipment]))[0];
  const changed = "409 This charge has changed since you opened it.";

  test("makes it the client's move until it is paid, and again when it was not after all", async () => {
    for (const name of DEFAULT_DOCUMENTS) await upload(name);
    expect(await shipmentNow()).toMatchObject({ turn: "company" });
    await set({ due_on: "2026-04-01", note: " KRA e-slip " });
    expect(await shipmentNow()).toMatchObject({ turn: "client" });
    expect(await charge()).toMatchObject({ currency: "KES", due_on: "2026-04-01", note: "KRA e-slip", paid_at: null });
    await mark(true);
    expect(await shipmentNow()).toMatchObject({ turn: "company" });
    expect(await refusal(mark(true))).toBe("409 This is marked as paid already.");
    expect(await refusal(mark(false))).toMatch(/^400 /);
    await mark(false, { reason: "The cheque bounced" });
    expect(await shipmentNow()).toMatchObject({ turn: "client" });
    expect(await refusal(mark(false, { reason: "Again" }))).toBe("409 This is not marked as paid.");
    expect((await log()).map(({ act, reason }) => [act, reason])).toEqual([
      ["charge set", null],
      ["charge paid", null],
      ["charge unpaid", "The cheque bounced"],
    ]);
  });

  test("that was paid keeps its sum and stays paid; its day and its note may change", async () => {
    await set({ due_on: "2026-04-01", note: "KRA e-slip" });
    await mark(true);
    const paid = await charge();
    const before = await deskState(world);
    const first = "409 This sum is marked as paid: mark it as not paid first.";
    for (const change of [{ amount: 1300 }, { currency: "USD" }, { amount: 1250.51, currency: "USD" }, { amount: 0 }]) {
      expect(await refusal(set({ due_on: "2026-05-01", ...change })), JSON.stringify(change)).toBe(first);
    }
    expect(await deskState(world)).toEqual(before);

    await set({ amount: "1250.500", due_on: "2026-05-01", note: "Receipt 7", seen: 1 });
    expect(await charge()).toEqual({ ...paid, due_on: "2026-05-01", note: "Receipt 7", version: 2 });
    await set({});
    expect(await charge()).toEqual({ ...paid, due_on: null, note: null, version: 3 });
    expect((await log()).slice(2)).toEqual([
      expect.objectContaining({
        act: "charge set",
        before: { item: "duties", amount: 1250.5, currency: "KES", due_on: "2026-04-01" },
        after: { item: "duties", amount: 1250.5, currency: "KES", due_on: "2026-05-01" },
      }),
      expect.objectContaining({ act: "charge set" }),
    ]);
  });

  test("whose payment is taken back has another sum then, and the log has both", async () => {
    await set();
    await mark(true);
    await mark(false, { reason: "The cheque bounced" });
    await set({ amount: 1300, currency: "USD" });
    expect(await charge()).toMatchObject({ currency: "USD", paid_at: null });
    expect((await log()).at(-1)).toMatchObject({
      before: { item: "duties", amount: 1250.5, currency: "KES" },
      after: { item: "duties", amount: 1300, currency: "USD" },
    });
  });

  test("is refused from a page that somebody else's change or payment made old", async () => {
    await set({ seen: -1 });
    expect(await refusal(set({ seen: -1, amount: 2 }))).toBe(changed);
    await set({ seen: 0, amount: 2 });
    expect(await refusal(mark(true, { seen: 0 }))).toBe(changed);
    await mark(true, { seen: 1 });
    expect(await refusal(set({ seen: 1, amount: 3 }))).toBe(changed);
    expect(await refusal(mark(false, { seen: 1, reason: "No" }))).toBe(changed);
    expect(await log()).toHaveLength(3);
  });

  test("is set once by a form that is sent twice, even after it was paid meanwhile", async () => {
    const request = randomUUID();
    await set({ request });
    await mark(true, { request });
    await set({ request });
    await mark(true, { request });
    expect((await charge())?.paid_at).not.toBeNull();
    expect(await log()).toHaveLength(2);
    await set({ request, note: "2026-05-01" });
    await set({ request, due_on: "2026-05-01" });
    expect(await charge()).toMatchObject({ due_on: "2026-05-01", note: null });
  });

  test.each([
    ...[{ amount: 0 }, { amount: -5 }, { currency: "XXX" }, { item: "bribe" }, { note: "x".repeat(301) }],
    ...["NaN", "Infinity", "-Infinity", "1000000000000", "1e13"].map((amount) => ({ amount })),
    ...["infinity", "-infinity", "1999-12-31", "2100-01-02", "20260401-01-01"].map((due_on) => ({ due_on })),
    ...unseen.map((character) => ({ note: `Pay${character}here` })),
  ])("of %j is refused", async (wrong) => {
    expect(await refusal(set(wrong))).toMatch(/^400 /);
    expect(await charge()).toBeUndefined();
    expect(await log()).toEqual([]);
  });

  test("that nobody set is not paid", async () => {
    expect(await refusal(mark(true))).toBe("404 Nothing is charged for this yet.");
  });
});

describe("a document", () => {
  let file: Awaited<ReturnType<typeof upload>>;
  beforeEach(async () => {
    file = await upload("Packing List");
  });
  const verify = (more: object = {}, handle: Handle = clerk.handle) =>
    act("verify_document", { document_id: file.id, sha256, file_version: file.version, ...more }, handle);
  const unverify = (more: object = {}) => act("unverify_document", { document_id: file.id, reason: "Wrong", ...more });
  const sendBack = (more: object = {}) =>
    act("send_back_document", { document_id: file.id, reason: "Blurred", ...more });
  const documentNow = async () => (await query("select * from public.documents where id = $1", [file.id]))[0] ?? {};
  const logOfIt = async () => (await log()).map(({ act, document, reason }) => [act, document, reason]);

  test("is verified once, and its verification is taken back with a reason", async () => {
    await verify({ seen: 1 });
    expect(await documentNow()).toMatchObject({ verified: true });
    expect(await refusal(verify())).toBe("409 The Packing List is verified already.");
    expect(await refusal(unverify({ reason: " " }))).toMatch(/^400 /);
    await unverify({ seen: 2 });
    expect(await documentNow()).toMatchObject({ verified: false, uploaded: true, storage_path: file.path, sha256 });
    expect(await refusal(unverify())).toBe("409 The Packing List is not verified.");
    await verify();
    expect(await logOfIt()).toEqual([
      ["document verify", file.id, null],
      ["document unverify", file.id, "Wrong"],
      ["document verify", file.id, null],
    ]);
  });

  test("of another version, of other bytes or without a file is not verified", async () => {
    const exchanged = "409 The stored file is not the one that was uploaded.";
    const before = await deskState(world);
    expect(await refusal(verify({ file_version: "2" }))).toBe(exchanged);
    expect(await refusal(verify({ sha256: "1".repeat(64) }))).toMatch(/^409 /);
    await query("update storage.objects set version = 'exchanged' where name = $1", [file.path]);
    expect(await refusal(verify())).toBe(exchanged);
    const awaited = await documentOf("Bill of Lading");
    expect(await refusal(verify({ document_id: awaited }))).toBe("409 The Bill of Lading has not been uploaded yet.");
    expect(await refusal(verify({ document_id: randomUUID() }))).toBe("404 There is no such document.");
    expect(await deskState(world)).toEqual(before);
  });

  test("that is sent back has no file, and keeps the reason for its client until a new one comes", async () => {
    await sendBack({ reason: " The second page is blurred ", seen: 1 });
    const nothing = { storage_path: null, storage_version: null, sha256: null, file_name: null, uploaded_at: null };
    expect(await documentNow()).toMatchObject({ uploaded: false, verified: false, ...nothing });
    const page = await raw(owner.handle).rpc("portal_page", { opened: shipment }, { get: true });
    expect(page.data.shipment.documents).toContainEqual({
      ...{ id: file.id, name: "Packing List", uploaded: false, verified: false, version: 2 },
      ...{ file_name: null, file_size: null, uploaded_at: null },
      ...{ sent_back_at: expect.any(String), sent_back_reason: "The second page is blurred" },
    });
    expect((await log()).at(-1)).toMatchObject({
      ...{ act: "document send-back", document: file.id, reason: "The second page is blurred" },
      before: { sha256 },
    });
    // Its path has the name that a person gave the file, and the log outlives them.
    expect(JSON.stringify(await log())).not.toContain("list.pdf");
    expect(await refusal(sendBack())).toBe("409 The Packing List has not been uploaded yet.");

    expect((await owner.handle.rpc("require_awaited_file", { document_id: file.id })).error).toBeNull();
    const again = await upload("Packing List");
    expect(await documentNow()).toMatchObject({ uploaded: true, storage_path: again.path });
    expect(await documentNow()).toMatchObject({ sent_back_at: null, sent_back_reason: null });
  });

  test("that is sent back leaves its file to nobody's document, and to be removed a day later", async () => {
    await sendBack();
    const left = { uploaded: true, storage_path: file.path, sha256, ...named };
    const other = await documentOf("Bill of Lading");
    expect((await world.company.from("documents").update(left).eq("id", other)).error?.code).toBe("PT409");
    const past = async () => JSON.stringify((await world.company.rpc("past_retention")).data);
    expect(await past()).not.toContain(file.path);
    await query("update storage.objects set created_at = now() - interval '25 hours' where name = $1", [file.path]);
    expect(await past()).toContain(file.path);
  });

  test("is not sent back while it is verified, nor when its shipment is closed, nor without a short reason", async () => {
    for (const reason of ["", "  ", "x".repeat(501)]) expect(await refusal(sendBack({ reason }))).toMatch(/^400 /);
    await verify();
    expect(await refusal(sendBack())).toBe("409 The Packing List is verified: take the verification back first.");
    await unverify();
    await act("correct_stage", { shipment_id: shipment, stage: 10, reason: "Done" });
    const before = await deskState(world);
    expect(await refusal(sendBack())).toBe("409 This shipment is closed: its client could send no other file.");
    expect(await deskState(world)).toEqual(before);
  });

  test("is not sent back for a reason with characters that no page shows; it may have lines and tabs", async () => {
    const before = await deskState(world);
    for (const character of unseenInText) {
      expect(await refusal(sendBack({ reason: `Blur${character}red` })), character).toMatch(/^400 /);
    }
    expect(await deskState(world)).toEqual(before);
    await sendBack({ reason: "Blurred\r\n\tand cut" });
    expect(await documentNow()).toMatchObject({ sent_back_reason: "Blurred\r\n\tand cut" });
  });

  test("is refused from a page that somebody else's act made old", async () => {
    await verify({ seen: 1 }, lead.handle);
    const old = "409 This document has changed since you opened it.";
    for (const attempt of [verify({ seen: 1 }), unverify({ seen: 1 }), sendBack({ seen: 1 })]) {
      expect(await refusal(attempt)).toBe(old);
    }
    expect(await log()).toHaveLength(1);
  });

  test("is verified, unverified and sent back once by forms that are sent twice", async () => {
    const request = randomUUID();
    for (const twice of [verify, unverify, sendBack]) {
      await twice({ request });
      await twice({ request });
    }
    expect((await log()).map(({ act }) => act)).toEqual(["document verify", "document unverify", "document send-back"]);
  });

  test("is given up by no other hand: neither the company's key nor a client takes a file off", async () => {
    const off = { uploaded: false, storage_path: null, storage_version: null, sha256: null, file_name: null };
    const none = { ...off, file_size: null, media_type: null, uploaded_at: null };
    expect((await world.company.from("documents").update(none).eq("id", file.id)).error?.code).toBe("PT409");
    expect((await owner.handle.from("documents").update(none).eq("id", file.id)).error?.code).toBe("42501");
    await sendBack();
    const other = await upload("Bill of Lading");
    expect((await world.company.from("documents").update(none).eq("id", other.id)).error?.code).toBe("PT409");
  });

  test("is opened by leaving a line in the log, each time, and only as one of its shipment's", async () => {
    const open = (more: object = {}) => act("open_document", { document_id: file.id, shipment_id: shipment, ...more });
    const opened = await open();
    expect(opened).toEqual({
      ...{ shipment, name: "Packing List", storage_path: file.path, storage_version: file.version, sha256 },
      ...{ file_name: "list.pdf", media_type: "application/pdf" },
    });
    await open();
    expect(await logOfIt()).toEqual([
      ["document open", file.id, null],
      ["document open", file.id, null],
    ]);
    const awaited = await documentOf("Bill of Lading");
    const other = await newShipment();
    const before = await deskState(world);
    for (const wrong of [
      { document_id: awaited },
      { document_id: randomUUID() },
      { document_id: null },
      { shipment_id: other },
      { shipment_id: randomUUID() },
      { shipment_id: null },
    ]) {
      for (const handle of [clerk.handle, lead.handle, world.company]) {
        const attempt = act("open_document", { document_id: file.id, shipment_id: shipment, ...wrong }, handle);
        expect(await refusal(attempt), JSON.stringify(wrong)).toBe("404 There is no such file.");
      }
    }
    expect(await deskState(world)).toEqual(before);
  });
});

test("whose move it is agrees with documents, charges and stage in every combination, and how long it has been so", async () => {
  const turns: string[] = [];
  const names = [...DEFAULT_DOCUMENTS];
  const documents: [string, () => Promise<unknown>][] = [
    ["none", async () => undefined],
    ["some", async () => upload(names[0])],
    ["all", async () => Promise.all(names.slice(1).map(upload))],
    [
      "sent back",
      async () => act("send_back_document", { document_id: await documentOf(names[2]), reason: "Blurred" }),
    ],
    ["all", async () => upload(names[2])],
  ];
  const charge = { shipment_id: shipment, item: "duties" };
  const other = { shipment_id: shipment, item: "agent-fee" };
  const charges: [string, () => Promise<unknown>][] = [
    ["due", () => act("set_charge", { ...charge, amount: 5, currency: "KES" })],
    ["paid", () => act("mark_charge", { ...charge, paid: true })],
    ["paid and due", () => act("set_charge", { ...other, amount: 5, currency: "USD" })],
    ["paid", () => act("mark_charge", { ...other, paid: true })],
  ];
  const look = async (papers: string, due: string) => {
    for (const stage of [10, 1]) {
      if ((await shipmentNow()).stage !== stage) {
        await act("correct_stage", { shipment_id: shipment, stage, reason: "To look" });
      }
      const { turn } = await shipmentNow();
      const expected = stage === 10 ? "closed" : papers === "all" && !due.includes("due") ? "company" : "client";
      turns.push(`${papers}, ${due}, ${stage}: ${turn === expected ? "agrees" : turn}`);
    }
  };
  for (const [papers, change] of documents) {
    await change();
    await look(papers, "nothing");
    for (const [due, charged] of charges) {
      await charged();
      await look(papers, due);
    }
    await query("delete from public.charges where shipment_id = $1", [shipment]);
  }
  expect(turns.filter((one) => !one.endsWith("agrees"))).toEqual([]);
  expect(turns).toHaveLength(50);

  await query("update public.shipments set turn_since = '2026-01-01' where id = $1", [shipment]);
  const since = async () => String((await shipmentNow()).turn_since).slice(0, 10);
  await act("send_note", { shipment_id: shipment, note: "Still the company's" });
  expect(await since()).toBe("2026-01-01");
  await act("set_charge", { ...charge, amount: 5, currency: "KES" });
  expect(await since()).not.toBe("2026-01-01");
});

test("a shipment that is written down closed is nobody's move, and any other new one its client's", async () => {
  const made = await query<{ stage: number; turn: string }>(
    `insert into public.shipments (user_id, name, stage) values ($1, 'A', 10), ($1, 'B', 6), ($1, 'C', 1)
     returning stage, turn`,
    [owner.id],
  );
  expect(made.map(({ stage, turn }) => `${stage} ${turn}`)).toEqual(["10 closed", "6 client", "1 client"]);
});

describe("what all clients are told", () => {
  const told = async () => (await owner.handle.from("announcements").select("text").is("ended_at", null)).data;
  const acts = () => query("select act, before, after, by_name from public.acts where act like 'notice%' order by at");

  test("is one sentence at a time, from its words to its end", async () => {
    await act("end_announcement", {});
    const before = (await acts()).length;
    const request = randomUUID();
    await act("announce", { text: " Customs system down since 09:10 ", request });
    await act("announce", { text: " Customs system down since 09:10 ", request });
    expect(await told()).toEqual([{ text: "Customs system down since 09:10" }]);
    await act("announce", { text: "It is up again", request }, lead.handle);
    expect(await told()).toEqual([{ text: "It is up again" }]);
    await act("end_announcement", {});
    await act("end_announcement", {});
    expect(await told()).toEqual([]);
    expect((await acts()).slice(before)).toEqual([
      { act: "notice set", before: null, after: { text: "Customs system down since 09:10" }, by_name: clerk.name },
      { act: "notice set", before: null, after: { text: "It is up again" }, by_name: lead.name },
      { act: "notice end", before: { text: "It is up again" }, after: null, by_name: clerk.name },
    ]);
  });

  test("is neither nothing, nor more than 200 characters, nor has it any that no page shows", async () => {
    const before = await deskState(world);
    expect(await refusal(act("announce", { text: "  " }))).toBe("400 Write the notice.");
    expect(await refusal(act("announce", { text: "x".repeat(201) }))).toMatch(/^400 /);
    for (const character of unseen) {
      expect(await refusal(act("announce", { text: `Pay${character}here` })), character).toMatch(/^400 /);
    }
    expect(await deskState(world)).toEqual(before);
  });
});

describe("the account of a client", () => {
  const password = "a good password";
  let client: Client;
  let number = 0;
  beforeEach(async () => {
    number += 1;
    client = await world.newClient(`client-${number}@client.example`, password);
  });
  const close = (more: object = {}) => act("close_account", { account: client.id, reason: "They asked", ...more });
  const open = (more: object = {}) => act("open_account", { account: client.id, reason: "They called", ...more });
  const logOfIt = () =>
    query("select act, reason, after, by_name from public.acts where account = $1 order by at", [client.id]);
  const reads = async (handle: Handle) => (await handle.from("shipments").select("id")).data?.length ?? "nothing";

  test("that is closed is left at once by every session, and takes no new one until it is opened again", async () => {
    await client.handle.from("shipments").insert({ name: "Tea", user_id: client.id });
    const left = world.withToken(client.accessToken);
    expect(await reads(left)).toBe(1);
    await close();
    expect(await reads(left)).not.toBe(1);
    expect((await left.rpc("who_asks", {}, { get: true })).data).not.toMatchObject({ caller: { email: client.email } });
    expect((await client.handle.auth.refreshSession()).error).not.toBeNull();
    expect(await signsIn(client.email, password)).toBe(false);
    expect(await refusal(close())).toBe("409 This account is closed already.");
    await open();
    expect(await signsIn(client.email, password)).toBe(true);
    expect(await reads(left)).not.toBe(1);
    expect(await refusal(open())).toBe("409 This account is open.");
    expect((await logOfIt()).map(({ act, reason }) => [act, reason])).toEqual([
      ["account close", "They asked"],
      ["account open", "They called"],
    ]);
  });

  test("is closed and opened with a reason alone, and only a client's", async () => {
    for (const attempt of [close({ reason: " " }), open({ reason: "" }), erase({ reason: "" })]) {
      expect(await refusal(attempt)).toBe("400 Say why, in a few words.");
    }
    for (const account of [lead.id, clerk.id, randomUUID()]) {
      for (const attempt of [close({ account }), open({ account }), erase({ account })]) {
        expect(await refusal(attempt)).toBe("404 There is no such client.");
      }
    }
    expect(await logOfIt()).toEqual([]);
    expect((await clerk.handle.from("colleagues").select("account")).data).not.toEqual([]);
  });

  test("loses its second factors and its sessions when their owner lost them, and says so when it has none", async () => {
    const remove = () => act("remove_second_factors", { account: client.id, reason: "A stolen telephone" });
    expect(await refusal(remove())).toBe("409 This account has no second factor.");
    await addFactor(client.id, "unverified");
    expect(await refusal(remove())).toMatch(/^409 /);
    expect(await query("select from auth.mfa_factors where user_id = $1", [client.id])).toHaveLength(1);
    await addFactor(client.id, "verified");
    await addFactor(client.id, "verified");
    expect(await remove()).toEqual({ removed: 2, email: client.email });
    expect(await query("select from auth.mfa_factors where user_id = $1", [client.id])).toEqual([]);
    expect((await client.handle.auth.refreshSession()).error).not.toBeNull();
    expect(await signsIn(client.email, password)).toBe(true);
    expect(await logOfIt()).toEqual([
      { act: "account reset-2fa", reason: "A stolen telephone", after: { removed: 2 }, by_name: clerk.name },
    ]);
  });

  test("is sent a link for a new password unless it is closed or was never confirmed", async () => {
    const ask = (account = client.id) => act("ask_password_link", { account });
    expect(await ask()).toBe(client.email);
    await close();
    const no = "409 This account is closed, or its address was never confirmed.";
    expect(await refusal(ask())).toBe(no);
    expect(await refusal(ask(randomUUID()))).toBe(no);
    const [row] = (await world.company.rpc("issue_client_ids", {})).data ?? [];
    const options = { data: { full_name: "Never Came", client_id: row?.client_id } };
    const waiting = await world.anonymous().auth.signUp({ email: `never-${number}@client.example`, password, options });
    expect(await refusal(ask(waiting.data.user?.id))).toBe(no);
    expect((await logOfIt()).map(({ act }) => act)).toEqual(["account send-password-link", "account close"]);
  });

  const erase = (more: object = {}) => act("begin_erasure", { account: client.id, reason: "They asked", ...more });

  test("is not erased while a shipment of it is kept, and the answer says until when", async () => {
    await client.handle.from("shipments").insert({ name: "Tea", user_id: client.id });
    await client.handle.from("shipments").insert({ name: "Coffee", user_id: client.id });
    await query("update public.shipments set retain_until = '2039-05-04' where user_id = $1 and name = 'Tea'", [
      client.id,
    ]);
    const before = await deskState(world);
    expect(await refusal(erase())).toBe(
      "409 This account has shipments that have to be kept, the last until 2039-05-04: nothing was deleted.",
    );
    expect(await deskState(world)).toEqual(before);
    await query("update public.shipments set retain_until = (now() at time zone 'UTC')::date where user_id = $1", [
      client.id,
    ]);
    expect(await refusal(erase())).toMatch(/^409 /);
    await query("update public.shipments set retain_until = (now() at time zone 'UTC')::date - 1 where user_id = $1", [
      client.id,
    ]);
    expect(await erase()).toBe(client.email);
    expect(await logOfIt()).toEqual([{ act: "account erase", reason: "They asked", after: null, by_name: clerk.name }]);
    expect(await signsIn(client.email, password)).toBe(false);
    expect((await client.handle.auth.refreshSession()).error).not.toBeNull();
  });
});

describe("client IDs", () => {
  const signUp = (email: string, client_id?: string) =>
    world.anonymous().auth.signUp({
      email,
      password: "a good password",
      options: { data: { full_name: "New Client", client_id } },
    });
  const issue = async (more: object = {}) => {
    const rows = (await act("issue_client_ids", more)) as { client_id: string }[];
    return rows.map(({ client_id }) => client_id);
  };
  const withdraw = (client_id?: string, reason = "Sent to the wrong address") =>
    act("withdraw_client_id", { client_id, reason });
  const acts = (name: string) => query("select * from public.acts where act = $1 order by at", [name]);

  test("are issued for somebody, and the form that is sent twice gets the same ones", async () => {
    const before = (await acts("client-id new")).length;
    const form = { how_many: 3, issued_for: " Tea Ltd ", sent_to: " Tea@Client.Example ", request: randomUUID() };
    const first = await issue(form);
    expect(new Set(first).size).toBe(3);
    expect((await issue(form)).sort()).toEqual([...first].sort());
    expect((await acts("client-id new")).length).toBe(before + 1);
    const issued = await query("select issued_for, sent_to from public.client_ids where client_id = any ($1)", [first]);
    expect(issued).toEqual(first.map(() => ({ issued_for: "Tea Ltd", sent_to: "tea@client.example" })));
    expect(await issue({ ...form, request: randomUUID() })).not.toEqual(first);
    expect(await issue({ ...form, issued_for: "Coffee Ltd" })).not.toEqual(first);
    // Also at once, and hundreds of them.
    const many = { how_many: 300, request: randomUUID() };
    const [one, other] = await Promise.all([issue(many), issue(many)]);
    expect(one).toHaveLength(300);
    expect([...(other ?? [])].sort()).toEqual([...(one ?? [])].sort());
  });

  test("of one form that comes eight times at once are issued once", async () => {
    const form = { how_many: 2, issued_for: "Eight Ltd", request: randomUUID() };
    const outcomes = await together(Array.from({ length: 8 }, () => ["issue_client_ids", form, clerk]));
    expect(outcomes).toEqual(Array.from({ length: 8 }, () => "done"));
    expect(await query("select from public.client_ids where issued_for = 'Eight Ltd'")).toHaveLength(2);
  });

  test.each([
    ...unseen.map((character) => ({ issued_for: `Tea${character}Ltd` })),
    { issued_for: "x".repeat(121) },
    ...["a@client.example, b@client.example", "a@client.example,b@client.example", "a@client.example b@client.example"],
    ...["a@client.example;b@client.example", "Tea Ltd <a@client.example>", "a b@client.example", "a@client example"],
    ...["nobody", "@client.example", "a@", "a@b@client.example", '"a"@client.example', "list:a@client.example"],
    ...unseen.map((character) => `a${character}b@client.example`),
    ...unseen.map((character) => `a@client${character}.example`),
    `${"x".repeat(250)}@b.ke`,
  ])("are not issued for %j", async (wrong) => {
    const before = await deskState(world);
    expect(await refusal(issue(typeof wrong === "string" ? { sent_to: wrong } : wrong))).toMatch(/^400 /);
    expect(await deskState(world)).toEqual(before);
  });

  test("are not in the log, only how many, by a form or without one", async () => {
    for (const more of [{}, { request: randomUUID() }, { request: randomUUID(), how_many: 3, sent_to: "a@b.ke" }]) {
      const ids = await issue(more);
      const last = (await acts("client-id new")).at(-1);
      expect(last?.after).toEqual({ count: ids.length });
      for (const id of ids) expect(JSON.stringify(await query("select * from public.acts"))).not.toContain(id);
    }
  });

  describe("that are mailed", () => {
    const send = (client_id: string | undefined, more: object = {}, handle?: Handle) =>
      act("send_client_id", { client_id, ...more }, handle);
    const no = "409 This Client ID is not known, or has been used, or was issued without an address.";
    const undelivered = (id: string) =>
      query<{ open: boolean }>(
        "select dealt_with_at is null as open from public.undelivered_mails where client_id = $1 order by at",
        [id],
      );

    test("go to the address they were issued for, and a form that is sent twice is one act", async () => {
      const [id = ""] = await issue({ sent_to: "tea@client.example" });
      const before = (await acts("client-id send")).length;
      const request = randomUUID();
      expect(await send(id, { request })).toBe("tea@client.example");
      expect(await send(id, { request })).toBe("tea@client.example");
      expect(await send(id, { request: randomUUID() }, lead.handle)).toBe("tea@client.example");
      expect(await send(id, { by_name: "Otieno" }, world.company)).toBe("tea@client.example");
      expect(await send(id, { by_name: "Otieno" }, world.company)).toBe("tea@client.example");
      const lines = (await acts("client-id send")).slice(before);
      expect(lines.map(({ by_name }) => by_name)).toEqual([clerk.name, lead.name, "Otieno", "Otieno"]);
      // Neither whom it went to nor an ID that could still be used.
      for (const secret of ["tea@client.example", id]) expect(JSON.stringify(lines)).not.toContain(secret);
    });

    test("are known, unused and issued for an address", async () => {
      const [used = "", withdrawn = "", sendable = ""] = await issue({ how_many: 3, sent_to: "tea@client.example" });
      const [spent = ""] = await issue({ sent_to: "spent@client.example" });
      const [silent] = await issue();
      await signUp("uses-mailed@client.example", used);
      await world.company.rpc("spend_client_id", { client_id: spent, email: owner.email });
      await withdraw(withdrawn);
      const before = await deskState(world);
      for (const id of [used, spent, withdrawn, silent, "N0TH-1NG0-0F1T-HERE", "", "%", null]) {
        const attempt = send(id as string, { request: randomUUID() });
        expect(await refusal(attempt), String(id)).toBe(no);
      }
      expect(await deskState(world)).toEqual(before);
      expect(await send(sendable)).toBe("tea@client.example");
    });

    test("are off the list of what was not delivered, each with its own mails, until a mail of theirs fails again", async () => {
      const [id = "", other = ""] = await issue({ how_many: 2, sent_to: "bounced@client.example" });
      const fails = (client_id: string) =>
        world.company.rpc("note_undelivered", { kind: "client ID", sent_to: "bounced@client.example", client_id });
      await fails(id);
      await fails(other);
      const request = randomUUID();
      await send(id, { request });
      expect([await undelivered(id), await undelivered(other)]).toEqual([[{ open: false }], [{ open: true }]]);
      await fails(id);
      await send(id, { request });
      expect(await undelivered(id)).toEqual([{ open: false }, { open: true }]);
      await send(id, { request: randomUUID() });
      expect(await undelivered(id)).toEqual([{ open: false }, { open: false }]);
      expect(await undelivered(other)).toEqual([{ open: true }]);
      await send(other);
      expect(await undelivered(other)).toEqual([{ open: false }]);
    });

    test("are one act of a form that comes eight times at once", async () => {
      const [id = ""] = await issue({ sent_to: "eight@client.example" });
      const before = (await acts("client-id send")).length;
      const args = { client_id: id, request: randomUUID() };
      const answers = await atOnce(
        world,
        Array.from({ length: 8 }, () => ({ name: "send_client_id", args, token: clerk.accessToken })),
      );
      expect(answers.map(({ answer }) => answer)).toEqual(Array.from({ length: 8 }, () => "eight@client.example"));
      expect((await acts("client-id send")).length).toBe(before + 1);
    });
  });

  test("that are withdrawn open no account, and stay in the log with the reason", async () => {
    const [id, other] = await issue({ how_many: 2 });
    await withdraw(id);
    const refused = await signUp("withdrawn@client.example", id);
    expect(refused.error).not.toBeNull();
    expect(await query("select from auth.users where email = 'withdrawn@client.example'")).toEqual([]);
    expect((await signUp("withdrawn@client.example", other)).error).toBeNull();
    expect((await acts("client-id withdraw")).at(-1)).toMatchObject({
      ...{ before: { client_id: id }, reason: "Sent to the wrong address", by_name: clerk.name },
    });
    expect(await refusal(withdraw(id))).toBe("409 This Client ID is not known, or has been used.");
  });

  test("that were used are not withdrawn, by an account or by an address that had one", async () => {
    const [first, second, third] = await issue({ how_many: 3 });
    await signUp("uses-one@client.example", first);
    await world.company.rpc("spend_client_id", { client_id: second ?? "", email: owner.email });
    for (const used of [first, second]) {
      expect(await refusal(withdraw(used))).toBe("409 This Client ID is not known, or has been used.");
    }
    expect(await refusal(withdraw(third, " "))).toMatch(/^400 /);
    const left = await query("select from public.client_ids where client_id = any ($1)", [[first, second, third]]);
    expect(left).toHaveLength(3);
  });
});

test("a mail that was not delivered is listed until somebody has dealt with it, once", async () => {
  const { error } = await world.company.rpc("note_undelivered", {
    kind: "new password",
    sent_to: owner.email,
    account: owner.id,
  });
  expect(error).toBeNull();
  const [mail] = await query<{ id: string }>("select id from public.undelivered_mails where account = $1", [owner.id]);
  await act("dismiss_undelivered", { mail: mail?.id });
  await act("dismiss_undelivered", { mail: mail?.id });
  const dealt = await query("select before, by_name from public.acts where act = 'mail dealt with'");
  expect(dealt).toEqual([{ before: { kind: "new password" }, by_name: clerk.name }]);
  expect((await clerk.handle.from("undelivered_mails").select("id").is("dealt_with_at", null)).data).toEqual([]);
});

test("a command's act is in the name that it gives; a colleague's in their own, whatever name they give", async () => {
  const note = { shipment_id: shipment, note: "It came" };
  await act("send_note", { ...note, by_name: "Otieno" }, world.company);
  await act("send_note", note, world.company);
  await act("send_note", { ...note, by_name: "Otieno" });
  expect((await log()).map(({ by_name, colleague }) => [by_name, colleague])).toEqual([
    ["Otieno", null],
    ["the company", null],
    [clerk.name, clerk.id],
  ]);
});

describe("an act and its line in the log are one:", () => {
  /** What each act is done to: something of its own, so that they can be done one after another. */
  let made: Record<string, string>;
  const acts: [string, string, (at: Record<string, string>) => object][] = [
    ["move_shipment", "shipment advance", (at) => ({ shipment_id: at.shipment, despite_missing: true, note: "Soon" })],
    ["correct_stage", "shipment correct", (at) => ({ shipment_id: at.shipment, stage: 7, reason: "It is there" })],
    ["move_shipments", "shipment advance", (at) => ({ moves: [{ id: at.complete, seen: 0 }], location: "Mombasa" })],
    ["save_awb", "shipment set-awb", (at) => ({ shipment_id: at.shipment, awb: "MEDUX4471203" })],
    [
      "save_arrival",
      "shipment arrived",
      (at) => ({ shipment_id: at.shipment, place: "mombasa", day: "2026-03-01", size: 20, free_until: "2026-03-05" }),
    ],
    ["send_note", "shipment note", (at) => ({ shipment_id: at.shipment, note: "It came" })],
    [
      "set_charge",
      "charge set",
      (at) => ({ shipment_id: at.shipment, item: "duties", amount: 5, currency: "KES", note: "e-slip" }),
    ],
    ["mark_charge", "charge paid", (at) => ({ shipment_id: at.shipment, item: "idf-fee", paid: true })],
    [
      "mark_charge",
      "charge unpaid",
      (at) => ({ shipment_id: at.shipment, item: "agent-fee", paid: false, reason: "It bounced" }),
    ],
    ["verify_document", "document verify", (at) => ({ document_id: at.uploaded, sha256, file_version: at.version })],
    ["unverify_document", "document unverify", (at) => ({ document_id: at.verified, reason: "Wrong" })],
    ["send_back_document", "document send-back", (at) => ({ document_id: at.blurred, reason: "Blurred" })],
    ["open_document", "document open", (at) => ({ document_id: at.verified, shipment_id: at.shipment })],
    ["announce", "notice set", () => ({ text: "Customs system down" })],
    ["end_announcement", "notice end", () => ({})],
    ["remove_second_factors", "account reset-2fa", (at) => ({ account: at.protected })],
    ["ask_password_link", "account send-password-link", (at) => ({ account: at.protected })],
    ["close_account", "account close", (at) => ({ account: at.protected, reason: "They asked" })],
    ["open_account", "account open", (at) => ({ account: at.closed, reason: "They called" })],
    ["begin_erasure", "account erase", (at) => ({ account: at.leaving, reason: "They asked" })],
    ["issue_client_ids", "client-id new", () => ({ how_many: 2, issued_for: "Tea Ltd" })],
    ["send_client_id", "client-id send", (at) => ({ client_id: at.clientId })],
    ["withdraw_client_id", "client-id withdraw", (at) => ({ client_id: at.clientId, reason: "Lost" })],
    ["dismiss_undelivered", "mail dealt with", (at) => ({ mail: at.mail })],
    ["change_role", "colleague role", (at) => ({ account: at.colleague, role: "lead" })],
    ["remove_colleague", "colleague remove", (at) => ({ account: at.colleague, reason: "They left" })],
    ["invite_colleague", "colleague invite", (at) => ({ email: at.gone, name: "Back Again", role: "lead" })],
  ];

  beforeAll(async () => {
    shipment = await newShipment();
    for (const name of DEFAULT_DOCUMENTS) await upload(name);
    const complete = shipment;
    shipment = await newShipment();
    const uploaded = await upload("Packing List");
    const verified = await upload("Bill of Lading");
    const blurred = await upload("Commercial Invoice");
    await act("verify_document", { document_id: verified.id, sha256, file_version: verified.version });
    for (const item of ["idf-fee", "agent-fee"]) {
      await act("set_charge", { shipment_id: shipment, item, amount: 9, currency: "KES" });
    }
    await act("mark_charge", { shipment_id: shipment, item: "agent-fee", paid: true });
    await act("announce", { text: "All is well" });
    const careful = await world.newClient("protected@client.example");
    await addFactor(careful.id, "verified");
    const closed = await world.newClient("closed@client.example");
    await act("close_account", { account: closed.id, reason: "They asked" });
    const leaving = await world.newClient("leaving@client.example");
    const [unused] = (await act("issue_client_ids", { sent_to: "mailed@client.example" })) as {
      client_id: string;
    }[];
    await world.company.rpc("note_undelivered", { kind: "invitation", sent_to: "somebody@client.example" });
    const [mail] = await query<{ id: string }>("select id from public.undelivered_mails where kind = 'invitation'");
    const colleague = await newColleague(world, "clerk", "changed@company.example");
    const gone = await newColleague(world, "clerk", "gone@company.example");
    await act("remove_colleague", { account: gone.id, reason: "They left" }, lead.handle);
    made = {
      ...{
        shipment,
        complete,
        uploaded: uploaded.id,
        version: uploaded.version,
        verified: verified.id,
        blurred: blurred.id,
      },
      ...{ protected: careful.id, closed: closed.id, leaving: leaving.id, clientId: unused?.client_id ?? "" },
      ...{ mail: mail?.id ?? "", colleague: colleague.id, gone: gone.email },
    };
  });

  test("while the log cannot be written, no act changes anything", async () => {
    await world.backend.db.exec(`
      create function public.refuse_act() returns trigger language plpgsql as
        $$ begin raise exception 'the log is full'; end $$;
      create trigger refuse_act before insert on public.acts for each row execute function public.refuse_act();
    `);
    try {
      const before = await deskState(world);
      for (const [name, , args] of acts) {
        const { error } = await raw(lead.handle).rpc(name, args(made));
        expect(error?.message, name).toBe("the log is full");
        expect(await deskState(world), name).toEqual(before);
      }
      const kept = await world.company.rpc("keep_shipment", { shipment_id: shipment, day: "2099-01-01" });
      expect(kept.error?.message).toBe("the log is full");
      expect(await deskState(world)).toEqual(before);
    } finally {
      await world.backend.db.exec("drop trigger refuse_act on public.acts; drop function public.refuse_act");
    }
  });

  test("once it can, each act leaves one line, in the name of who did it", async () => {
    const lines = () => query<Row>("select id, by_name, colleague, act from public.acts");
    for (const [name, line, args] of acts) {
      const known = new Set((await lines()).map(({ id }) => id));
      await act(name, args(made), lead.handle);
      const fresh = (await lines()).filter(({ id }) => !known.has(id));
      expect(fresh, name).toEqual([{ id: fresh[0]?.id, by_name: lead.name, colleague: lead.id, act: line }]);
    }
  });
});

/** What an act answers. Throws its refusal. */
async function act(name: string, args: object, handle: Handle = clerk.handle): Promise<unknown> {
  const { data, error, status } = await raw(handle).rpc(name, args);
  if (error) throw Object.assign(new Error(error.message), { refusal: `${status} ${error.message}` });
  return data;
}

/** With which status and words an act is refused. */
function refusal(attempt: Promise<unknown>): Promise<string> {
  return attempt.then(
    () => "done",
    (error: { refusal?: string }) => {
      if (!error.refusal) throw error;
      return error.refusal;
    },
  );
}

/** Acts of colleagues that come at the same time: "done", or why not. */
async function together(asked: [string, Record<string, unknown>, Colleague][]): Promise<string[]> {
  const calls = asked.map(([name, args, { accessToken: token }]) => ({ name, args, token }));
  return (await atOnce(world, calls)).map(({ refused }) => refused ?? "done");
}

async function newShipment(): Promise<string> {
  const { data, error } = await owner.handle
    .from("shipments")
    .insert({ name: "Tea", user_id: owner.id })
    .select("id")
    .single();
  if (error) throw error;
  return data.id;
}

async function shipmentNow(): Promise<Row> {
  return (await query("select * from public.shipments where id = $1", [shipment]))[0] ?? {};
}

/** The log of the test's shipment, oldest first. */
function log(): Promise<Row[]> {
  return query("select * from public.acts where shipment = $1 order by at", [shipment]);
}

async function documentOf(name = ""): Promise<string> {
  const [row] = await query<{ id: string }>("select id from public.documents where shipment_id = $1 and name = $2", [
    shipment,
    name,
  ]);
  return row?.id ?? "";
}

const named = { file_name: "list.pdf", file_size: 8, media_type: "application/pdf" };
const counting = `update public.documents set uploaded = true, storage_path = $1, sha256 = $2, file_name = 'list.pdf',
  file_size = 8, media_type = 'application/pdf' where id = $3`;

/** A stored object where a document's file belongs. */
async function store(name: string): Promise<string> {
  const slug = name.toLowerCase().replaceAll(" ", "-");
  const path = `${owner.id}/${shipment}/${slug}-${randomUUID().slice(-12)}-list.pdf`;
  await query("insert into storage.objects (bucket_id, name, version) values ('documents', $1, $2)", [
    path,
    randomUUID(),
  ]);
  return path;
}

/** A document of the test's shipment that counts a file, as the server leaves it. */
async function upload(name = "Packing List"): Promise<{ id: string; path: string; version: string }> {
  const path = await store(name);
  const { data, error } = await world.company
    .from("documents")
    .update({ uploaded: true, storage_path: path, sha256, ...named })
    .eq("shipment_id", shipment)
    .eq("name", name)
    .select("id, storage_version")
    .single();
  if (error) throw error;
  return { id: data.id, path, version: data.storage_version ?? "" };
}

async function addFactor(account: string, status: string): Promise<void> {
  await query(
    `insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, secret)
     values (gen_random_uuid(), $1, gen_random_uuid()::text, 'totp', $2, 'JBSWY3DPEHPK3PXP')`,
    [account, status],
  );
}

async function signsIn(email: string, password: string): Promise<boolean> {
  return (await world.anonymous().auth.signInWithPassword({ email, password })).error === null;
}

async function query<T = Row>(text: string, values: unknown[] = []): Promise<T[]> {
  return (await world.backend.db.query<T>(text, values)).rows;
}
