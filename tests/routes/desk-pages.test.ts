import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { recordAuditEntry } from "../../app/models/audit-log.server.ts";
import { maxContainers } from "../../app/models/container-number.ts";
import { createContainerNumber } from "../support/container-numbers.ts";
import { listDeskAddresses, noteForm, type TestShipment } from "../support/desk-fixtures.ts";
import { allFaults } from "../support/fault-proxy.ts";
import { getHref } from "../support/page-parts.ts";
import {
  allDocuments,
  createLongText,
  type LoggedInClient,
  newClient,
  newEmailAddress,
  newShipment,
  newShipments,
  newStaffMember,
} from "../support/route-fixtures.ts";
import { resultOrThrow, saveArrival, sendNote, setCharge } from "../support/staff-actions.ts";
import {
  expectNoInternals,
  getTestApp,
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
  ["the shipments to check", "desk_shipments", "/desk/shipments?check=1"],
  ["the result of a bulk move", "desk_move_result", `/desk/shipments/bulk-move?moved=${shipment.id}`],
  ["another spelling of an address", "desk_shipments", "/desk/Shipments"],
  ["a search for clients", "desk_clients", "/desk/clients?q=baraka"],
  ["a client", "desk_clients", `/desk/clients/${client.id}`],
  ["the invitations", "desk_invitations", "/desk/invitations"],
  ["the team", "desk_team", "/desk/team"],
  ["the activity log", "desk_log", "/desk/log?who=Somebody&page=2"],
  ["the second factors", "get_viewer", "/desk/2fa"],
  ["the session", "get_viewer", "/desk/session"],
])("The desk's page of %s makes one backend call, %s.", async (_page, name, path) => {
  const calls = await app.proxy.during(async () => {
    expect((await lead.browser.get(path)).status).toBeLessThan(300);
  });
  expect(calls.map((call) => call.split("?")[0])).toEqual([`GET /rest/v1/rpc/${name}`]);
});

describe("failures of the backend", () => {
  function expectUnavailable(page: ParsedPage, path: string): void {
    expect([path, page.status]).toEqual([path, 503]);
    expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    expectNoInternals(page);
    expect(page.text).not.toContain("secret");
    expect(getHref(page, "Try again")).toBe(path);
    expect(lead.browser.cookies.has("session")).toBe(true);
  }

  test.each([500, "html"] as const)(
    "Every page and form of the desk shows an error while the backend fails (%s), and the desk opens afterwards.",
    async (fault) => {
      const addresses = await listDeskAddresses(app, lead.browser, client, shipment);
      app.proxy.fail(fault);
      for (const path of addresses) expectUnavailable(await lead.browser.open(path), path);
      const formPaths = ["/desk?index", shipment.desk, `${shipment.desk}/move`, "/desk/shipments/bulk-move"];
      formPaths.push(`/desk/clients/${client.id}`, "/desk/invitations", "/desk/team", "/desk/2fa");
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

  test.each([...allFaults, "other json"] as const)(
    "The desk's page of a shipment shows an error while the backend fails (%s), and the shipment afterwards.",
    async (fault) => {
      app.proxy.fail(fault, fault === "other json" ? /desk_shipments/ : /./);
      expectUnavailable(await lead.browser.open(shipment.desk), shipment.desk);
      app.proxy.fail("none");
      expect((await lead.browser.open(shipment.desk)).h1).toBe("A secret cargo");
    },
  );
});

describe("pages with as much data as they can have", () => {
  /** The size of the first flight of ten TCP segments, headers included, in bytes (RFC 6928). */
  const firstFlight = 14_300;
  let site: Awaited<ReturnType<typeof startTestSite>>;
  let full: TestShipment;
  let owner: LoggedInClient;
  let others: string[];
  beforeAll(async () => {
    site = await startTestSite();
    owner = await newClient(app, "Consolidated Importers and Distributors of Western Kenya Limited");
    const names = Array.from({ length: 40 }, (_, index) => createLongText(index, 115));
    others = await newShipments(app, owner, names);
    full = await newShipment(app, owner, createLongText(99, 115), allDocuments);
    await fillShipment();
    for (let index = 0; index < 51; index += 1) {
      await recordAuditEntry(app.company, createLongText(500 + (index % 9), 20), {
        action: "shipment correct",
        shipment_id: full.id,
        before: { stage: (index % 9) + 1 },
        after: { stage: ((index + 4) % 9) + 1, location: createLongText(index, 60) },
        reason: createLongText(400 + index, 150),
      });
      if (index >= 8) continue;
      const reason = createLongText(index, 200);
      await recordAuditEntry(app.company, "Somebody", { action: "account close", account_id: owner.id, reason });
    }
    for (let index = 0; index < 21; index += 1) {
      const sent_to = newEmailAddress("somebody.with.a.long.name", "client.example");
      await app.company.rpc("issue_client_ids", { issued_for: createLongText(600 + index, 110), sent_to });
    }
  });
  afterAll(() => site.close());

  /** Adds charges, an arrival, notes and rejected documents. */
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
      size: 40,
      free_storage_ends_on: "2026-11-24",
    } as const;
    resultOrThrow(await saveArrival(app.company, full.id, arrival, {}));
    for (let index = 0; index < 10; index += 1)
      resultOrThrow(await sendNote(app.company, full.id, createLongText(200 + index, 160), {}));
    const page = await lead.browser.open(full.desk);
    for (const [index, name] of allDocuments.slice(2).entries())
      await lead.browser.submit(page, `Request a new file for the ${name}`, {
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
    ["the result of a move of 20", () => `/desk/shipments/bulk-move?missing=${others.slice(0, 20).join("%2C")}`],
    ["the list of clients", () => "/desk/clients"],
    ["a client with 41 shipments", () => `/desk/clients/${owner.id}`],
    ["20 invitations", () => "/desk/invitations"],
    ["the team", () => "/desk/team"],
    ["50 entries of the activity log", () => `/desk/log?shipment=${full.id}`],
    ["the second factors", () => "/desk/2fa"],
  ])("The desk's page of %s fits into the first ten TCP segments.", async (_page, address) => {
    const { status, bytes } = await fetchPage(address());
    expect(status).toBe(200);
    expect(bytes).toBeLessThanOrEqual(firstFlight);
  });

  test("Each request for a desk page is rendered for its viewer and has one line in the request log.", async () => {
    const lines: string[] = [];
    const spy = vi
      .spyOn(console, "log")
      .mockImplementation((...words) => void lines.push(...words.join(" ").split("\n")));
    try {
      for (const path of ["/desk/clients", "/desk/Clients?q=baraka", shipment.desk]) {
        for (let view = 1; view <= 2; view += 1) {
          lines.length = 0;
          const { status, headers } = await fetchPage(path);
          const id = headers["x-request-id"];
          const own = () => lines.filter((line) => line.includes('"event":"request"') && line.includes(`"${id}"`));
          expect([path, status]).toEqual([path, 200]);
          await expect.poll(own).not.toEqual([]);
          expect([path, own().length]).toEqual([path, 1]);
        }
        const visitor = await site.browser().get(path);
        expect([path, visitor.status, await visitor.text()]).toEqual([path, 303, ""]);
      }
    } finally {
      spy.mockRestore();
    }
  });
});
