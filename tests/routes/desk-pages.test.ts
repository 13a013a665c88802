import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { maxContainers } from "../../app/models/container-number.ts";
import { createContainerNumber } from "../support/container-numbers.ts";
import { listDeskAddresses, noteForm, type TestShipment } from "../support/desk-fixtures.ts";
import { allFaults } from "../support/fault-proxy.ts";
import { getHref, listLinkAddresses } from "../support/page-parts.ts";
import {
  allDocuments,
  createLongText,
  getDocument,
  getField,
  type LoggedInClient,
  listDuplicateIds,
  newClient,
  newEmailAddress,
  newShipment,
  newShipments,
  newStaffMember,
  successToast,
} from "../support/route-fixtures.ts";
import { resultOrThrow, saveArrival, sendNote, setCharge } from "../support/staff-actions.ts";
import {
  expectNoInternals,
  getTestApp,
  getText,
  noStorePattern,
  type ParsedPage,
  parsePage,
  sendRequest,
  startTestSite,
} from "../support/test-app.ts";

const app = await getTestApp();
const lead = await newStaffMember(app, "lead", "Wambui Njoroge");
const client = await newClient(app, "Baraka Mwangi");
const shipment = await newShipment(app, client, "A secret cargo", ["Packing List"]);
afterEach(() => app.proxy.fail("none"));

test.each([
  ["Today", "desk_today", "/desk"],
  ["a search", "desk_shipments", "/desk/shipments?q=secret&stage=1&waiting=client&page=2"],
  ["a shipment", "desk_shipments", shipment.desk],
  ["a shipment's data for script", "desk_shipments", `${shipment.desk}.data`],
  ["a shipment's move", "desk_shipments", `${shipment.desk}/move`],
  ["a shipment's arrival", "desk_shipments", `${shipment.desk}/arrival`],
  ["the shipments to check", "desk_shipments", "/desk/shipments?check=1"],
  ["the result of a bulk move", "desk_move_result", `/desk/shipments/bulk-move?moved=${shipment.id}`],
  ["another spelling of an address", "desk_shipments", "/desk/Shipments"],
  ["a search for clients", "desk_clients", "/desk/clients?q=baraka"],
  ["a client", "desk_clients", `/desk/clients/${client.id}`],
  ["the invitations", "desk_invitations", "/desk/invitations"],
  ["the team", "desk_team", "/desk/team"],
  ["the activity log", "desk_log", "/desk/log?who=Somebody&page=2"],
  ["the report", "desk_report", "/desk/report?from=2026-01&to=2026-11"],
  ["the second factors", "get_viewer", "/desk/2fa"],
  ["the session", "get_viewer", "/desk/session"],
])("The desk's page of %s makes only the backend call %s.", async (_page, name, path) => {
  const calls = await app.proxy.during(async () => {
    expect((await lead.browser.get(path)).status).toBeLessThan(300);
  });
  expect(calls.map((call) => call.split("?")[0])).toEqual([`GET /rest/v1/rpc/${name}`]);
});

describe("Failures of the backend", () => {
  function expectUnavailable(page: ParsedPage, path: string): void {
    expect([path, page.status]).toEqual([path, 503]);
    expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    expectNoInternals(page);
    expect(page.text).not.toContain("secret");
    expect(getHref(page, "Try again")).toBe(path);
    expect(lead.browser.cookies.has("session")).toBe(true);
  }

  test.each([500, "html"] as const)(
    "While the backend fails (%s), every page and form of the desk shows an error. Afterwards, the desk works again.",
    async (fault) => {
      const addresses = await listDeskAddresses(app, lead.browser, client, shipment);
      app.proxy.fail(fault);
      for (const path of addresses) expectUnavailable(await lead.browser.open(path), path);
      const formPaths = ["/desk?index", shipment.desk, `${shipment.desk}/move`, `${shipment.desk}/arrival`];
      formPaths.push(
        "/desk/shipments/bulk-move",
        `/desk/clients/${client.id}`,
        "/desk/invitations",
        "/desk/team",
        "/desk/2fa",
      );
      for (const path of formPaths) {
        const page = await parsePage(await lead.browser.post(path, noteForm));
        expect([path, page.status]).toEqual([path, 503]);
        expect(page.text).toContain("Our system is not responding.");
        expectNoInternals(page);
      }
      app.proxy.fail("none");
      expect((await lead.browser.open("/desk/shipments")).status).toBe(200);
    },
  );

  test("During each fault of the backend, the desk's page of a shipment shows an error. Afterwards, the page shows the shipment.", async () => {
    for (const fault of [...allFaults, "other json"] as const) {
      app.proxy.fail(fault, fault === "other json" ? /desk_shipments/ : /./);
      expectUnavailable(await lead.browser.open(shipment.desk), shipment.desk);
    }
    app.proxy.fail("none");
    expect((await lead.browser.open(shipment.desk)).h1).toBe("A secret cargo");
  });
});

