import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_DOCUMENTS } from "../../app/models/document.ts";
import { callConcurrently, newStaffMember, readDeskState, runInSession } from "../support/staff-members.ts";
import { type AppSupabaseClient, startTestBackend, toUntypedClient } from "../support/test-backend.ts";

type TestClient = Awaited<ReturnType<typeof testBackend.newClient>>;
type TestStaffMember = Awaited<ReturnType<typeof newStaffMember>>;
type DatabaseRow = Record<string, unknown>;

let testBackend: Awaited<ReturnType<typeof startTestBackend>>;
let clerk: TestStaffMember;
let lead: TestStaffMember;
let owner: TestClient;
/** A fresh shipment of the owner's for each test. */
let shipment: string;

const staleVersionError = "409 This shipment has changed since you opened it.";
const sha256 = "0".repeat(64);
/** What no text of one line has, one of each kind: a tab, a line, an escape, C1, a line separator, two directions. */
const invisibleCharacters = ["\t", "\n", "\u000b", "\u001b", "\u009b", "\u2028", "\u202e", "\u2066"];
/** Of these, what text of several lines does not have either. */
const invisibleInText = invisibleCharacters.filter((one) => one !== "\t" && one !== "\n");

beforeAll(async () => {
  testBackend = await startTestBackend();
  owner = await testBackend.newClient("owner@client.example");
  clerk = await newStaffMember(testBackend, "clerk", "clerk@company.example");
  lead = await newStaffMember(testBackend, "lead", "lead@company.example");
});
afterAll(() => testBackend.close());
beforeEach(async () => {
  shipment = await newShipment();
});

describe("moving a shipment on", () => {
  const move = (more: object = {}, supabase: AppSupabaseClient = clerk.supabase) =>
    callRpc("move_shipment", { shipment_id: shipment, despite_missing: true, ...more }, supabase);

  test("is seen by its client with place and note, and logged with who did it and from where to where", async () => {
    expect(await move({ location: " Mombasa ", note: " Bring the original bill " })).toEqual({
      stage: 2,
      status: "Document Verification",
    });
    expect(await readShipment()).toMatchObject({ stage: 2, status: "Document Verification", version: 1 });
    const { data } = await owner.supabase.from("tracking_events").select("*").eq("shipment_id", shipment);
    const event = { status: "Document Verification", location: "Mombasa", note: "Bring the original bill" };
    expect(data).toEqual([expect.objectContaining(event)]);
    expect(await listAuditEntries()).toEqual([
      expect.objectContaining({
        ...{
          actor_name: clerk.name,
          staff_id: clerk.id,
          action: "shipment advance",
          shipment_id: shipment,
          reason: null,
        },
        ...{ before: { stage: 1 }, after: { stage: 2, location: "Mombasa" } },
      }),
    ]);
    expect(JSON.stringify(await listAuditEntries())).not.toContain("original bill");
  });

  test("asks back which documents are missing, and does nothing until it is to go on without them", async () => {
    await uploadDocument("Packing List");
    const before = await readDeskState(testBackend);
    const missing = DEFAULT_DOCUMENTS.filter((name) => name !== "Packing List").sort();
    const request = randomUUID();
    for (const despite_missing of [false, null]) {
      expect(await move({ despite_missing, idempotency_key: request })).toEqual({ missing });
    }
    expect(await callRpc("move_shipment", { shipment_id: shipment, idempotency_key: request })).toEqual({ missing });
    expect(await readDeskState(testBackend)).toEqual(before);
    expect(await move({ idempotency_key: request })).toMatchObject({ stage: 2 });
    for (const name of missing) await uploadDocument(name);
    expect(await move({ despite_missing: false })).toMatchObject({ stage: 3 });
  });

  test("goes to the last stage and no further", async () => {
    for (let stage = 2; stage <= 10; stage += 1) expect(await move()).toMatchObject({ stage });
    expect(await getRejection(move())).toBe("409 This shipment is closed: stage 10 is the last.");
    expect(await readShipment()).toMatchObject({ stage: 10, status: "Shipment Closed", waiting_on: "nobody" });
    expect(await listAuditEntries()).toHaveLength(9);
    expect(await getRejection(callRpc("move_shipment", { shipment_id: randomUUID() }))).toBe(
      "404 There is no such shipment.",
    );
  });

  test("is refused from a page that somebody else's move, number or arrival made old", async () => {
    const changes: [string, object][] = [
      ["move_shipment", { despite_missing: true }],
      ["save_awb", { awb: "MEDUX4471203" }],
      ["save_arrival", { place: "nairobi", day: "2026-03-01", size: 40, free_storage_ends_on: "2026-03-05" }],
      ["correct_stage", { stage: 7, reason: "It is there" }],
    ];
    for (const [name, change] of changes) {
      const { version } = await readShipment();
      await callRpc(name, { shipment_id: shipment, ...change, expected_version: version }, lead.supabase);
      const before = await readDeskState(testBackend);
      expect(await getRejection(move({ expected_version: version }))).toBe(staleVersionError);
      for (const [other, args] of changes) {
        expect(await getRejection(callRpc(other, { shipment_id: shipment, ...args, expected_version: version }))).toBe(
          staleVersionError,
        );
      }
      expect(await readDeskState(testBackend)).toEqual(before);
    }
    // A note or a charge changes nothing that the page of a move was based on.
    const { version } = await readShipment();
    await callRpc("send_note", { shipment_id: shipment, note: "Your container is at the yard" });
    await callRpc("set_charge", { shipment_id: shipment, item: "duties", amount: 1, currency: "KES" });
    expect(await move({ expected_version: version })).toMatchObject({ stage: 8 });
  });

  test("happens once for a form that is sent twice, and once more for another form or other words", async () => {
    const request = randomUUID();
    const first = { idempotency_key: request, location: "Mombasa" };
    expect(await move({ ...first, expected_version: 0 })).toMatchObject({ stage: 2 });
    expect(await move({ ...first, expected_version: 0 })).toEqual({ stage: 2, status: "Document Verification" });
    expect(await listAuditEntries()).toHaveLength(1);
    expect(await move({ idempotency_key: randomUUID(), location: "Mombasa" })).toMatchObject({ stage: 3 });
    expect(await move({ idempotency_key: request, note: "Mombasa" })).toMatchObject({ stage: 4 });
    expect(await move({ idempotency_key: request, location: "Mombasa|" })).toMatchObject({ stage: 5 });
    const other = await newShipment();
    expect(await move({ ...first, shipment_id: other })).toMatchObject({ stage: 2 });
    expect(await listAuditEntries()).toHaveLength(4);
  });
});

