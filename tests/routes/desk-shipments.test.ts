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
import { moveShipment, resultOrThrow, setCharge } from "../support/staff-actions.ts";
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

describe("List of shipments", () => {
  beforeAll(async () => {
    const owner = await newClient(app, "Zawadi Finder");
    await newShipment(app, owner, "Tea 100% <pure>", allDocuments);
    const coffee = await newShipment(app, owner, "Coffee_beans");
    await app.company.rpc("save_shipment_numbers", { shipment_id: coffee.id, awb: "MSCU7654321" });
    resultOrThrow(await moveShipment(app.company, coffee.id, { despiteMissing: true }, {}));
  });

  test("The desk can be searched by text, stage and who must act next. The results remain next to an opened shipment.", async () => {
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

  test("The filter for documents to check applies to the list, the links in its rows, the CSV, and the link on the page Today.", async () => {
    const own = await newClient(app, "Unchecked Owner");
    const fourFiles = await newShipment(app, own, "Four files", allDocuments);
    await newShipment(app, own, "One file", ["Packing List"]);
    await newShipment(app, own, "Empty");
    const filter = `q=${encodeURIComponent(own.email)}`;
    expect(await searchNames(`${filter}&check=1`)).toEqual(["Four files", "One file"]);
    for (const value of ["0", "yes", "", "11"])
      expect(await searchNames(`${filter}&check=${value}`), value).toEqual(["Empty", "Four files", "One file"]);
    const page = await clerk.open(`/desk/shipments?${filter}&check=1`);
    expect(page.form("Find").fields).toMatchObject({ q: own.email, check: "1" });
    expect((await clerk.open(`/desk/shipments?${filter}`)).form("Find").fields).not.toHaveProperty("check");
    expect(listLinkAddresses(page, "main a")).toContain(`${fourFiles.desk}?${filter}&check=1`);
    const [, ...rows] = await readCsv(await clerk.get(getHref(page, "Download as CSV") ?? ""));
    expect(rows.map(([, name]) => name).sort()).toEqual(["Four files", "One file"]);
    // If there are more than eight documents to check, the page Today has a link to the whole list.
    expect(listLinkAddresses(await clerk.open("/desk"), "main a")).toContain("/desk/shipments?check=1");
  });

  test("A row of the desk's list shows a shipment's client, stage, AWB/BL, last change, and who must act next.", async () => {
    const page = await clerk.open("/desk/shipments?q=coffee_beans");
    expect(getText(page.all(rowLinks)[0])).toMatch(
      /^Coffee_beans Zawadi Finder 2\/10 Document Verification Waiting for client MSCU7654321 \d{1,2} .* EAT$/,
    );
    expect(listDuplicateIds(page)).toEqual([]);
  });

  test("The desk's list has pages of 20 shipments. The links between pages contain the filter, and invalid parameters are ignored.", async () => {
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
    for (const parameter of ["page=0", "page=-1", "page=1.5", "page=1e99", "stage=11", "stage=x", "waiting=toString"])
      expect([parameter, (await searchNames(`${own}&${parameter}`)).length]).toEqual([parameter, 20]);
    for (const q of ["%00", "%2527", "\\", "%ED%A0%80", "x".repeat(5000), "'; drop table"])
      expect([q, (await clerk.get(`/desk/shipments?q=${q}`)).status]).toEqual([q, 200]);
  });
});

describe("CSV of shipments", () => {
  let owner: LoggedInClient;
  let ids: string[];
  beforeAll(async () => {
    owner = await newClient(app, "Table Owner");
    const names = ["=1+1", 'Say "chai", أحمد', ...Array.from({ length: 515 }, (_, index) => `Row ${index}`)];
    ids = await newShipments(app, owner, names);
  });
  const address = () => `/desk/shipments.csv?q=${encodeURIComponent(owner.email)}`;

  test("The desk's CSV lists every shipment that matches the filter once, in UTF-8 for spreadsheets and without formulas.", async () => {
    const response = await clerk.get(address());
    expect(response.headers.get("Content-Type")).toBe("text/csv; charset=utf-8");
    expect(response.headers.get("Content-Disposition")).toBe("attachment; filename=shipments.csv");
    expect(response.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    const bytes = Buffer.from(await response.clone().arrayBuffer());
    expect([...bytes.subarray(0, 3)], "byte order mark at the start of the CSV").toEqual([0xef, 0xbb, 0xbf]);
    const [heading, ...rows] = await readCsv(response);
    expect(heading).toEqual([
      ...["Shipment number", "Name", "Client", "Email", "AWB/BL", "Containers", "Stage"],
      ...["Status", "Who acts next", "Opened (EAT)", "Last change (EAT)"],
    ]);
    expect(rows.map(([id]) => id).sort()).toEqual([...ids].sort());
    expect(rows.map(([, name]) => name)).toEqual(expect.arrayContaining(["'=1+1", 'Say "chai", أحمد']));
    const row = rows.find(([, name]) => name === "Row 7");
    const values = ["Table Owner", owner.email, "", "", "1", "Client Onboarding", "Waiting for client"];
    expect(row?.slice(2, 9)).toEqual(values);
    expect(await readCsv(await clerk.get(`${address()}&stage=9`))).toHaveLength(1);
  });

  test("If the backend fails during the download of the desk's CSV, the CSV breaks off. Before the first rows, an error page appears.", async () => {
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

const openList = ({ email }: LoggedInClient) => clerk.open(`/desk/shipments?q=${encodeURIComponent(email)}`);

async function setStage(ids: string[], stage: number): Promise<void> {
  await app.company.from("shipments").update({ stage }).in("id", ids).throwOnError();
}

/** Deletes the documents of shipments, because a shipment without documents has no missing files and can move. */
const deleteDocuments = (ids: string[]) => app.sql`delete from documents where shipment_id = any(${ids})`;

/** Creates shipments that can move to stage 2. */
async function newCompleteShipments(owner: LoggedInClient, ...names: string[]): Promise<string[]> {
  const ids = await newShipments(app, owner, names);
  await deleteDocuments(ids);
  return ids;
}

async function submitMove(page: ParsedPage, ids: string[], fields: Record<string, string> = {}): Promise<Response> {
  const { action, fields: stored } = page.form("Move to the next stage");
  const form = new URLSearchParams({ ...(stored as Record<string, string>), ...fields });
  for (const id of ids) form.append("shipment", id);
  return clerk.post(action, form);
}

/** Returns the rows of the result page, grouped by heading. */
const listResults = (page: ParsedPage) =>
  Object.fromEntries(
    page
      .all("main section")
      .map((section) => [getText(section.querySelector("h2")), section.querySelectorAll("li").map(getText).sort()]),
  );

async function listStages(ids: string[]): Promise<(number | null)[]> {
  const { data } = await app.company.from("shipments").select("stage").in("id", ids).order("stage");
  return (data ?? []).map(({ stage }) => stage);
}

const missing = `These documents are missing: ${allDocuments.toSorted().join(", ")}.`;

test("The result of a bulk action lists the moved shipments, and lists the other shipments with a reason and a link.", async () => {
  const owner = await newClient(app, "Mixed Shipments Owner");
  const moved = await newCompleteShipments(owner, "Ready one", "Ready two");
  const [incomplete = ""] = await newShipments(app, owner, ["Waiting"]);
  const names = ["Owing", "Closed meanwhile", "Changed meanwhile"];
  const [owing = "", closed = "", changed = ""] = await newCompleteShipments(owner, ...names);
  await setStage([owing], 9);
  const charge = { item: "duties", amount: 642_780, currency: "KES" };
  resultOrThrow(await setCharge(app.company, owing, charge, {}));
  const list = await openList(owner);
  await setStage([closed], 10);
  await setStage([changed], 2);
  const ids = [...moved, incomplete, owing, closed, changed];

  const result = await clerk.follow(await submitMove(list, ids, { location: "Mombasa" }));
  expect([result.status, result.h1]).toEqual([200, "2 of 6 shipments moved"]);
  expect(listDuplicateIds(result)).toEqual([]);
  const row = (name: string, stage: string, reason = "") => `${name} Mixed Shipments Owner, ${stage}. ${reason}`.trim();
  const due = "KES 642,780.00 is still due.";
  const changedMessage = "Someone changed this shipment after you opened the list. Check the shipment, then try again.";
  expect(listResults(result)).toEqual({
    Moved: ["Ready one", "Ready two"].map((name) => row(name, "2/10 Document Verification")),
    "Not moved": [
      row("Changed meanwhile", "2/10 Document Verification", changedMessage),
      row("Closed meanwhile", "10/10 Shipment Closed", "This shipment is closed."),
      row("Owing", "9/10 Additional Services", `${due} Move this shipment: Owing`),
      row("Waiting", "1/10 Client Onboarding", `${missing} Move this shipment: Waiting`),
    ],
  });
  const pages = [...ids, `${incomplete}/move`, `${owing}/move`].map((path) => `/desk/shipments/${path}`);
  expect(listLinkAddresses(result, "main section a").sort()).toEqual(pages.sort());
  expect(getHref(result, "Back to shipments")).toBe(`/desk/shipments?q=${encodeURIComponent(owner.email)}`);
  const { data: events } = await app.company.from("tracking_events").select("location").in("shipment_id", moved);
  expect(events?.map(({ location }) => location)).toEqual(expect.arrayContaining(["Mombasa", "Mombasa"]));
  const question = await clerk.open(getHref(result, "Move this shipment: Owing") ?? "");
  expect([question.h1, question.text.includes(due)]).toEqual(["Close the shipment with an amount due?", true]);
  expect((await openList(owner)).all(`main input[value="${closed}"]`)[0]?.hasAttribute("disabled")).toBe(true);
});

test("An invalid form for a bulk action moves no shipment.", async () => {
  const owner = await newClient(app, "Selecting Client");
  const [id = ""] = await newCompleteShipments(owner, "Selected");
  const list = await openList(owner);
  const incompleteForm = "We received only part of the form.";
  for (const [ids, fields, message] of [
    [[], {}, "Select at least one shipment."],
    [["not-an-id"], {}, "Select at least one shipment."],
    [[id], { location: "x".repeat(121) }, "at most 120"],
    [[id], { [`expectedVersion-${id}`]: "" }, incompleteForm],
    [[id], { [`expectedVersion-${id}`]: "x" }, incompleteForm],
  ] as const) {
    const page = await parsePage(await submitMove(list, [...ids], fields));
    expect([message, page.status, page.text.includes(message)]).toEqual([message, 400, true]);
  }
  const foreign = await parsePage(await submitMove(list, [id], { pageAccount: "another account" }));
  expect([foreign.status, foreign.text.includes("Another account is now logged in")]).toEqual([409, true]);
  expect((await clerk.open("/desk/shipments/bulk-move")).h1).toBe("No shipments moved");
  expect(await listStages([id])).toEqual([1]);
});

test("Every team member, but no client, can open the result of a bulk action again, and the result shows current data.", async () => {
  const owner = await newClient(app, "Read Again");
  const [complete = ""] = await newCompleteShipments(owner, "Complete <tea>");
  const [incomplete = ""] = await newShipments(app, owner, ["Incomplete coffee"]);
  const response = await submitMove(await openList(owner), [complete, incomplete]);
  const address = response.headers.get("Location") ?? "";
  expect([response.status, address.split("?")[0]]).toEqual([303, "/desk/shipments/bulk-move"]);
  const otherMember = (await newStaffMember(app, "clerk", "Reads It Too")).browser;
  const link = "Move this shipment: Incomplete coffee";
  for (const browser of [clerk, clerk, otherMember]) {
    const page = await browser.open(address);
    expect([page.status, page.h1]).toEqual([200, "1 of 2 shipments moved"]);
    expect(listResults(page)).toEqual({
      Moved: ["Complete <tea> Read Again, 2/10 Document Verification."],
      "Not moved": [`Incomplete coffee Read Again, 1/10 Client Onboarding. ${missing} ${link}`],
    });
  }
  await deleteDocuments([incomplete]);
  expect(listResults(await clerk.open(address))["Not moved"]).toEqual([
    `Incomplete coffee Read Again, 1/10 Client Onboarding. Documents were missing when you tried to move this shipment. No document is missing now. Try again. ${link}`,
  ]);

  const page = await owner.browser.open(address);
  expect([page.status, page.h1]).toEqual([404, "Page not found"]);
  const data = await (await owner.browser.get(address.replace("?", ".data?"))).text();
  for (const text of ["tea>", "coffee", "Read Again,"]) expect(page.text + data).not.toContain(text);
});

test("The form of a bulk action moves each shipment only once, even after a failure of the backend and a lost response.", async () => {
  const owner = await newClient(app, "Patient Client");
  const ids = await newCompleteShipments(owner, "One", "Two");
  const list = await openList(owner);
  for (const [fault, stage] of [
    [500, 1],
    ["lost answer", 2],
  ] as const) {
    app.proxy.fail(fault, /move_shipments/);
    const response = await submitMove(list, ids);
    app.proxy.fail("none");
    const page = await parsePage(response);
    expect([page.status, response.headers.get("Location")]).toEqual([503, null]);
    expect(page.text).toContain("Our system is not responding.");
    expectNoInternals(page);
    expect(await listStages(ids)).toEqual([stage, stage]);
  }
  expect((await clerk.follow(await submitMove(list, ids))).h1).toBe("2 of 2 shipments moved");
  expect(await listStages(ids)).toEqual([2, 2]);
});
