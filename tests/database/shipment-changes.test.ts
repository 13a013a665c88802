import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { dayInEastAfrica } from "../../app/lib/dates.ts";
import { calculateFreeStorageEnd, STORAGE_LOCATIONS, storageLocationGroups } from "../../app/models/arrival.server.ts";
import { maxContainers, parseContainerNumbers } from "../../app/models/container-number.ts";
import { CARGO_KINDS, type CargoKind } from "../../app/models/desk-labels.ts";
import { canArrive } from "../../app/models/free-storage.ts";
import { createContainerNumber } from "../support/container-numbers.ts";
import { callRpcOrGetRejection, getRejection, readPage, setUpDesk } from "../support/database-suite.ts";
import { callConcurrently, readDeskState } from "../support/staff-members.ts";
import { type AppSupabaseClient, toUntypedClient } from "../support/test-backend.ts";

const suite = setUpDesk();
const { testBackend, owner, clerk, query, setUpClient, newShipment, readShipment, callRpc } = suite;
const { listAuditEntries } = suite;

let shipment: string;
beforeEach(async () => {
  shipment = await newShipment(owner);
});

describe("Change of a shipment by its client", () => {
  const stranger = setUpClient("stranger@client.example");
  const unknownShipmentError = "404 Shipment not found.";
  const outdated = "409 This shipment has changed. Check the new values, then try again.";
  const movedOn = "409 You can change the name and numbers only at stage 1. Call us to change them now.";
  const change = (more: object = {}, supabase: AppSupabaseClient = owner.supabase) => {
    const form = { name: "Coffee", awb: "706-51093844", container_numbers: [], expected_version: 0 };
    return callRpcOrGetRejection("change_shipment", { shipment_id: shipment, ...form, ...more }, supabase);
  };

  test("At stage 1, a client can change only a shipment's name, AWB/BL and container numbers.", async () => {
    await query("update public.shipments set changed_at = now() - interval '1 day' where id = $1", [shipment]);
    const before = await readShipment(shipment);
    const container_numbers = ["CSQU3054383"];
    expect(await change({ awb: " 706-51093844 ", container_numbers })).toBeNull();
    const after = await readShipment(shipment);
    const changes = { name: "Coffee", awb: "706-51093844", container_numbers, version: 1 };
    const { changed_at, search_codes, search_words } = after;
    expect(after).toEqual({ ...before, ...changes, changed_at, search_codes, search_words });
    expect(Math.abs(new Date(String(changed_at)).getTime() - Date.now())).toBeLessThan(60_000);
    const page = await readPage(owner.supabase, "portal_page", { opened_id: shipment });
    expect(page.shipment).toMatchObject({ name: "Coffee", awb: "706-51093844", container_numbers, version: 1 });
  });

  test("A client's change of an outdated version is rejected, but a second request with the same form succeeds.", async () => {
    expect(await change({ name: "Coffee", awb: "" })).toBeNull();
    expect(await readShipment(shipment)).toMatchObject({ name: "Coffee", awb: null, version: 1 });
    expect(await change({ name: "Sugar", awb: "" })).toBe(outdated);
    for (const seen of [null, -1, 2]) expect(await change({ name: "Sugar", expected_version: seen })).toBe(outdated);
    // Sends the same form again, as a browser does after the first response was lost.
    expect(await change({ name: "Coffee", awb: "" })).toBeNull();
    expect(await readShipment(shipment)).toMatchObject({ name: "Coffee", awb: null, version: 1 });
    expect(await change({ name: "Coffee", awb: "1", expected_version: 1 })).toBeNull();
    expect(await change({ name: "Coffee", awb: "2", expected_version: 1 })).toBe(outdated);
    expect(await readShipment(shipment)).toMatchObject({ name: "Coffee", awb: "1", version: 2 });
  });

  test("After a client's change, a form that a team member opened before is outdated.", async () => {
    expect(await change({ name: "Coffee", awb: "" })).toBeNull();
    const move = callRpc("move_shipment", { shipment_id: shipment, despite_missing: true, expected_version: 0 });
    expect(await getRejection(move)).toBe(
      "409 Someone has changed this shipment. Check the new values, then try again.",
    );
  });

  test("Only one of four parallel changes by a client succeeds.", async () => {
    const calls = ["Coffee", "Sugar", "Salt", "Soap"].map((name) => ({
      ...{ name: "change_shipment", token: owner.accessToken },
      args: { shipment_id: shipment, name, awb: "", container_numbers: [], expected_version: 0 },
    }));
    const rejection = (await callConcurrently(testBackend, calls)).flatMap(({ rejection }) => rejection ?? []);
    expect(rejection).toEqual(Array(3).fill(outdated.slice(4)));
    expect(await readShipment(shipment)).toMatchObject({ version: 1 });
  });

  test("Only the owner can change a shipment.", async () => {
    const before = await readShipment(shipment);
    for (const supabase of [stranger.supabase, clerk.supabase])
      expect(await change({}, supabase)).toBe(unknownShipmentError);
    expect(await change({ shipment_id: randomUUID() })).toBe(unknownShipmentError);
    expect(await readShipment(shipment)).toEqual(before);
  });

  test("A client can change a shipment only at stage 1, also after a team member corrects the stage back to 1.", async () => {
    for (const stage of [2, 10]) {
      await query("update public.shipments set stage = $2 where id = $1", [shipment, stage]);
      const before = await readShipment(shipment);
      for (const seen of [0, 1, 2]) expect(await change({ expected_version: seen })).toBe(movedOn);
      expect(await readShipment(shipment)).toEqual(before);
    }
    await query("update public.shipments set stage = 1 where id = $1", [shipment]);
    expect(await change({ expected_version: (await readShipment(shipment)).version })).toBeNull();
  });

  // The test of all invalid names and AWB/BL is in tests/database/shipments.test.ts.
  test("A client cannot change a shipment to an invalid name or AWB/BL.", async () => {
    const before = await readShipment(shipment);
    for (const invalid of [{ name: "" }, { name: null }, { name: "Gold\nGold" }, { awb: "x".repeat(65) }]) {
      expect(await change(invalid), JSON.stringify(invalid)).toMatch(/^400 /);
    }
    expect(await readShipment(shipment)).toEqual(before);
  });

  test("An empty field in a client's change removes the AWB/BL of a shipment.", async () => {
    for (const [index, awb] of ["", "   ", null].entries()) {
      expect(await change({ awb: "x".repeat(64), expected_version: 2 * index })).toBeNull();
      expect(await change({ awb, expected_version: 2 * index + 1 })).toBeNull();
      expect(await readShipment(shipment)).toMatchObject({ awb: null, version: 2 * index + 2 });
    }
  });
});

