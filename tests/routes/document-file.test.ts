import { afterAll, afterEach, describe, expect, test } from "vitest";
import { noFile, setUpInvoice } from "../support/invoice-fixtures.ts";
import { getHref, unknownId } from "../support/page-parts.ts";
import { copyBrowser, expectRejectedForm, replaceStoredFile } from "../support/route-fixtures.ts";
import { verifyDocumentByName } from "../support/service-role.ts";
import { rejectDocument, resultOrThrow } from "../support/staff-actions.ts";
import {
  createPdf,
  getText,
  noStorePattern,
  type ParsedPage,
  parsePage,
  startTestSite,
  type TestBrowser,
} from "../support/test-app.ts";

const invoice = await setUpInvoice("Downloader");
const { app, readDocument, upload, download, listFiles } = invoice;
const { sql } = app;
const site = await startTestSite();
const stranger = app.browser();
await stranger.signUpAndLogIn("Stranger");
afterEach(() => {
  app.proxy.fail("none");
  invoice.client.cookies.delete("flash");
});
afterAll(() => site.close());

const openShipment = () => invoice.client.open(invoice.path);
const getFileAddress = (page: ParsedPage) => getHref(page, "Open the Commercial Invoice");
/** Returns the invoice's state and the description of its file from the page of the shipment. */
function readInvoiceRow(page: ParsedPage): string[] {
  const row = page.all("main li").find((item) => getText(item.querySelector("p")) === "Commercial Invoice");
  return row?.querySelectorAll("p").slice(1, 3).map(getText) ?? [];
}

test("A document shows its file's name, size and time in East Africa Time, and after a rejection the reason.", async () => {
  /** Runs an update without triggers, because a trigger would reject the changed time. */
  const setTime = (...statement: [TemplateStringsArray, string]) =>
    sql.begin(async (session) => {
      await session`set local session_replication_role = replica`;
      await session(...statement);
    });
  await upload(createPdf("invoice-2291.pdf", 212 * 1024 - 5));
  const { id } = await readDocument();
  const [row] = await sql`select uploaded_at from documents where id = ${id}`;
  const time = new Date(row?.uploaded_at.valueOf() + 3 * 3_600_000).toISOString().slice(11, 16);
  expect(readInvoiceRow(await openShipment())).toEqual([
    "Uploaded. We are checking your file",
    `invoice-2291.pdf, 212 KB, ${time} EAT`,
  ]);
  await setTime`update documents set uploaded_at = '2020-05-12T11:05:00Z' where id = ${id}`;
  expect(readInvoiceRow(await openShipment())[1]).toBe("invoice-2291.pdf, 212 KB, 12 May 2020, 14:05 EAT");

  resultOrThrow(await rejectDocument(app.company, id, "page 2 is unreadable", {}));
  const page = await openShipment();
  expect(readInvoiceRow(page)[0]).toBe("New file needed: page 2 is unreadable");
  expect([getFileAddress(page), page.text.includes("invoice-2291.pdf")]).toEqual([undefined, false]);
  expect((await download()).status).toBe(404);
});

test.each([
  ["invoice 2291.pdf", 'filename="invoice 2291.pdf"'],
  ["50% off; x=y.pdf", 'filename="50% off; x=y.pdf"'],
  ["فاتورة.pdf", `filename="??????.pdf"; filename*=UTF-8''${encodeURIComponent("فاتورة")}.pdf`],
])("The file %s is a sandboxed, uncached download under its own name.", async (name, disposition) => {
  const file = createPdf(name);
  await upload(file);
  const address = getFileAddress(await openShipment());
  expect(address).toBe(`${invoice.path}/documents/${(await readDocument()).id}`);
  const response = await copyBrowser(site, invoice.client).get(address ?? "");
  const header = (name: string) => response.headers.get(name);
  expect([response.status, await response.text()]).toEqual([200, await file.text()]);
  expect(header("Content-Type")).toBe("application/pdf");
  expect(header("Content-Disposition")).toBe(`attachment; ${disposition}`);
  expect(header("Cache-Control")).toBe("private, no-store");
  expect(header("ETag")).toBeNull();
  expect(header("Content-Security-Policy")).toBe("sandbox; default-src 'none'");
  expect(header("X-Content-Type-Options")).toBe("nosniff");
});

test("HTML within a text file is sent as text.", async () => {
  await upload(new File(["Box 1: <script>alert(1)</script>"], "page.html"));
  const response = await download();
  expect([response.status, response.headers.get("Content-Type")]).toEqual([200, expect.stringMatching(/^text\/plain/)]);
});

