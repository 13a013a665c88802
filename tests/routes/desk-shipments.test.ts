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

const rows = "main form#selected-shipments tbody tr";
const rowLinks = `${rows} a`;
const listNames = (page: ParsedPage) =>
  page
    .all(rows)
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

  test("If no shipment matches a search, the desk shows similar shipments and no link to the CSV.", async () => {
    const page = await clerk.open("/desk/shipments?q=zawedi+cofee_beens");
    expect(listNames(page)).toEqual(["Coffee_beans"]);
    expect(getText(page.all("main")[0])).toContain("No exact match for “zawedi cofee_beens”. Similar shipments:");
    expect(page.text).not.toContain("Download as CSV");
    expect((await clerk.open("/desk/shipments?q=coffee_beans")).text).not.toContain("No exact match");
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
    expect(getText(page.all(rows)[0])).toBe(
      "Coffee_beans Coffee_beans Zawadi Finder MSCU7654321 2/10 Document Verification Waiting for client 0/4 just now",
    );
    expect(listDuplicateIds(page)).toEqual([]);
  });

  test("The desk's list is sorted in both directions by the column in the URL, and shows a client's new name.", async () => {
    const own = await newClient(app, "Sorting Owner");
    const beans = await newShipment(app, own, "beans");
    const apples = await newShipment(app, own, "Apples", ["Packing List"]);
    const cloves = await newShipment(app, own, "Cloves", allDocuments);
    await app.company.rpc("save_shipment_numbers", { shipment_id: beans.id, awb: "B2" });
    await app.company.rpc("save_shipment_numbers", { shipment_id: cloves.id, awb: "A1" });
    const charge = { item: "duties", amount: 1500, currency: "KES" };
    resultOrThrow(await setCharge(app.company, beans.id, { ...charge, due_on: "2026-01-02" }, {}));
    resultOrThrow(await setCharge(app.company, apples.id, charge, {}));
    await app.sql`
      update shipments set storage_location = 'mombasa', arrived_on = '2026-01-01', cargo = 'container-20',
        free_storage_ends_on = '2026-01-05' where id = ${apples.id}`;
    resultOrThrow(await moveShipment(app.company, cloves.id, {}, {}));
    const filter = `q=${encodeURIComponent(own.email)}`;
    const listOrder = async (sort: string) =>
      (await clerk.open(`/desk/shipments?${filter}&sort=${sort}`)).all(rowLinks).map(getText).join();
    for (const [sort, ascending, descending] of [
      ["name", "Apples,beans,Cloves", "Cloves,beans,Apples"],
      ["awb", "Cloves,beans,Apples", "beans,Cloves,Apples"],
      ["documents", "beans,Apples,Cloves", "Cloves,Apples,beans"],
      ["due", "beans,Apples,Cloves", "Apples,beans,Cloves"],
      ["free", "Apples,Cloves,beans", "Apples,Cloves,beans"],
      ["changed", "beans,Apples,Cloves", "Cloves,Apples,beans"],
    ] as const)
      expect([sort, await listOrder(sort), await listOrder(`-${sort}`)]).toEqual([sort, ascending, descending]);
    expect(await listOrder("stage")).toMatch(/,Cloves$/);
    expect(await listOrder("waiting")).toMatch(/,Cloves$/);
    for (const none of ["version", "-id", "name%3B"]) expect(await listOrder(none)).toBe(await listOrder("-changed"));

    const page = await clerk.open(`/desk/shipments?${filter}&sort=due`);
    expect(page.all(rows).map(getText)[0]).toContain("0/4 KES 1,500.00");
    expect(page.all("thead th[aria-sort]").map((cell) => cell.getAttribute("aria-sort"))).toEqual(["ascending"]);
    expect(getHref(page, "Due")).toBe(`/desk/shipments?${filter}&sort=-due`);
    expect(page.form("Find").fields).toMatchObject({ sort: "due" });
    expect(listLinkAddresses(page, rowLinks)[0]).toBe(`${beans.desk}?${filter}&sort=due`);
    await own.browser.submit(await own.browser.open("/portal/account"), "Save name", { fullName: "Aaron Renamed" });
    expect((await clerk.open(`/desk/shipments?${filter}`)).all(rows).map(getText)[0]).toContain("Aaron Renamed");
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

/** Submits the form of the result page that moves shipments despite open items. */
async function confirmMove(page: ParsedPage, ids: string[]): Promise<Response> {
  const { action, fields } = page.form("Move the selected shipments anyway");
  const form = new URLSearchParams(fields as Record<string, string>);
  form.delete("shipment");
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
    ],
    "Move these shipments anyway?": [
      `Owing ${row("Owing", "9/10 Additional Services", due)}`,
      `Waiting ${row("Waiting", "1/10 Client Onboarding", missing)}`,
    ],
  });
  expect(listLinkAddresses(result, "main section a").sort()).toEqual(ids.map((id) => `/desk/shipments/${id}`).sort());
  expect(getHref(result, "Back to shipments")).toBe(`/desk/shipments?q=${encodeURIComponent(owner.email)}`);
  const { data: events } = await app.company.from("tracking_events").select("location").in("shipment_id", moved);
  expect(events?.map(({ location }) => location)).toEqual(expect.arrayContaining(["Mombasa", "Mombasa"]));

  // The amount changes before the team member confirms, so the amount needs another confirmation.
  resultOrThrow(await setCharge(app.company, owing, { ...charge, amount: 642_781 }, {}));
  const again = await clerk.follow(await confirmMove(result, [owing, incomplete]));
  expect(again.h1).toBe("1 of 2 shipments moved");
  const newDue = "KES 642,781.00 is still due.";
  expect(listResults(again)).toEqual({
    "Move these shipments anyway?": [`Owing ${row("Owing", "9/10 Additional Services", newDue)}`],
    Moved: [row("Waiting", "2/10 Document Verification")],
  });
  const last = await clerk.follow(await confirmMove(again, [owing]));
  expect(listResults(last)).toEqual({ Moved: [row("Owing", "10/10 Shipment Closed", newDue)] });
  expect(getHref(last, "Back to shipments")).toBe(`/desk/shipments?q=${encodeURIComponent(owner.email)}`);
  const places = await app.company.from("tracking_events").select("location").in("shipment_id", [owing, incomplete]);
  expect(places.data).toEqual([{ location: "Mombasa" }, { location: "Mombasa" }]);
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
  const question = "Move these shipments anyway?";
  for (const browser of [clerk, clerk, otherMember]) {
    const page = await browser.open(address);
    expect([page.status, page.h1]).toEqual([200, "1 of 2 shipments moved"]);
    expect(listResults(page)).toEqual({
      Moved: ["Complete <tea> Read Again, 2/10 Document Verification."],
      [question]: [`Incomplete coffee Incomplete coffee Read Again, 1/10 Client Onboarding. ${missing}`],
    });
  }
  await deleteDocuments([incomplete]);
  expect(listResults(await clerk.open(address))[question]).toEqual([
    "Incomplete coffee Incomplete coffee Read Again, 1/10 Client Onboarding. No document is missing now, and no amount is due now. Try again.",
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
