import { afterEach, beforeAll, expect, test } from "vitest";
import {
  listDeskAddresses,
  noteForm,
  type StaffMember,
  type TestApp,
  type TestShipment,
} from "../support/desk-fixtures.ts";
import { ambiguousStatuses, faults } from "../support/fault-proxy.ts";
import { getHref } from "../support/page-parts.ts";
import { type LoggedInClient, newClient, newShipment, newStaffMember } from "../support/route-fixtures.ts";
import { expectNoInternals, getTestApp, noStorePattern, type ParsedPage, parsePage } from "../support/test-app.ts";

let app: TestApp;
let lead: StaffMember;
let client: LoggedInClient;
let shipment: TestShipment;
let addresses: string[];
beforeAll(async () => {
  app = await getTestApp();
  lead = await newStaffMember(app, "lead", "Wambui Njoroge");
  client = await newClient(app, "Baraka Mwangi");
  shipment = await newShipment(app, client, "A secret cargo", ["Packing List"]);
  addresses = await listDeskAddresses(app, lead.browser, client, shipment);
});
afterEach(() => app.proxy.fail("none"));

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
    app.proxy.fail(fault);
    for (const path of addresses) expectUnavailable(await lead.browser.open(path), path);
    const formPaths = ["/desk?index", shipment.desk, `${shipment.desk}/move`, "/desk/shipments/bulk-move"];
    formPaths.push(`/desk/clients/${client.id}`, "/desk/invitations", "/desk/team", "/desk/2fa");
    for (const path of formPaths) {
      const page = await parsePage(await lead.browser.post(path, noteForm));
      expect([path, page.status]).toEqual([path, 503]);
      expect(page.text).toContain("Our records do not answer at the moment.");
      expectNoInternals(page);
    }
    app.proxy.fail("none");
    expect((await lead.browser.open("/desk/shipments")).status).toBe(200);
  },
);

test.each([...faults, ...ambiguousStatuses, "other json"] as const)(
  "The desk's page of a shipment shows an error while the backend fails (%s), and the shipment afterwards.",
  async (fault) => {
    app.proxy.fail(fault, fault === "other json" ? /desk_shipments/ : /./);
    expectUnavailable(await lead.browser.open(shipment.desk), shipment.desk);
    app.proxy.fail("none");
    expect((await lead.browser.open(shipment.desk)).h1).toBe("A secret cargo");
  },
);
