import { createHash } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { contents } from "../support/file-contents.ts";
import { createUploadFailedToast, invoiceUploadedToast, noFile, setUpInvoice } from "../support/invoice-fixtures.ts";
import { unknownId } from "../support/page-parts.ts";
import { createPdf, getText, parsePage } from "../support/test-app.ts";

const MiB = 1024 * 1024;
const invoice = await setUpInvoice("Uploader");
const { readDocument, upload, download, listFiles } = invoice;
afterEach(() => invoice.app.proxy.fail("none"));

test("An uploaded file is stored under the names of owner, shipment and document, and the owner can download it unchanged.", async () => {
  const file = createPdf("Invoice March.PDF", 12_345);
  const response = await upload(file);
  expect([response.status, response.headers.get("Location")]).toEqual([303, invoice.path]);
  const page = await invoice.client.follow(response);
  expect(page.toasts).toEqual([invoiceUploadedToast]);
  expect(page.text).toContain("Commercial Invoice Uploaded. We are checking your file");
  expect(() => page.form("Upload the Commercial Invoice")).toThrow("No button");

  const folder = `${invoice.owner.id}/${invoice.shipmentId}`;
  expect(await readDocument()).toMatchObject({
    uploaded: true,
    verified: false,
    storage_path: expect.stringMatching(`^${folder}/commercial-invoice-[0-9a-f]{12}-invoice-march\\.pdf$`),
    sha256: createHash("sha256")
      .update(await file.text())
      .digest("hex"),
    file_name: "Invoice March.PDF",
    file_size: file.size,
    media_type: "application/pdf",
  });
  const opened = await download();
  expect([opened.status, opened.headers.get("Content-Type")]).toEqual([200, "application/pdf"]);
  expect(await opened.text()).toBe(await file.text());
});

test("A file is stored under a safe name. Its download has the media type of its content, not the type that the browser sent.", async () => {
  const content = contents["pdf after a line break"];
  expect((await upload(new File([content], "../../etc/passwd.jpg", { type: "text/html" }))).status).toBe(303);
  expect(await listFiles()).toEqual(["commercial-invoice-passwd.pdf"]);
  const opened = await download();
  expect([opened.status, opened.headers.get("Content-Type")]).toEqual([200, "application/pdf"]);
  expect(opened.headers.get("Content-Disposition")).toBe("attachment; filename=passwd.pdf");
  expect(Buffer.from(await opened.arrayBuffer())).toEqual(Buffer.from(content));
});

test("A file of 10 MiB is stored. A file with one byte more is rejected with an email address to which the client can send it.", async () => {
  const page = await parsePage(await upload(createPdf("large.pdf", 10 * MiB + 1)));
  expect([page.status, page.title.startsWith("Error: ")]).toEqual([413, true]);
  const message =
    "This file is over 10 MB. Take the photo again at a lower quality, or send the file to us on WhatsApp with your shipment number.";
  expect(page.toasts).toEqual([createUploadFailedToast(message)]);
  expect(await readDocument()).toMatchObject(noFile);
  expect((await upload(createPdf("large.pdf", 10 * MiB), page)).status).toBe(303);
});

test.each([
  ["an empty file", new File([], "empty.pdf"), "This file is empty. Choose another file."],
  ["a program", new File([contents.exe], "invoice.pdf"), expect.stringMatching("^Choose a PDF, photo")],
])(
  "An upload of %s is rejected with an error at its field, and the form then accepts another file.",
  async (_what, file, message) => {
    const response = await upload(file);
    expect(response.status).toBe(400);
    const page = await parsePage(response);
    expect(page.title).toMatch(/^Error: Documents · /);
    expect(page.toasts).toEqual([createUploadFailedToast(message)]);
    const [field] = page.all("main input[aria-invalid]");
    expect(page.problems).toEqual([{ text: message, id: field?.id }]);
    expect(getText(page.all(`[id=${field?.getAttribute("aria-describedby")}]`)[0])).toEqual(message);
    expect(getText(page.all(`label[for=${field?.id}]`)[0])).toBe("File for the Commercial Invoice");
    expect(await readDocument()).toMatchObject(noFile);
    expect(await listFiles()).toEqual([]);
    expect((await upload(createPdf(), page)).status).toBe(303);
  },
);