describe("Pages with the maximum amount of data", () => {
  /** The size of the first ten TCP segments including headers, in bytes. The limit is from RFC 6928. */
  const firstFlight = 14_300;
  let site: Awaited<ReturnType<typeof startTestSite>>;
  let full: TestShipment;
  let owner: LoggedInClient;
  let others: string[];
  let toCheck: string;
  beforeAll(async () => {
    site = await startTestSite();
    owner = await newClient(app, "Consolidated Importers and Distributors of Western Kenya Limited");
    const names = Array.from({ length: 40 }, (_, index) => createLongText(index, 115));
    others = await newShipments(app, owner, names);
    await app.sql`insert into private.client_phones (account_id, phone) values (${owner.id}, '+254722123456')`;
    full = await newShipment(app, owner, createLongText(99, 115), allDocuments);
    await fillShipment();
    toCheck = (await getDocument(app.company, full.id, "Packing List")).id;
    const entries = Array.from({ length: 51 }, (_, index) => ({
      actor_name: createLongText(500 + (index % 9), 20),
      action: "shipment correct",
      shipment_id: full.id,
      before: app.sql.json({ stage: (index % 9) + 1 }),
      after: app.sql.json({ stage: ((index + 4) % 9) + 1, location: createLongText(index, 60) }),
      reason: createLongText(400 + index, 150),
    }));
    await app.sql`insert into audit_log ${app.sql(entries)}`;
    const closures = Array.from({ length: 8 }, (_, index) => ({
      ...{ actor_name: "Somebody", action: "account close", account_id: owner.id, reason: createLongText(index, 200) },
    }));
    await app.sql`insert into audit_log ${app.sql(closures)}`;
    for (let index = 0; index < 21; index += 1) {
      const sent_to = newEmailAddress("somebody.with.a.long.name", "client.example");
      await app.company.rpc("issue_client_ids", { issued_for: createLongText(600 + index, 110), sent_to });
    }
  });
  afterAll(() => site.close());

  /** Adds charges, an arrival, notes and rejected documents to a shipment. */
  async function fillShipment(): Promise<void> {
    for (const [index, item] of ["idf-fee", "duties", "agent-fee"].entries()) {
      const note = createLongText(100 + index, 100);
      const charge = { item, amount: 1_234_567.89 + index, currency: "KES", due_on: "2027-01-15", note };
      resultOrThrow(await setCharge(app.company, full.id, charge, {}));
    }
    const serials = Array.from({ length: maxContainers }, (_, index) => (index + 1) * 41_973);
    const container_numbers = serials.map(createContainerNumber);
    const numbers = { awb: createLongText(98, 60), container_numbers };
    const { error } = await app.company
      .from("shipments")
      .update(numbers)
      .in("id", [full.id, ...others]);
    expect(error).toBeNull();
    const arrival = {
      storage_location: "naivasha",
      day: "2026-11-20",
      cargo: "container-40",
      free_storage_ends_on: "2026-11-24",
    } as const;
    resultOrThrow(await saveArrival(app.company, full.id, arrival, {}));
    for (let index = 0; index < 10; index += 1)
      resultOrThrow(await sendNote(app.company, full.id, createLongText(200 + index, 160), {}));
    const page = await lead.browser.open(full.desk);
    for (const [index, name] of allDocuments.slice(2).entries())
      await lead.browser.submit(page, `Request a new file: ${name}`, {
        reason: createLongText(300 + index, 100),
      });
    lead.browser.cookies.delete("flash");
  }

  const fetchPage = (path: string) =>
    sendRequest(site.port, path, { "Accept-Encoding": "br", Cookie: lead.browser.cookieHeader });

  test.each([
    ["Today", () => "/desk"],
    ["a list of 20 shipments", () => `/desk/shipments?q=${encodeURIComponent(owner.email)}`],
    ["a shipment", () => `${full.desk}?q=${encodeURIComponent(owner.email)}`],
    ["a shipment's move", () => `${full.desk}/move`],
    ["a shipment's arrival", () => `${full.desk}/arrival`],
    ["a document to check", () => `${full.desk}/documents/${toCheck}`],
    ["the result of a move of 20", () => `/desk/shipments/bulk-move?missing=${others.slice(0, 20).join("%2C")}`],
    ["the list of clients", () => "/desk/clients"],
    ["a client with 41 shipments", () => `/desk/clients/${owner.id}`],
    ["20 invitations", () => "/desk/invitations"],
    ["the team", () => "/desk/team"],
    ["50 entries of the activity log", () => `/desk/log?shipment=${full.id}`],
    ["a report on 36 months", () => "/desk/report?from=2024-01&to=2026-12"],
    ["the second factors", () => "/desk/2fa"],
  ])("The desk's compressed page of %s fits into the first ten TCP segments.", async (_page, address) => {
    const { status, bytes } = await fetchPage(address());
    expect(status).toBe(200);
    expect(bytes).toBeLessThanOrEqual(firstFlight);
  });
});

