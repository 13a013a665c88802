import { describe, expect, test } from "vitest";
import { contents } from "../support/file-contents.ts";
import { createPatternedPdf, createResumableUpload, createUploadStream } from "../support/resumable-upload.ts";
import {
  chunkSize,
  completed,
  fileSize,
  MiB,
  received,
  rejected,
  setUpResumableUploads,
} from "../support/resumable-upload-suite.ts";
import { newClient, setUpSecondFactor } from "../support/route-fixtures.ts";
import { createPdf, origin, password } from "../support/test-app.ts";

const { app, client, owner, invoice, readDocument, createUpload, listStored } = await setUpResumableUploads();
const { sql } = app;
const steps = ["ask", "send", "finish"] as const;
const countChunks = async () => (await listStored()).chunks.length;

test("An upload can continue after the last stored byte in another browser and becomes the document's file.", async () => {
  const file = createPatternedPdf("Invoice March.PDF", 1_500_001);
  const upload = await createUpload(file);
  expect(await upload.ask()).toMatchObject(received(0));
  const stream = createUploadStream(upload.content.slice(0, 700_000));
  const sending = upload.stream(0, stream.body);
  await expect.poll(countChunks).toBeGreaterThan(1);
  stream.cut();
  await sending.catch(() => undefined);
  expect(await upload.ask()).toMatchObject(received(700_000));
  expect(await readDocument()).toMatchObject({ uploaded: false, storage_path: null });
  expect((await listStored()).files).toEqual([]);

  const browser = app.browser();
  await browser.logIn(owner.email);
  const continued = await createUpload(file, { browser });
  expect(await continued.send(700_000)).toMatchObject(received(1_500_001));
  expect((await readDocument()).uploaded).toBe(false);
  expect(await continued.finish()).toMatchObject(completed);

  const { id, storage_path, ...record } = await readDocument();
  expect(storage_path).toMatch(
    new RegExp(`^${invoice.path.replace("/portal", owner.id)}/commercial-invoice-[0-9a-f]{12}-invoice-march\\.pdf$`),
  );
  const expected = {
    uploaded: true,
    file_name: "Invoice March.PDF",
    file_size: 1_500_001,
    media_type: "application/pdf",
  };
  expect(record).toMatchObject(expected);
  const opened = await client.get(`${invoice.path}/documents/${id}`);
  expect(Buffer.from(await opened.arrayBuffer()).equals(Buffer.from(upload.content))).toBe(true);
  expect(await listStored()).toEqual({ files: [storage_path], chunks: [] });
});

test("The site stores the received bytes when no more bytes arrive, even before the request ends.", async () => {
  const upload = await createUpload(createPatternedPdf("a.pdf", 2 * MiB));
  const stream = createUploadStream(upload.content.slice(0, 100_000));
  const sending = upload.stream(0, stream.body);
  await expect.poll(async () => (await upload.ask()).storedBytes).toBe(100_000);
  stream.send(upload.content.slice(100_000, 400_000));
  await expect.poll(async () => (await upload.ask()).storedBytes).toBe(400_000);
  stream.cut();
  await sending.catch(() => undefined);
});

test("The site stores a chunk of less than 16 KB only at the end of the file.", async () => {
  const upload = await createUpload(createPatternedPdf("a.pdf", fileSize));
  expect(await upload.send(0, 9000)).toMatchObject(received(0));
  expect(await countChunks()).toBe(0);
  expect(await upload.send(0, fileSize - 1000)).toMatchObject(received(fileSize - 1000));
  expect(await upload.send(fileSize - 1000)).toMatchObject(received(fileSize));
});

test("A file of 10 MiB is accepted. A file with one byte more is rejected before the first byte is sent.", async () => {
  expect(await (await createUpload(createPatternedPdf("large.pdf", 10 * MiB))).ask()).toMatchObject(received(0));
  const larger = await createUpload(createPatternedPdf("large.pdf", 10 * MiB + 1), { document: "Packing List" });
  for (const step of steps)
    expect(await larger[step](0)).toMatchObject(rejected(413, expect.stringMatching(/^This file is over 10 MB\. /)));
  expect(await countChunks()).toBe(0);
});

