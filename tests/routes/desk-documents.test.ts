import { afterAll, afterEach, expect, test } from "vitest";
import { getHref, unknownId } from "../support/page-parts.ts";
import {
  copyBrowser,
  getDocument,
  listShipmentAuditEntries,
  newClient,
  newShipment,
  newStaffMember,
  replaceStoredFile,
  uploadDocument,
} from "../support/route-fixtures.ts";
import { createPdf, expectNoInternals, getTestApp, noStorePattern, startTestSite } from "../support/test-app.ts";

const fileName = "Añadido – 发票 'final' 100%.pdf";

const app = await getTestApp();
const site = await startTestSite();
const clerk = await newStaffMember(app, "clerk", "Akinyi Odhiambo");
const client = await newClient(app, "Baraka Mwangi");
const otherShipment = await newShipment(app, client, "Another");
const shipment = await newShipment(app, client, "With a file");
await uploadDocument(client.browser, shipment.portal, "Packing List", createPdf(fileName, 3000));
const document = (await getDocument(app.company, shipment.id, "Packing List")).id;
const address = getHref(await clerk.browser.open(shipment.desk), "Open the Packing List") ?? "";
afterEach(() => app.proxy.fail("none"));
afterAll(() => site.close());

test("A team member downloads a document unchanged, under its own name, sandboxed and uncached, and the log has the download.", async () => {
  const response = await copyBrowser(site, clerk.browser).get(address);
  expect(response.status).toBe(200);
  const header = (name: string) => response.headers.get(name) ?? "";
  expect(header("Content-Type")).toBe("application/pdf");
  expect(header("Content-Disposition")).toMatch(/^attachment; filename="[ -!#-[\]-~]+"; filename\*=UTF-8''[\w.!~%-]+$/);
  expect(decodeURIComponent(header("Content-Disposition").split("UTF-8''")[1] ?? "")).toBe(fileName);
  expect(header("Cache-Control")).toMatch(noStorePattern);
  expect(header("Content-Security-Policy")).toBe("sandbox; default-src 'none'");
  expect(header("X-Content-Type-Options")).toBe("nosniff");
  const expected = Buffer.from(await createPdf(fileName, 3000).arrayBuffer());
  expect(Buffer.from(await response.arrayBuffer()).equals(expected)).toBe(true);
  expect(await listShipmentAuditEntries(app.company, shipment.id)).toMatchObject([
    { action: "document open", actor_name: clerk.name },
  ]);
  expect((await clerk.browser.open(shipment.desk)).text).toMatch(
    /Activity log Document opened: Packing List Akinyi Odhiambo \d{1,2} [A-Z][a-z]+ \d{4}, \d\d:\d\d EAT/,
  );
});

test("A document ID that is unknown, invalid, of another shipment or without a file gets 404 and no log entry.", async () => {
  const listEntries = async () => [
    await listShipmentAuditEntries(app.company, shipment.id),
    await listShipmentAuditEntries(app.company, otherShipment.id),
  ];
  const before = await listEntries();
  const empty = await getDocument(app.company, shipment.id, "Bill of Lading");
  for (const path of [
    `${shipment.desk}/documents/${unknownId}`,
    `${shipment.desk}/documents/not-a-uuid`,
    `${shipment.desk}/documents/${empty.id}`,
    `/desk/shipments/${unknownId}/documents/${document}`,
    `${otherShipment.desk}/documents/${document}`,
  ]) {
    const page = await clerk.browser.open(path);
    expect([path, page.status, page.h1]).toEqual([path, 404, "Page not found"]);
    expect([path, page.headers.get("Content-Disposition")]).toEqual([path, null]);
  }
  expect(await listEntries()).toEqual(before);
});

test.each([/open_document/, /storage/])(
  "The download of a document is an error page, not a file, while %s fails.",
  async (calls) => {
    app.proxy.fail(500, calls);
    const page = await clerk.browser.open(address);
    expect([page.status, page.headers.get("Content-Disposition")]).toEqual([503, null]);
    expect(page.text).toContain("Our system is not responding.");
    expectNoInternals(page);
  },
);

test("A document that was replaced in the file store is not sent to a team member.", async () => {
  const { storage_path } = await getDocument(app.company, shipment.id, "Packing List");
  await replaceStoredFile(app.company, storage_path ?? "");
  const page = await clerk.browser.open(address);
  expect([page.status, page.headers.get("Content-Disposition")]).toEqual([409, null]);
  expect(page.html).not.toContain("another file");
  expect(page.text).toContain("The stored file differs from the uploaded file.");
});
