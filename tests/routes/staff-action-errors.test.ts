import { expect, test } from "vitest";
import { describeCut } from "../support/labels.ts";
import { unknownId } from "../support/page-parts.ts";
import {
  expectRejectedForm,
  getDocument,
  getField,
  newClient,
  newShipment,
  newStaffMember,
  successToast,
} from "../support/route-fixtures.ts";
import { verifyDocumentByName } from "../support/service-role.ts";
import { resultOrThrow, saveArrival, setCharge, setChargePaid } from "../support/staff-actions.ts";
import { expectNoInternals, type FormValues, getTestApp, getText, parsePage } from "../support/test-app.ts";

const app = await getTestApp();
const clerk = (await newStaffMember(app, "clerk", "Akinyi Odhiambo")).browser;
const client = await newClient(app, "Baraka Mwangi");
const shipment = await newShipment(app, client, "Rejected", ["Packing List", "Bill of Lading"]);
await verifyDocumentByName(app.company, shipment.id, "Bill of Lading");
const charge = { item: "idf-fee", amount: 100, currency: "KES" };
resultOrThrow(await setCharge(app.company, shipment.id, charge, {}));
resultOrThrow(await setChargePaid(app.company, shipment.id, { item: "idf-fee", paid: true }, {}));
const arrived = { storage_location: "malaba", day: "2026-05-27", cargo: "vehicle" };
resultOrThrow(await saveArrival(app.company, shipment.id, arrived, {}));
const page = await clerk.open(shipment.desk);
const arrivalPage = await clerk.open(`${shipment.desk}/arrival`);

const createText = (length: number) => `${"Long words ".repeat(length / 10).slice(0, length - 1)}!`;
const [packingList, billOfLading] = await Promise.all(
  ["Packing List", "Bill of Lading"].map(async (name) => (await getDocument(app.company, shipment.id, name)).id),
);
const reasonMissing = "Enter a reason.";
const reasonTooLong = `Use at most 500 characters. ${describeCut(500)}`;
const duties = "Save charge: Duties & Taxes";
const arrival = { storageLocation: "mombasa", cargo: "container-20", day: "2026-05-28" };
const invalidForms: [button: string, fields: FormValues, field: string, message: string][] = [
  ["Correct the stage", { stage: "4", reason: " " }, "correct-reason", reasonMissing],
  ["Correct the stage", { stage: "11", reason: "By hand" }, "correct-stage", "Choose the stage."],
  ["Correct the stage", { stage: "4", reason: createText(501) }, "correct-reason", reasonTooLong],
  ["Request a new file: Packing List", { reason: "" }, `reject-${packingList}-reason`, reasonMissing],
  ["Request a new file: Packing List", { reason: createText(501) }, `reject-${packingList}-reason`, reasonTooLong],
  ["Undo verification: Bill of Lading", { reason: "" }, `unverify-${billOfLading}-reason`, reasonMissing],
  ["Mark as unpaid: IDF Fee", { reason: "" }, "mark-unpaid-idf-fee-reason", reasonMissing],
  [
    "Save numbers",
    { awb: createText(65) },
    "numbers-awb",
    `Use at most 64 characters for the AWB/BL. ${describeCut(64)}`,
  ],
  ["Save arrival", { ...arrival, storageLocation: "" }, "arrival-storageLocation", "Choose the place."],
  ["Save arrival", { ...arrival, day: "" }, "arrival-day", "Enter a date."],
  ["Save arrival", { ...arrival, day: "31.05.2026" }, "arrival-day", "Enter a date such as 2026-05-31."],
  ["Save arrival", { ...arrival, day: "2026-02-30" }, "arrival-day", "Enter a date that exists, such as 2026-05-31."],
  ["Save arrival", { ...arrival, day: "2099-01-01" }, "arrival-day", "Enter today or an earlier date."],
  ["Save arrival", { ...arrival, cargo: "" }, "arrival-cargo", "Choose the cargo."],
  [
    "Save arrival",
    { ...arrival, cargo: "air" },
    "arrival-cargo",
    "Air freight arrives only at airports. Choose an airport, or choose the cargo that arrived at Mombasa port.",
  ],
  [
    "Save arrival",
    { ...arrival, storageLocation: "entebbe-airport", cargo: "vehicle" },
    "arrival-cargo",
    'Only air freight arrives at Entebbe airport. Choose "Air freight", or choose the place where this cargo arrived.',
  ],
  ["Remove arrival", { reason: "" }, "remove-arrival-reason", reasonMissing],
  ["Send note", { note: "\n " }, "note-note", "Enter a note."],
  ["Send note", { note: createText(1001) }, "note-note", `Use at most 1,000 characters. ${describeCut(1000)}`],
  [duties, { amount: "" }, "charge-duties-amount", "Enter the amount."],
  [duties, { amount: "0.00" }, "charge-duties-amount", "Enter an amount above 0."],
  [duties, { amount: "1234567890123" }, "charge-duties-amount", "Enter an amount below 1,000,000,000,000."],
  [
    duties,
    { amount: "1.250", note: "Stays" },
    "charge-duties-amount",
    "This number has two possible meanings. Enter 1250 or 1.25.",
  ],
  [duties, { amount: "5", due: "2026-13-01" }, "charge-duties-due", "Enter a date such as 2026-05-31."],
  [
    duties,
    { amount: "5", note: createText(301) },
    "charge-duties-note",
    `Use at most 300 characters. ${describeCut(300)}`,
  ],
  [duties, { amount: "5", currency: "XAU" }, "charge-duties-currency", "Choose the currency."],
  [duties, { amount: "12x", note: "Stays" }, "charge-duties-amount", "Enter an amount such as 12,500 or 12500.50."],
];