describe("Rejected resumable uploads", () => {
  test("If bytes are missing before the sent bytes, the upload is rejected with the offset at which to continue.", async () => {
    const upload = await createUpload(createPatternedPdf("a.pdf", fileSize));
    expect(await upload.send(chunkSize, 2 * chunkSize)).toMatchObject(received(0, 409));
    expect(await upload.send(0, chunkSize)).toMatchObject(received(chunkSize));
    expect(await upload.send(2 * chunkSize)).toMatchObject(received(chunkSize, 409));
    expect(await upload.finish()).toMatchObject(received(chunkSize, 409));
    // A browser may repeat a request by itself. The site rejects the repeated request before any backend call.
    const calls = await app.proxy.during(async () => {
      expect(await upload.send(0)).toMatchObject({ ...received(chunkSize, 409), connection: "close" });
    });
    expect(calls.filter((call) => /attempt|require_awaited|portal_page/.test(call))).toEqual([]);
    expect(await countChunks()).toBe(1);
  });

  test("More bytes than the announced file size are rejected and not stored.", async () => {
    const upload = await createUpload(createPatternedPdf("a.pdf", fileSize));
    const tooMany = rejected(413, "The file is larger than expected. Upload the file again.");
    expect(await upload.send(0, 0, new Uint8Array(fileSize + 1))).toMatchObject(tooMany);
    expect(await countChunks()).toBe(0);
    const stream = createUploadStream(new Uint8Array(fileSize - 1));
    stream.send(new Uint8Array(2 * MiB));
    stream.end();
    expect(await upload.stream(0, stream.body)).toMatchObject(tooMany);
    const lengths = (await listStored()).chunks.map((name) => Number(name.split("-").at(-1)));
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBeLessThan(fileSize);
  });

  test("If the file's hash differs from the announced hash, the file is rejected and its chunks are deleted.", async () => {
    const upload = await createUpload(createPatternedPdf("a.pdf", fileSize));
    await upload.send(0, chunkSize);
    await upload.send(chunkSize, 0, new Uint8Array(fileSize - chunkSize));
    const message = "The file was damaged during the upload. Upload the file again.";
    expect(await upload.finish()).toMatchObject(rejected(400, message));
    expect(await listStored()).toEqual({ files: [], chunks: [] });
    expect(await upload.ask()).toMatchObject(received(0));
    await upload.send(0);
    expect(await upload.finish()).toMatchObject(completed);
  });

  test("A file of an unknown type is rejected, and its chunks are deleted.", async () => {
    const program = await createUpload(new File([contents.exe, new Uint8Array(fileSize)], "invoice.pdf"));
    await program.send(0);
    expect(await program.finish()).toMatchObject(rejected(400, expect.stringMatching("^Choose a PDF, photo")));
    expect(await listStored()).toEqual({ files: [], chunks: [] });
  });

  test("A request whose Upload header has an invalid value is rejected.", async () => {
    const file = createPatternedPdf("a.pdf", fileSize);
    const wrongHeaders: Record<string, string>[] = [
      ...[{ sha256: "x" }, { sha256: "A".repeat(64) }, { size: "-1" }, { size: "1e400" }, { name: "n".repeat(2000) }],
      // Browsers send files of up to 1 MiB as an ordinary form.
      { size: String(MiB) },
    ];
    for (const header of wrongHeaders) {
      const { status } = await (await createUpload(file, { header })).send(0);
      expect([header, status]).toEqual([header, 400]);
    }
    const foreign = await createUpload(file, { header: { document: crypto.randomUUID() } });
    for (const step of ["send", "ask"] as const)
      expect(await foreign[step](0)).toMatchObject(rejected(400, "Choose the document that the file belongs to."));
    expect(await countChunks()).toBe(0);
  });

  test("The site accepts chunks only at the upload URL and only from its own pages.", async () => {
    const address = `${invoice.path}/documents/resumable-upload`;
    const page = await client.get(address);
    expect([page.status, page.headers.get("Location")]).toEqual([303, invoice.path]);
    const form = new FormData();
    form.append("document", (await readDocument()).id);
    form.append("file", createPdf());
    expect((await client.post(address, form)).status).toBe(415);
    const sendBytes = (to: string, from = origin) => {
      const headers = { Origin: from, "Content-Type": "application/octet-stream" };
      return client.send(new Request(new URL(to, origin), { method: "POST", body: new Uint8Array(5), headers }));
    };
    for (const to of [`${invoice.path}/documents`, invoice.path, "/contact"])
      expect((await sendBytes(to)).status, to).toBe(415);
    expect((await sendBytes(address, "https://other.example")).status).toBe(403);
    const response = await sendBytes(address);
    expect(response.status).toBe(400);
  });

  test("If the document has a file or the shipment is closed, an upload is rejected and its chunks are deleted.", async () => {
    const upload = await createUpload(createPatternedPdf("a.pdf", fileSize));
    await upload.send(0, chunkSize);
    const other = await createUpload(createPatternedPdf("b.pdf", fileSize), { document: "Packing List" });
    await other.send(0, chunkSize);
    await invoice.upload();
    for (const step of ["ask", "finish", "send"] as const)
      expect(await upload[step](0)).toMatchObject(
        rejected(409, "This document already has a file. To upload another file, remove the current file first."),
      );
    await app.company.from("shipments").update({ stage: 10 }).eq("id", invoice.shipmentId);
    const closed = rejected(409, "This shipment is closed. Call us to send more files.");
    for (const step of steps) expect(await other[step](chunkSize)).toMatchObject(closed);
    expect((await readDocument(invoice.path, "Packing List")).uploaded).toBe(false);
    expect(await countChunks()).toBe(0);
  });
});

