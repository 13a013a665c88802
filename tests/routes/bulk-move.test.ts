import { afterEach, expect, test } from "vitest";
import { getHref, listLinkAddresses } from "../support/page-parts.ts";
import {
  allDocuments,
  type LoggedInClient,
  listDuplicateIds,
  newClient,
  newShipment,
  newShipments,
  newStaffMember,
  uploadDocument,
} from "../support/route-fixtures.ts";
import { advanceShipment } from "../support/service-role.ts";
import { resultOrThrow, setCharge } from "../support/staff-actions.ts";
import { expectNoInternals, getTestApp, getText, type ParsedPage, parsePage } from "../support/test-app.ts";

const app = await getTestApp();
const clerk = (await newStaffMember(app, "clerk", "Akinyi Odhiambo")).browser;
afterEach(() => app.proxy.fail("none"));

const openList = ({ email }: LoggedInClient) => clerk.open(`/desk/shipments?q=${encodeURIComponent(email)}`);
const listIds = (page: ParsedPage) =>
  page.all("main input[name=shipment]").map((box) => box.getAttribute("value") ?? "");

async function submitMove(page: ParsedPage, ids: string[], location = ""): Promise<Response> {
  const { action, fields } = page.form("Move to the next stage");
  const form = new URLSearchParams({ ...(fields as Record<string, string>), location });
  for (const id of ids) form.append("shipment", id);
  return clerk.post(action, form);
}

/** Selects shipments in the list and sends the bulk move form. Returns the page of the result. */
async function moveShipments(page: ParsedPage, ids: string[], location = ""): Promise<ParsedPage> {
  const response = await submitMove(page, ids, location);
  return response.status === 303 ? clerk.follow(response) : parsePage(response);
}

/** Returns the rows of the result by heading. */
const listResults = (page: ParsedPage) =>
  Object.fromEntries(
    page
      .all("main section")
      .map((section) => [getText(section.querySelector("h2")), section.querySelectorAll("li").map(getText).sort()]),
  );

async function listStages(ids: string[]): Promise<(number | null)[]> {
  const { data } = await app.company.from("shipments").select("stage").in("id", ids);
  return (data ?? []).map(({ stage }) => stage);
}

test("The result of a bulk move lists the shipments that moved, and the others with a reason.", async () => {
  const owner = await newClient(app, "Twenty Shipments Owner");
  const names = Array.from({ length: 17 }, (_, index) => `Waiting ${index}`);
  const [closed = "", ...incomplete] = await newShipments(app, owner, names);
  const complete: string[] = [];
  for (const name of ["Ready one", "Ready two"]) complete.push((await newShipment(app, owner, name, allDocuments)).id);
  const changed = (await newShipment(app, owner, "Changed meanwhile", allDocuments)).id;
  const page = await openList(owner);
  const ids = listIds(page);
  expect(ids.toSorted()).toEqual([closed, ...incomplete, ...complete, changed].sort());
  await advanceShipment(app.company, changed);
  for (let stage = 1; stage < 10; stage += 1) await advanceShipment(app.company, closed);

  const result = await moveShipments(page, ids, "Mombasa");
  expect([result.status, result.h1]).toEqual([200, "2 of 20 shipments moved"]);
  expect(listDuplicateIds(result)).toEqual([]);
  const row = (name: string, stage: string, reason = "") =>
    `${name} Twenty Shipments Owner, ${stage}. ${reason}`.trim();
  const closedRow = row("Waiting 0", "10/10 Shipment Closed", "This shipment is closed.");
  const missing =
    "These documents are missing: Bill of Lading, Commercial Invoice, Insurance Certificate, Packing List.";
  const changedMessage = "Someone changed this shipment after you opened the list.";
  expect(listResults(result)).toEqual({
    Moved: ["Ready one", "Ready two"].map((name) => row(name, "2/10 Document Verification")),
    "Not moved": [
      row("Changed meanwhile", "2/10 Document Verification", changedMessage),
      closedRow,
      ...names.slice(1).map((name) => row(name, "1/10 Client Onboarding", `${missing} Move this shipment: ${name}`)),
    ].sort(),
  });
  const pages = [...ids, ...incomplete.map((id) => `${id}/move`)].map((path) => `/desk/shipments/${path}`);
  expect(listLinkAddresses(result, "main section a").sort()).toEqual(pages.sort());
  expect(getHref(result, "Back to shipments")).toBe(`/desk/shipments?q=${encodeURIComponent(owner.email)}`);
  const { data: events } = await app.company.from("tracking_events").select("location").in("shipment_id", complete);
  expect(events).toEqual(Array(2).fill({ location: "Mombasa" }));

  const list = await openList(owner);
  expect(list.all(`main input[value="${closed}"]`)[0]?.hasAttribute("disabled")).toBe(true);
});