describe("Stage correction", () => {
  const correct = (stage: number, more: object = {}) =>
    callRpc("correct_stage", { shipment_id: shipment, stage, reason: "Clicked twice", ...more });

  test("A correction moves a shipment back or forward. The audit log has the reason, and the client sees the new stage.", async () => {
    await correct(5);
    expect(await correct(3)).toEqual({ stage: 3, status: "IDF Application" });
    expect(await readShipment(shipment)).toMatchObject({ stage: 3, status: "IDF Application" });
    const events = owner.supabase.from("tracking_events").select("status").eq("shipment_id", shipment);
    expect((await events.order("created_at")).data).toEqual([
      { status: "Moved to Payment Clearance" },
      { status: "Moved back to IDF Application" },
    ]);
    expect((await listAuditEntries(shipment)).at(-1)).toMatchObject({
      ...{ action: "shipment correct", before: { stage: 5 }, after: { stage: 3 }, reason: "Clicked twice" },
    });
  });

  test("A correction can reopen a closed shipment. The new stage must exist and differ from the current stage.", async () => {
    expect(await getRejection(correct(1))).toBe("409 The shipment is already at this stage.");
    for (const stage of [0, 11, -1]) expect(await getRejection(correct(stage))).toMatch(/^400 /);
    expect(await listAuditEntries(shipment)).toEqual([]);
    await correct(10, { despite_missing: true });
    expect(await readShipment(shipment)).toMatchObject({ waiting_on: "nobody" });
    await correct(9);
    expect(await readShipment(shipment)).toMatchObject({ stage: 9, waiting_on: "client" });
  });
});

