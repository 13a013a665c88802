import { expect, test } from "vitest";
import type { TestShipment } from "../support/desk-fixtures.ts";
import { getHref, listButtons } from "../support/page-parts.ts";
import {
  allDocuments,
  expectRejectedForm,
  listShipmentAuditEntries,
  newClient,
  newShipment,
  newStaffMember,
  successToast,
} from "../support/route-fixtures.ts";
import { advanceShipment } from "../support/service-role.ts";
import { correctStage, resultOrThrow, setCharge } from "../support/staff-actions.ts";
import { getTestApp, getText, parsePage } from "../support/test-app.ts";

const app = await getTestApp();
const clerk = (await newStaffMember(app, "clerk", "Akinyi Odhiambo")).browser;
const client = await newClient(app, "Baraka Mwangi");
const complete = await newShipment(app, client, "Complete", allDocuments);

const countMoves = async ({ id }: TestShipment) =>
  (await listShipmentAuditEntries(app.company, id)).filter(({ action }) => action === "shipment move").length;

const setStage = async ({ id }: TestShipment, stage: number) =>
  resultOrThrow(await correctStage(app.company, id, { stage, reason: "It is there" }, {}));

/** Returns the history on the client's page of the shipment, newest first. "AT" replaces each date and time. */
async function listHistory(portal: string): Promise<string[]> {
  const page = await client.browser.open(portal);
  return page
    .all("main li")
    .filter((item) => item.querySelector("time"))
    .map((item) => getText(item).replace(/\d{1,2} [A-Z][a-z]{2,3} \d{4}, \d\d:\d\d EAT/, "AT"));
}

test("Moving a shipment sets the next stage, and the client sees the place and the note.", async () => {
  const fields = { location: "Port of <Mombasa>", note: "All documents are complete.\nNext is the IDF." };
  const response = await clerk.submit(await clerk.open(complete.desk), "Move to Document Verification", fields);
  expect(response.headers.get("Location")).toBe(complete.desk);
  const page = await clerk.follow(response);
  expect(page.toasts).toEqual(successToast("Shipment moved to Document Verification"));
  expect(page.text).toContain("Stage 2/10 Document Verification");
  expect(page.form("Move to IDF Application").fields).toMatchObject({ location: "", note: "" });
  expect(await listHistory(complete.portal)).toEqual([
    "Document Verification (latest) All documents are complete. Next is the IDF. Port of <Mombasa>, AT",
  ]);
});

test("If a shipment has already moved, the move form is rejected. Sending the form again moves the shipment from the new stage.", async () => {
  const page = await clerk.open(complete.desk);
  await advanceShipment(app.company, complete.id);
  const fields = { location: "Kilindini", note: "On its way" };
  const rejected = await parsePage(await clerk.submit(page, "Move to IDF Application", fields));
  expectRejectedForm(rejected, 409, "Someone has changed this shipment. Check the new values, then try again.");
  expect(rejected.form("Move to Customs Declaration").fields).toMatchObject(fields);
  expect(await countMoves(complete)).toBe(2);
  const moved = await clerk.follow(await clerk.submit(rejected, "Move to Customs Declaration"));
  expect(moved.text).toContain("Stage 4/10 Customs Declaration");
});

test("Moving a shipment with missing documents needs a confirmation. Its form names the documents and has the place and note.", async () => {
  const shipment = await newShipment(app, client, "Incomplete", ["Packing List"]);
  const fields = { location: "Eldoret", note: "The documents follow" };
  const response = await clerk.submit(await clerk.open(shipment.desk), "Move to Document Verification", fields);
  const confirmation = await parsePage(response);
  expect([confirmation.status, confirmation.h1]).toEqual([409, "Move without the missing documents?"]);
  expect(confirmation.all("main ul.list-disc li").map(getText).sort()).toEqual([
    "Bill of Lading",
    "Commercial Invoice",
    "Insurance Certificate",
  ]);
  expect(getHref(confirmation, "Cancel")).toBe(shipment.desk);
  expect((await clerk.open(shipment.desk)).text).toContain("Stage 1/10 Client Onboarding");

  const button = "Move to Document Verification anyway";
  expect(confirmation.form(button).fields).toMatchObject(fields);
  const moved = await clerk.follow(await clerk.submit(confirmation, button));
  expect(moved.text).toContain("Stage 2/10 Document Verification");
  expect(await listHistory(shipment.portal)).toEqual([
    "Document Verification (latest) The documents follow Eldoret, AT",
  ]);
});

