import { expect, test } from "vitest";
import { getHref, listLinkAddresses, readCsv } from "../support/page-parts.ts";
import { expectRejectedForm, newClient, newShipment, newStaffMember, successToast } from "../support/route-fixtures.ts";
import { getTestApp, parsePage } from "../support/test-app.ts";

const app = await getTestApp();
const akinyi = await newStaffMember(app, "clerk", "Akinyi Odhiambo");
const baraka = await newStaffMember(app, "lead", "Baraka Mutua");
const client = await newClient(app, "Handled Client");
const list = `/desk/shipments?q=${encodeURIComponent(client.email)}`;

test("A clerk takes a shipment, hands it over with a note, and an outdated form is rejected.", async () => {
  const shipment = await newShipment(app, client, "Handed over");
  const opened = await akinyi.browser.open(`${shipment.desk}?handler=nobody`);
  expect(opened.text).toContain("Handled by Nobody");
  const href = getHref(opened, "Hand over") ?? "";
  expect(href).toBe(`${shipment.desk}/handler?handler=nobody`);
  const [form, outdated] = [await akinyi.browser.open(href), await akinyi.browser.open(href)];
  expect(form.text).toContain("Handed over is handled by nobody.");
  expect(form.form("Hand over").fields).toMatchObject({ handler: akinyi.id, from: "nobody" });
  const taken = await akinyi.browser.follow(await akinyi.browser.submit(form, "Hand over"));
  expect(taken.toasts).toEqual(successToast("Shipment handed over to Akinyi Odhiambo"));
  expect(taken.text).toContain("Handled by Akinyi Odhiambo");

  const again = { handler: baraka.id, note: "I am on leave" };
  const rejected = await parsePage(await akinyi.browser.submit(outdated, "Hand over", again));
  const conflict = "Someone has handed over this shipment. Check who handles the shipment, then try again.";
  expectRejectedForm(rejected, 409, conflict);
  expect(rejected.text).toContain("I am on leave");
  const fresh = await akinyi.browser.open(href);
  expectRejectedForm(await parsePage(await akinyi.browser.submit(fresh, "Hand over")), 400, "Choose a team member.");
  const handed = await akinyi.browser.follow(await akinyi.browser.submit(fresh, "Hand over", again));
  expect(handed.toasts).toEqual(successToast("Shipment handed over to Baraka Mutua"));
  expect(handed.text).toContain("handler Akinyi Odhiambo → handler Baraka Mutua");
  expect(handed.text).toContain("I am on leave");
  const portal = await client.browser.open(shipment.portal);
  expect([portal.status, portal.text.includes("Baraka")]).toEqual([200, false]);
  expect((await client.browser.get(`${shipment.desk}/handler`)).status).not.toBe(200);
});

test("Mine and Nobody's restrict the list of shipments, its links, the CSV and the lists of the page Today.", async () => {
  const mine = await newShipment(app, client, "Mine to do", ["Packing List"]);
  const free = await newShipment(app, client, "Free to take", ["Packing List"]);
  const args = { shipment_id: mine.id, handler: baraka.email };
  expect((await app.company.rpc("change_shipment_handler", args)).data).toBe("Baraka Mutua");
  for (const [handler, shown, hidden] of [
    ["mine", mine, free],
    ["nobody", free, mine],
  ] as const) {
    const page = await baraka.browser.open(`${list}&handler=${handler}`);
    expect(page.form("Find").fields).toMatchObject({ handler });
    const links = listLinkAddresses(page, "main a");
    expect(links).toContain(`${shown.desk}?q=${encodeURIComponent(client.email)}&handler=${handler}`);
    expect(links.some((link) => link.includes(hidden.id))).toBe(false);
    const [, ...rows] = await readCsv(await baraka.browser.get(getHref(page, "Download as CSV") ?? ""));
    expect(rows.map(([, name]) => name)).not.toContain(handler === "mine" ? "Free to take" : "Mine to do");
    const today = await baraka.browser.open(`/desk?handler=${handler}`);
    const toCheck = listLinkAddresses(today, "main a");
    // Each list has only the eight oldest rows, and other tests create shipments without a handler.
    if (handler === "mine") expect(toCheck.some((link) => link.includes(shown.id))).toBe(true);
    expect(toCheck.some((link) => link.includes(hidden.id))).toBe(false);
  }
  const today = await baraka.browser.open("/desk");
  expect([getHref(today, "Mine"), getHref(today, "Nobody's")]).toEqual(["/desk?handler=mine", "/desk?handler=nobody"]);
});
