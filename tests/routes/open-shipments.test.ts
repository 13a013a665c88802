import { expect, test } from "vitest";
import { sendDueShipmentEmails } from "../../app/models/email-delivery.server.ts";
import { readStages } from "../../app/server/cli/content.ts";
import { createContainerNumber } from "../support/container-numbers.ts";
import { listButtons, listLinkAddresses } from "../support/page-parts.ts";
import {
  emailSender,
  expectRejectedForm,
  getField,
  getLatestEmailTo,
  listDuplicateIds,
  listShipmentAuditEntries,
  newClient,
  newStaffMember,
  successToast,
} from "../support/route-fixtures.ts";
import { closeAccount, resultOrThrow } from "../support/staff-actions.ts";
import { getTestApp, getText, origin, type ParsedPage, parsePage } from "../support/test-app.ts";

const app = await getTestApp();
const clerk = (await newStaffMember(app, "clerk", "Akinyi Odhiambo")).browser;
const client = await newClient(app, "Baraka Mwangi");
const desk = `/desk/clients/${client.id}`;
const [first, second] = [createContainerNumber(11), createContainerNumber(12)];

const openPage = () => clerk.open(`${desk}/shipments`);
const check = async (lines: string, page?: ParsedPage) =>
  parsePage(await clerk.submit(page ?? (await openPage()), "Check the lines", { lines }));

async function listNames() {
  const { data, error } = await app.company.from("shipments").select("name").eq("user_id", client.id);
  if (error) throw error;
  return data.map(({ name }) => name).sort();
}

/** Returns the cells of each row of the review table, without empty cells. */
const listRows = (page: ParsedPage) =>
  page.all("main tbody tr").map((row) => row.querySelectorAll("th, td").map(getText).filter(Boolean));

test("A team member opens a shipment from the client's page, and the client sees that we opened the shipment.", async () => {
  const links = listLinkAddresses(await clerk.open(desk), "main a");
  expect(links).toEqual(expect.arrayContaining([`${desk}/shipments`, `${desk}/shipments#several`]));
  const fields = { name: "Pumps for Juba", awb: "BILL-77001", containerNumbers: `${first}\n${second}` };
  const page = await openPage();
  const submit = async () => (await clerk.submit(page, "Open shipment", fields)).headers.get("Location");
  const [path, repeatedPath] = [await submit(), await submit()];
  expect(path).toMatch(/^\/desk\/shipments\/[0-9a-f-]{36}$/);
  expect(repeatedPath).toBe(path);
  expect(await listNames()).toEqual(["Pumps for Juba"]);
  const opened = await clerk.open(path ?? "");
  expect(opened.toasts).toEqual(successToast("Shipment opened"));
  const id = (path ?? "").split("/").at(-1) ?? "";
  expect(await listShipmentAuditEntries(app.company, id)).toMatchObject([
    { action: "shipment open", actor_name: "Akinyi Odhiambo", after: { awb: "BILL-77001" } },
  ]);
  const seen = await client.browser.open(`/portal/${id}`);
  expect(seen.text).toMatch(/Tracking History Shipment opened by us \(latest\)/);
  expect(seen.text).toContain(`AWB/BL BILL-77001 `);
  const list = await client.browser.open("/portal");
  expect(list.text).toContain("Pumps for Juba");
});

test("A shipment with a number of another open shipment is opened only after a confirmation.", async () => {
  const fields = { name: "Pumps again", awb: "bill 77001" };
  const question = await parsePage(await clerk.submit(await openPage(), "Open shipment", fields));
  const message =
    "The open shipment “Pumps for Juba” already has the number bill 77001. Confirm that you want to open another shipment with this number.";
  expectRejectedForm(question, 409, message);
  expect(question.form("Open shipment anyway").fields).toMatchObject(fields);
  const opened = await clerk.follow(await clerk.submit(question, "Open shipment anyway"));
  expect([opened.h1, opened.toasts]).toEqual(["Pumps again", successToast("Shipment opened")]);
});

test("An invalid form for one shipment shows each error at its field and the typed texts.", async () => {
  const fields = { name: " ", awb: "X", containerNumbers: "MSKU1" };
  const rejected = await parsePage(await clerk.submit(await openPage(), "Open shipment", fields));
  expectRejectedForm(rejected, 400, "Enter a name for the shipment.");
  for (const { id } of rejected.problems) expect(rejected.has(id)).toBe(true);
  expect(getField(rejected, "open-containerNumbers")).toMatchObject({ value: "MSKU1", isMarked: true });
  expect(rejected.form("Open shipment").fields).toMatchObject({ awb: "X" });
});