test("A file has the same 404 for a stranger, another shipment, an unknown ID and an invalid ID.", async () => {
  await upload();
  const { id } = await readDocument();
  const otherPath = await invoice.client.createShipment("Another");
  const requests: [TestBrowser, string][] = [
    [stranger, `${invoice.path}/documents/${id}`],
    ...[
      ...[`${otherPath}/documents/${id}`, `${otherPath}/documents/${(await readDocument(otherPath)).id}`],
      ...[`/portal/${unknownId}/documents/${id}`, `/portal/x/documents/${id}`],
      ...[unknownId, "x", "%00", `${id}'%20or%201=1`, "..%2f..%2fetc%2fpasswd"].map(
        (document) => `${invoice.path}/documents/${document}`,
      ),
    ].map((address): [TestBrowser, string] => [invoice.client, address]),
  ];
  const pages = await Promise.all(requests.map(([browser, address]) => browser.open(address)));
  for (const [index, { status, title, text, html, headers }] of pages.entries()) {
    const address = requests[index]?.[1];
    expect([address, status, title, text]).toEqual([address, 404, pages[0]?.title, pages[0]?.text]);
    expect(headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    expect(html).not.toContain("%PDF");
  }
});

test("A visitor and a client who signed out elsewhere are redirected from a file to the login page.", async () => {
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
    // After a login, the site redirects to pages, never to downloads.
    const location = `/login?next=${encodeURIComponent(invoice.path)}`;
    expect([response.status, response.headers.get("Location"), await response.text()]).toEqual([303, location, ""]);
  }
});

test("A file that was replaced or deleted in the file store is not sent to its owner.", async () => {
  await upload();
  const { storage_path } = await readDocument();
  await replaceStoredFile(app.company, storage_path ?? "");
  const page = await parsePage(await download());
  expect(page.status).toBe(409);
  expect(page.html).not.toContain("%PDF");
  expect(page.text).toContain("The stored file differs from the uploaded file.");
  await app.company.storage.from("documents").remove([storage_path ?? ""]);
  expect((await download()).status).toBe(409);
});

test("The download of a file is an error page while the file store fails, and the file afterwards.", async () => {
  await upload();
  app.proxy.fail(503, /^GET [^?]*\/storage\/v1\//);
  const page = await parsePage(await download());
  expect([page.status, page.html.includes("%PDF")]).toEqual([503, false]);
  expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  app.proxy.fail("none");
  expect((await download()).status).toBe(200);
});

describe("removing a file", () => {
  const openConfirmation = async () =>
    invoice.client.open(getHref(await openShipment(), "Remove file: Commercial Invoice") ?? "");

  test("A client removes an unverified file, and the document then accepts another file.", async () => {
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

  test("A stranger or an invalid form cannot remove a file, and nobody can remove a verified file or a file of a closed shipment.", async () => {
    await upload();
    invoice.client.cookies.delete("flash");
    const address = getHref(await openShipment(), "Remove file: Commercial Invoice") ?? "";
    const form = (await openConfirmation()).form("Remove file").fields as Record<string, string>;
    const sendForm = async (sent = form) =>
      (await parsePage(await invoice.client.post(address, sent))).problems[0]?.text;
    const setStage = (stage: number) => app.company.from("shipments").update({ stage }).eq("id", invoice.shipmentId);
    expect((await stranger.post(address, form)).status).toBe(404);
    for (const expectedVersion of ["", "x"])
      expect(await sendForm({ ...form, expectedVersion })).toContain("has changed");
    expect((await invoice.client.post(`${invoice.path}/remove-file/x`, form)).status).toBe(404);

    await setStage(10);
    const closed = await openShipment();
    expect(getHref(closed, "Remove file: Commercial Invoice")).toBeUndefined();
    expect(getFileAddress(closed)).toBeDefined();
    expect(await sendForm()).toBe("This shipment is closed. Call us to change a document.");

    await setStage(2);
    await verifyDocumentByName(app.company, invoice.shipmentId, "Commercial Invoice");
    const verified = await openShipment();
    expect(getHref(verified, "Remove file: Commercial Invoice")).toBeUndefined();
    expect(await sendForm()).toBe("We have already verified the Commercial Invoice. Call us if the file is wrong.");
    expect([(await readDocument()).verified, (await download()).status]).toEqual([true, 200]);
  });
});
