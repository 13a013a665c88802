import { expect, test } from "vitest";
import { getHref, listShipmentNames } from "../support/page-parts.ts";
import {
  expectRejectedForm,
  getDocument,
  newClient,
  newShipment,
  newStaffMember,
  successToast,
  uploadDocument,
} from "../support/route-fixtures.ts";
import { resultOrThrow, setCharge } from "../support/staff-actions.ts";
import { getTestApp, parsePage } from "../support/test-app.ts";

const app = await getTestApp();
const clerk = (await newStaffMember(app, "clerk", "Akinyi Odhiambo")).browser;
const client = await newClient(app, "Withdrawing Client");
const { browser } = client;
const link = "Withdraw shipment";
const closedToClient =
  "You can withdraw a shipment only at stage 1, before you upload a file or we add a charge. Call us to withdraw it now.";

test("A client can withdraw an untouched shipment. Its pages then say so, and a second click changes nothing.", async () => {
  const { id, portal } = await newShipment(app, client, "By mistake");
  const question = await browser.open(getHref(await browser.open(portal), link) ?? "");
  expect([question.h1, getHref(question, "Cancel")]).toEqual([link, portal]);
  expect(question.text).toContain("Withdraw “By mistake”?");
  for (const _ of [1, 2]) {
    const response = await browser.submit(question, link);
    expect(response.headers.get("Location")).toBe("/portal");
    const page = await browser.follow(response);
    expect(page.toasts).toEqual(successToast("Shipment withdrawn"));
    expect(listShipmentNames(page)).not.toContain("By mistake");
  }
  const { data } = await app.company
    .from("audit_log")
    .select("actor_name, reason")
    .match({ shipment_id: id, action: "client withdraw" });
  expect(data).toEqual([{ actor_name: "Client", reason: null }]);
  for (const path of ["", "/change", "/share", "/print", "/withdraw"]) {
    const page = await browser.open(portal + path);
    expect([path, page.status, page.h1]).toEqual([path, 410, "Shipment withdrawn"]);
    expect(page.text).toMatch(/You withdrew this shipment on .+\. If you still need this shipment, call us\./);
    expect(getHref(page, "Go to My Shipments")).toBe("/portal");
    expect(page.text).not.toContain("By mistake");
  }
});

test("After an upload, a client cannot withdraw a shipment, and a form that was opened before is rejected.", async () => {
  const { portal } = await newShipment(app, client, "With a file");
  const question = await browser.open(`${portal}/withdraw`);
  await uploadDocument(browser, portal, "Packing List");
  const rejected = await parsePage(await browser.submit(question, link));
  expectRejectedForm(rejected, 409, closedToClient);
  expect(getHref(await browser.open(portal), link)).toBeUndefined();
  const page = await browser.open(`${portal}/withdraw`);
  expect([page.status, page.text.includes(closedToClient), page.all("main form")]).toEqual([200, true, []]);
});

test("A stranger cannot open or send the form that withdraws a client's shipment.", async () => {
  const { portal } = await newShipment(app, client, "Not yours");
  const stranger = await newClient(app, "Strange Client");
  const { fields } = (await browser.open(`${portal}/withdraw`)).form(link);
  const page = await stranger.browser.open(`${portal}/withdraw`);
  expect([page.status, page.text.includes("Not yours")]).toEqual([404, false]);
  const sent = await stranger.browser.post(`${portal}/withdraw`, fields as Record<string, string>);
  expect([404, 409]).toContain(sent.status);
  expect((await browser.open(portal)).h1).toBe("Not yours");
});

test("The desk can withdraw a shipment with a reason, open it from the log, and restore it.", async () => {
  const shipment = await newShipment(app, client, "Created twice", ["Packing List"]);
  const charge = { item: "idf-fee", amount: 5, currency: "KES" };
  const opened = await clerk.open(shipment.desk);
  const form = await clerk.open(getHref(opened, link) ?? "");
  expectRejectedForm(await parsePage(await clerk.submit(form, link)), 400, "Enter a reason.");
  resultOrThrow(await setCharge(app.company, shipment.id, charge, {}));
  const question = await parsePage(await clerk.submit(form, link, { reason: "A double" }));
  expectRejectedForm(question, 409, "KES 5.00 is still due.");
  const withdrawn = await clerk.follow(await clerk.submit(question, `${link} anyway`));
  expect([withdrawn.toasts, withdrawn.h1]).toEqual([successToast("Shipment withdrawn"), "Created twice"]);
  expect(withdrawn.text).toMatch(/We withdrew this shipment on .+ EAT\. Reason: A double/);
  const move = await clerk.open(`${shipment.desk}/move`);
  expect([move.text.includes("The shipment is withdrawn."), move.all("main form")]).toEqual([true, []]);
  const { id: document } = await getDocument(app.company, shipment.id, "Packing List");
  expect(getHref(withdrawn, "Open: Packing List")).toBe(`${shipment.desk}/documents/${document}`);
  expect((await clerk.open("/desk/shipments?q=Created+twice")).text).toContain("No shipments found.");
  expect((await clerk.open("/desk/log?what=shipment+withdraw")).text).toContain("Created twice");
  const gone = await browser.open(shipment.portal);
  expect([gone.status, gone.text.includes("Reason: A double.")]).toEqual([410, true]);
  const file = await browser.open(`${shipment.portal}/documents/${document}`);
  expect(file.status).toBe(404);

  expectRejectedForm(await parsePage(await clerk.submit(withdrawn, "Restore shipment")), 400, "Enter a reason.");
  const restored = await clerk.follow(await clerk.submit(withdrawn, "Restore shipment", { reason: "They need it" }));
  expect(restored.toasts).toEqual(successToast("Shipment restored"));
  expect(restored.text).toContain("Stage 1/10 Client Onboarding Who acts next");
  expect((await browser.open(shipment.portal)).h1).toBe("Created twice");
});

test("After stage 3, the desk has no form to withdraw a shipment.", async () => {
  const shipment = await newShipment(app, client, "Too late");
  await app.company.from("shipments").update({ stage: 4 }).eq("id", shipment.id).throwOnError();
  expect(getHref(await clerk.open(shipment.desk), link)).toBeUndefined();
  const page = await clerk.open(`${shipment.desk}/withdraw`);
  expect([page.status, page.all("main form")]).toEqual([200, []]);
  expect(page.text).toContain("You can withdraw a shipment only at stages 1 to 3.");
});
