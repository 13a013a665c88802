import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { getHref, listLinkAddresses, listShipmentNames, readCsv, shipmentLinks } from "../support/page-parts.ts";
import { newClient, newShipments } from "../support/route-fixtures.ts";
import { setAwb } from "../support/service-role.ts";
import { correctStage, resultOrThrow } from "../support/staff-actions.ts";
import { expectNoInternals, getFieldValue, getTestApp, type ParsedPage, parsePage } from "../support/test-app.ts";

const app = await getTestApp();
const { sql } = app;
const client = await newClient(app, "Finding Client");
afterEach(() => app.proxy.fail("none"));

const closeShipment = async (id: string) =>
  resultOrThrow(await correctStage(app.company, id, { stage: 10, reason: "It is over" }, {}));

async function searchShipments(fields: Record<string, string>, browser = client.browser): Promise<ParsedPage> {
  const { action, fields: hidden } = (await browser.open("/portal")).form("Find");
  return browser.open(`${action}?${new URLSearchParams({ ...(hidden as Record<string, string>), ...fields })}`);
}

describe("Search in the portal", () => {
  beforeAll(async () => {
    const names = ["Tea to Mombasa", "Green tea", "Pumps for Juba", "Maize", "Rice"];
    const [, greenTea = "", pumps = ""] = await newShipments(app, client, names);
    await setAwb(app.company, pumps, "MSKU-7781");
    resultOrThrow(await correctStage(app.company, greenTea, { stage: 3, reason: "It is there" }, {}));
    await closeShipment(pumps);
  });

  test("A client can search for shipments by text, stage and who must act next.", async () => {
    const find = async (fields: Record<string, string>) => listShipmentNames(await searchShipments(fields)).sort();
    expect(await find({ q: " TEA " })).toEqual(["Green tea", "Tea to Mombasa"]);
    expect(await find({ stage: "3" })).toEqual(["Green tea"]);
    expect(await find({ waiting: "nobody" })).toEqual(["Pumps for Juba"]);
    expect(await find({ waiting: "client", q: "tea", stage: "3" })).toEqual(["Green tea"]);
    expect(await find({})).toHaveLength(5);
  });

  test("A search without a result says that nothing was found. The form and the CSV link still have the filter.", async () => {
    const page = await searchShipments({ q: "rhinoceros", stage: "7", waiting: "company" });
    expect([page.status, listShipmentNames(page)]).toEqual([200, []]);
    expect(page.text).toContain("No shipment matches your search.");
    expect(page.text).not.toContain("You have no shipments yet");
    expect(page.value("q")).toBe("rhinoceros");
    for (const [name, value] of [
      ["stage", "7"],
      ["waiting", "company"],
    ])
      expect(page.all(`select[name=${name}]`).map((field) => getFieldValue(field))).toEqual([value]);
    expect(getHref(page, "Download as CSV")).toBe("/portal/shipments.csv?q=rhinoceros&stage=7&waiting=company");
  });

  test.each([
    ["a filter of the data API", "name.eq.Rice),or(user_id.neq.0"],
    ["HTML", "<script>alert(1)</script>"],
    ["half a character", `${"a".repeat(99)}🚢`],
  ])("A client's search for %s finds nothing, neither on the page nor in the CSV.", async (_what, q) => {
    const search = new URLSearchParams({ q });
    const page = await client.browser.open(`/portal?${search}`);
    expect([page.status, listShipmentNames(page)]).toEqual([200, []]);
    expectNoInternals(page);
    expect(page.html).not.toContain("<script>alert");
    const csv = await client.browser.get(`/portal/shipments.csv?${search}`);
    expect([csv.status, (await readCsv(csv)).length]).toEqual([200, 1]);
  });

  test("The portal ignores invalid search parameters.", async () => {
    for (const search of ["q=%20%00%20", "stage=11", "stage=1.5", "stage=x", "waiting=toString"])
      expect([search, listShipmentNames(await client.browser.open(`/portal?${search}`)).length]).toEqual([search, 5]);
    expect(listShipmentNames(await client.browser.open("/portal?q=Ri%00ce"))).toEqual(["Rice"]);
    for (const search of ["q=%ff", "q=%", "q=a&q=b", "q[]=a", "stage=3&stage=1"])
      expect([search, (await client.browser.get(`/portal?${search}`)).status]).toEqual([search, 200]);
  });
});