describe("at the same time, in sessions of their own,", () => {
  test("eight posts of one form make one move, one event and one act", async () => {
    const request = randomUUID();
    const ask = { shipment_id: shipment, despite_missing: true, idempotency_key: request };
    const outcomes = await runConcurrently(Array.from({ length: 8 }, () => ["move_shipment", ask, clerk]));
    expect(outcomes).toEqual(Array.from({ length: 8 }, () => "done"));
    expect(await readShipment()).toMatchObject({ stage: 2 });
    expect(await listAuditEntries()).toHaveLength(1);
    expect(await query("select from public.tracking_events where shipment_id = $1", [shipment])).toHaveLength(1);
  });

  test("of eight colleagues who saw the same stage one moves it, and the others are told", async () => {
    const ask = { shipment_id: shipment, despite_missing: true, expected_version: 0 };
    const outcomes = await runConcurrently(
      Array.from({ length: 8 }, (_, index) => [
        "move_shipment",
        { ...ask, idempotency_key: randomUUID() },
        index % 2 ? clerk : lead,
      ]),
    );
    expect(outcomes.sort()).toEqual([...Array.from({ length: 7 }, () => staleVersionError.slice(4)), "done"].sort());
    expect(await readShipment()).toMatchObject({ stage: 2 });
    expect(await listAuditEntries()).toHaveLength(1);
  });

  test("two colleagues who verify and send back one document make one act of it", async () => {
    const file = await uploadDocument("Packing List");
    const outcomes = await runConcurrently([
      ["verify_document", { document_id: file.id, sha256, storage_version: file.version, expected_version: 1 }, clerk],
      ["reject_document", { document_id: file.id, reason: "Blurred", expected_version: 1 }, lead],
    ]);
    expect(outcomes.filter((outcome) => outcome === "done")).toHaveLength(1);
    expect(outcomes).toContain("This document has changed since you opened it.");
    expect(await listAuditEntries()).toHaveLength(1);
  });

  test("two documents of one shipment are sent back, and two files are counted, without waiting for each other", async () => {
    const names = ["Packing List", "Bill of Lading"];
    const files = [await uploadDocument("Packing List"), await uploadDocument("Bill of Lading")];
    await testBackend.backend.db.exec(`
      create function public.dawdle() returns trigger language plpgsql as
        $$ begin perform pg_sleep(0.3); return new; end $$;
      create trigger z_dawdle before update on public.documents for each row execute function public.dawdle();
    `);
    try {
      expect(
        await runConcurrently(
          files.map(({ id }) => ["reject_document", { document_id: id, reason: "Blurred" }, clerk]),
        ),
      ).toEqual(["done", "done"]);
      const paths = await Promise.all(names.map(storeFile));
      const counted = await Promise.allSettled(
        files.map(({ id }, index) =>
          runInSession(testBackend, (session) => session.unsafe(recordFileQuery, [paths[index] ?? "", sha256, id])),
        ),
      );
      expect(counted.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
    } finally {
      await testBackend.backend.db.exec("drop trigger z_dawdle on public.documents; drop function public.dawdle");
    }
    expect(await query("select from public.documents where shipment_id = $1 and uploaded", [shipment])).toHaveLength(2);
  });

  test("two announcements leave one, and two charges for one item one", async () => {
    const outcomes = await runConcurrently([
      ["announce", { text: "One" }, clerk],
      ["announce", { text: "Two" }, lead],
      [
        "set_charge",
        { shipment_id: shipment, item: "duties", amount: 1, currency: "KES", expected_version: -1 },
        clerk,
      ],
      ["set_charge", { shipment_id: shipment, item: "duties", amount: 2, currency: "KES", expected_version: -1 }, lead],
    ]);
    expect(outcomes.sort()).toEqual(["This charge has changed since you opened it.", "done", "done", "done"]);
    expect(await query("select from public.announcements where ended_at is null")).toHaveLength(1);
  });
});

describe("moving many shipments on", () => {
  type Move = { id: string | null; expected_version?: number };
  type Answer = { id: string | null; failure: string | null };
  const moveAll = (moves: Move[], more: object = {}, supabase?: AppSupabaseClient) =>
    callRpc("move_shipments", { moves, ...more }, supabase) as Promise<Answer[]>;
  /** A shipment all of whose documents have a file, or all but one. */
  async function ready(missing?: string): Promise<string> {
    const [id, before] = [await newShipment(), shipment];
    shipment = id;
    for (const name of DEFAULT_DOCUMENTS.filter((one) => one !== missing)) await uploadDocument(name);
    shipment = before;
    return id;
  }
  const stageOf = async (id: string) =>
    (await query("select stage from public.shipments where id = $1", [id]))[0]?.stage;
  const logOf = (id: string) =>
    query("select * from public.audit_log where shipment_id = $1 order by created_at", [id]);
  const eventsOf = (id: string) =>
    query("select status, location from public.tracking_events where shipment_id = $1", [id]);
  const byId = (result: Answer[]) => [...result].sort((a, b) => String(a.id).localeCompare(String(b.id)));

  test("moves each by itself: what cannot move says why, and stops no other", async () => {
    const [one, two] = [await ready(), await ready()];
    const [lacking, closed, stale] = [await ready("Packing List"), await ready(), await ready()];
    const unknown = randomUUID();
    await callRpc("correct_stage", { shipment_id: closed, stage: 10, reason: "Done" });
    await callRpc("save_awb", { shipment_id: stale, awb: "MEDUX4471203" }, lead.supabase);
    const moves = [
      { id: stale, expected_version: 0 },
      { id: one, expected_version: 0 },
      { id: unknown, expected_version: 0 },
      { id: lacking, expected_version: 0 },
      { id: closed, expected_version: 1 },
      { id: two },
    ];
    const quiet = [lacking, closed, stale];
    const before = await Promise.all(quiet.map(async (id) => [await logOf(id), await eventsOf(id)]));
    const result = await moveAll(moves, { location: " Mombasa ", idempotency_key: randomUUID() });
    expect(byId(result)).toEqual(
      byId([
        { id: one, failure: null },
        { id: two, failure: null },
        { id: lacking, failure: "missing" },
        { id: closed, failure: "closed" },
        { id: stale, failure: "changed" },
        { id: unknown, failure: "unknown" },
      ]),
    );
    expect(await Promise.all([one, two, lacking, closed, stale].map(stageOf))).toEqual([2, 2, 1, 10, 1]);
    for (const id of [one, two]) {
      expect(await eventsOf(id)).toEqual([{ status: "Document Verification", location: "Mombasa" }]);
      expect(await logOf(id)).toEqual([
        expect.objectContaining({
          ...{ action: "shipment advance", actor_name: clerk.name, staff_id: clerk.id },
          ...{ before: { stage: 1 }, after: { stage: 2, location: "Mombasa" } },
        }),
      ]);
    }
    expect(await Promise.all(quiet.map(async (id) => [await logOf(id), await eventsOf(id)]))).toEqual(before);
  });

  test("says of one that was closed meanwhile that it is closed, whatever was seen of it", async () => {
    await callRpc("correct_stage", { shipment_id: shipment, stage: 10, reason: "Done" });
    for (const seen of [0, 1, undefined]) {
      expect(await moveAll([{ id: shipment, ...(seen !== undefined && { expected_version: seen }) }])).toEqual([
        { id: shipment, failure: "closed" },
      ]);
    }
  });

  test("moves each once for a form that is sent twice, and what could not move when it can", async () => {
    const [one, lacking] = [await ready(), await ready("Packing List")];
    const moves = [
      { id: one, expected_version: 0 },
      { id: lacking, expected_version: 0 },
    ];
    const form = { idempotency_key: randomUUID(), location: "Mombasa" };
    const first = await moveAll(moves, form);
    expect(byId(first)).toEqual(
      byId([
        { id: one, failure: null },
        { id: lacking, failure: "missing" },
      ]),
    );
    expect(await moveAll(moves, form)).toEqual(first);
    expect([await stageOf(one), await stageOf(lacking)]).toEqual([2, 1]);
    shipment = lacking;
    await uploadDocument("Packing List");
    expect((await moveAll(moves, form)).map(({ failure }) => failure)).toEqual([null, null]);
    expect([await stageOf(one), await stageOf(lacking)]).toEqual([2, 2]);
    expect([await logOf(one), await eventsOf(one)].map(({ length }) => length)).toEqual([1, 1]);
    // Another form is based on what has changed since.
    expect((await moveAll(moves, { idempotency_key: randomUUID() })).map(({ failure }) => failure)).toEqual([
      "changed",
      "changed",
    ]);
  });

  test("moves a shipment once that is on its list twice", async () => {
    const id = await ready();
    expect(await moveAll([{ id }, { id, expected_version: 0 }, { id }])).toEqual([{ id, failure: null }]);
    expect([await stageOf(id), (await logOf(id)).length]).toEqual([2, 1]);
  });

  test("takes at most fifty at once, and a list", async () => {
    const id = await ready();
    const fifty = Array.from({ length: 50 }, () => ({ id: randomUUID() }));
    const before = await readDeskState(testBackend);
    expect(await getRejection(moveAll([...fifty, { id }]))).toBe("400 Move at most 50 shipments at once.");
    for (const moves of [{ id }, "all", 7, [{ id: "%" }], [{ id, expected_version: "now" }]]) {
      expect(await getRejection(moveAll(moves as never)), JSON.stringify(moves)).toMatch(/^400 /);
    }
    expect(await moveAll([])).toEqual([]);
    expect(await moveAll([{ id: null }])).toEqual([{ id: null, failure: "unknown" }]);
    expect(await readDeskState(testBackend)).toEqual(before);
    const result = await moveAll([...fifty.slice(1), { id }]);
    expect(result.filter(({ failure }) => failure === "unknown")).toHaveLength(49);
    expect(result).toContainEqual({ id, failure: null });
  });

  test("by two colleagues at once, of lists that overlap, waits for no one for ever, and moves each once", async () => {
    const ids: string[] = [];
    for (let made = 0; made < 6; made += 1) ids.push(await ready());
    // Slow, so that each has some of the shipments while the other comes for them.
    await testBackend.backend.db.exec(`
      create function public.dawdle() returns trigger language plpgsql as
        $$ begin perform pg_sleep(0.1); return new; end $$;
      create trigger z_dawdle before update on public.shipments for each row execute function public.dawdle();
    `);
    try {
      const moves = (some: string[]) => ({
        moves: some.map((id) => ({ id, expected_version: 0 })),
        idempotency_key: randomUUID(),
      });
      const results = await callConcurrently(testBackend, [
        { name: "move_shipments", args: moves(ids.slice(0, 5)), token: clerk.accessToken },
        { name: "move_shipments", args: moves([...ids.slice(1)].reverse()), token: lead.accessToken },
      ]);
      expect(results.map(({ rejection }) => rejection)).toEqual([undefined, undefined]);
      const told = results.flatMap(({ result }) => result as Answer[]);
      expect(told).toHaveLength(10);
      const whys = ids.map((id) => told.filter((one) => one.id === id).map(({ failure }) => failure));
      expect(whys.map((one) => one.filter((why) => why === null))).toEqual(ids.map(() => [null]));
      expect(whys.flat().filter(Boolean)).toEqual(["changed", "changed", "changed", "changed"]);
    } finally {
      await testBackend.backend.db.exec("drop trigger z_dawdle on public.shipments; drop function public.dawdle");
    }
    for (const id of ids) {
      const parts = [await stageOf(id), (await logOf(id)).length, (await eventsOf(id)).length];
      expect(parts).toEqual([2, 1, 1]);
    }
  });

  test("of one form that comes four times at once moves each once, and tells all four so", async () => {
    const ids = [await ready(), await ready()];
    const args = { moves: ids.map((id) => ({ id, expected_version: 0 })), idempotency_key: randomUUID() };
    const results = await callConcurrently(
      testBackend,
      Array.from({ length: 4 }, () => ({ name: "move_shipments", args, token: clerk.accessToken })),
    );
    expect(results.map(({ result }) => byId(result as Answer[]))).toEqual(
      Array.from({ length: 4 }, () => byId(ids.map((id) => ({ id, failure: null })))),
    );
    for (const id of ids) expect([await stageOf(id), (await logOf(id)).length]).toEqual([2, 1]);
  });
});

describe("correcting the stage of a shipment", () => {
  const correct = (stage: number, more: object = {}) =>
    callRpc("correct_stage", { shipment_id: shipment, stage, reason: "Pressed twice", ...more });

  test("takes it back or forward, with a reason that stays in the log, and its client sees it", async () => {
    await correct(5);
    expect(await correct(3)).toEqual({ stage: 3, status: "IDF Application" });
    expect(await readShipment()).toMatchObject({ stage: 3, status: "IDF Application" });
    const { data } = await owner.supabase
      .from("tracking_events")
      .select("status")
      .eq("shipment_id", shipment)
      .order("created_at");
    expect(data).toEqual([{ status: "Corrected: Payment Clearance" }, { status: "Corrected: IDF Application" }]);
    expect((await listAuditEntries()).at(-1)).toMatchObject({
      ...{ action: "shipment correct", before: { stage: 5 }, after: { stage: 3 }, reason: "Pressed twice" },
    });
  });

  test("opens a closed one again", async () => {
    await correct(10);
    expect(await readShipment()).toMatchObject({ waiting_on: "nobody" });
    await correct(9);
    expect(await readShipment()).toMatchObject({ stage: 9, waiting_on: "client" });
    await uploadDocument("Packing List");
  });

  test("asks for a reason, and for another stage that there is", async () => {
    for (const reason of [undefined, null, "", "   "]) {
      expect(await getRejection(correct(2, { reason }))).toMatch(reason === undefined ? /^404 / : /^400 /);
    }
    expect(await getRejection(correct(2, { reason: "x".repeat(2001) }))).toBe("400 Use at most 2,000 characters.");
    expect(await getRejection(correct(1))).toBe("409 The shipment is at this stage already.");
    for (const stage of [0, 11, -1]) expect(await getRejection(correct(stage))).toMatch(/^400 /);
    expect(await listAuditEntries()).toEqual([]);
  });

  test("is done once for a form that is sent twice", async () => {
    const request = randomUUID();
    for (const seen of [0, 0])
      expect(await correct(4, { idempotency_key: request, expected_version: seen })).toMatchObject({ stage: 4 });
    expect(await listAuditEntries()).toHaveLength(1);
  });
});

describe("the AWB/BL", () => {
  const save = (awb: string, more: object = {}) => callRpc("save_awb", { shipment_id: shipment, awb, ...more });
  const why = "400 Say why, in a few words.";

  test("is written, changed and taken off, each time with the one before and why in the log", async () => {
    expect(await save(" MEDUX4471203 ")).toBeNull();
    expect(await save("MEDUX4471204", { reason: " A digit was wrong " })).toBe("MEDUX4471203");
    expect(await getRejection(save("MEDUX4471204", { reason: "Again" }))).toBe(
      "409 The shipment has this AWB/BL already.",
    );
    expect(await save("", { reason: "Another shipment's" })).toBe("MEDUX4471204");
    expect(await getRejection(save(" ", { reason: "Again" }))).toBe("409 The shipment has this AWB/BL already.");
    const request = randomUUID();
    await save("706-51093844", { idempotency_key: request, expected_version: 3 });
    await save("706-51093844", { idempotency_key: request, expected_version: 3 });
    expect(await readShipment()).toMatchObject({ awb: "706-51093844", version: 4 });
    expect(
      (await listAuditEntries()).map(({ action, before, after, reason }) => [action, before, after, reason]),
    ).toEqual([
      ["shipment set-awb", { awb: null }, { awb: "MEDUX4471203" }, null],
      ["shipment set-awb", { awb: "MEDUX4471203" }, { awb: "MEDUX4471204" }, "A digit was wrong"],
      ["shipment set-awb", { awb: "MEDUX4471204" }, { awb: null }, "Another shipment's"],
      ["shipment set-awb", { awb: null }, { awb: "706-51093844" }, null],
    ]);
  });

  test("that stands is neither changed nor taken off without a reason", async () => {
    await save("MEDUX4471203", { reason: "  " });
    const before = await readDeskState(testBackend);
    for (const awb of ["MEDUX4471204", "", "   "]) {
      for (const reason of [undefined, null, "", "   "]) expect(await getRejection(save(awb, { reason }))).toBe(why);
    }
    expect(await getRejection(save("MEDUX4471204", { reason: "x".repeat(2001) }))).toBe(
      "400 Use at most 2,000 characters.",
    );
    expect(await readDeskState(testBackend)).toEqual(before);
  });

  test("is changed once by a form that is sent twice", async () => {
    await save("MEDUX4471203");
    const form = { reason: "A digit was wrong", expected_version: 1, idempotency_key: randomUUID() };
    expect(await save("MEDUX4471204", form)).toBe("MEDUX4471203");
    expect(await save("MEDUX4471204", form)).toBeNull();
    expect(await listAuditEntries()).toHaveLength(2);
  });
});

test("the arrival is written and changed, whole, with the one before in the log", async () => {
  const save = (place: string, day: string, size: number, free_storage_ends_on: string) =>
    callRpc("save_arrival", { shipment_id: shipment, place, day, size, free_storage_ends_on });
  await save("mombasa", "2026-03-01", 20, "2026-03-05");
  await save("naivasha", "2026-03-02", 40, "2026-03-06");
  expect(await readShipment()).toMatchObject({
    ...{
      arrival_place: "naivasha",
      arrived_on: "2026-03-02",
      container_size: 40,
      free_storage_ends_on: "2026-03-06",
      version: 2,
    },
  });
  expect((await listAuditEntries()).at(-1)).toMatchObject({
    action: "shipment arrived",
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
    expect(await getRejection(wrong)).toMatch(/^400 /);
  }
  expect(await listAuditEntries()).toHaveLength(2);
  expect(await readShipment()).toMatchObject({
    arrived_on: "2026-03-02",
    free_storage_ends_on: "2026-03-06",
    version: 2,
  });
});

test("a note is in the client's history; its words are not in the log; an empty one is refused", async () => {
  const request = randomUUID();
  for (const note of [" Your container is at the yard ", " Your container is at the yard "]) {
    await callRpc("send_note", { shipment_id: shipment, note, idempotency_key: request });
  }
  const { data } = await owner.supabase.from("tracking_events").select("status, note").eq("shipment_id", shipment);
  expect(data).toEqual([{ status: "Note", note: "Your container is at the yard" }]);
  expect(await listAuditEntries()).toEqual([expect.objectContaining({ action: "shipment note", after: null })]);
  expect(await getRejection(callRpc("send_note", { shipment_id: shipment, note: "  " }))).toBe("400 Write the note.");
  expect(await readShipment()).toMatchObject({ version: 0 });
});

test("a note to the client, alone or with a move, may have lines and tabs, and nothing else that is not seen", async () => {
  const move = { shipment_id: shipment, despite_missing: true };
  const before = await readDeskState(testBackend);
  for (const character of invisibleInText) {
    const note = `Pay${character}here`;
    expect(await getRejection(callRpc("send_note", { shipment_id: shipment, note })), note).toMatch(/^400 /);
    expect(await getRejection(callRpc("move_shipment", { ...move, note })), note).toMatch(/^400 /);
  }
  expect(await readDeskState(testBackend)).toEqual(before);
  await callRpc("send_note", { shipment_id: shipment, note: "Two\r\nlines,\ttwo columns" });
  const { data } = await owner.supabase.from("tracking_events").select("note").eq("shipment_id", shipment);
  expect(data).toEqual([{ note: "Two\r\nlines,\ttwo columns" }]);
});

test("a place and an AWB/BL, which the client reads too, have no character that no page shows", async () => {
  const before = await readDeskState(testBackend);
  for (const character of invisibleCharacters) {
    const location = `Mom${character}basa`;
    const move = { despite_missing: true, location };
    expect(await getRejection(callRpc("move_shipment", { shipment_id: shipment, ...move })), location).toMatch(/^400 /);
    const awb = `706-${character}51093844`;
    expect(await getRejection(callRpc("save_awb", { shipment_id: shipment, awb })), awb).toMatch(/^400 /);
  }
  expect(await readDeskState(testBackend)).toEqual(before);
});

describe("a charge", () => {
  const set = (more: object = {}) =>
    callRpc("set_charge", { shipment_id: shipment, item: "duties", amount: 1250.5, currency: "KES", ...more });
  const mark = (paid: boolean, more: object = {}) =>
    callRpc("set_charge_paid", { shipment_id: shipment, item: "duties", paid, ...more });
  const charge = async () => (await query("select * from public.charges where shipment_id = $1", [shipment]))[0];
  const changed = "409 This charge has changed since you opened it.";

  test("makes it the client's move until it is paid, and again when it was not after all", async () => {
    for (const name of DEFAULT_DOCUMENTS) await uploadDocument(name);
    expect(await readShipment()).toMatchObject({ waiting_on: "company" });
    await set({ due_on: "2026-04-01", note: " KRA e-slip " });
    expect(await readShipment()).toMatchObject({ waiting_on: "client" });
    expect(await charge()).toMatchObject({ currency: "KES", due_on: "2026-04-01", note: "KRA e-slip", paid_at: null });
    await mark(true);
    expect(await readShipment()).toMatchObject({ waiting_on: "company" });
    expect(await getRejection(mark(true))).toBe("409 This is marked as paid already.");
    expect(await getRejection(mark(false))).toMatch(/^400 /);
    await mark(false, { reason: "The cheque bounced" });
    expect(await readShipment()).toMatchObject({ waiting_on: "client" });
    expect(await getRejection(mark(false, { reason: "Again" }))).toBe("409 This is not marked as paid.");
    expect((await listAuditEntries()).map(({ action, reason }) => [action, reason])).toEqual([
      ["charge set", null],
      ["charge paid", null],
      ["charge unpaid", "The cheque bounced"],
    ]);
  });

  test("that was paid keeps its sum and stays paid; its day and its note may change", async () => {
    await set({ due_on: "2026-04-01", note: "KRA e-slip" });
    await mark(true);
    const paid = await charge();
    const before = await readDeskState(testBackend);
    const first = "409 This sum is marked as paid: mark it as not paid first.";
    for (const change of [{ amount: 1300 }, { currency: "USD" }, { amount: 1250.51, currency: "USD" }, { amount: 0 }]) {
      expect(await getRejection(set({ due_on: "2026-05-01", ...change })), JSON.stringify(change)).toBe(first);
    }
    expect(await readDeskState(testBackend)).toEqual(before);

    await set({ amount: "1250.500", due_on: "2026-05-01", note: "Receipt 7", expected_version: 1 });
    expect(await charge()).toEqual({ ...paid, due_on: "2026-05-01", note: "Receipt 7", version: 2 });
    await set({});
    expect(await charge()).toEqual({ ...paid, due_on: null, note: null, version: 3 });
    expect((await listAuditEntries()).slice(2)).toEqual([
      expect.objectContaining({
        action: "charge set",
        before: { item: "duties", amount: 1250.5, currency: "KES", due_on: "2026-04-01" },
        after: { item: "duties", amount: 1250.5, currency: "KES", due_on: "2026-05-01" },
      }),
      expect.objectContaining({ action: "charge set" }),
    ]);
  });

  test("whose payment is taken back has another sum then, and the log has both", async () => {
    await set();
    await mark(true);
    await mark(false, { reason: "The cheque bounced" });
    await set({ amount: 1300, currency: "USD" });
    expect(await charge()).toMatchObject({ currency: "USD", paid_at: null });
    expect((await listAuditEntries()).at(-1)).toMatchObject({
      before: { item: "duties", amount: 1250.5, currency: "KES" },
      after: { item: "duties", amount: 1300, currency: "USD" },
    });
  });

  test("is refused from a page that somebody else's change or payment made old", async () => {
    await set({ expected_version: -1 });
    expect(await getRejection(set({ expected_version: -1, amount: 2 }))).toBe(changed);
    await set({ expected_version: 0, amount: 2 });
    expect(await getRejection(mark(true, { expected_version: 0 }))).toBe(changed);
    await mark(true, { expected_version: 1 });
    expect(await getRejection(set({ expected_version: 1, amount: 3 }))).toBe(changed);
    expect(await getRejection(mark(false, { expected_version: 1, reason: "No" }))).toBe(changed);
    expect(await listAuditEntries()).toHaveLength(3);
  });

  test("is set once by a form that is sent twice, even after it was paid meanwhile", async () => {
    const request = randomUUID();
    await set({ idempotency_key: request });
    await mark(true, { idempotency_key: request });
    await set({ idempotency_key: request });
    await mark(true, { idempotency_key: request });
    expect((await charge())?.paid_at).not.toBeNull();
    expect(await listAuditEntries()).toHaveLength(2);
    await set({ idempotency_key: request, note: "2026-05-01" });
    await set({ idempotency_key: request, due_on: "2026-05-01" });
    expect(await charge()).toMatchObject({ due_on: "2026-05-01", note: null });
  });

  test.each([
    ...[{ amount: 0 }, { amount: -5 }, { currency: "XXX" }, { item: "bribe" }, { note: "x".repeat(301) }],
    ...["NaN", "Infinity", "-Infinity", "1000000000000", "1e13"].map((amount) => ({ amount })),
    ...["infinity", "-infinity", "1999-12-31", "2100-01-02", "20260401-01-01"].map((due_on) => ({ due_on })),
    ...invisibleCharacters.map((character) => ({ note: `Pay${character}here` })),
  ])("of %j is refused", async (wrong) => {
    expect(await getRejection(set(wrong))).toMatch(/^400 /);
    expect(await charge()).toBeUndefined();
    expect(await listAuditEntries()).toEqual([]);
  });

  test("that nobody set is not paid", async () => {
    expect(await getRejection(mark(true))).toBe("404 Nothing is charged for this yet.");
  });
});

describe("a document", () => {
  let file: Awaited<ReturnType<typeof uploadDocument>>;
  beforeEach(async () => {
    file = await uploadDocument("Packing List");
  });
  const verify = (more: object = {}, supabase: AppSupabaseClient = clerk.supabase) =>
    callRpc("verify_document", { document_id: file.id, sha256, storage_version: file.version, ...more }, supabase);
  const unverify = (more: object = {}) =>
    callRpc("unverify_document", { document_id: file.id, reason: "Wrong", ...more });
  const sendBack = (more: object = {}) =>
    callRpc("reject_document", { document_id: file.id, reason: "Blurred", ...more });
  const documentNow = async () => (await query("select * from public.documents where id = $1", [file.id]))[0] ?? {};
  const logOfIt = async () =>
    (await listAuditEntries()).map(({ action, document_id, reason }) => [action, document_id, reason]);

  test("is verified once, and its verification is taken back with a reason", async () => {
    await verify({ expected_version: 1 });
    expect(await documentNow()).toMatchObject({ verified: true });
    expect(await getRejection(verify())).toBe("409 The Packing List is verified already.");
    expect(await getRejection(unverify({ reason: " " }))).toMatch(/^400 /);
    await unverify({ expected_version: 2 });
    expect(await documentNow()).toMatchObject({ verified: false, uploaded: true, storage_path: file.path, sha256 });
    expect(await getRejection(unverify())).toBe("409 The Packing List is not verified.");
    await verify();
    expect(await logOfIt()).toEqual([
      ["document verify", file.id, null],
      ["document unverify", file.id, "Wrong"],
      ["document verify", file.id, null],
    ]);
  });

  test("of another version, of other bytes or without a file is not verified", async () => {
    const exchanged = "409 The stored file is not the one that was uploaded.";
    const before = await readDeskState(testBackend);
    expect(await getRejection(verify({ storage_version: "2" }))).toBe(exchanged);
    expect(await getRejection(verify({ sha256: "1".repeat(64) }))).toMatch(/^409 /);
    await query("update storage.objects set version = 'exchanged' where name = $1", [file.path]);
    expect(await getRejection(verify())).toBe(exchanged);
    const awaited = await getDocumentId("Bill of Lading");
    expect(await getRejection(verify({ document_id: awaited }))).toBe(
      "409 The Bill of Lading has not been uploaded yet.",
    );
    expect(await getRejection(verify({ document_id: randomUUID() }))).toBe("404 There is no such document.");
    expect(await readDeskState(testBackend)).toEqual(before);
  });

  test("that is sent back has no file, and keeps the reason for its client until a new one comes", async () => {
    await sendBack({ reason: " The second page is blurred ", expected_version: 1 });
    const nothing = { storage_path: null, storage_version: null, sha256: null, file_name: null, uploaded_at: null };
    expect(await documentNow()).toMatchObject({ uploaded: false, verified: false, ...nothing });
    const page = await toUntypedClient(owner.supabase).rpc("portal_page", { opened_id: shipment }, { get: true });
    expect(page.data.shipment.documents).toContainEqual({
      ...{ id: file.id, name: "Packing List", uploaded: false, verified: false, version: 2 },
      ...{ file_name: null, file_size: null, uploaded_at: null },
      ...{ rejected_at: expect.any(String), rejection_reason: "The second page is blurred" },
    });
    expect((await listAuditEntries()).at(-1)).toMatchObject({
      ...{ action: "document reject", document_id: file.id, reason: "The second page is blurred" },
      before: { sha256 },
    });
    // Its path has the name that a person gave the file, and the log outlives them.
    expect(JSON.stringify(await listAuditEntries())).not.toContain("list.pdf");
    expect(await getRejection(sendBack())).toBe("409 The Packing List has not been uploaded yet.");

    expect((await owner.supabase.rpc("require_upload_allowed", { document_id: file.id })).error).toBeNull();
    const again = await uploadDocument("Packing List");
    expect(await documentNow()).toMatchObject({ uploaded: true, storage_path: again.path });
    expect(await documentNow()).toMatchObject({ rejected_at: null, rejection_reason: null });
  });

  test("that is sent back leaves its file to nobody's document, and to be removed a day later", async () => {
    await sendBack();
    const left = { uploaded: true, storage_path: file.path, sha256, ...fileColumns };
    const other = await getDocumentId("Bill of Lading");
    expect((await testBackend.serviceRole.from("documents").update(left).eq("id", other)).error?.code).toBe("PT409");
    const past = async () => JSON.stringify((await testBackend.serviceRole.rpc("beyond_retention")).data);
    expect(await past()).not.toContain(file.path);
    await query("update storage.objects set created_at = now() - interval '25 hours' where name = $1", [file.path]);
    expect(await past()).toContain(file.path);
  });

  test("is not sent back while it is verified, nor when its shipment is closed, nor without a short reason", async () => {
    for (const reason of ["", "  ", "x".repeat(501)]) expect(await getRejection(sendBack({ reason }))).toMatch(/^400 /);
    await verify();
    expect(await getRejection(sendBack())).toBe("409 The Packing List is verified: take the verification back first.");
    await unverify();
    await callRpc("correct_stage", { shipment_id: shipment, stage: 10, reason: "Done" });
    const before = await readDeskState(testBackend);
    expect(await getRejection(sendBack())).toBe("409 This shipment is closed: its client could send no other file.");
    expect(await readDeskState(testBackend)).toEqual(before);
  });

  test("is not sent back for a reason with characters that no page shows; it may have lines and tabs", async () => {
    const before = await readDeskState(testBackend);
    for (const character of invisibleInText) {
      expect(await getRejection(sendBack({ reason: `Blur${character}red` })), character).toMatch(/^400 /);
    }
    expect(await readDeskState(testBackend)).toEqual(before);
    await sendBack({ reason: "Blurred\r\n\tand cut" });
    expect(await documentNow()).toMatchObject({ rejection_reason: "Blurred\r\n\tand cut" });
  });

  test("is refused from a page that somebody else's act made old", async () => {
    await verify({ expected_version: 1 }, lead.supabase);
    const old = "409 This document has changed since you opened it.";
    for (const attempt of [
      verify({ expected_version: 1 }),
      unverify({ expected_version: 1 }),
      sendBack({ expected_version: 1 }),
    ]) {
      expect(await getRejection(attempt)).toBe(old);
    }
    expect(await listAuditEntries()).toHaveLength(1);
  });

  test("is verified, unverified and sent back once by forms that are sent twice", async () => {
    const request = randomUUID();
    for (const twice of [verify, unverify, sendBack]) {
      await twice({ idempotency_key: request });
      await twice({ idempotency_key: request });
    }
    expect((await listAuditEntries()).map(({ action }) => action)).toEqual([
      "document verify",
      "document unverify",
      "document reject",
    ]);
  });

  test("is given up by no other hand: neither the company's key nor a client takes a file off", async () => {
    const off = { uploaded: false, storage_path: null, storage_version: null, sha256: null, file_name: null };
    const none = { ...off, file_size: null, media_type: null, uploaded_at: null };
    expect((await testBackend.serviceRole.from("documents").update(none).eq("id", file.id)).error?.code).toBe("PT409");
    expect((await owner.supabase.from("documents").update(none).eq("id", file.id)).error?.code).toBe("42501");
    await sendBack();
    const other = await uploadDocument("Bill of Lading");
    expect((await testBackend.serviceRole.from("documents").update(none).eq("id", other.id)).error?.code).toBe("PT409");
  });

  test("is opened by leaving a line in the log, each time, and only as one of its shipment's", async () => {
    const open = (more: object = {}) =>
      callRpc("open_document", { document_id: file.id, shipment_id: shipment, ...more });
    const opened = await open();
    expect(opened).toEqual({
      ...{
        shipment_id: shipment,
        name: "Packing List",
        storage_path: file.path,
        storage_version: file.version,
        sha256,
      },
      ...{ file_name: "list.pdf", media_type: "application/pdf" },
    });
    await open();
    expect(await logOfIt()).toEqual([
      ["document open", file.id, null],
      ["document open", file.id, null],
    ]);
    const awaited = await getDocumentId("Bill of Lading");
    const other = await newShipment();
    const before = await readDeskState(testBackend);
    for (const wrong of [
      { document_id: awaited },
      { document_id: randomUUID() },
      { document_id: null },
      { shipment_id: other },
      { shipment_id: randomUUID() },
      { shipment_id: null },
    ]) {
      for (const supabase of [clerk.supabase, lead.supabase, testBackend.serviceRole]) {
        const attempt = callRpc("open_document", { document_id: file.id, shipment_id: shipment, ...wrong }, supabase);
        expect(await getRejection(attempt), JSON.stringify(wrong)).toBe("404 There is no such file.");
      }
    }
    expect(await readDeskState(testBackend)).toEqual(before);
  });
});

test("whose move it is agrees with documents, charges and stage in every combination, and how long it has been so", async () => {
  const turns: string[] = [];
  const names = [...DEFAULT_DOCUMENTS];
  const documents: [string, () => Promise<unknown>][] = [
    ["none", async () => undefined],
    ["some", async () => uploadDocument(names[0])],
    ["all", async () => Promise.all(names.slice(1).map(uploadDocument))],
    [
      "sent back",
      async () => callRpc("reject_document", { document_id: await getDocumentId(names[2]), reason: "Blurred" }),
    ],
    ["all", async () => uploadDocument(names[2])],
  ];
  const charge = { shipment_id: shipment, item: "duties" };
  const other = { shipment_id: shipment, item: "agent-fee" };
  const charges: [string, () => Promise<unknown>][] = [
    ["due", () => callRpc("set_charge", { ...charge, amount: 5, currency: "KES" })],
    ["paid", () => callRpc("set_charge_paid", { ...charge, paid: true })],
    ["paid and due", () => callRpc("set_charge", { ...other, amount: 5, currency: "USD" })],
    ["paid", () => callRpc("set_charge_paid", { ...other, paid: true })],
  ];
  const look = async (papers: string, due: string) => {
    for (const stage of [10, 1]) {
      if ((await readShipment()).stage !== stage) {
        await callRpc("correct_stage", { shipment_id: shipment, stage, reason: "To look" });
      }
      const { waiting_on: turn } = await readShipment();
      const expected = stage === 10 ? "nobody" : papers === "all" && !due.includes("due") ? "company" : "client";
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

  await query("update public.shipments set waiting_since = '2026-01-01' where id = $1", [shipment]);
  const since = async () => String((await readShipment()).waiting_since).slice(0, 10);
  await callRpc("send_note", { shipment_id: shipment, note: "Still the company's" });
  expect(await since()).toBe("2026-01-01");
  await callRpc("set_charge", { ...charge, amount: 5, currency: "KES" });
  expect(await since()).not.toBe("2026-01-01");
});

test("a shipment that is written down closed is nobody's move, and any other new one its client's", async () => {
  const made = await query<{ stage: number; waiting_on: string }>(
    `insert into public.shipments (user_id, name, stage) values ($1, 'A', 10), ($1, 'B', 6), ($1, 'C', 1)
     returning stage, waiting_on`,
    [owner.id],
  );
  expect(made.map(({ stage, waiting_on }) => `${stage} ${waiting_on}`)).toEqual(["10 nobody", "6 client", "1 client"]);
});

describe("what all clients are told", () => {
  const told = async () => (await owner.supabase.from("announcements").select("text").is("ended_at", null)).data;
  const acts = () =>
    query(
      "select action, before, after, actor_name from public.audit_log where action like 'announcement%' order by created_at",
    );

  test("is one sentence at a time, from its words to its end", async () => {
    await callRpc("end_announcement", {});
    const before = (await acts()).length;
    const request = randomUUID();
    await callRpc("announce", { text: " Customs system down since 09:10 ", idempotency_key: request });
    await callRpc("announce", { text: " Customs system down since 09:10 ", idempotency_key: request });
    expect(await told()).toEqual([{ text: "Customs system down since 09:10" }]);
    await callRpc("announce", { text: "It is up again", idempotency_key: request }, lead.supabase);
    expect(await told()).toEqual([{ text: "It is up again" }]);
    await callRpc("end_announcement", {});
    await callRpc("end_announcement", {});
    expect(await told()).toEqual([]);
    expect((await acts()).slice(before)).toEqual([
      {
        action: "announcement set",
        before: null,
        after: { text: "Customs system down since 09:10" },
        actor_name: clerk.name,
      },
      { action: "announcement set", before: null, after: { text: "It is up again" }, actor_name: lead.name },
      { action: "announcement end", before: { text: "It is up again" }, after: null, actor_name: clerk.name },
    ]);
  });

  test("is neither nothing, nor more than 200 characters, nor has it any that no page shows", async () => {
    const before = await readDeskState(testBackend);
    expect(await getRejection(callRpc("announce", { text: "  " }))).toBe("400 Write the notice.");
    expect(await getRejection(callRpc("announce", { text: "x".repeat(201) }))).toMatch(/^400 /);
    for (const character of invisibleCharacters) {
      expect(await getRejection(callRpc("announce", { text: `Pay${character}here` })), character).toMatch(/^400 /);
    }
    expect(await readDeskState(testBackend)).toEqual(before);
  });
});

describe("the account of a client", () => {
  const password = "a good password";
  let client: TestClient;
  let number = 0;
  beforeEach(async () => {
    number += 1;
    client = await testBackend.newClient(`client-${number}@client.example`, password);
  });
  const close = (more: object = {}) =>
    callRpc("close_account", { account_id: client.id, reason: "They asked", ...more });
  const open = (more: object = {}) =>
    callRpc("reopen_account", { account_id: client.id, reason: "They called", ...more });
  const logOfIt = () =>
    query("select action, reason, after, actor_name from public.audit_log where account_id = $1 order by created_at", [
      client.id,
    ]);
  const reads = async (supabase: AppSupabaseClient) =>
    (await supabase.from("shipments").select("id")).data?.length ?? "nothing";

  test("that is closed is left at once by every session, and takes no new one until it is opened again", async () => {
    await client.supabase.from("shipments").insert({ name: "Tea", user_id: client.id });
    const left = testBackend.withToken(client.accessToken);
    expect(await reads(left)).toBe(1);
    await close();
    expect(await reads(left)).not.toBe(1);
    expect((await left.rpc("get_viewer", {}, { get: true })).data).not.toMatchObject({
      viewer: { email: client.email },
    });
    expect((await client.supabase.auth.refreshSession()).error).not.toBeNull();
    expect(await canLogIn(client.email, password)).toBe(false);
    expect(await getRejection(close())).toBe("409 This account is closed already.");
    await open();
    expect(await canLogIn(client.email, password)).toBe(true);
    expect(await reads(left)).not.toBe(1);
    expect(await getRejection(open())).toBe("409 This account is open.");
    expect((await logOfIt()).map(({ action, reason }) => [action, reason])).toEqual([
      ["account close", "They asked"],
      ["account reopen", "They called"],
    ]);
  });

  test("is closed and opened with a reason alone, and only a client's", async () => {
    for (const attempt of [close({ reason: " " }), open({ reason: "" }), erase({ reason: "" })]) {
      expect(await getRejection(attempt)).toBe("400 Say why, in a few words.");
    }
    for (const account of [lead.id, clerk.id, randomUUID()]) {
      for (const attempt of [
        close({ account_id: account }),
        open({ account_id: account }),
        erase({ account_id: account }),
      ]) {
        expect(await getRejection(attempt)).toBe("404 There is no such client.");
      }
    }
    expect(await logOfIt()).toEqual([]);
    expect((await clerk.supabase.from("staff_members").select("account_id")).data).not.toEqual([]);
  });

  test("loses its second factors and its sessions when their owner lost them, and says so when it has none", async () => {
    const remove = () => callRpc("remove_second_factors", { account_id: client.id, reason: "A stolen telephone" });
    expect(await getRejection(remove())).toBe("409 This account has no second factor.");
    await addSecondFactor(client.id, "unverified");
    expect(await getRejection(remove())).toMatch(/^409 /);
    expect(await query("select from auth.mfa_factors where user_id = $1", [client.id])).toHaveLength(1);
    await addSecondFactor(client.id, "verified");
    await addSecondFactor(client.id, "verified");
    expect(await remove()).toEqual({ removed: 2, email: client.email });
    expect(await query("select from auth.mfa_factors where user_id = $1", [client.id])).toEqual([]);
    expect((await client.supabase.auth.refreshSession()).error).not.toBeNull();
    expect(await canLogIn(client.email, password)).toBe(true);
    expect(await logOfIt()).toEqual([
      { action: "account reset-2fa", reason: "A stolen telephone", after: { removed: 2 }, actor_name: clerk.name },
    ]);
  });

  test("is sent a link for a new password unless it is closed or was never confirmed", async () => {
    const ask = (account = client.id) => callRpc("request_password_link", { account_id: account });
    expect(await ask()).toBe(client.email);
    await close();
    const no = "409 This account is closed, or its address was never confirmed.";
    expect(await getRejection(ask())).toBe(no);
    expect(await getRejection(ask(randomUUID()))).toBe(no);
    const [row] = (await testBackend.serviceRole.rpc("issue_client_ids", {})).data ?? [];
    const options = { data: { full_name: "Never Came", client_id: row?.client_id } };
    const waiting = await testBackend
      .anonymous()
      .auth.signUp({ email: `never-${number}@client.example`, password, options });
    expect(await getRejection(ask(waiting.data.user?.id))).toBe(no);
    expect((await logOfIt()).map(({ action }) => action)).toEqual(["account send-password-link", "account close"]);
  });

  const erase = (more: object = {}) =>
    callRpc("start_erasure", { account_id: client.id, reason: "They asked", ...more });

  test("is not erased while a shipment of it is kept, and the answer says until when", async () => {
    await client.supabase.from("shipments").insert({ name: "Tea", user_id: client.id });
    await client.supabase.from("shipments").insert({ name: "Coffee", user_id: client.id });
    await query("update public.shipments set retention_ends_on = '2039-05-04' where user_id = $1 and name = 'Tea'", [
      client.id,
    ]);
    const before = await readDeskState(testBackend);
    expect(await getRejection(erase())).toBe(
      "409 This account has shipments that have to be kept, the last until 2039-05-04: nothing was deleted.",
    );
    expect(await readDeskState(testBackend)).toEqual(before);
    await query("update public.shipments set retention_ends_on = (now() at time zone 'UTC')::date where user_id = $1", [
      client.id,
    ]);
    expect(await getRejection(erase())).toMatch(/^409 /);
    await query(
      "update public.shipments set retention_ends_on = (now() at time zone 'UTC')::date - 1 where user_id = $1",
      [client.id],
    );
    expect(await erase()).toBe(client.email);
    expect(await logOfIt()).toEqual([
      { action: "account erase", reason: "They asked", after: null, actor_name: clerk.name },
    ]);
    expect(await canLogIn(client.email, password)).toBe(false);
    expect((await client.supabase.auth.refreshSession()).error).not.toBeNull();
  });
});

describe("client IDs", () => {
  const signUp = (email: string, client_id?: string) =>
    testBackend.anonymous().auth.signUp({
      email,
      password: "a good password",
      options: { data: { full_name: "New Client", client_id } },
    });
  const issue = async (more: object = {}) => {
    const rows = (await callRpc("issue_client_ids", more)) as { client_id: string }[];
    return rows.map(({ client_id }) => client_id);
  };
  const withdraw = (client_id?: string, reason = "Sent to the wrong address") =>
    callRpc("withdraw_client_id", { client_id, reason });
  const acts = (name: string) => query("select * from public.audit_log where action = $1 order by created_at", [name]);

  test("are issued for somebody, and the form that is sent twice gets the same ones", async () => {
    const before = (await acts("client-id issue")).length;
    const form = {
      how_many: 3,
      issued_for: " Tea Ltd ",
      sent_to: " Tea@Client.Example ",
      idempotency_key: randomUUID(),
    };
    const first = await issue(form);
    expect(new Set(first).size).toBe(3);
    expect((await issue(form)).sort()).toEqual([...first].sort());
    expect((await acts("client-id issue")).length).toBe(before + 1);
    const issued = await query("select issued_for, sent_to from public.client_ids where client_id = any ($1)", [first]);
    expect(issued).toEqual(first.map(() => ({ issued_for: "Tea Ltd", sent_to: "tea@client.example" })));
    expect(await issue({ ...form, idempotency_key: randomUUID() })).not.toEqual(first);
    expect(await issue({ ...form, issued_for: "Coffee Ltd" })).not.toEqual(first);
    // Also at once, and hundreds of them.
    const many = { how_many: 300, idempotency_key: randomUUID() };
    const [one, other] = await Promise.all([issue(many), issue(many)]);
    expect(one).toHaveLength(300);
    expect([...(other ?? [])].sort()).toEqual([...(one ?? [])].sort());
  });

  test("of one form that comes eight times at once are issued once", async () => {
    const form = { how_many: 2, issued_for: "Eight Ltd", idempotency_key: randomUUID() };
    const outcomes = await runConcurrently(Array.from({ length: 8 }, () => ["issue_client_ids", form, clerk]));
    expect(outcomes).toEqual(Array.from({ length: 8 }, () => "done"));
    expect(await query("select from public.client_ids where issued_for = 'Eight Ltd'")).toHaveLength(2);
  });

  test.each([
    ...invisibleCharacters.map((character) => ({ issued_for: `Tea${character}Ltd` })),
    { issued_for: "x".repeat(121) },
    ...["a@client.example, b@client.example", "a@client.example,b@client.example", "a@client.example b@client.example"],
    ...["a@client.example;b@client.example", "Tea Ltd <a@client.example>", "a b@client.example", "a@client example"],
    ...["nobody", "@client.example", "a@", "a@b@client.example", '"a"@client.example', "list:a@client.example"],
    ...invisibleCharacters.map((character) => `a${character}b@client.example`),
    ...invisibleCharacters.map((character) => `a@client${character}.example`),
    `${"x".repeat(250)}@b.ke`,
  ])("are not issued for %j", async (wrong) => {
    const before = await readDeskState(testBackend);
    expect(await getRejection(issue(typeof wrong === "string" ? { sent_to: wrong } : wrong))).toMatch(/^400 /);
    expect(await readDeskState(testBackend)).toEqual(before);
  });

  test("are not in the log, only how many, by a form or without one", async () => {
    for (const more of [
      {},
      { idempotency_key: randomUUID() },
      { idempotency_key: randomUUID(), how_many: 3, sent_to: "a@b.ke" },
    ]) {
      const ids = await issue(more);
      const last = (await acts("client-id issue")).at(-1);
      expect(last?.after).toEqual({ count: ids.length });
      for (const id of ids) expect(JSON.stringify(await query("select * from public.audit_log"))).not.toContain(id);
    }
  });

  describe("that are mailed", () => {
    const send = (client_id: string | undefined, more: object = {}, supabase?: AppSupabaseClient) =>
      callRpc("send_client_id", { client_id, ...more }, supabase);
    const no = "409 This Client ID is not known, or has been used, or was issued without an address.";
    const undelivered = (id: string) =>
      query<{ open: boolean }>(
        "select resolved_at is null as open from public.failed_emails where client_id = $1 order by failed_at",
        [id],
      );

    test("go to the address they were issued for, and a form that is sent twice is one act", async () => {
      const [id = ""] = await issue({ sent_to: "tea@client.example" });
      const before = (await acts("client-id send")).length;
      const request = randomUUID();
      expect(await send(id, { idempotency_key: request })).toBe("tea@client.example");
      expect(await send(id, { idempotency_key: request })).toBe("tea@client.example");
      expect(await send(id, { idempotency_key: randomUUID() }, lead.supabase)).toBe("tea@client.example");
      expect(await send(id, { actor_name: "Otieno" }, testBackend.serviceRole)).toBe("tea@client.example");
      expect(await send(id, { actor_name: "Otieno" }, testBackend.serviceRole)).toBe("tea@client.example");
      const lines = (await acts("client-id send")).slice(before);
      expect(lines.map(({ actor_name }) => actor_name)).toEqual([clerk.name, lead.name, "Otieno", "Otieno"]);
      // Neither whom it went to nor an ID that could still be used.
      for (const secret of ["tea@client.example", id]) expect(JSON.stringify(lines)).not.toContain(secret);
    });

    test("are known, unused and issued for an address", async () => {
      const [used = "", withdrawn = "", sendable = ""] = await issue({ how_many: 3, sent_to: "tea@client.example" });
      const [spent = ""] = await issue({ sent_to: "spent@client.example" });
      const [silent] = await issue();
      await signUp("uses-mailed@client.example", used);
      await testBackend.serviceRole.rpc("redeem_client_id", { client_id: spent, email: owner.email });
      await withdraw(withdrawn);
      const before = await readDeskState(testBackend);
      for (const id of [used, spent, withdrawn, silent, "N0TH-1NG0-0F1T-HERE", "", "%", null]) {
        const attempt = send(id as string, { idempotency_key: randomUUID() });
        expect(await getRejection(attempt), String(id)).toBe(no);
      }
      expect(await readDeskState(testBackend)).toEqual(before);
      expect(await send(sendable)).toBe("tea@client.example");
    });

    test("are off the list of what was not delivered, each with its own mails, until a mail of theirs fails again", async () => {
      const [id = "", other = ""] = await issue({ how_many: 2, sent_to: "bounced@client.example" });
      const fails = (client_id: string) =>
        testBackend.serviceRole.rpc("record_failed_email", {
          kind: "client ID",
          sent_to: "bounced@client.example",
          client_id,
        });
      await fails(id);
      await fails(other);
      const request = randomUUID();
      await send(id, { idempotency_key: request });
      expect([await undelivered(id), await undelivered(other)]).toEqual([[{ open: false }], [{ open: true }]]);
      await fails(id);
      await send(id, { idempotency_key: request });
      expect(await undelivered(id)).toEqual([{ open: false }, { open: true }]);
      await send(id, { idempotency_key: randomUUID() });
      expect(await undelivered(id)).toEqual([{ open: false }, { open: false }]);
      expect(await undelivered(other)).toEqual([{ open: true }]);
      await send(other);
      expect(await undelivered(other)).toEqual([{ open: false }]);
    });

    test("are one act of a form that comes eight times at once", async () => {
      const [id = ""] = await issue({ sent_to: "eight@client.example" });
      const before = (await acts("client-id send")).length;
      const args = { client_id: id, idempotency_key: randomUUID() };
      const results = await callConcurrently(
        testBackend,
        Array.from({ length: 8 }, () => ({ name: "send_client_id", args, token: clerk.accessToken })),
      );
      expect(results.map(({ result }) => result)).toEqual(Array.from({ length: 8 }, () => "eight@client.example"));
      expect((await acts("client-id send")).length).toBe(before + 1);
    });
  });

  test("that are withdrawn open no account, and stay in the log with the reason", async () => {
    const [id, other] = await issue({ how_many: 2 });
    await withdraw(id);
    const rejection = await signUp("withdrawn@client.example", id);
    expect(rejection.error).not.toBeNull();
    expect(await query("select from auth.users where email = 'withdrawn@client.example'")).toEqual([]);
    expect((await signUp("withdrawn@client.example", other)).error).toBeNull();
    expect((await acts("client-id withdraw")).at(-1)).toMatchObject({
      ...{ before: { client_id: id }, reason: "Sent to the wrong address", actor_name: clerk.name },
    });
    expect(await getRejection(withdraw(id))).toBe("409 This Client ID is not known, or has been used.");
  });

  test("that were used are not withdrawn, by an account or by an address that had one", async () => {
    const [first, second, third] = await issue({ how_many: 3 });
    await signUp("uses-one@client.example", first);
    await testBackend.serviceRole.rpc("redeem_client_id", { client_id: second ?? "", email: owner.email });
    for (const used of [first, second]) {
      expect(await getRejection(withdraw(used))).toBe("409 This Client ID is not known, or has been used.");
    }
    expect(await getRejection(withdraw(third, " "))).toMatch(/^400 /);
    const left = await query("select from public.client_ids where client_id = any ($1)", [[first, second, third]]);
    expect(left).toHaveLength(3);
  });
});

test("a mail that was not delivered is listed until somebody has dealt with it, once", async () => {
  const { error } = await testBackend.serviceRole.rpc("record_failed_email", {
    kind: "new password",
    sent_to: owner.email,
    account_id: owner.id,
  });
  expect(error).toBeNull();
  const [email] = await query<{ id: string }>("select id from public.failed_emails where account_id = $1", [owner.id]);
  await callRpc("resolve_failed_email", { email_id: email?.id });
  await callRpc("resolve_failed_email", { email_id: email?.id });
  const dealt = await query("select before, actor_name from public.audit_log where action = 'failed-email resolve'");
  expect(dealt).toEqual([{ before: { kind: "new password" }, actor_name: clerk.name }]);
  expect((await clerk.supabase.from("failed_emails").select("id").is("resolved_at", null)).data).toEqual([]);
});

test("a command's act is in the name that it gives; a colleague's in their own, whatever name they give", async () => {
  const note = { shipment_id: shipment, note: "It came" };
  await callRpc("send_note", { ...note, actor_name: "Otieno" }, testBackend.serviceRole);
  await callRpc("send_note", note, testBackend.serviceRole);
  await callRpc("send_note", { ...note, actor_name: "Otieno" });
  expect((await listAuditEntries()).map(({ actor_name, staff_id }) => [actor_name, staff_id])).toEqual([
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
    [
      "move_shipments",
      "shipment advance",
      (at) => ({ moves: [{ id: at.complete, expected_version: 0 }], location: "Mombasa" }),
    ],
    ["save_awb", "shipment set-awb", (at) => ({ shipment_id: at.shipment, awb: "MEDUX4471203" })],
    [
      "save_arrival",
      "shipment arrived",
      (at) => ({
        shipment_id: at.shipment,
        place: "mombasa",
        day: "2026-03-01",
        size: 20,
        free_storage_ends_on: "2026-03-05",
      }),
    ],
    ["send_note", "shipment note", (at) => ({ shipment_id: at.shipment, note: "It came" })],
    [
      "set_charge",
      "charge set",
      (at) => ({ shipment_id: at.shipment, item: "duties", amount: 5, currency: "KES", note: "e-slip" }),
    ],
    ["set_charge_paid", "charge paid", (at) => ({ shipment_id: at.shipment, item: "idf-fee", paid: true })],
    [
      "set_charge_paid",
      "charge unpaid",
      (at) => ({ shipment_id: at.shipment, item: "agent-fee", paid: false, reason: "It bounced" }),
    ],
    ["verify_document", "document verify", (at) => ({ document_id: at.uploaded, sha256, storage_version: at.version })],
    ["unverify_document", "document unverify", (at) => ({ document_id: at.verified, reason: "Wrong" })],
    ["reject_document", "document reject", (at) => ({ document_id: at.blurred, reason: "Blurred" })],
    ["open_document", "document open", (at) => ({ document_id: at.verified, shipment_id: at.shipment })],
    ["announce", "announcement set", () => ({ text: "Customs system down" })],
    ["end_announcement", "announcement end", () => ({})],
    ["remove_second_factors", "account reset-2fa", (at) => ({ account_id: at.protected })],
    ["request_password_link", "account send-password-link", (at) => ({ account_id: at.protected })],
    ["close_account", "account close", (at) => ({ account_id: at.protected, reason: "They asked" })],
    ["reopen_account", "account reopen", (at) => ({ account_id: at.closed, reason: "They called" })],
    ["start_erasure", "account erase", (at) => ({ account_id: at.leaving, reason: "They asked" })],
    ["issue_client_ids", "client-id issue", () => ({ how_many: 2, issued_for: "Tea Ltd" })],
    ["send_client_id", "client-id send", (at) => ({ client_id: at.clientId })],
    ["withdraw_client_id", "client-id withdraw", (at) => ({ client_id: at.clientId, reason: "Lost" })],
    ["resolve_failed_email", "failed-email resolve", (at) => ({ email_id: at.email })],
    ["change_staff_role", "team role", (at) => ({ account_id: at.colleague, role: "lead" })],
    ["remove_staff_member", "team remove", (at) => ({ account_id: at.colleague, reason: "They left" })],
    ["invite_staff_member", "team invite", (at) => ({ email: at.gone, name: "Back Again", role: "lead" })],
  ];

  beforeAll(async () => {
    shipment = await newShipment();
    for (const name of DEFAULT_DOCUMENTS) await uploadDocument(name);
    const complete = shipment;
    shipment = await newShipment();
    const uploaded = await uploadDocument("Packing List");
    const verified = await uploadDocument("Bill of Lading");
    const blurred = await uploadDocument("Commercial Invoice");
    await callRpc("verify_document", { document_id: verified.id, sha256, storage_version: verified.version });
    for (const item of ["idf-fee", "agent-fee"]) {
      await callRpc("set_charge", { shipment_id: shipment, item, amount: 9, currency: "KES" });
    }
    await callRpc("set_charge_paid", { shipment_id: shipment, item: "agent-fee", paid: true });
    await callRpc("announce", { text: "All is well" });
    const careful = await testBackend.newClient("protected@client.example");
    await addSecondFactor(careful.id, "verified");
    const closed = await testBackend.newClient("closed@client.example");
    await callRpc("close_account", { account_id: closed.id, reason: "They asked" });
    const leaving = await testBackend.newClient("leaving@client.example");
    const [unused] = (await callRpc("issue_client_ids", { sent_to: "mailed@client.example" })) as {
      client_id: string;
    }[];
    await testBackend.serviceRole.rpc("record_failed_email", {
      kind: "team invite",
      sent_to: "somebody@client.example",
    });
    const [email] = await query<{ id: string }>("select id from public.failed_emails where kind = 'team invite'");
    const colleague = await newStaffMember(testBackend, "clerk", "changed@company.example");
    const gone = await newStaffMember(testBackend, "clerk", "gone@company.example");
    await callRpc("remove_staff_member", { account_id: gone.id, reason: "They left" }, lead.supabase);
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
      ...{ email: email?.id ?? "", colleague: colleague.id, gone: gone.email },
    };
  });

  test("while the log cannot be written, no act changes anything", async () => {
    await testBackend.backend.db.exec(`
      create function public.refuse_act() returns trigger language plpgsql as
        $$ begin raise exception 'the log is full'; end $$;
      create trigger refuse_act before insert on public.audit_log for each row execute function public.refuse_act();
    `);
    try {
      const before = await readDeskState(testBackend);
      for (const [name, , args] of acts) {
        const { error } = await toUntypedClient(lead.supabase).rpc(name, args(made));
        expect(error?.message, name).toBe("the log is full");
        expect(await readDeskState(testBackend), name).toEqual(before);
      }
      const kept = await testBackend.serviceRole.rpc("extend_shipment_retention", {
        shipment_id: shipment,
        day: "2099-01-01",
      });
      expect(kept.error?.message).toBe("the log is full");
      expect(await readDeskState(testBackend)).toEqual(before);
    } finally {
      await testBackend.backend.db.exec("drop trigger refuse_act on public.audit_log; drop function public.refuse_act");
    }
  });

  test("once it can, each act leaves one line, in the name of who did it", async () => {
    const lines = () => query<DatabaseRow>("select id, actor_name, staff_id, action from public.audit_log");
    for (const [name, line, args] of acts) {
      const known = new Set((await lines()).map(({ id }) => id));
      await callRpc(name, args(made), lead.supabase);
      const fresh = (await lines()).filter(({ id }) => !known.has(id));
      expect(fresh, name).toEqual([{ id: fresh[0]?.id, actor_name: lead.name, staff_id: lead.id, action: line }]);
    }
  });
});

/** What an act answers. Throws its refusal. */
async function callRpc(name: string, args: object, supabase: AppSupabaseClient = clerk.supabase): Promise<unknown> {
  const { data, error, status } = await toUntypedClient(supabase).rpc(name, args);
  if (error) throw Object.assign(new Error(error.message), { refusal: `${status} ${error.message}` });
  return data;
}

/** With which status and words an act is refused. */
function getRejection(attempt: Promise<unknown>): Promise<string> {
  return attempt.then(
    () => "done",
    (error: { refusal?: string }) => {
      if (!error.refusal) throw error;
      return error.refusal;
    },
  );
}

/** Acts of colleagues that come at the same time: "done", or why not. */
async function runConcurrently(asked: [string, Record<string, unknown>, TestStaffMember][]): Promise<string[]> {
  const calls = asked.map(([name, args, { accessToken: token }]) => ({ name, args, token }));
  return (await callConcurrently(testBackend, calls)).map(({ rejection }) => rejection ?? "done");
}

async function newShipment(): Promise<string> {
  const { data, error } = await owner.supabase
    .from("shipments")
    .insert({ name: "Tea", user_id: owner.id })
    .select("id")
    .single();
  if (error) throw error;
  return data.id;
}

async function readShipment(): Promise<DatabaseRow> {
  return (await query("select * from public.shipments where id = $1", [shipment]))[0] ?? {};
}

/** The log of the test's shipment, oldest first. */
function listAuditEntries(): Promise<DatabaseRow[]> {
  return query("select * from public.audit_log where shipment_id = $1 order by created_at", [shipment]);
}

async function getDocumentId(name = ""): Promise<string> {
  const [row] = await query<{ id: string }>("select id from public.documents where shipment_id = $1 and name = $2", [
    shipment,
    name,
  ]);
  return row?.id ?? "";
}

const fileColumns = { file_name: "list.pdf", file_size: 8, media_type: "application/pdf" };
const recordFileQuery = `update public.documents set uploaded = true, storage_path = $1, sha256 = $2, file_name = 'list.pdf',
  file_size = 8, media_type = 'application/pdf' where id = $3`;

/** A stored object where a document's file belongs. */
async function storeFile(name: string): Promise<string> {
  const slug = name.toLowerCase().replaceAll(" ", "-");
  const path = `${owner.id}/${shipment}/${slug}-${randomUUID().slice(-12)}-list.pdf`;
  await query("insert into storage.objects (bucket_id, name, version) values ('documents', $1, $2)", [
    path,
    randomUUID(),
  ]);
  return path;
}

/** A document of the test's shipment that counts a file, as the server leaves it. */
async function uploadDocument(name = "Packing List"): Promise<{ id: string; path: string; version: string }> {
  const path = await storeFile(name);
  const { data, error } = await testBackend.serviceRole
    .from("documents")
    .update({ uploaded: true, storage_path: path, sha256, ...fileColumns })
    .eq("shipment_id", shipment)
    .eq("name", name)
    .select("id, storage_version")
    .single();
  if (error) throw error;
  return { id: data.id, path, version: data.storage_version ?? "" };
}

async function addSecondFactor(account: string, status: string): Promise<void> {
  await query(
    `insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, secret)
     values (gen_random_uuid(), $1, gen_random_uuid()::text, 'totp', $2, 'JBSWY3DPEHPK3PXP')`,
    [account, status],
  );
}

async function canLogIn(email: string, password: string): Promise<boolean> {
  return (await testBackend.anonymous().auth.signInWithPassword({ email, password })).error === null;
}

async function query<T = DatabaseRow>(text: string, values: unknown[] = []): Promise<T[]> {
  return (await testBackend.backend.db.query<T>(text, values)).rows;
}