test("Clients see an announcement above their shipments until a team member changes or ends the announcement.", async () => {
  const shipment = await newShipment(app, client, "Announced");
  const announce = async (text: string) =>
    lead.browser.submit(await lead.browser.open("/desk"), "Publish announcement", { text });
  const empty = await parsePage(await announce(""));
  expect([empty.status, getField(empty, "announce-text").descriptions.at(-1)]).toEqual([400, "Enter an announcement."]);
  const long = await parsePage(await announce("x".repeat(201)));
  expect(getField(long, "announce-text")).toMatchObject({ value: "x".repeat(200), isMarked: true });

  try {
    const first = "Customs system <down> since 09:10";
    const page = await lead.browser.follow(await announce(first));
    expect(page.toasts).toEqual(successToast("Announcement published"));
    expect(page.text).toContain(first);
    for (const path of ["/portal", shipment.portal]) expect((await client.browser.open(path)).text).toContain(first);
    await announce("Customs system up again");
    lead.browser.cookies.delete("flash");
    const changed = await client.browser.open("/portal");
    expect([changed.text.includes("up again"), changed.text.includes(first)]).toEqual([true, false]);
  } finally {
    const response = await lead.browser.submit(await lead.browser.open("/desk"), "Remove announcement");
    expect((await lead.browser.follow(response)).toasts).toEqual(successToast("Announcement removed"));
  }
  expect((await client.browser.open("/portal")).text).not.toContain("up again");
});

test("Each row of the page Today links to an existing section on the page of its shipment.", async () => {
  const shipment = await newShipment(app, client, "Due in storage", ["Packing List"]);
  const arrival = {
    storage_location: "mombasa",
    day: "2019-05-02",
    cargo: "container-20",
    free_storage_ends_on: "2019-05-06",
  };
  resultOrThrow(await saveArrival(app.company, shipment.id, arrival, {}));
  const page = await lead.browser.open("/desk");
  expect(listDuplicateIds(page)).toEqual([]);
  const lists = page.all("main section, main [class*=border]").map(getText).join(" ");
  const titles = ["Documents to check", "Free storage ending", "No update for 7 days", "Emails that failed"];
  for (const title of [...titles, "Waiting for client over 7 days"]) expect(lists).toContain(title);
  expect(lists).toContain("Mombasa port: free storage ended");
  const hrefs = listLinkAddresses(page, "main a");
  expect(hrefs).toContain(`${shipment.desk}#storage`);
  for (const href of hrefs.filter((href) => href.includes("#")).slice(0, 5)) {
    const [path = "", id = ""] = href.split("#");
    expect([href, (await lead.browser.open(path)).has(id)]).toEqual([href, true]);
  }
});