describe("Invalid upload forms", () => {
  async function send(fields: [string, string | File][]) {
    const form = new FormData();
    for (const [name, value] of fields) form.append(name, value);
    return parsePage(await invoice.client.post(invoice.path, form));
  }

  test("An upload form without a file, or with a text in place of the file, is rejected with an error at the field.", async () => {
    const pages = [await parsePage(await upload(new File([], "")))];
    const text = { document: (await readDocument()).id, file: "invoice.pdf" };
    pages.push(await parsePage(await invoice.client.post(invoice.path, text)));
    for (const page of pages) {
      expect(page.status).toBe(400);
      const description = "No file selected.";
      expect(page.toasts).toEqual([{ title: "There is a problem", description, variant: "destructive" }]);
      expect(page.problems.map((problem) => problem.text)).toEqual(["No file selected."]);
      expect(page.has(page.problems[0]?.id ?? "")).toBe(true);
    }
    expect(await readDocument()).toMatchObject(noFile);
  });

  test("An upload form with a second file or a second document ID is rejected and stores nothing.", async () => {
    const { id } = await readDocument();
    for (const added of [
      ["another", createPdf()],
      ["file", createPdf()],
      ["document", unknownId],
    ] as [string, string | File][])
      expect((await send([["document", id], ["file", createPdf()], added])).status).toBe(400);
    expect(await readDocument()).toMatchObject(noFile);
    expect(await listFiles()).toEqual([]);
  });

  test("An upload form without a document, or with a document of another shipment or client, is rejected and stores nothing.", async () => {
    const otherPath = await invoice.client.createShipment("Another");
    const stranger = invoice.app.browser();
    await stranger.signUpAndLogIn("Stranger");
    const strangersPath = await stranger.createShipment("Theirs");
    const ids = [(await readDocument(otherPath)).id, (await readDocument(strangersPath)).id, unknownId, "x", ""];
    const calls = await invoice.app.proxy.during(async () => {
      for (const id of ids) {
        const page = await send([
          ["document", id],
          ["file", createPdf()],
        ]);
        expect(page.status).toBe(400);
        expect(page.toasts).toEqual([createUploadFailedToast("Choose the document that the file belongs to.")]);
      }
    });
    expect(calls.filter((call) => !call.startsWith("GET "))).toEqual([]);
    for (const path of [invoice.path, otherPath, strangersPath]) expect(await readDocument(path)).toMatchObject(noFile);
  });
});

test("A second file for a document is rejected and changes nothing.", async () => {
  const page = await invoice.client.open(invoice.path);
  await invoice.client.follow(await upload(createPdf("first.pdf"), page));
  const before = await readDocument();
  const rejected = await parsePage(await upload(createPdf("second.pdf", 5000), page));
  expect(rejected.status).toBe(409);
  expect(rejected.toasts).toEqual([
    createUploadFailedToast("This document already has a file. To upload another file, remove the current file first."),
  ]);
  for (const { id } of rejected.problems) expect(rejected.has(id), `the link to #${id}`).toBe(true);
  expect(await readDocument()).toEqual(before);
  expect(await listFiles()).toEqual(["commercial-invoice-first.pdf"]);
});

test("If five files for the same document arrive in parallel, one file is stored and the other four files are deleted.", async () => {
  const page = await invoice.client.open(invoice.path);
  const responses = await Promise.all(
    [1, 2, 3, 4, 5].map((number) => upload(createPdf(`${number}.pdf`, 1000 + number), page)),
  );
  const winners = responses.flatMap(({ status }, index) => (status === 303 ? [index + 1] : []));
  expect(winners).toHaveLength(1);
  expect(await listFiles()).toEqual([`commercial-invoice-${winners[0]}.pdf`]);
  expect((await download()).headers.get("Content-Length")).toBe(String(1000 + (winners[0] ?? 0)));
});

test("A closed shipment shows no upload form and rejects a file.", async () => {
  await upload();
  const page = await invoice.client.open(invoice.path);
  expect(page.text).toContain("Maximum 10 MB per file. Accepted types: PDF");
  expect(page.text).toContain("Email larger documents to nairobi@mizigo.example");
  await invoice.app.company.from("shipments").update({ stage: 10 }).eq("id", invoice.shipmentId);

  const closed = await invoice.client.open(invoice.path);
  expect(closed.text).toContain("Packing List Not uploaded");
  expect(closed.text).not.toMatch(/Maximum 10 MB|larger files/);
  expect(closed.all("main input[type=file]")).toEqual([]);
  const rejected = await parsePage(await invoice.client.submit(page, "Upload the Packing List", { file: createPdf() }));
  expect(rejected.status).toBe(409);
  const message = "This shipment is closed. Call us to send more files.";
  expect(rejected.toasts).toEqual([createUploadFailedToast(message)]);
  for (const { id } of rejected.problems) expect(rejected.has(id), `the link to #${id}`).toBe(true);
  expect(await listFiles()).toEqual(["commercial-invoice-invoice.pdf"]);
});