describe("AWB/BL", () => {
  const save = (awb: string, more: object = {}) =>
    callRpc("save_shipment_numbers", { shipment_id: shipment, awb, ...more });

  test("Adding, changing or removing an AWB/BL adds an audit entry with the previous number and the reason.", async () => {
    expect(await save(" MEDUX4471203 ")).toBeNull();
    expect(await save("MEDUX4471204", { reason: " A digit was wrong " })).toBeNull();
    const unchanged = "409 The shipment already has these numbers.";
    expect(await getRejection(save("MEDUX4471204", { reason: "Again" }))).toBe(unchanged);
    expect(await save("", { reason: "Another shipment's" })).toBeNull();
    expect(await getRejection(save(" ", { reason: "Again" }))).toBe(unchanged);
    const request = randomUUID();
    await save("706-51093844", { idempotency_key: request, expected_version: 3 });
    await save("706-51093844", { idempotency_key: request, expected_version: 3 });
    expect(await readShipment(shipment)).toMatchObject({ awb: "706-51093844", version: 4 });
    expect(
      (await listAuditEntries(shipment)).map(({ action, before, after, reason }) => [action, before, after, reason]),
    ).toEqual([
      ["shipment save-numbers", { awb: null }, { awb: "MEDUX4471203" }, null],
      ["shipment save-numbers", { awb: "MEDUX4471203" }, { awb: "MEDUX4471204" }, "A digit was wrong"],
      ["shipment save-numbers", { awb: "MEDUX4471204" }, { awb: null }, "Another shipment's"],
      ["shipment save-numbers", { awb: null }, { awb: "706-51093844" }, null],
    ]);
  });

  test("Changing or removing an existing AWB/BL needs a reason.", async () => {
    await save("MEDUX4471203", { reason: "  " });
    const before = await readDeskState(testBackend);
    for (const awb of ["MEDUX4471204", "", "   "]) {
      for (const reason of [undefined, null, "", "   "])
        expect(await getRejection(save(awb, { reason }))).toBe("400 Enter a reason.");
    }
    expect(await readDeskState(testBackend)).toEqual(before);
  });
});

