import { afterAll, afterEach, describe, expect, test } from "vitest";
import { noFile, setUpInvoice } from "../support/invoice-fixtures.ts";
import { getHref, unknownId } from "../support/page-parts.ts";
import {
  copyBrowser,
  expectRejectedForm,
  listShipmentAuditEntries,
  newStaffMember,
  replaceStoredFile,
} from "../support/route-fixtures.ts";
import { verifyDocumentByName } from "../support/service-role.ts";
import { rejectDocument, resultOrThrow } from "../support/staff-actions.ts";
import {
  createPdf,
  expectNoInternals,
  getText,
  noStorePattern,
  origin,
  type ParsedPage,
  parsePage,
  startTestSite,
} from "../support/test-app.ts";

const invoice = await setUpInvoice("Downloader");
const { app, readDocument, upload, download, listFiles } = invoice;
const { sql } = app;
const site = await startTestSite();
const stranger = app.browser();
await stranger.signUpAndLogIn("Stranger");
const clerk = await newStaffMember(app, "clerk", "Akinyi Odhiambo");
afterEach(() => {
  app.proxy.fail("none");
  invoice.client.cookies.delete("flash");
});
afterAll(() => site.close());

const openShipment = () => invoice.client.open(invoice.path);
/**
 * Returns the browsers of the owner and a team member, each with the URL path of the shipment's page for this person, and
 * with the part of the URL after the document's ID.
 */
const listViewers = () =>
  [
    [invoice.client, invoice.path, ""],
    [clerk.browser, `/desk/shipments/${invoice.shipmentId}`, "/file"],
  ] as const;
const getFileAddress = (page: ParsedPage) => getHref(page, "Open: Commercial Invoice");
/** Reads the state of the invoice and the description of its file on the page of the shipment. */
function readInvoiceRow(page: ParsedPage): string[] {
  const row = page.all("main li").find((item) => getText(item.querySelector("p")) === "Commercial Invoice");
  const [, state, , file] = row?.querySelectorAll("p").map(getText) ?? [];
  return [state ?? "", file ?? ""];
}

test("A document shows the name, size and upload time (East Africa Time) of its file, and the reason after a rejection.", async () => {
  await upload(createPdf("invoice-2291.pdf", 212 * 1024 - 5));
  const { id } = await readDocument();
  const [row] = await sql`select uploaded_at from documents where id = ${id}`;
  const time = new Date(row?.uploaded_at.valueOf() + 3 * 3_600_000).toISOString().slice(11, 16);
  expect(readInvoiceRow(await openShipment())).toEqual([
    "Uploaded. We are checking your file",
    `invoice-2291.pdf, 212 KB, ${time} EAT`,
  ]);
  await sql.begin(async (session) => {
    // Disables the triggers, because a trigger would reject the change of the upload time.
    await session`set local session_replication_role = replica`;
    await session`update documents set uploaded_at = '2020-05-12T11:05:00Z' where id = ${id}`;
  });
  expect(readInvoiceRow(await openShipment())[1]).toBe("invoice-2291.pdf, 212 KB, 12 May 2020, 14:05 EAT");

  resultOrThrow(await rejectDocument(app.company, id, "page 2 is unreadable", {}));
  const page = await openShipment();
  expect(readInvoiceRow(page)[0]).toBe("New file needed: page 2 is unreadable");
  expect([getFileAddress(page), page.text.includes("invoice-2291.pdf")]).toEqual([undefined, false]);
  expect((await download()).status).toBe(404);
});

