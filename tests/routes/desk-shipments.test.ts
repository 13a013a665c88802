import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { getHref, listLinkAddresses, readCsv } from "../support/page-parts.ts";
import {
  allDocuments,
  type LoggedInClient,
  listDuplicateIds,
  newClient,
  newShipment,
  newShipments,
  newStaffMember,
} from "../support/route-fixtures.ts";
import { moveShipment, resultOrThrow } from "../support/staff-actions.ts";
import {
  expectNoInternals,
  getTestApp,
  getText,
  noStorePattern,
  type ParsedPage,
  parsePage,
} from "../support/test-app.ts";

const app = await getTestApp();
const clerk = (await newStaffMember(app, "clerk", "Akinyi Odhiambo")).browser;
afterEach(() => app.proxy.fail("none"));

const rowLinks = "main form#selected-shipments li a";
const listNames = (page: ParsedPage) =>
  page
    .all("main form#selected-shipments li")
    .map((row) => getText(row.querySelector("label span")))
    .sort();
const searchNames = async (search: string) => listNames(await clerk.open(`/desk/shipments?${search}`));

describe("the list of shipments", () => {
  beforeAll(async () => {
    const owner = await newClient(app, "Zawadi Finder");
    await newShipment(app, owner, "Tea 100% <pure>", allDocuments);
    const coffee = await newShipment(app, owner, "Coffee_beans");
    await app.company.rpc("save_shipment_numbers", { shipment_id: coffee.id, awb: "MSCU7654321" });
    resultOrThrow(await moveShipment(app.company, coffee.id, { despiteMissing: true }, {}));
  });

  test("The desk's search finds shipments by text, stage and who they wait for, and the results stay next to an opened shipment.", async () => {
    expect(await searchNames("q=zawadi&waiting=company")).toEqual(["Tea 100% <pure>"]);
    const empty = await clerk.open("/desk/shipments?q=zawadi&waiting=client&stage=1");
    expect([empty.status, listNames(empty), empty.text.includes("No shipments found.")]).toEqual([200, [], true]);
    const page = await clerk.open("/desk/shipments?q=zawadi&stage=2&waiting=client");
    expect(page.form("Find").fields).toMatchObject({ q: "zawadi", stage: "2", waiting: "client" });
    const [href = ""] = listLinkAddresses(page, rowLinks);
    expect(href).toMatch(/\?q=zawadi&stage=2&waiting=client$/);
    const opened = await clerk.open(href);
    expect(opened.all("main section a[aria-current=page]").map(getText)).toEqual([
      expect.stringContaining("Coffee_beans"),
    ]);
  });

  test("The filter for documents to check applies to the list, its rows' links, the CSV, and the link on Today.", async () => {
    const own = await newClient(app, "Unchecked Owner");
    const complete = await newShipment(app, own, "Complete", allDocuments);
    await newShipment(app, own, "One file", ["Packing List"]);
    await newShipment(app, own, "Empty");
    const filter = `q=${encodeURIComponent(own.email)}`;
    expect(await searchNames(`${filter}&check=1`)).toEqual(["Complete", "One file"]);
    for (const value of ["0", "yes", "", "11"])
      expect([value, await searchNames(`${filter}&check=${value}`)]).toEqual([
        value,
        ["Complete", "Empty", "One file"],
      ]);
    const page = await clerk.open(`/desk/shipments?${filter}&check=1`);
    expect(page.form("Find").fields).toMatchObject({ q: own.email, check: "1" });
    expect((await clerk.open(`/desk/shipments?${filter}`)).form("Find").fields).not.toHaveProperty("check");
    expect(listLinkAddresses(page, "main a")).toContain(`${complete.desk}?${filter}&check=1`);
    const [, ...rows] = await readCsv(await clerk.get(getHref(page, "Download as CSV") ?? ""));
    expect(rows.map(([, name]) => name).sort()).toEqual(["Complete", "One file"]);
    await newShipment(app, own, "More to check", allDocuments);
    expect(listLinkAddresses(await clerk.open("/desk"), "main a")).toContain("/desk/shipments?check=1");
  });

  test("A row of the desk's list shows the client, the stage, who it waits for, the AWB/BL and the last change.", async () => {
    const page = await clerk.open("/desk/shipments?q=coffee_beans");
    expect(getText(page.all(rowLinks)[0])).toMatch(
      /^Coffee_beans Zawadi Finder 2\/10 Document Verification Waiting for client MSCU7654321 \d{1,2} .* EAT$/,
    );
    expect(listDuplicateIds(page)).toEqual([]);
  });

  test("The desk's list has pages of 20 with links that repeat the filter, and ignores invalid parameters.", async () => {
    const many = await newClient(app, "Many Shipments");
    const names = Array.from({ length: 21 }, (_, index) => `Number ${String(index + 1).padStart(2, "0")}`);
    await newShipments(app, many, names);
    const own = `q=${encodeURIComponent(many.email)}`;
    const first = await clerk.open(`/desk/shipments?${own}&stage=1&waiting=client`);
    expect([listNames(first).length, getHref(first, "Previous page")]).toEqual([20, undefined]);
    const second = await clerk.open(getHref(first, "Next page") ?? "");
    expect([...listNames(first), ...listNames(second)].sort()).toEqual(names);
    expect(getHref(second, "Next page")).toBeUndefined();
    expect(listNames(await clerk.open(getHref(second, "Previous page") ?? ""))).toEqual(listNames(first));
    for (const parameter of [
      ...["page=0", "page=-1", "page=1.5", "page=abc", "page=1e99", "stage=11", "stage=x", "waiting=toString"],
      ...["waiting=mine", "waiting=constructor"],
    ])
      expect([parameter, (await searchNames(`${own}&${parameter}`)).length]).toEqual([parameter, 20]);
    for (const q of ["%00", "%2527", "\\", "%ED%A0%80", "x".repeat(5000), "'; drop table"])
      expect([q, (await clerk.get(`/desk/shipments?q=${q}`)).status]).toEqual([q, 200]);
  });
});