test("Pages of 20 results have links to each other, and an opened shipment is shown next to its page of results.", async () => {
  const many = await newClient(app, "Many Shipments");
  await newShipments(app, many, ["Other"]);
  await sql`insert into shipments (user_id, name, created_at)
    select ${many.id}, 'Box ' || n, now() + n * interval '1 second' from generate_series(1, 21) as n`;
  const first = await searchShipments({ q: "box", waiting: "client" }, many.browser);
  expect(listShipmentNames(first)).toEqual(Array.from({ length: 20 }, (_, index) => `Box ${21 - index}`));
  expect([getHref(first, "Newer shipments"), getHref(first, "Older shipments")]).toEqual([
    undefined,
    "/portal?q=box&waiting=client&page=2",
  ]);
  const second = await many.browser.open(getHref(first, "Older shipments") ?? "");
  expect([listShipmentNames(second), getHref(second, "Older shipments"), second.value("q")]).toEqual([
    ["Box 1"],
    undefined,
    "box",
  ]);
  expect(getHref(second, "Newer shipments")).toBe("/portal?q=box&waiting=client");
  expect(getHref(second, "Download as CSV")).toBe("/portal/shipments.csv?q=box&waiting=client");

  const [address = ""] = listLinkAddresses(second, shipmentLinks);
  expect(address).toMatch(/^\/portal\/[0-9a-f-]{36}\?q=box&waiting=client&page=2$/);
  const opened = await many.browser.open(address);
  expect([opened.h1, listShipmentNames(opened)]).toEqual(["Box 1", ["Box 1"]]);
  expect(getHref(opened, "Newer shipments")).toBe("/portal?q=box&waiting=client");
  expect(listLinkAddresses(opened, "main [aria-current=page]")).toEqual([address]);
  expect((await many.browser.open("/portal?q=box&page=3")).text).toContain("There are no older shipments.");
  const names = listShipmentNames(await many.browser.open("/portal"));
  for (const page of ["0", "-1", "1e99", "2'--"])
    expect([page, listShipmentNames(await many.browser.open(`/portal?page=${page}`))]).toEqual([page, names]);
});

test("Without a search, the portal shows a welcome and up to six waiting shipments. If more are waiting, a link shows them all.", async () => {
  const { browser, ...waiter } = await newClient(app, "Waiting Client");
  const countWaiting = (page: ParsedPage) => page.all("section[aria-label='Waiting for you'] li a").length;
  const ids = await newShipments(
    app,
    { id: waiter.id },
    [1, 2, 3, 4, 5, 6, 7, 8].map((number) => `Box ${number}`),
  );
  await closeShipment(ids[7] ?? "");
  const seven = await browser.open("/portal");
  const href = getHref(seven, "Show all 7 shipments waiting for you");
  expect([countWaiting(seven), href]).toEqual([6, "/portal?waiting=client"]);
  const names = listShipmentNames(await browser.open(href ?? ""));
  expect(names.sort()).toEqual([1, 2, 3, 4, 5, 6, 7].map((number) => `Box ${number}`));
  await closeShipment(ids[6] ?? "");
  for (const [search, isShown] of [
    ...["", "?page=2", "?q=&stage=&waiting=", "?q=+"].map((empty) => [empty, true] as const),
    ...["?q=box", "?q=rhinoceros", "?stage=1", "?waiting=nobody&page=2"].map((full) => [full, false] as const),
  ]) {
    const page = await browser.open(`/portal${search}`);
    const shown = [page.text.includes("Welcome"), page.text.includes("Choose a"), countWaiting(page) === 6];
    expect([search, page.h1, ...shown]).toEqual([search, "My Shipments", ...Array(3).fill(isShown)]);
    expect(page.text).not.toContain("shipments waiting for you");
    expect(() => page.form("Find")).not.toThrow();
  }
});