test.each([
  ["50% off; x=y.pdf", 'filename="50% off; x=y.pdf"'],
  ["فاتورة.pdf", `filename="??????.pdf"; filename*=UTF-8''${encodeURIComponent("فاتورة")}.pdf`],
])(
  "The file %s is an uncached download with its own name and a sandbox policy, for its owner and for team members.",
  async (name, disposition) => {
    const file = createPdf(name);
    await upload(file);
    const { id } = await readDocument();
    for (const [browser, path, part] of listViewers()) {
      const page = `${path}/documents/${id}`;
      const address = page + part;
      const link = part ? getHref(await browser.open(page), "Download") : getFileAddress(await browser.open(path));
      expect(link).toBe(address);
      const response = await copyBrowser(site, browser).get(address);
      const header = (name: string) => response.headers.get(name);
      expect([response.status, await response.text()]).toEqual([200, await file.text()]);
      expect(header("Content-Type")).toBe("application/pdf");
      expect(header("Content-Disposition")).toBe(`attachment; ${disposition}`);
      expect(header("Cache-Control")).toBe("private, no-store");
      expect(header("ETag")).toBeNull();
      expect(header("Content-Security-Policy")).toBe("sandbox; default-src 'none'");
      expect(header("X-Content-Type-Options")).toBe("nosniff");
    }
    const entries = await listShipmentAuditEntries(app.company, invoice.shipmentId);
    expect(entries).toMatchObject([{ action: "document open", actor_name: clerk.name }]);
    expect((await clerk.browser.open(`/desk/shipments/${invoice.shipmentId}`)).text).toMatch(
      /Activity log Document opened: Commercial Invoice Akinyi Odhiambo \d{1,2} [A-Z][a-z]+ \d{4}, \d\d:\d\d EAT/,
    );
  },
);

test("The response to a HEAD request states the size of the file, and the site does not read the stored file.", async () => {
  await upload();
  const address = getFileAddress(await openShipment()) ?? "";
  const calls = await app.proxy.during(async () => {
    const response = await invoice.client.send(new Request(new URL(address, origin), { method: "HEAD" }));
    expect([response.status, response.headers.get("Content-Length"), await response.text()]).toEqual([200, "2000", ""]);
  });
  expect(calls.filter((call) => call.includes("/storage/"))).toEqual([]);
});

