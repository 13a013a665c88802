import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { maxContainers, parseContainerNumbers } from "../../app/models/container-number.ts";
import { createContainerNumber } from "../support/container-numbers.ts";
import { getRejection, setUpDesk } from "../support/database-suite.ts";
import { toUntypedClient } from "../support/test-backend.ts";

const { owner, callRpc, query, newShipment, readShipment, listAuditEntries } = setUpDesk();
const [first, second] = ["CSQU3054383", "TOLU4734787"];

let shipment: string;
beforeEach(async () => {
  shipment = await newShipment(owner);
});
const save = (container_numbers: string[] | null, more: object = {}) =>
  callRpc("save_shipment_numbers", { shipment_id: shipment, container_numbers, ...more });

test("The database and the forms accept the same container numbers.", async () => {
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
  // Each pair of one of 26 letters and one of three category letters has one correct check digit out of ten.
  expect(rows.filter(({ valid }) => valid)).toHaveLength(26 * 3);
});

test("A client creates a shipment with valid container numbers, and invalid container numbers are rejected.", async () => {
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

test.each([
  ["of lists", `{{${first}}}`],
  ["whose first index is not 1", `[5:5]={${first}}`],
])("A list of container numbers %s is rejected, because pages expect a plain list.", async (_, list) => {
  const [row] = await query("select private.are_container_numbers($1::text::text[]) as valid", [list]);
  expect(row).toEqual({ valid: false });
});

test("A clerk needs a reason to replace or remove a container number, and the log has the old and new numbers.", async () => {
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
    action: "shipment set-numbers",
    before: { container_numbers: [second, first] },
    after: { container_numbers: [second] },
    reason: "Repacked",
  });
});