describe("CSV of a client's shipments", () => {
  test("A client can download search results as CSV. The CSV contains no formulas, and spreadsheets show its numbers unchanged.", async () => {
    const exporter = await newClient(app, "Exporting Client");
    const names = ['=HYPERLINK("http://x")', 'Plain, "quoted"', "Rice"];
    const [, id = "", riceId = ""] = await newShipments(app, exporter, names);
    await setAwb(app.company, id, "=cmd|' /C calc'!A0");
    await setAwb(app.company, riceId, "07112345675");
    const response = await exporter.browser.get("/portal/shipments.csv");
    expect(response.headers.get("Content-Type")).toBe("text/csv; charset=utf-8");
    expect(response.headers.get("Content-Disposition")).toBe("attachment; filename=shipments.csv");
    expect(response.headers.get("Cache-Control")).toBe("private, no-store");
    const [heading, ...rows] = await readCsv(response);
    expect(heading).toEqual([
      ...["Shipment number", "Name", "AWB/BL", "Containers", "Stage", "Status"],
      ...["Who acts next", "Opened (EAT)", "Last change (EAT)"],
    ]);
    expect(rows.map(([, name, awb]) => [name, awb]).sort()).toEqual([
      [`'=HYPERLINK("http://x")`, ""],
      ['Plain, "quoted"', "'=cmd|' /C calc'!A0"],
      ["Rice", "071-12345675"],
    ]);
    const [, ...found] = await readCsv(await exporter.browser.get("/portal/shipments.csv?q=plain"));
    const columns = [id, 'Plain, "quoted"', "'=cmd|' /C calc'!A0", "", "1", "Client Onboarding", "Waiting for you"];
    expect(found.map((row) => row.slice(0, 7))).toEqual([columns]);
    expect(await readCsv(await exporter.browser.get("/portal/shipments.csv?waiting=nobody"))).toHaveLength(1);
  });

  test("The times in a client's CSV are in East Africa Time, in a format that spreadsheets can sort.", async () => {
    const timed = await newClient(app, "Timed Client");
    await sql`insert into shipments (user_id, name, created_at, changed_at)
      values (${timed.id}, 'At night', '2026-02-28T21:04:59.9Z', '2026-12-31T23:30:00Z')`;
    const [, row] = await readCsv(await timed.browser.get("/portal/shipments.csv"));
    expect(row?.slice(-2)).toEqual(["2026-03-01 00:04", "2027-01-01 02:30"]);
  });

  test("A client's CSV contains the shipments of all pages, and breaks off if the session ends during the download.", async () => {
    const leaving = await newClient(app, "Leaving Client");
    await sql`insert into shipments (user_id, name) select ${leaving.id}, 'Row ' || n from generate_series(1, 502) as n`;
    const [, ...rows] = await readCsv(await leaving.browser.get("/portal/shipments.csv"));
    expect(new Set(rows.map(([id]) => id)).size).toBe(502);
    const started = await leaving.browser.get("/portal/shipments.csv");
    expect(started.status).toBe(200);
    await sql`delete from auth.sessions where user_id = ${leaving.id}`;
    await expect(started.text()).rejects.toThrow();
  });

  test("If the backend fails three times, a client gets an error page instead of the CSV.", async () => {
    app.proxy.fail(503, /portal_shipments_export/);
    const calls = await app.proxy.during(async () => {
      const page = await parsePage(await client.browser.get("/portal/shipments.csv"));
      expect([page.status, page.headers.get("Content-Disposition")]).toEqual([503, null]);
      expectNoInternals(page);
    });
    expect(calls.filter((call) => call.includes("portal_shipments_export"))).toHaveLength(3);
  });
});
