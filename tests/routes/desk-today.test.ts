import { expect, test } from "vitest";
import { listLinkAddresses } from "../support/page-parts.ts";
import {
  getField,
  listDuplicateIds,
  newClient,
  newShipment,
  newStaffMember,
  successToast,
} from "../support/route-fixtures.ts";
import { resultOrThrow, saveArrival } from "../support/staff-actions.ts";
import { getTestApp, getText, parsePage } from "../support/test-app.ts";

const app = await getTestApp();
const clerk = (await newStaffMember(app, "clerk", "Akinyi Odhiambo")).browser;
const client = await newClient(app, "Baraka Mwangi");

test("An announcement is shown to clients above their shipments until a team member changes or ends it.", async () => {
  const shipment = await newShipment(app, client, "Announced");
  const announce = async (text: string) => clerk.submit(await clerk.open("/desk"), "Publish announcement", { text });
  const empty = await parsePage(await announce(""));
  expect([empty.status, getField(empty, "announce-text").descriptions.at(-1)]).toEqual([400, "Enter an announcement."]);
  const long = await parsePage(await announce("x".repeat(201)));
  expect(getField(long, "announce-text")).toMatchObject({ value: "x".repeat(200), isMarked: true });

  try {
    const first = "Customs system <down> since 09:10";
    const page = await clerk.follow(await announce(first));
    expect(page.toasts).toEqual(successToast("Announcement published"));
    expect(page.text).toContain(first);
    for (const path of ["/portal", shipment.portal]) expect((await client.browser.open(path)).text).toContain(first);
    await announce("Customs system up again");
    clerk.cookies.delete("flash");
    const changed = await client.browser.open("/portal");
    expect([changed.text.includes("up again"), changed.text.includes(first)]).toEqual([true, false]);
  } finally {
    const response = await clerk.submit(await clerk.open("/desk"), "Remove announcement");
    expect((await clerk.follow(response)).toasts).toEqual(successToast("Announcement removed"));
  }
  expect((await client.browser.open("/portal")).text).not.toContain("up again");
});

test("Each row of Today links to an existing place on the page of its shipment.", async () => {
  const shipment = await newShipment(app, client, "Due in storage", ["Packing List"]);
  const arrival = {
    storage_location: "mombasa",
    day: "2019-05-02",
    size: 20,
    free_storage_ends_on: "2019-05-06",
  } as const;
  resultOrThrow(await saveArrival(app.company, shipment.id, arrival, {}));
  const page = await clerk.open("/desk");
  expect(listDuplicateIds(page)).toEqual([]);
  const lists = page.all("main section, main [class*=border]").map(getText).join(" ");
  for (const title of [
    "Documents to check",
    "Free storage ending",
    "No update for 7 days",
    "Waiting for client over 7 days",
    "Emails that failed",
  ])
    expect(lists).toContain(title);
  const hrefs = listLinkAddresses(page, "main a");
  expect(hrefs).toContain(`${shipment.desk}#storage`);
  for (const href of hrefs.filter((href) => href.includes("#")).slice(0, 5)) {
    const [path = "", id = ""] = href.split("#");
    expect([href, (await clerk.open(path)).has(id)]).toEqual([href, true]);
  }
});