describe("Arrival", () => {
  const saveValues = (storage_location: string | null, day: string | null, cargo: string | null, lastDay?: string) =>
    callRpc("save_arrival", {
      ...{ shipment_id: shipment, storage_location, day, cargo },
      ...(lastDay && { free_storage_ends_on: lastDay }),
    });
  const remove = (reason: string, more: object = {}) =>
    callRpc("remove_arrival", { shipment_id: shipment, reason, ...more });
  const none = { storage_location: null, arrived_on: null, cargo: null, free_storage_ends_on: null };

  test("Saving an arrival adds an audit entry with the previous arrival, and an invalid arrival is rejected.", async () => {
    await saveValues("mombasa", "2026-03-01", "container-20", "2026-03-05");
    await saveValues("naivasha", "2026-03-02", "container-40", "2026-03-06");
    const saved = { storage_location: "naivasha", arrived_on: "2026-03-02", cargo: "container-40", version: 2 };
    expect(await readShipment(shipment)).toMatchObject({ ...saved, free_storage_ends_on: "2026-03-06" });
    const dates = (day: string, free_storage_ends_on: string) => ({ day, free_storage_ends_on });
    expect((await listAuditEntries(shipment)).at(-1)).toMatchObject({
      action: "shipment arrived",
      before: { storage_location: "mombasa", cargo: "container-20", ...dates("2026-03-01", "2026-03-05") },
      after: { storage_location: "naivasha", cargo: "container-40", ...dates("2026-03-02", "2026-03-06") },
    });
    const tomorrow = dayInEastAfrica(new Date(Date.now() + 86_400_000));
    const wrongArrivals: Parameters<typeof saveValues>[] = [
      ["atlantis", "2026-03-02", "container-40", "2026-03-06"],
      ["nairobi", "2026-03-02", "container-30", "2026-03-06"],
      ["nairobi", "2026-02-30", "container-40", "2026-03-06"],
      ["nairobi", "-infinity", "container-40", "2026-03-06"],
      ["nairobi", "infinity", "container-40", "infinity"],
      ["nairobi", "1999-12-31", "container-40", "2000-01-05"],
      ["nairobi", "2100-01-02", "container-40", "2100-01-05"],
      ["nairobi", tomorrow, "container-40", tomorrow],
      ["nairobi", "2026-03-02", "container-40", "2026-03-01"],
      ["nairobi", "2026-03-02", "container-40", "2027-03-04"],
      ["nairobi", "2026-03-02", "air"],
      ["entebbe-airport", "2026-03-02", "vehicle"],
      [null, "2026-03-02", "vehicle"],
      ["nairobi", null, "vehicle"],
      ["nairobi", "2026-03-02", null],
      [null, null, null],
    ];
    for (const wrong of wrongArrivals) expect(await getRejection(saveValues(...wrong)), wrong.join()).toMatch(/^400 /);
    expect(await listAuditEntries(shipment)).toHaveLength(2);
    expect(await readShipment(shipment)).toMatchObject({ ...saved, free_storage_ends_on: "2026-03-06" });
  });

  test("The database accepts a kind of cargo at a place exactly if content/data/storage-locations.yaml does.", async () => {
    const cases = Object.keys(STORAGE_LOCATIONS).flatMap((location) =>
      (Object.keys(CARGO_KINDS) as CargoKind[]).map((cargo) => ({ location, cargo })),
    );
    const accepted = await query(
      `select location, cargo from jsonb_to_recordset($1::text::jsonb) as pair (location text, cargo text)
       where private.can_arrive(location, cargo)`,
      [JSON.stringify(cases)],
    );
    expect(accepted).toEqual(cases.filter(({ location, cargo }) => canArrive(storageLocationGroups, location, cargo)));
  });

  test.each([
    ["mombasa", "container-20", "2026-03-05"],
    ["mombasa", "transit-40", null],
    ["mombasa", "vehicle", null],
    ["nairobi", "container-40", "2026-03-05"],
    ["mombasa-cfs", "loose", null],
    ["entebbe-airport", "air", null],
    ["malaba", "vehicle", null],
  ] as const)(
    "The arrival at %s of the cargo %s has the last free day %s, and the arrival can be removed with a reason.",
    async (location, cargo, lastDay) => {
      const day = "2026-03-01";
      const calculated = calculateFreeStorageEnd(location, cargo, day);
      expect(calculated).toBe(lastDay);
      await saveValues(location, day, cargo, calculated ?? undefined);
      const saved = { storage_location: location, arrived_on: day, cargo, free_storage_ends_on: lastDay };
      expect(await readShipment(shipment)).toMatchObject(saved);
      const repeated = { idempotency_key: randomUUID() };
      await remove("Another ship", repeated);
      await remove("Another ship", repeated);
      expect(await readShipment(shipment)).toMatchObject(none);
      expect(await getRejection(remove("Another ship"))).toBe("409 This shipment has no arrival.");
      const entries = await listAuditEntries(shipment);
      expect(entries).toHaveLength(2);
      expect(entries.at(-1)).toMatchObject({
        ...{ action: "shipment remove-arrival", reason: "Another ship" },
        before: { storage_location: location, day, cargo, free_storage_ends_on: lastDay },
        after: { storage_location: null, day: null, cargo: null, free_storage_ends_on: null },
      });
    },
  );

  test("Without a reason, an arrival is not removed.", async () => {
    await saveValues("malaba", "2026-03-01", "vehicle");
    expect(await getRejection(remove(" "))).toBe("400 Enter a reason.");
    expect(await readShipment(shipment)).toMatchObject({ storage_location: "malaba" });
  });
});

