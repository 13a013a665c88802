import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { sendDueShipmentEmails } from "../../app/models/email-delivery.server.ts";
import { readStages } from "../../app/server/cli/content.ts";
import { createContainerNumber } from "../support/container-numbers.ts";
import { emailSender, getLatestEmailTo, newClient, newShipment, newStaffMember } from "../support/route-fixtures.ts";
import { getTestApp, parsePage } from "../support/test-app.ts";

const [first, second] = ["CSQU3054383", "TOLU4734787"];
const wrongDigit = "Compare CSQU3054384 with your document, because a letter or digit is wrong.";

const app = await getTestApp();
const { sql } = app;
const client = await newClient(app, "Container Owner");
const clerk = await newStaffMember(app, "clerk", "Container Clerk");

/** Creates a shipment of the client with an AWB/BL and the container numbers `first` and `second`. */
async function newContainerShipment(name: string) {
  const shipment = await newShipment(app, client, name);
  await sql`update shipments set awb = 'MEDUX4471203', container_numbers = ${[first, second]} where id = ${shipment.id}`;
  return shipment;
}

test("A client can type container numbers in any spelling for a new shipment, and sees the numbers on its page.", async () => {
  const { browser } = client;
  const typed = { name: "Tiles", containerNumbers: "csqu 305438-3\nTOLU473478-7, CSQU3054383" };
  const created = await browser.submit(await browser.open("/portal/new"), "Create Shipment", typed);
  const page = await browser.follow(created);
  expect(page.text).toContain(`Containers ${first}, ${second}`);
  const print = await browser.open(`${created.headers.get("Location")}/print`);
  expect(print.text).toContain(`Containers ${first}, ${second}`);
});

test("Invalid container numbers of a new shipment cause an error at the field, which shows the first 1,000 characters again.", async () => {
  const { browser } = client;
  const form = await browser.open("/portal/new");
  const tooMany = "Enter at most 20 container numbers.";
  const cut = "You wrote 1,001 characters. It is possible that the field shows only the first 1,000 characters.";
  for (const [containerNumbers, message] of [
    ["CSQU3054384", wrongDigit],
    [`a${"\u0301".repeat(1000)}`, `${tooMany} ${cut}`],
    [Array.from({ length: 21 }, (_, index) => createContainerNumber(index)).join(" "), tooMany],
  ] as const) {
    const fields = { name: "Tiles", containerNumbers };
    const page = await parsePage(await browser.submit(form, "Create Shipment", fields));
    expect(page.status).toBe(400);
    expect(page.problems).toEqual([{ id: "create-shipment-containerNumbers", text: message }]);
    expect(page.getDescriptions("containerNumbers").at(-1)).toBe(message);
    const shown = { ...fields, containerNumbers: containerNumbers.slice(0, 1000) };
    expect(page.form("Create Shipment").fields).toMatchObject(shown);
  }
});

test("At stage 1, a client can change and remove container numbers.", async () => {
  const { browser } = client;
  const { portal } = await newContainerShipment("Cement");
  const form = await browser.open(`${portal}/change`);
  expect(form.form("Save changes").fields).toMatchObject({ containerNumbers: `${first}, ${second}` });
  const changed = await browser.follow(await browser.submit(form, "Save changes", { containerNumbers: second }));
  expect(changed.text).toContain(`Containers ${second}`);
  const again = await browser.open(`${portal}/change`);
  const removed = await browser.follow(await browser.submit(again, "Save changes", { containerNumbers: "" }));
  expect(removed.text).not.toContain("Containers");
});

test("A clerk can change container numbers with a reason, and the activity log shows the reason.", async () => {
  const { browser } = clerk;
  const { desk } = await newContainerShipment("Steel coils");
  const page = await browser.open(desk);
  expect(page.text).toContain(`Containers ${first}, ${second}`);
  const wrong = { containerNumbers: "CSQU3054384", reason: "Repacked" };
  const rejected = await parsePage(await browser.submit(page, "Save numbers", wrong));
  expect(rejected.problems).toEqual([{ id: "numbers-containerNumbers", text: wrongDigit }]);
  expect(rejected.form("Save numbers").fields).toMatchObject(wrong);
  const typed = { containerNumbers: second, reason: "Repacked" };
  const saved = await browser.follow(await browser.submit(rejected, "Save numbers", typed));
  expect(saved.text).toContain(`Containers ${second}`);
  expect(saved.text).toContain(`container numbers ${first}, ${second} → container numbers ${second} Reason: Repacked`);
});

test("Clients and clerks can find a shipment by a container number, both in the list and in the CSV file.", async () => {
  const name = `Found ${randomUUID()}`;
  await newContainerShipment(name);
  const q = encodeURIComponent("csqu 305438-3");
  const list = await client.browser.open(`/portal?q=${q}`);
  expect(list.text).toContain(name);
  expect(list.text).toContain(`MEDUX4471203 ${first} and 1 more`);
  const other = await client.browser.open(`/portal?q=${second.slice(4, 10)}`);
  expect(other.text).toContain(`MEDUX4471203 ${second} and 1 more`);
  expect((await clerk.browser.open(`/desk/shipments?q=${q}`)).text).toContain(name);
  for (const [browser, path] of [
    [client.browser, "/portal/shipments.csv"],
    [clerk.browser, "/desk/shipments.csv"],
  ] as const) {
    const csv = await (await browser.get(`${path}?q=${q}`)).text();
    expect(csv).toContain('"AWB/BL","Containers"');
    expect(csv.split("\r\n").find((line) => line.includes(name))).toContain(`"MEDUX4471203","${first}, ${second}"`);
  }
});

test("A shipment update contains the shipment's container numbers, and a share link does not.", async () => {
  const { id, portal } = await newContainerShipment("Spare parts");
  await app.company.rpc("send_note", { shipment_id: id, note: "The vessel is late." });
  await sql`update email_outbox set due_at = now() where shipment_id = ${id}`;
  await sendDueShipmentEmails(app.company, emailSender, readStages());
  const { text } = await getLatestEmailTo(client.email);
  expect(text).toContain(`AWB/BL: MEDUX4471203\nContainers: ${first}, ${second}`);
  const form = await client.browser.open(`${portal}/share`);
  const shared = await client.browser.follow(await client.browser.submit(form, "Create share link"));
  const link = /\/s\/[\w-]+/.exec(shared.html)?.[0] ?? "";
  const page = await app.browser().open(link);
  expect([page.status, page.h1]).toEqual([200, "Spare parts"]);
  for (const number of [first, second, "MEDUX4471203"]) expect(page.html).not.toContain(number);
});
