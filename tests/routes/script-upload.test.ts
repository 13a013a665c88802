import { afterEach, expect, test } from "vitest";
import { createUploadFailedToast, invoiceUploadedToast, noFile, setUpInvoice } from "../support/invoice-fixtures.ts";
import { unknownId } from "../support/page-parts.ts";
import { createPdf, noStorePattern } from "../support/test-app.ts";

const invoice = setUpInvoice("Script Uploader");
const { readInvoice, listFiles } = invoice;
afterEach(() => invoice.app.proxy.fail("none"));

const acceptsJson = { Accept: "application/json" };

/** Sends a file to the upload address for scripts. */
async function send(
  file: File | null,
  headers: Record<string, string> = acceptsJson,
  browser = invoice.client,
  path = invoice.path,
): Promise<Response> {
  const form = new FormData();
  form.append("document", (await readInvoice()).id);
  if (file) form.append("file", file);
  return browser.post(`${path}/documents`, form, headers);
}

test("A file that a script sends is stored, and the response has the toast as data.", async () => {
  const response = await send(createPdf("March.pdf", 3000));
  expect(response.status).toBe(200);
  expect(response.headers.get("Content-Type")).toMatch(/^application\/json/);
  expect(response.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  expect(await response.json()).toEqual({ toast: invoiceUploadedToast });
  expect((await readInvoice()).uploaded).toBe(true);
  expect(await listFiles()).toEqual(["commercial-invoice-march.pdf"]);
  expect((await invoice.client.open(invoice.path)).toasts).toEqual([]);
});

test("A form that a browser sends to the address for scripts redirects to the shipment with the toast.", async () => {
  const emptyFile = await send(new File([], "empty.pdf"), {});
  const rejected = createUploadFailedToast("This file is empty. Choose another one.");
  expect((await invoice.client.follow(emptyFile)).toasts).toEqual([rejected]);
  expect(await readInvoice()).toMatchObject(noFile);
  const response = await send(createPdf(), { Accept: "text/html" });
  expect([response.status, response.headers.get("Location"), await response.text()]).toEqual([303, invoice.path, ""]);
  expect((await invoice.client.follow(response)).toasts).toEqual([invoiceUploadedToast]);
});

test.each([
  ["an empty file", new File([], "a.pdf"), 400, createUploadFailedToast("This file is empty. Choose another one.")],
  [
    "a file over 10 MB",
    createPdf("a.pdf", 10 * 1024 * 1024 + 1),
    413,
    createUploadFailedToast(expect.stringMatching(/^This file is over 10 MB\. Scan or .*nairobi@mizigo\.example\.$/)),
  ],
  ["no file", null, 400, { title: "No file selected.", variant: "destructive" }],
])("A script that sends %s gets the error as data, and nothing is stored.", async (_what, file, status, toast) => {
  const response = await send(file);
  expect([response.status, await response.json()]).toEqual([status, { toast }]);
  expect(await readInvoice()).toMatchObject(noFile);
  expect(await listFiles()).toEqual([]);
});

test("A script that sends a second file for a document gets 409.", async () => {
  await send(createPdf("first.pdf"));
  const response = await send(createPdf("second.pdf"));
  const toast = createUploadFailedToast("This document has been uploaded already.");
  expect([response.status, await response.json()]).toEqual([409, { toast }]);
  expect(await listFiles()).toEqual(["commercial-invoice-first.pdf"]);
});

test("A stranger's script gets the same 404 for a client's shipment as for an unknown one.", async () => {
  const stranger = invoice.app.browser();
  await stranger.signUpAndLogIn("Stranger");
  for (const path of [invoice.path, `/portal/${unknownId}`, "/portal/not-a-uuid"]) {
    const response = await send(createPdf(), acceptsJson, stranger, path);
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ toast: createUploadFailedToast("There is no such shipment.") });
    expect((await stranger.follow(await send(createPdf(), {}, stranger, path))).status).toBe(404);
  }
  expect(await readInvoice()).toMatchObject(noFile);
  expect(await listFiles()).toEqual([]);
});

test("A visitor's upload redirects to the login page, and then to the shipment.", async () => {
  const address = `${invoice.path}/documents`;
  for (const headers of [acceptsJson, {}]) {
    const response = await send(createPdf(), headers, invoice.app.browser());
    const location = response.headers.get("Location");
    expect([response.status, location]).toEqual([303, `/login?next=${encodeURIComponent(address)}`]);
  }
  expect((await invoice.client.get(address)).headers.get("Location")).toBe(invoice.path);
  expect(await listFiles()).toEqual([]);
});

test.each([/^POST .*storage/, /./])(
  "A script gets the error as data while the backend fails for %s, and can then send the file.",
  async (calls) => {
    const form = new FormData();
    form.append("document", (await readInvoice()).id);
    form.append("file", createPdf());
    const address = `${invoice.path}/documents`;
    invoice.app.proxy.fail(503, calls);
    const response = await invoice.client.post(address, form, acceptsJson);
    const toast = createUploadFailedToast(expect.stringMatching("Our records do not answer"));
    expect([response.status, await response.json()]).toEqual([503, { toast }]);
    invoice.app.proxy.fail("none");
    expect((await invoice.client.post(address, form, acceptsJson)).status).toBe(200);
  },
);