test("Closing a shipment with an amount due needs a confirmation, and the page of the closed shipment shows the amount.", async () => {
  const shipment = await newShipment(app, client, "Owing", allDocuments);
  await setStage(shipment, 9);
  for (const [item, amount] of [
    ["duties", 642_000.25],
    ["agent-fee", 779.75],
  ] as const)
    resultOrThrow(await setCharge(app.company, shipment.id, { item, amount, currency: "KES" }, {}));
  const due = "KES 642,780.00 is still due.";

  const page = await clerk.open(shipment.desk);
  const correction = { stage: "10", reason: "Closed by mistake" };
  const uncorrected = await parsePage(await clerk.submit(page, "Correct the stage", correction));
  expect([uncorrected.status, uncorrected.problems]).toEqual([409, [{ text: due, id: "correct-confirmed" }]]);
  const anyway = "Correct the stage anyway";
  expect(uncorrected.form(anyway).fields).toMatchObject(correction);

  const question = await parsePage(await clerk.submit(page, "Move to Shipment Closed", { note: "Done" }));
  expect([question.status, question.h1]).toEqual([409, "Close the shipment with an amount due?"]);
  expect(question.text).toContain(due);
  expect(await countMoves(shipment)).toBe(0);
  const closed = await clerk.follow(await clerk.submit(question, "Move to Shipment Closed anyway"));
  expect(closed.toasts).toEqual(successToast("Shipment moved to Shipment Closed"));
  expect(closed.text).toMatch(/Who acts next Closed since .* EAT\. KES 642,780\.00 is still due\./);
  expect((await client.browser.open(shipment.portal)).text).toContain(`Closed. ${due}`);

  const reopened = { stage: "9", reason: "A payment is missing" };
  await clerk.submit(closed, "Correct the stage", reopened);
  const asked = await parsePage(await clerk.submit(await clerk.open(shipment.desk), "Correct the stage", correction));
  const charge = { item: "agent-fee", amount: 780, currency: "KES" };
  resultOrThrow(await setCharge(app.company, shipment.id, charge, {}));
  const askedAgain = await parsePage(await clerk.submit(asked, anyway));
  expect(askedAgain.problems.map(({ text }) => text)).toEqual(["KES 642,780.25 is still due."]);
  const corrected = await clerk.follow(await clerk.submit(askedAgain, anyway));
  expect(corrected.text).toContain("Stage 10/10 Shipment Closed");
});

test("Moving past Payment Clearance with an amount due and a missing document asks once and names both.", async () => {
  const shipment = await newShipment(app, client, "Unpaid", allDocuments.slice(1));
  await setStage(shipment, 5);
  const charge = { item: "duties", amount: 5, currency: "USD" };
  resultOrThrow(await setCharge(app.company, shipment.id, charge, {}));
  const opened = await clerk.open(shipment.desk);
  const question = await parsePage(await clerk.submit(opened, "Move to Cargo Tracking", { location: "Voi" }));
  const title = "Move with an amount due and without the missing documents?";
  expect([question.status, question.h1, question.problems]).toEqual([409, title, []]);
  for (const text of ["USD 5.00 is still due.", "Commercial Invoice"]) expect(question.text).toContain(text);

  resultOrThrow(await setCharge(app.company, shipment.id, { ...charge, amount: 6 }, {}));
  const button = "Move to Cargo Tracking anyway";
  const changed = await parsePage(await clerk.submit(question, button));
  expect([changed.status, changed.h1]).toEqual([409, title]);
  expect(changed.problems.map(({ text }) => text).join()).toContain("USD 6.00 is still due.");
  expect(changed.form(button).fields).toMatchObject({ location: "Voi" });
  const moved = await clerk.follow(await clerk.submit(changed, button));
  expect(moved.text).toContain("Stage 6/10 Cargo Tracking");
  const next = await parsePage(await clerk.submit(moved, "Move to Inspection & Release"));
  expect([next.h1, next.text.includes("USD")]).toEqual(["Move without the missing documents?", false]);
});

test("A closed shipment has no move form, and a move form that was opened before is rejected.", async () => {
  const shipment = await newShipment(app, client, "Closing");
  const { fields, action } = (await clerk.open(shipment.desk)).form("Move to Document Verification");
  await setStage(shipment, 10);
  const closed = await clerk.open(shipment.desk);
  expect(closed.text).toContain("Stage 10/10 Shipment Closed Who acts next Closed since");
  const form = { ...(fields as Record<string, string>), expectedVersion: "1" };
  const rejected = await parsePage(await clerk.post(action, form));
  expectRejectedForm(rejected, 409, "This shipment is closed.");
  for (const page of [closed, rejected]) expect(listButtons(page).join()).not.toContain("Move");
});