test("A request for a file as a stranger, of another shipment, or with an unknown or invalid ID gets the same 404 page.", async () => {
  await upload();
  const { id } = await readDocument();
  const otherPath = await invoice.client.createShipment("Another");
  const own = [
    ...[`${otherPath}/documents/${id}`, `${otherPath}/documents/${(await readDocument(otherPath)).id}`],
    ...[`/portal/${unknownId}/documents/${id}`, `/portal/x/documents/${id}`],
    ...[unknownId, "x", "%00", `${id}'%20or%201=1`, "..%2f..%2fetc%2fpasswd"].map(
      (document) => `${invoice.path}/documents/${document}`,
    ),
  ];
  const first = await stranger.open(`${invoice.path}/documents/${id}`);
  const pages = [first, ...(await Promise.all(own.map((address) => invoice.client.open(address))))];
  for (const { status, title, text, html, headers } of pages) {
    expect([status, title, text]).toEqual([404, first.title, first.text]);
    expect(headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    expect(html).not.toContain("%PDF");
  }
});

test("A team member gets status 404 for a document that is unknown, of another shipment or without a file, and no audit entry.", async () => {
  await upload();
  const { id } = await readDocument();
  const { id: empty } = await readDocument(invoice.path, "Bill of Lading");
  const otherDesk = (await invoice.client.createShipment("Another")).replace("portal", "desk/shipments");
  const paths = [unknownId, "not-a-uuid", empty].map((each) => `${invoice.path}/documents/${each}`);
  paths.push(`/portal/${unknownId}/documents/${id}`, `${otherDesk}/documents/${id}`);
  for (const path of paths.flatMap((path) => [`${path}/file`, `${path}/view`])) {
    const page = await clerk.browser.open(path.replace("/portal", "/desk/shipments"));
    const disposition = page.headers.get("Content-Disposition");
    expect([path, page.status, page.h1, disposition]).toEqual([path, 404, "Page not found", null]);
  }
  expect(await listShipmentAuditEntries(app.company, invoice.shipmentId)).toEqual([]);
});

test("Opening a file redirects visitors, and clients whose session has ended elsewhere, to the login page.", async () => {
  await upload();
  const address = `${invoice.path}/documents/${(await readDocument()).id}`;
  const browser = app.browser();
  await browser.logIn(invoice.owner.email);
  const copy = copyBrowser(app, browser);
  const opened = await copy.get(address);
  expect([opened.status, (await opened.arrayBuffer()).byteLength]).toEqual([200, 2000]);
  await browser.post("/portal/sign-out", {});
  for (const visitor of [app.browser(), copy]) {
    const response = await visitor.get(address);
    // After a login, the site redirects only to pages, not to downloads.
    const location = `/login?next=${encodeURIComponent(invoice.path)}`;
    expect([response.status, response.headers.get("Location"), await response.text()]).toEqual([303, location, ""]);
  }
});

test("No person gets a file while the backend fails, or after the stored file was replaced or deleted.", async () => {
  await upload();
  const { id, storage_path } = await readDocument();
  const expectNoFile = async (status: number, text: string) => {
    for (const [browser, path, part] of listViewers()) {
      const page = await browser.open(`${path}/documents/${id}${part}`);
      expect([path, page.status, page.headers.get("Content-Disposition")]).toEqual([path, status, null]);
      expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
      expect(page.html).not.toContain("%PDF");
      expect(page.text).toContain(text);
      expectNoInternals(page);
    }
  };
  for (const call of [/portal_file|open_document/, /^GET [^?]*\/storage\/v1\//]) {
    app.proxy.fail(503, call);
    await expectNoFile(503, "Try again");
  }
  app.proxy.fail("none");
  expect((await download()).status).toBe(200);
  await replaceStoredFile(app.company, storage_path ?? "");
  await expectNoFile(409, "This file is damaged or missing.");
  await app.company.storage.from("documents").remove([storage_path ?? ""]);
  expect((await download()).status).toBe(409);
});

describe("Removing a file", () => {
  const openConfirmation = async () =>
    invoice.client.open(getHref(await openShipment(), "Remove file: Commercial Invoice") ?? "");

  test("A client can remove an unverified file and then upload another file for the document.", async () => {
    await upload(createPdf("wrong.pdf"));
    invoice.client.cookies.delete("flash");
    const confirmation = await openConfirmation();
    expect(confirmation.text).toContain("Remove wrong.pdf, the file for the Commercial Invoice?");
    const response = await invoice.client.submit(confirmation, "Remove file");
    expect(response.headers.get("Location")).toBe(invoice.path);
    const after = await invoice.client.follow(response);
    const toast = { title: "File removed", description: "Upload a new file.", variant: "default" };
    expect(after.toasts).toEqual([toast]);
    expect(readInvoiceRow(after)[0]).toBe("Not uploaded");
    expect(after.text).not.toContain("wrong.pdf");
    expect(await readDocument()).toMatchObject({ ...noFile, sha256: null, file_name: null, file_size: null });
    expect([await listFiles(), (await download()).status]).toEqual([[], 404]);

    expect((await upload(createPdf("right.pdf"))).status).toBe(303);
    invoice.client.cookies.delete("flash");
    const outdated = await parsePage(await invoice.client.submit(confirmation, "Remove file"));
    expectRejectedForm(outdated, 409, "The Commercial Invoice has changed. Check the document, then try again.");
    expect([(await readDocument()).uploaded, await listFiles()]).toEqual([true, ["commercial-invoice-right.pdf"]]);
  });

  test("A stranger or an invalid form cannot remove a file. Nobody can remove a verified file or a closed shipment's file.", async () => {
    await upload();
    invoice.client.cookies.delete("flash");
    const address = getHref(await openShipment(), "Remove file: Commercial Invoice") ?? "";
    const form = (await openConfirmation()).form("Remove file").fields as Record<string, string>;
    const sendForm = async (sent = form) =>
      (await parsePage(await invoice.client.post(address, sent))).problems[0]?.text;
    const setStage = (stage: number) => app.company.from("shipments").update({ stage }).eq("id", invoice.shipmentId);
    // An attacker leaves out the field `pageAccount`, with which the site recognises forms of another account.
    const { pageAccount: _, ...otherFields } = form;
    expect((await stranger.post(address, otherFields)).status).toBe(404);
    for (const expectedVersion of ["", "x"])
      expect(await sendForm({ ...form, expectedVersion })).toContain("has changed");
    expect((await invoice.client.post(`${invoice.path}/remove-file/x`, form)).status).toBe(404);

    const expectFinal = async (message: string) => {
      const page = await openShipment();
      expect(getHref(page, "Remove file: Commercial Invoice")).toBeUndefined();
      expect(getFileAddress(page)).toBeDefined();
      expect(await sendForm()).toBe(message);
    };
    await setStage(10);
    await expectFinal("This shipment is closed. Call us to change a document.");
    await setStage(2);
    await verifyDocumentByName(app.company, invoice.shipmentId, "Commercial Invoice");
    await expectFinal("We have already verified the Commercial Invoice. Call us if the file is wrong.");
    expect([(await readDocument()).verified, (await download()).status]).toEqual([true, 200]);
  });
});