describe("the CSV of shipments", () => {
  let owner: LoggedInClient;
  let ids: string[];
  beforeAll(async () => {
    owner = await newClient(app, "Table Owner");
    const names = ["=1+1", 'Say "chai", أحمد', ...Array.from({ length: 515 }, (_, index) => `Row ${index}`)];
    ids = await newShipments(app, owner, names);
  });
  const address = () => `/desk/shipments.csv?q=${encodeURIComponent(owner.email)}`;

  test("The desk's CSV has every shipment that matches the filter once, in UTF-8 for spreadsheets and without formulas.", async () => {
    const response = await clerk.get(address());
    expect(response.headers.get("Content-Type")).toBe("text/csv; charset=utf-8");
    expect(response.headers.get("Content-Disposition")).toBe("attachment; filename=shipments.csv");
    expect(response.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    const [start] = [
      ...Buffer.from(await response.clone().arrayBuffer())
        .toString("latin1")
        .split('"'),
    ];
    expect(start).toBe("\u00ef\u00bb\u00bf");
    const [heading, ...rows] = await readCsv(response);
    expect(heading).toEqual([
      ...["Shipment number", "Name", "Client", "Email", "AWB/BL", "Containers", "Stage"],
      ...["Status", "Who acts next", "Opened (EAT)", "Last change (EAT)"],
    ]);
    expect(rows.map(([id]) => id).sort()).toEqual([...ids].sort());
    expect(rows.map(([, name]) => name)).toEqual(expect.arrayContaining(["'=1+1", 'Say "chai", أحمد']));
    const row = rows.find(([, name]) => name === "Row 7");
    expect(row?.slice(2, 9)).toEqual([
      "Table Owner",
      owner.email,
      "",
      "",
      "1",
      "Client Onboarding",
      "Waiting for client",
    ]);
    expect(await readCsv(await clerk.get(`${address()}&stage=9`))).toHaveLength(1);
  });

  test("The desk's CSV is streamed, ends early if later rows cannot be fetched, and is an error page if no row can be fetched.", async () => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of (await clerk.get(address())).body ?? []) chunks.push(chunk);
    expect(chunks.length).toBeGreaterThan(1);

    app.proxy.fail(500, /before/);
    const brokenOff = await clerk.get(address());
    expect(brokenOff.status).toBe(200);
    await expect(brokenOff.text()).rejects.toThrow();
    app.proxy.fail(500, /desk_shipments_export/);
    const page = await parsePage(await clerk.get(address()));
    expect(page.status).toBe(503);
    expectNoInternals(page);
  });
});