describe("Container numbers", () => {
  const [first, second] = ["CSQU3054383", "TOLU4734787"];
  const save = (container_numbers: string[] | null, more: object = {}) =>
    callRpc("save_shipment_numbers", { shipment_id: shipment, container_numbers, ...more });

  test("The database and the site's forms accept the same container numbers.", async () => {
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const texts = [...letters].flatMap((letter, index) =>
      ["U", "J", "Z", "A"].flatMap((category) =>
        [..."0123456789"].map((digit) => {
          const serial = String((index + 1) * 34567 + category.charCodeAt(0) * 7).padStart(6, "0");
          return `${letter}${letters[25 - index]}${letters[(index * 7) % 26]}${category}${serial.slice(-6)}${digit}`;
        }),
      ),
    );
    texts.push("", "CSQU305438", "csqu3054383", "CSQU 3054383", "CSQU30543833", "1SQU3054383", "CSQUU054383");
    const rows = await query<{ text: string; valid: boolean }>(
      "select text, private.is_container_number(text) as valid from unnest($1::text[]) as text",
      [texts],
    );
    const isAccepted = (text: string) => {
      const { numbers, problem } = parseContainerNumbers(text);
      return !problem && numbers[0] === text;
    };
    expect(rows.map(({ text, valid }) => [text, valid])).toEqual(texts.map((text) => [text, isAccepted(text)]));
    // The texts combine 26 owner letters, 4 category letters and 10 check digits. Only the categories U, J and Z are
    // valid. For each owner letter and valid category, exactly one check digit is correct.
    expect(rows.filter(({ valid }) => valid)).toHaveLength(26 * 3);
  });

  test("A client can create a shipment with valid container numbers, but not with invalid container numbers.", async () => {
    const create = async (container_numbers: (string | null)[]) => {
      const row = { user_id: owner.id, idempotency_key: randomUUID(), name: "Tea", container_numbers };
      const { data, error } = await toUntypedClient(owner.supabase).from("shipments").insert(row).select("id").single();
      return error ? error.code : (await readShipment(data.id)).container_numbers;
    };
    expect(await create([first, second])).toEqual([first, second]);
    const many = Array.from({ length: maxContainers + 1 }, (_, index) => createContainerNumber(index));
    expect(await create(many.slice(1))).toEqual(many.slice(1));
    for (const invalid of [many, [first, first], ["CSQU3054384"], ["csqu3054383"], [first, null], [""]]) {
      expect(await create(invalid), String(invalid)).toBe("23514");
    }
  });

  test("The database accepts container numbers only as a one-dimensional array with the lower bound 1.", async () => {
    for (const list of [`{{${first}}}`, `[5:5]={${first}}`]) {
      const [row] = await query("select private.are_container_numbers($1::text::text[]) as valid", [list]);
      expect(row, list).toEqual({ valid: false });
    }
  });

  test("A clerk needs a reason to replace or remove a container number. The audit log has the old and new numbers.", async () => {
    await save([first]);
    await save([second, first]);
    await save(null, { awb: "MEDUX4471203" });
    expect(await readShipment(shipment)).toMatchObject({ awb: "MEDUX4471203", container_numbers: [second, first] });
    expect(await getRejection(save([second]))).toBe("400 Enter a reason.");
    expect(await getRejection(save(null, { awb: "" }))).toBe("400 Enter a reason.");
    const again = { awb: "MEDUX4471203", reason: "Again" };
    expect(await getRejection(save([second, first], again))).toBe("409 The shipment already has these numbers.");
    await save([second], { reason: "Repacked" });
    expect(await readShipment(shipment)).toMatchObject({ awb: "MEDUX4471203", container_numbers: [second] });
    expect((await listAuditEntries(shipment)).at(-1)).toMatchObject({
      action: "shipment save-numbers",
      before: { container_numbers: [second, first] },
      after: { container_numbers: [second] },
      reason: "Repacked",
    });
  });
});