describe("Uploads by the page's script", () => {
  const acceptsJson = { Accept: "application/json" };

  /** Sends a file with a POST request to the URL that the page's script uses. */
  async function sendByScript(
    file: File | null,
    headers: Record<string, string> = acceptsJson,
    browser = invoice.client,
    path = invoice.path,
  ): Promise<Response> {
    const form = new FormData();
    form.append("document", (await readDocument()).id);
    if (file) form.append("file", file);
    return browser.post(`${path}/documents`, form, headers);
  }

  test("A file that the page's script sends is stored, and the response contains the toast as data.", async () => {
    const response = await sendByScript(createPdf("March.pdf", 3000));
    expect(response.status).toBe(200);
    expect(response.headers.get("Content-Type")).toMatch(/^application\/json/);
    expect(await response.json()).toEqual({ toast: invoiceUploadedToast });
    expect((await readDocument()).uploaded).toBe(true);
    expect(await listFiles()).toEqual(["commercial-invoice-march.pdf"]);
    expect((await invoice.client.open(invoice.path)).toasts).toEqual([]);
    // If an upload is redirected to the login page, the login then redirects to this URL.
    const address = `${invoice.path}/documents`;
    expect((await invoice.client.get(address)).headers.get("Location")).toBe(invoice.path);
  });

  test("A form that a browser sends to the URL for the page's script is redirected to the shipment with the toast.", async () => {
    const emptyFile = await sendByScript(new File([], "empty.pdf"), {});
    const rejected = createUploadFailedToast("This file is empty. Choose another file.");
    expect((await invoice.client.follow(emptyFile)).toasts).toEqual([rejected]);
    expect(await readDocument()).toMatchObject(noFile);
    const response = await sendByScript(createPdf(), { Accept: "text/html" });
    expect([response.status, response.headers.get("Location"), await response.text()]).toEqual([303, invoice.path, ""]);
    expect((await invoice.client.follow(response)).toasts).toEqual([invoiceUploadedToast]);
  });

  test.each([
    [
      "a file over 10 MB",
      createPdf("a.pdf", 10 * MiB + 1),
      413,
      createUploadFailedToast(expect.stringMatching(/^This file is over 10 MB\./)),
    ],
    ["no file", null, 400, { title: "No file selected.", variant: "destructive" }],
  ])(
    "If the page's script sends %s, the response contains the error as data, and nothing is stored.",
    async (_what, file, status, toast) => {
      const response = await sendByScript(file);
      expect([response.status, await response.json()]).toEqual([status, { toast }]);
      expect(await readDocument()).toMatchObject(noFile);
    },
  );

  test("A stranger's upload by script to a client's shipment gets the same status 404 as for an unknown shipment.", async () => {
    const stranger = invoice.app.browser();
    await stranger.signUpAndLogIn("Stranger");
    for (const path of [invoice.path, `/portal/${unknownId}`, "/portal/not-a-uuid"]) {
      const response = await sendByScript(createPdf(), acceptsJson, stranger, path);
      expect([path, response.status]).toEqual([path, 404]);
      expect(await response.json()).toEqual({ toast: createUploadFailedToast("Shipment not found.") });
    }
    expect(await readDocument()).toMatchObject(noFile);
  });

  test.each([/^POST .*storage/, /./])(
    "While the backend fails for %s, the page's script gets the error as data. Afterwards, the script can send the file.",
    async (calls) => {
      const form = new FormData();
      form.append("document", (await readDocument()).id);
      form.append("file", createPdf());
      const address = `${invoice.path}/documents`;
      invoice.app.proxy.fail(503, calls);
      const response = await invoice.client.post(address, form, acceptsJson);
      const toast = createUploadFailedToast(expect.stringMatching("Our system is not responding"));
      expect([response.status, await response.json()]).toEqual([503, { toast }]);
      invoice.app.proxy.fail("none");
      expect((await invoice.client.post(address, form, acceptsJson)).status).toBe(200);
    },
  );
});