test.each(invalidForms)(
  'The form "%s" with %j is rejected with one error at the wrong field, remains open and shows the typed texts again.',
  async (button, fields, field, message) => {
    const form = button.endsWith(" arrival") ? arrivalPage : page;
    const rejected = await parsePage(await clerk.submit(form, button, fields));
    expect([rejected.status, rejected.title.startsWith("Error: ")]).toEqual([400, true]);
    const { descriptions, isMarked } = getField(rejected, field);
    expect([descriptions.at(-1), isMarked]).toEqual([message, true]);
    expect(rejected.problems).toEqual([{ text: message, id: field }]);
    const maxLength = Number(/at most ([\d,]+)/.exec(message)?.[1]?.replace(",", "") ?? Number.POSITIVE_INFINITY);
    // A list field cannot show a value that is not one of its options.
    const shown = Object.entries(fields)
      .filter(([name]) => !(message.startsWith("Choose") && field.endsWith(`-${name}`)))
      .map(([name, value]) => [name, String(value).slice(0, field.endsWith(`-${name}`) ? maxLength : undefined)]);
    expect(rejected.form(button).fields).toMatchObject(Object.fromEntries(shown));
    const folded = rejected.all("main details").filter((details) => details.querySelector("form"));
    expect(folded.filter((details) => details.hasAttribute("open"))).toEqual(
      folded.filter((details) => details.querySelector(`[id="${field}"]`)),
    );
  },
);

test.each<[string, FormValues, string]>([
  ["Correct the stage", { stage: "1", reason: "None" }, "The shipment is already at this stage."],
  ["Save numbers", { awb: "" }, "The shipment already has these numbers."],
  ["Save charge: IDF Fee", { amount: "99" }, "This charge is paid. Mark the charge as unpaid first."],
])(
  'The form "%s" with %j is rejected because of the current state of the shipment.',
  async (button, fields, message) => {
    const rejected = await parsePage(await clerk.submit(page, button, fields));
    expectRejectedForm(rejected, 409, message);
    expect(rejected.text).toContain("IDF Fee KES 100.00, paid ");
  },
);

test("Changing or removing an AWB/BL needs a reason. The page then shows the old and the new number and the reason.", async () => {
  const { desk } = await newShipment(app, client, "Numbered");
  await clerk.submit(await clerk.open(desk), "Save numbers", { awb: "176-1" });
  clerk.cookies.delete("flash");
  const form = await clerk.open(desk);
  const fields = { awb: "176-2", reason: "" };
  const rejected = await parsePage(await clerk.submit(form, "Save numbers", fields));
  expect([rejected.status, rejected.problems]).toEqual([400, [{ text: reasonMissing, id: "numbers-reason" }]]);
  expect(getField(rejected, "numbers-reason")).toMatchObject({ descriptions: [reasonMissing], isMarked: true });
  expect(rejected.form("Save numbers").fields).toMatchObject(fields);
  const reason = "A slip of the <airline>";
  const after = await clerk.follow(await clerk.submit(rejected, "Save numbers", { awb: "176-2", reason }));
  expect(after.toasts).toEqual(successToast("AWB/BL and container numbers saved"));
  expect(after.text).toContain(`176-1 → 176-2 Reason: ${reason}`);
});

test.each(["", "toString", "move"])("A form of a shipment with the unknown intent %j is rejected.", async (intent) => {
  const rejected = await parsePage(await clerk.post(shipment.desk, { intent, note: "x", reason: "x" }));
  expect(rejected.status).toBe(400);
  expect(rejected.text).toContain(
    "This page has changed since you opened it. Reload the page, then send the form again.",
  );
  expectNoInternals(rejected);
});

test.each([unknownId, "not-a-uuid"])("The URL of the unknown shipment %s has no forms.", async (id) => {
  const pages = [await clerk.open(`/desk/shipments/${id}/move`)];
  pages.push(await parsePage(await clerk.post(`/desk/shipments/${id}`, { intent: "note", note: "Hello" })));
  pages.push(await parsePage(await clerk.post(`/desk/shipments/${id}/move`, { intent: "move", expectedVersion: "0" })));
  for (const { status, h1 } of pages) expect([status, h1]).toEqual([404, "Page not found"]);
});

test("The note field of every charge has a hint that suggests to enter the invoice number.", () => {
  const hints = page.all("#payments [id*=-note-]").map(getText);
  expect(hints).toEqual(Array(hints.length).fill("The client sees this note."));
  expect(hints).not.toEqual([]);
});