describe("Access to resumable uploads", () => {
  test("Another client cannot read or continue a client's upload.", async () => {
    const file = createPatternedPdf("a.pdf", fileSize);
    const upload = await createUpload(file);
    await upload.send(0, chunkSize);
    const before = await listStored();
    const { browser: stranger, id } = await newClient(app, "Stranger");
    const strangersPath = await stranger.createShipment("Theirs");
    const document = (await readDocument()).id;

    const foreign = await createResumableUpload(stranger, invoice.path, document, file);
    const unknown = await createResumableUpload(stranger, `/portal/${crypto.randomUUID()}`, document, file);
    for (const step of steps) {
      const response = await foreign[step](chunkSize);
      expect(response).toMatchObject(rejected(404, "Shipment not found."));
      expect(await unknown[step](chunkSize)).toEqual(response);
    }
    expect((await (await createResumableUpload(stranger, strangersPath, document, file)).send(0)).status).toBe(400);
    const own = await createResumableUpload(stranger, strangersPath, (await readDocument(strangersPath)).id, file);
    expect(await own.ask()).toMatchObject(received(0));
    expect(await own.send(chunkSize)).toMatchObject(received(0, 409));
    expect(await listStored(id)).toEqual({ files: [], chunks: [] });
    expect(await listStored()).toEqual(before);
  });

  test("If the session ends during an upload, the upload can continue after the next login.", async () => {
    const upload = await createUpload(createPatternedPdf("a.pdf", fileSize));
    await upload.send(0, chunkSize);
    const stream = createUploadStream(upload.content.slice(chunkSize, 2 * chunkSize));
    const sending = upload.stream(chunkSize, stream.body);
    await expect.poll(countChunks).toBe(2);
    await sql`delete from auth.sessions where user_id = ${owner.id}`;
    stream.send(upload.content.slice(2 * chunkSize));
    stream.end();
    await sending;
    for (const step of ["finish", "ask", "send"] as const) {
      const { status, location } = await upload[step](0);
      expect([status, location]).toEqual([303, `/login?next=${encodeURIComponent(invoice.path)}`]);
    }
    expect((await readDocument()).uploaded).toBe(false);
    await client.logIn(owner.email);
    expect(await upload.ask()).toMatchObject(received(fileSize));
    expect(await upload.finish()).toMatchObject(completed);
  });

  test("An upload is rejected until the client enters the code of the second factor.", async () => {
    const upload = await createUpload(createPatternedPdf("a.pdf", fileSize));
    await upload.send(0, chunkSize);
    const browser = app.browser();
    await browser.logIn(owner.email);
    await setUpSecondFactor(browser, "/portal/2fa");
    client.cookies.clear();
    expect((await client.post("/login", { email: owner.email, password })).status).toBe(303);
    for (const step of steps) {
      const { status, location } = await upload[step](chunkSize);
      expect([status, location?.split("?")[0]]).toEqual([303, "/login/verify"]);
    }
    expect(await countChunks()).toBe(1);
    const continued = await createUpload(createPatternedPdf("a.pdf", fileSize), { browser });
    expect(await continued.ask()).toMatchObject(received(chunkSize));
    // Deletes the second factor, because the other tests of this file log in without a code.
    await sql`delete from auth.mfa_factors where user_id = ${owner.id}`;
    await client.logIn(owner.email);
  });
});