test("A bulk move does not close a shipment with an amount due, and links to the page that asks.", async () => {
  const owner = await newClient(app, "Owing Client");
  const [owing, paid] = [
    await newShipment(app, owner, "Owing", allDocuments),
    await newShipment(app, owner, "Paid up", allDocuments),
  ];
  for (const { id } of [owing, paid]) for (let stage = 1; stage < 9; stage += 1) await advanceShipment(app.company, id);
  const charge = { item: "duties", amount: 642_780, currency: "KES" };
  resultOrThrow(await setCharge(app.company, owing.id, charge, {}));
  const result = await moveShipments(await openList(owner), [owing.id, paid.id]);
  const row = "Owing Owing Client, 9/10 Additional Services. KES 642,780.00 is still due. Move this shipment: Owing";
  expect(listResults(result)["Not moved"]).toEqual([row]);
  const question = await clerk.open(getHref(result, "Move this shipment: Owing") ?? "");
  expect([question.h1, question.text.includes("KES 642,780.00 is still due.")]).toEqual([
    "Close the shipment with an amount due?",
    true,
  ]);
  expect((await listStages([owing.id, paid.id])).sort()).toEqual([10, 9]);
});

test("A bulk move form without the version of a shipment moves nothing.", async () => {
  const owner = await newClient(app, "Versioned Client");
  const { id } = await newShipment(app, owner, "Versioned", allDocuments);
  const { action, fields } = (await openList(owner)).form("Move to the next stage");
  for (const version of ["", "x", undefined]) {
    const form = new URLSearchParams({ ...(fields as Record<string, string>), shipment: id });
    form.delete(`expectedVersion-${id}`);
    if (version !== undefined) form.set(`expectedVersion-${id}`, version);
    const page = await parsePage(await clerk.post(action, form));
    expect([page.status, page.text.includes("We received only part of the form.")]).toEqual([400, true]);
  }
  expect(await listStages([id])).toEqual([1]);
});

test("Every team member can reopen the result of a bulk move with current data, and no client can open the result.", async () => {
  const owner = await newClient(app, "Read Again");
  const complete = await newShipment(app, owner, "Complete <tea>", allDocuments);
  const incomplete = await newShipment(app, owner, "Incomplete coffee", allDocuments.slice(1));
  const response = await submitMove(await openList(owner), [complete.id, incomplete.id]);
  const address = response.headers.get("Location") ?? "";
  expect([response.status, address.split("?")[0]]).toEqual([303, "/desk/shipments/bulk-move"]);
  const moved = "Complete <tea> Read Again, 2/10 Document Verification.";
  const notMoved = "Incomplete coffee Read Again, 1/10 Client Onboarding.";
  const otherMember = (await newStaffMember(app, "clerk", "Reads It Too")).browser;
  for (const browser of [clerk, clerk, otherMember]) {
    const page = await browser.open(address);
    expect([page.status, page.h1, listResults(page)]).toEqual([
      200,
      "1 of 2 shipments moved",
      {
        Moved: [moved],
        "Not moved": [
          `${notMoved} These documents are missing: ${allDocuments[0]}. Move this shipment: Incomplete coffee`,
        ],
      },
    ]);
  }
  await uploadDocument(owner.browser, incomplete.portal, allDocuments[0] ?? "");
  expect(listResults(await clerk.open(address))["Not moved"]).toEqual([
    `${notMoved} Documents were missing when you tried to move this shipment. No document is missing now. Try again. Move this shipment: Incomplete coffee`,
  ]);
  expect((await listStages([complete.id, incomplete.id])).sort()).toEqual([1, 2]);

  const page = await owner.browser.open(address);
  expect([page.status, page.h1]).toEqual([404, "Page not found"]);
  const data = await (await owner.browser.get(address.replace("?", ".data?"))).text();
  for (const text of ["tea>", "coffee", "Read Again,"]) expect(page.text + data).not.toContain(text);
  const redirect = await app.browser().get(address);
  expect(redirect.headers.get("Location")).toBe(`/login?next=${encodeURIComponent(address)}`);
  expect(await redirect.text()).toBe("");
});

test("A bulk move without a selected shipment or with a place that is too long moves nothing.", async () => {
  const owner = await newClient(app, "Selecting Client");
  const { id } = await newShipment(app, owner, "Selected", allDocuments);
  const list = await openList(owner);
  for (const [ids, location, message] of [
    [[], "", "Select at least one shipment."],
    [["not-an-id"], "", "Select at least one shipment."],
    [[id], "x".repeat(121), "at most 120"],
  ] as const) {
    const page = await moveShipments(list, [...ids], location);
    expect([page.status, page.h1]).toEqual([400, "No shipments moved"]);
    expect(page.text).toContain(message);
  }
  expect((await clerk.open("/desk/shipments/bulk-move")).h1).toBe("No shipments moved");
  expect(await listStages([id])).toEqual([1]);
});

test("A bulk move form moves each shipment only once, even after a failure of the backend and a lost response.", async () => {
  const owner = await newClient(app, "Patient Client");
  const ids: string[] = [];
  for (const name of ["One", "Two"]) ids.push((await newShipment(app, owner, name, allDocuments)).id);
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
  expect((await moveShipments(list, ids)).h1).toBe("2 of 2 shipments moved");
  expect(await listStages(ids)).toEqual([2, 2]);
});
