import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { callRpcOrGetRejection as callRpc, readPage, setUpDesk } from "../support/database-suite.ts";
import { callConcurrently } from "../support/staff-members.ts";
import type { AppSupabaseClient } from "../support/test-backend.ts";

const { testBackend, owner, clerk, query, setUpClient, newShipment, readShipment } = setUpDesk();
const stranger = setUpClient("stranger@client.example");
const unknownShipmentError = "404 Shipment not found.";

let shipment: string;
beforeEach(async () => {
  shipment = await newShipment(owner);
});
const outdated = "409 This shipment has changed. Check the new values, then try again.";
const movedOn = "409 This shipment is past stage 1. Call us to change the name or numbers.";
const change = (more: object = {}, supabase: AppSupabaseClient = owner.supabase) =>
  callRpc(
    "change_shipment",
    { shipment_id: shipment, name: "Coffee", awb: "706-51093844", container_numbers: [], expected_version: 0, ...more },
    supabase,
  );

test("A client changes the name, the AWB/BL and the container numbers of a shipment at stage 1, but no other column.", async () => {
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

test("A client's change of an outdated version is rejected, but sending the same form twice succeeds.", async () => {
  expect(await change({ name: "Coffee", awb: "" })).toBeNull();
  expect(await readShipment(shipment)).toMatchObject({ name: "Coffee", awb: null, version: 1 });
  expect(await change({ name: "Sugar", awb: "" })).toBe(outdated);
  for (const seen of [null, -1, 2]) expect(await change({ name: "Sugar", expected_version: seen })).toBe(outdated);
  // Sends the same form again, as a client does whose first response was lost.
  expect(await change({ name: "Coffee", awb: "" })).toBeNull();
  expect(await readShipment(shipment)).toMatchObject({ name: "Coffee", awb: null, version: 1 });
  expect(await change({ name: "Coffee", awb: "1", expected_version: 1 })).toBeNull();
  expect(await change({ name: "Coffee", awb: "2", expected_version: 1 })).toBe(outdated);
  expect(await readShipment(shipment)).toMatchObject({ name: "Coffee", awb: "1", version: 2 });
});

test("A client's change makes a team member's open form outdated.", async () => {
  expect(await change({ name: "Coffee", awb: "" })).toBeNull();
  const move = { shipment_id: shipment, despite_missing: true, expected_version: 0 };
  const staleVersionError = "409 Someone has changed this shipment. Check the new values, then try again.";
  expect(await callRpc("move_shipment", move, clerk.supabase)).toBe(staleVersionError);
});

test("Of four parallel changes by a client, one succeeds and the other three are rejected.", async () => {
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

test("A client cannot change a shipment after stage 1 unless staff correct the stage back to 1.", async () => {
  for (const stage of [2, 10]) {
    await query("update public.shipments set stage = $2 where id = $1", [shipment, stage]);
    const before = await readShipment(shipment);
    for (const seen of [0, 1, 2]) expect(await change({ expected_version: seen })).toBe(movedOn);
    expect(await readShipment(shipment)).toEqual(before);
  }
  await query("update public.shipments set stage = 1 where id = $1", [shipment]);
  expect(await change({ expected_version: (await readShipment(shipment)).version })).toBeNull();
});

// tests/database/shipments.test.ts tests every name and AWB/BL that the table rejects.
test.each([{ name: "" }, { name: null }, { name: "Gold\nGold" }, { awb: "x".repeat(65) }, { awb: "706\n510" }])(
  "A client cannot change a shipment to %j.",
  async (invalid) => {
    const before = await readShipment(shipment);
    expect(await change(invalid)).toMatch(/^400 /);
    expect(await readShipment(shipment)).toEqual(before);
  },
);

test.each(["", "   ", null])("A client removes the AWB/BL of a shipment with %j.", async (awb) => {
  expect(await change({ awb: "x".repeat(64), name: "x".repeat(120) })).toBeNull();
  expect(await readShipment(shipment)).toMatchObject({ awb: "x".repeat(64), name: "x".repeat(120) });
  expect(await change({ awb, expected_version: 1 })).toBeNull();
  expect(await readShipment(shipment)).toMatchObject({ name: "Coffee", awb: null, version: 2 });
});