test("A page shows the cells of pasted lines before the shipments are opened, and opens the shipments only once.", async () => {
  const before = await listNames();
  const lines = `Name;AWB/BL;Containers\r\nTea, Kericho to Jeddah;176-1;${createContainerNumber(21)}\r\n\r\n"Rice; 50 bags";BILL-77001\r\nMaize;176 1`;
  const review = await check(lines);
  expect([review.status, review.h1, review.problems]).toEqual([200, "Check the lines: Baraka Mwangi", []]);
  expect(review.title).toMatch(/^Check the lines/);
  expect(listRows(review)).toEqual([
    ["2", "Tea, Kericho to Jeddah", "176-1", createContainerNumber(21)],
    [
      ...["4", "Rice; 50 bags", "BILL-77001"],
      "The open shipment “Pumps for Juba” already has the number BILL-77001.",
    ].map((text) => expect.stringContaining(text)),
    ["5", "Maize", "176 1", "The number 176 1 is also in line 2."],
  ]);
  expect(review.text).toContain("The cells are separated by semicolons. We skipped the headings in line 1.");
  expect(listDuplicateIds(review)).toEqual([]);
  expect(await listNames()).toEqual(before);

  const button = "Open 3 shipments";
  const responses = [await clerk.submit(review, button), await clerk.submit(review, button)];
  for (const { status, headers } of responses) expect([status, headers.get("Location")]).toEqual([303, desk]);
  const page = await clerk.open(desk);
  expect(page.toasts).toEqual(successToast("3 shipments opened"));
  expect(page.text).toMatch(/Tea, Kericho to Jeddah .* Rice; 50 bags .* Maize /);
  expect(await listNames()).toEqual([...before, "Maize", "Rice; 50 bags", "Tea, Kericho to Jeddah"].sort());

  await app.sql`update email_outbox set due_at = now() where account_id = ${client.id} and detail = '3'`;
  expect(await sendDueShipmentEmails(app.company, emailSender, readStages())).toBe(1);
  const email = await getLatestEmailTo(client.email);
  expect(email.subject).toBe("Tea, Kericho to Jeddah and 2 more: Shipments opened");
  expect(email.text.replace(/[0-9a-f]{8}(?=[,\n])/g, "SHORT-ID")).toContain(
    [
      ...["Hello Baraka Mwangi,", "", "We opened 3 shipments for you:"],
      "- “Tea, Kericho to Jeddah”, shipment number: SHORT-ID, AWB/BL: 176-1",
      "- “Rice; 50 bags”, shipment number: SHORT-ID, AWB/BL: BILL-77001",
      "- “Maize”, shipment number: SHORT-ID, AWB/BL: 176 1",
      ...["", "Upload the documents of each shipment.", `See your shipments: ${origin}/portal`, ""],
    ].join("\n"),
  );
});

test("If a line is wrong, no shipment can be opened. The page names the line and the error, and the changed lines are checked again.", async () => {
  const before = await listNames();
  const lines = `Salt\tX1\tMSKU1\n\tX2\nPepper`;
  const rejected = await check(lines);
  const message =
    "Line 1: Invalid container number: MSKU1. A container number has four letters and seven digits. The fourth letter is U, J or Z. Line 2: Enter a name for the shipment.";
  expectRejectedForm(rejected, 400, message);
  for (const { id } of rejected.problems) expect(rejected.has(id)).toBe(true);
  expect(listRows(rejected)[1]).toEqual(["2", "X2", "Enter a name for the shipment."]);
  expect(listButtons(rejected).join()).not.toMatch(/Open \d/);
  expect(getField(rejected, "open-several-lines").value).toBe(lines);
  const forced = await clerk.post(`${desk}/shipments`, { intent: "open-several", confirmed: "yes", lines });
  expect(forced.status).toBe(400);
  expect(await listNames()).toEqual(before);

  const review = await check("Salt\tX1\nPepper", rejected);
  expect(listButtons(review)).toContain("Open 2 shipments");
  expect(getField(review, "open-several-lines").value).toBe("Salt\tX1\nPepper");
});

test("No lines, more than 100 lines and too long lines are rejected, and the form contains the typed text.", async () => {
  const many = Array.from({ length: 101 }, (_, index) => `Tea ${index}`).join("\n");
  for (const [lines, message] of [
    [" \n;\n", "Enter at least one line."],
    ["Name;AWB", "Enter at least one line."],
    [many, "These are 101 lines. Open at most 100 shipments at a time."],
  ] as const) {
    const rejected = await check(lines);
    expectRejectedForm(rejected, 400, message);
    expect(getField(rejected, "open-several-lines").value).toBe(lines);
  }
  const tooLong = await check("x".repeat(40_001));
  expect([tooLong.status, tooLong.problems[0]?.text]).toEqual([
    400,
    expect.stringMatching(/^Use at most 40,000 characters\./),
  ]);
  expect(listRows(await check(many.slice(0, many.lastIndexOf("\n"))))).toHaveLength(100);
});

test("The page says why no shipment can be opened for a closed account or an unconfirmed email address.", async () => {
  const closed = await newClient(app, "Closed Client");
  const page = await clerk.open(`/desk/clients/${closed.id}/shipments`);
  resultOrThrow(await closeAccount(app.company, closed.id, "They asked"));
  const rejected = await parsePage(await clerk.submit(page, "Open shipment", { name: "Tea" }));
  expect(rejected.status).toBe(409);
  const unconfirmed = await newClient(app, "Unconfirmed Client");
  await app.sql`update auth.users set email_confirmed_at = null where id = ${unconfirmed.id}`;
  for (const [{ id }, text] of [
    [closed, "This account is closed. Reopen the account to open a shipment."],
    [unconfirmed, "The client has not confirmed the email address yet."],
  ] as const) {
    const blocked = await clerk.open(`/desk/clients/${id}/shipments`);
    expect(blocked.text).toContain(text);
    expect(listButtons(blocked).filter((button) => /^(Open|Check)/.test(button))).toEqual([]);
  }
});
