import process from "node:process";
import postgres from "postgres";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { getUploadFolder } from "../../app/models/resumable-upload.server.ts";
import { startBackgroundJobs } from "../../app/server/web/background-jobs.ts";
import { Authenticator } from "../support/authenticator.ts";
import { createPatternedPdf, createResumableUpload, createUploadStream } from "../support/resumable-upload.ts";
import {
  createPdf,
  getTestApp,
  logInToBackend,
  noStorePattern,
  origin,
  parsePage,
  type TestBrowser,
} from "../support/test-app.ts";

const KiB = 1024;
const MiB = 1024 * KiB;
const chunkSize = 256 * KiB;
/** Of a file that is just large enough to come in parts. */
const fileSize = 5 * chunkSize;

let app: Awaited<ReturnType<typeof getTestApp>>;
let sql: postgres.Sql;
let client: TestBrowser;
let owner: Awaited<ReturnType<typeof logInToBackend>> & { email: string };
let path: string;
beforeAll(async () => {
  app = await getTestApp();
  sql = postgres(process.env.TESTS_DATABASE_URL ?? "", { max: 1, onnotice: () => undefined });
});
beforeEach(async () => {
  client = app.browser();
  const email = await client.signUpAndLogIn("Sender");
  owner = { ...(await logInToBackend(email)), email };
  path = await client.createShipment("Parts");
});
afterEach(() => app.proxy.fail("none"));
afterAll(() => sql.end());

/** A document of the shipment as the backend has it. */
async function getDocument(shipment = path, name = "Commercial Invoice") {
  const { data, error } = await app.company
    .from("documents")
    .select("id, uploaded, storage_path, sha256, file_name, file_size, media_type")
    .eq("shipment_id", shipment.replace("/portal/", ""))
    .eq("name", name)
    .single();
  if (error) throw error;
  return data;
}

/** An upload to the invoice of the shipment. */
const createUpload = async (file: File, lies?: Record<string, string>, by = client) =>
  createResumableUpload(by, path, (await getDocument()).id, file, lies);

/** What the store has of the account: objects in each bucket. */
async function listStored(account = owner.id) {
  const rows = await sql`select bucket_id, name from storage.objects where name like ${`${account}/%`} order by name`;
  const names = (bucket: string) => rows.filter((row) => row.bucket_id === bucket).map((row) => String(row.name));
  return { files: names("documents"), parts: names("upload-chunks") };
}

const uploadedResponse = {
  status: 200,
  toast: { title: "Commercial Invoice uploaded", description: "We check it next.", variant: "default" },
};
const createRejectedToast = (description: unknown) => ({ title: "Upload failed", description, variant: "destructive" });
const createReceivedResponse = (there: number, status = 200) => ({ status, there });

test("An upload continues from the last stored byte in another browser and becomes the document.", async () => {
  const file = createPatternedPdf("Invoice March.PDF", 1_500_001);
  const upload = await createUpload(file);
  expect(await upload.ask()).toMatchObject(createReceivedResponse(0));
  const way = createUploadStream(upload.content.slice(0, 700_000));
  const sending = upload.stream(0, way.body);
  await expect.poll(async () => (await listStored()).parts.length).toBeGreaterThan(1);
  way.cut();
  await sending.catch(() => undefined);
  expect(await upload.ask()).toMatchObject(createReceivedResponse(700_000));
  expect(await getDocument()).toMatchObject({ uploaded: false, storage_path: null });
  expect((await listStored()).files).toEqual([]);

  // Another browser of the same person: the file chosen again, after a reload or a login elsewhere.
  const other = app.browser();
  await other.logIn(owner.email);
  const again = await createUpload(file, {}, other);
  expect(await again.send(700_000)).toMatchObject(createReceivedResponse(1_500_001));
  expect((await getDocument()).uploaded).toBe(false);
  expect(await again.finish()).toMatchObject(uploadedResponse);

  const { id, storage_path, ...recorded } = await getDocument();
  expect(storage_path).toMatch(
    new RegExp(`^${path.replace("/portal", owner.id)}/commercial-invoice-[0-9a-f]{12}-invoice-march\\.pdf$`),
  );
  expect(recorded).toMatchObject({ uploaded: true, file_name: "Invoice March.PDF", file_size: 1_500_001 });
  expect(recorded.media_type).toBe("application/pdf");
  const opened = await client.get(`${path}/documents/${id}`);
  expect(Buffer.from(await opened.arrayBuffer()).equals(Buffer.from(upload.content))).toBe(true);
  expect(await listStored()).toEqual({ files: [storage_path], parts: [] });
});

test("Received bytes are stored while the connection is silent.", async () => {
  const upload = await createUpload(createPatternedPdf("a.pdf", 2 * MiB));
  const way = createUploadStream(upload.content.slice(0, 100_000));
  const sending = upload.stream(0, way.body);
  await expect.poll(async () => (await upload.ask()).there).toBe(100_000);
  way.send(upload.content.slice(100_000, 400_000));
  await expect.poll(async () => (await upload.ask()).there).toBe(400_000);
  way.cut();
  await sending.catch(() => undefined);
});

test("A chunk under 16 KB is stored only if it is the end of the file.", async () => {
  const upload = await createUpload(createPatternedPdf("a.pdf", fileSize));
  expect(await upload.send(0, 9000)).toMatchObject(createReceivedResponse(0));
  expect((await listStored()).parts).toEqual([]);
  expect(await upload.send(0, fileSize - 1000)).toMatchObject(createReceivedResponse(fileSize - 1000));
  expect(await upload.send(fileSize - 1000)).toMatchObject(createReceivedResponse(fileSize));
});

test("A document of 10 MiB is stored, and one byte more is rejected before any byte is sent.", async () => {
  const upload = await createUpload(createPatternedPdf("large.pdf", 10 * MiB));
  expect(await upload.send(0)).toMatchObject(createReceivedResponse(10 * MiB));
  expect(await upload.finish()).toMatchObject(uploadedResponse);

  const larger = await createResumableUpload(
    client,
    path,
    (await getDocument(path, "Packing List")).id,
    createPatternedPdf("large.pdf", 10 * MiB + 1),
  );
  const tooLarge = createRejectedToast(
    "This file is over 10 MB. Scan or photograph it at a lower quality, send fewer pages, or e-mail it to us: nairobi@mizigo.example.",
  );
  for (const answer of [await larger.ask(), await larger.send(0), await larger.finish()])
    expect(answer).toMatchObject({ status: 413, toast: tooLarge });
  expect((await listStored()).parts).toEqual([]);
});

describe("rejected resumable uploads", () => {
  test("Bytes after a gap are rejected with the offset at which to continue.", async () => {
    const upload = await createUpload(createPatternedPdf("a.pdf", fileSize));
    expect(await upload.send(chunkSize, 2 * chunkSize)).toMatchObject(createReceivedResponse(0, 409));
    expect(await upload.send(0, chunkSize)).toMatchObject(createReceivedResponse(chunkSize));
    expect(await upload.send(2 * chunkSize)).toMatchObject(createReceivedResponse(chunkSize, 409));
    expect(await upload.finish()).toMatchObject(createReceivedResponse(chunkSize, 409));
    // A browser that repeats a request by itself is stopped before any other check.
    const calls = await app.proxy.during(async () => {
      expect(await upload.send(0)).toMatchObject({ ...createReceivedResponse(chunkSize, 409), connection: "close" });
    });
    expect(calls.filter((call) => /attempt|require_awaited|portal_page/.test(call))).toEqual([]);
    expect((await listStored()).parts).toHaveLength(1);
  });

  test("More bytes than announced are rejected and not stored.", async () => {
    const upload = await createUpload(createPatternedPdf("a.pdf", fileSize));
    const tooMuch = { status: 413, toast: createRejectedToast("More of this file came than was said. Send it again.") };
    expect(await upload.send(0, 0, new Uint8Array(fileSize + 1))).toMatchObject(tooMuch);
    expect((await listStored()).parts).toEqual([]);
    const way = createUploadStream(new Uint8Array(fileSize - 1));
    way.send(new Uint8Array(2 * MiB));
    way.end();
    expect(await upload.stream(0, way.body)).toMatchObject(tooMuch);
    const { parts } = await listStored();
    const bytes = parts.map((name) => Number(name.split("-").at(-1))).reduce((sum, length) => sum + length, 0);
    expect(bytes).toBeLessThan(fileSize);
  });

  test("A file with another hash than announced is rejected and its chunks are deleted.", async () => {
    const upload = await createUpload(createPatternedPdf("a.pdf", fileSize));
    await upload.send(0, chunkSize);
    await upload.send(chunkSize, 0, new Uint8Array(fileSize - chunkSize));
    expect(await upload.finish()).toMatchObject({
      status: 400,
      toast: createRejectedToast("This file did not arrive as it was sent. Send it again."),
    });
    expect(await listStored()).toEqual({ files: [], parts: [] });
    expect(await upload.ask()).toMatchObject(createReceivedResponse(0));
    await upload.send(0);
    expect(await upload.finish()).toMatchObject(uploadedResponse);
  });

  test("A file type that contradicts the extension or is not accepted is rejected.", async () => {
    const png = new File([new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]), new Uint8Array(fileSize)], "scan.pdf");
    const upload = await createUpload(png);
    await upload.send(0);
    expect(await upload.finish()).toMatchObject({
      status: 400,
      toast: createRejectedToast("The content of this file is not what its ending .pdf says. Choose another one."),
    });
    expect(await listStored()).toEqual({ files: [], parts: [] });
    const program = await createUpload(new File([new Uint8Array(fileSize)], "invoice.exe"));
    for (const answer of [await program.ask(), await program.send(0)])
      expect(answer).toMatchObject({
        status: 400,
        toast: createRejectedToast(expect.stringMatching("^We take PDF, photo")),
      });
    expect((await listStored()).parts).toEqual([]);
  });

  test("A request with an invalid Upload header is rejected.", async () => {
    const file = createPatternedPdf("a.pdf", fileSize);
    const lies: Record<string, string>[] = [
      { sha256: "x" },
      { sha256: "A".repeat(64) },
      { size: "-1" },
      // Not one that a script sends in parts: each would take an object of the store.
      { size: "1" },
      { size: String(MiB) },
      { size: "1e400" },
      { name: "n".repeat(2000) },
    ];
    for (const lie of lies)
      expect((await (await createUpload(file, lie)).send(0)).status, JSON.stringify(lie)).toBe(400);
    for (const document of ["", crypto.randomUUID()]) {
      expect(await (await createUpload(file, { document })).ask()).toMatchObject({
        status: 400,
        toast: createRejectedToast("Choose the document that the file belongs to."),
      });
    }
    const plain = await client.get(`${path}/documents/resumable-upload`);
    expect([plain.status, plain.headers.get("Location")]).toEqual([303, path]);
    expect((await listStored()).parts).toEqual([]);
  });

  test("Bytes are accepted only at the upload address and only from our own site.", async () => {
    const form = new FormData();
    form.append("document", (await getDocument()).id);
    form.append("file", createPdf());
    expect((await client.post(`${path}/documents/resumable-upload`, form)).status).toBe(415);
    const bytes = (to: string, headers: Record<string, string> = {}) =>
      client.send(
        new Request(new URL(to, origin), {
          method: "POST",
          body: new Uint8Array(5),
          headers: { Origin: origin, "Content-Type": "application/octet-stream", ...headers },
        }),
      );
    for (const to of [`${path}/documents`, path, `${path}/documents/${crypto.randomUUID()}`, "/contact"])
      expect((await bytes(to)).status, to).toBe(415);
    expect((await bytes(`${path}/documents/resumable-upload`, { Origin: "https://other.example" })).status).toBe(403);
    const answer = await bytes(`${path}/documents/resumable-upload`);
    expect(answer.status).toBe(400);
    expect(answer.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  });

  test("A document with a file and a closed shipment reject an upload and delete its chunks.", async () => {
    const upload = await createUpload(createPatternedPdf("a.pdf", fileSize));
    await upload.send(0);
    await client.submit(await client.open(path), "Upload the Commercial Invoice", { file: createPdf() });
    const has = { status: 409, toast: createRejectedToast("This document has been uploaded already.") };
    for (const answer of [await upload.ask(), await upload.finish(), await upload.send(0)])
      expect(answer).toMatchObject(has);
    const closed = await createResumableUpload(
      client,
      path,
      (await getDocument(path, "Packing List")).id,
      createPatternedPdf("b.pdf", fileSize),
    );
    await closed.send(0, chunkSize);
    await app.company.from("shipments").update({ stage: 10 }).eq("id", path.replace("/portal/", ""));
    const isClosed = createRejectedToast("This shipment is closed: nothing more can be uploaded to it.");
    for (const answer of [await closed.ask(), await closed.send(chunkSize), await closed.finish()])
      expect(answer).toMatchObject({ status: 409, toast: isClosed });
    expect((await getDocument(path, "Packing List")).uploaded).toBe(false);
    expect((await listStored()).parts).toEqual([]);
  });
});

describe("other people's resumable uploads", () => {
  test("Another client can neither read nor continue a client's upload.", async () => {
    const file = createPatternedPdf("a.pdf", fileSize);
    const upload = await createUpload(file);
    await upload.send(0, chunkSize);
    const before = await listStored();
    const stranger = app.browser();
    const { id } = await logInToBackend(await stranger.signUpAndLogIn("Stranger"));
    const theirs = await stranger.createShipment("Theirs");
    const document = (await getDocument()).id;

    const there = await createResumableUpload(stranger, path, document, file);
    const nowhere = await createResumableUpload(stranger, `/portal/${crypto.randomUUID()}`, document, file);
    for (const act of ["ask", "send", "finish"] as const) {
      const answer = await there[act](chunkSize);
      expect(answer).toMatchObject({ status: 404, toast: createRejectedToast("There is no such shipment.") });
      expect(await nowhere[act](chunkSize)).toEqual(answer);
    }
    const mixed = await createResumableUpload(stranger, theirs, document, file);
    expect((await mixed.send(0)).status).toBe(400);
    const own = await createResumableUpload(stranger, theirs, (await getDocument(theirs)).id, file);
    expect(await own.ask()).toMatchObject(createReceivedResponse(0));
    expect(await own.send(chunkSize)).toMatchObject(createReceivedResponse(0, 409));
    expect(await listStored(id)).toEqual({ files: [], parts: [] });
    expect(await listStored()).toEqual(before);
  });

  test("A visitor's upload request redirects to login and then to the shipment.", async () => {
    const upload = await createUpload(createPatternedPdf("a.pdf", fileSize), {}, app.browser());
    for (const act of ["ask", "send", "finish"] as const) {
      const { status, location } = await upload[act](0);
      expect([status, location]).toEqual([303, `/login?next=${encodeURIComponent(path)}`]);
    }
  });
});

describe("sessions that end during an upload", () => {
  test("An upload continues after login if the session ended.", async () => {
    const upload = await createUpload(createPatternedPdf("a.pdf", fileSize));
    await upload.send(0, chunkSize);
    const way = createUploadStream(upload.content.slice(chunkSize, 2 * chunkSize));
    const sending = upload.stream(chunkSize, way.body);
    await expect.poll(async () => (await listStored()).parts.length).toBe(2);
    await sql`delete from auth.sessions where user_id = ${owner.id}`;
    way.send(upload.content.slice(2 * chunkSize));
    way.end();
    await sending;
    for (const act of ["finish", "ask", "send"] as const) {
      const again = await upload[act](0);
      expect([again.status, again.location]).toEqual([303, `/login?next=${encodeURIComponent(path)}`]);
    }
    expect((await getDocument()).uploaded).toBe(false);
    await client.logIn(owner.email);
    expect(await upload.ask()).toMatchObject(createReceivedResponse(fileSize));
    expect(await upload.finish()).toMatchObject(uploadedResponse);
  });

  test("An upload is rejected until the session has the code of the second factor.", async () => {
    const upload = await createUpload(createPatternedPdf("a.pdf", fileSize));
    await upload.send(0, chunkSize);
    const other = app.browser();
    await other.logIn(owner.email);
    const page = await parsePage(await other.submit(await other.open("/portal/2fa"), "Set up 2FA"));
    const authenticator = Authenticator.fromUri(
      page
        .all("a")
        .find((link) => link.getAttribute("href")?.startsWith("otpauth:"))
        ?.getAttribute("href") ?? null,
    );
    await other.submit(page, "Enable 2FA", { code: await authenticator.freshCode() });
    client.cookies.clear();
    expect((await client.post("/login", { email: owner.email, password: "a good password" })).status).toBe(303);
    for (const act of ["ask", "send", "finish"] as const) {
      const answer = await upload[act](chunkSize);
      expect([answer.status, answer.location?.split("?")[0]]).toEqual([303, "/login/verify"]);
    }
    expect((await listStored()).parts).toHaveLength(1);
    const onward = await createUpload(createPatternedPdf("a.pdf", fileSize), {}, other);
    expect(await onward.ask()).toMatchObject(createReceivedResponse(chunkSize));
  });
});

describe("failures of the file store", () => {
  test.each([503, "close"] as const)(
    "A failing store (%s) loses no stored bytes, and the upload continues.",
    async (fault) => {
      const upload = await createUpload(createPatternedPdf("a.pdf", fileSize));
      const way = createUploadStream(upload.content.slice(0, chunkSize));
      const sending = upload.stream(0, way.body);
      await expect.poll(async () => (await listStored()).parts.length).toBe(1);
      app.proxy.fail(fault, /^POST .*object\/upload-chunks/);
      way.send(upload.content.slice(chunkSize));
      way.end();
      const unavailable = createRejectedToast(expect.stringMatching("^Our records do not answer"));
      expect(await sending).toMatchObject({ status: 503, toast: unavailable });
      app.proxy.fail("none");
      expect(await upload.ask()).toMatchObject(createReceivedResponse(chunkSize));
      expect(await upload.send(chunkSize)).toMatchObject(createReceivedResponse(fileSize));
      app.proxy.fail(fault, /^GET .*object\/upload-chunks/);
      expect(await upload.finish()).toMatchObject({ status: 503, toast: unavailable });
      app.proxy.fail(fault, /^POST .*object\/documents/);
      expect(await upload.finish()).toMatchObject({ status: 503, toast: unavailable });
      expect(await getDocument()).toMatchObject({ uploaded: false });
      app.proxy.fail("none");
      expect(await upload.finish()).toMatchObject(uploadedResponse);
    },
  );

  test("A chunk whose response was lost is stored once.", async () => {
    const upload = await createUpload(createPatternedPdf("a.pdf", fileSize));
    app.proxy.fail("lost answer", /^POST .*object\/upload-chunks/);
    expect((await upload.send(0)).status).toBe(503);
    app.proxy.fail("none");
    expect(await upload.ask()).toMatchObject(createReceivedResponse(chunkSize));
    expect(await upload.send(chunkSize)).toMatchObject(createReceivedResponse(fileSize));
    expect((await listStored()).parts).toHaveLength(5);
    expect(await upload.finish()).toMatchObject(uploadedResponse);
  });
});

test("A file is stored once if the response to the last request was lost.", async () => {
  const upload = await createUpload(createPatternedPdf("a.pdf", fileSize));
  await upload.send(0);
  const [first, second] = await Promise.all([upload.finish(), upload.finish()]);
  expect([first, second]).toMatchObject([uploadedResponse, uploadedResponse]);
  expect(await upload.ask()).toMatchObject(uploadedResponse);
  expect(await upload.finish()).toMatchObject(uploadedResponse);
  expect(await upload.send(0)).toMatchObject(uploadedResponse);
  expect(await listStored()).toEqual({ files: [(await getDocument()).storage_path], parts: [] });
});

test("Two tabs that send the same file both get success, and the file is stored once.", async () => {
  const file = createPatternedPdf("a.pdf", fileSize);
  const [first, second] = [await createUpload(file), await createUpload(file)];
  const way = createUploadStream(first.content.slice(0, 300_000));
  const sending = first.stream(0, way.body);
  await expect.poll(async () => (await listStored()).parts.length).toBe(1);
  expect(await second.ask()).toMatchObject(createReceivedResponse(chunkSize));
  // The first gives way, with what has come of it.
  const { there, status } = await second.send(chunkSize);
  expect({ there, status }).toEqual({ there: 300_000, status: 409 });
  expect(await second.send(300_000)).toMatchObject(createReceivedResponse(fileSize));
  expect(await sending).toMatchObject({ status: 200 });
  expect(await Promise.all([first.finish(), second.finish()])).toMatchObject([uploadedResponse, uploadedResponse]);
  expect(await listStored()).toEqual({ files: [(await getDocument()).storage_path], parts: [] });
});

test("A chunk that another process has stored does not fail the upload.", async () => {
  const upload = await createUpload(createPatternedPdf("a.pdf", fileSize));
  await upload.send(0, chunkSize);
  const [first = ""] = (await listStored()).parts;
  const way = createUploadStream(upload.content.slice(chunkSize, chunkSize + 100));
  const asked = () => app.proxy.calls.filter((call) => call.includes("list_upload_chunks")).length;
  const before = asked();
  const sending = upload.stream(chunkSize, way.body);
  // It was asked how much is there, and is not any more.
  await expect.poll(asked).toBe(before + 2);
  const other = await app.company.storage
    .from("upload-chunks")
    .upload(first.replace(/0-\d+$/, `${chunkSize}-${chunkSize}`), upload.content.slice(chunkSize, 2 * chunkSize), {
      contentType: "application/octet-stream",
    });
  expect(other.error).toBeNull();
  way.send(upload.content.slice(chunkSize + 100));
  way.end();
  expect(await sending).toMatchObject(createReceivedResponse(fileSize));
  expect(await upload.finish()).toMatchObject(uploadedResponse);
});

describe("limits of unfinished uploads", () => {
  test("A fourth parallel upload of one account is rejected.", async () => {
    const names = ["Commercial Invoice", "Packing List", "Insurance Certificate", "Bill of Lading"];
    const uploads = await Promise.all(
      names.map(async (name) =>
        createResumableUpload(client, path, (await getDocument(path, name)).id, createPatternedPdf("a.pdf", fileSize)),
      ),
    );
    const ways = uploads.slice(0, 3).map((upload) => createUploadStream(upload.content.slice(0, chunkSize)));
    const sending = ways.map((way, index) => uploads[index]?.stream(0, way.body));
    await expect.poll(async () => (await listStored()).parts.length).toBe(3);
    const full = {
      status: 429,
      toast: createRejectedToast("Your other files are still on their way. Try again in a minute."),
    };
    expect(await uploads[3]?.send(0)).toMatchObject(full);
    expect(await uploads[3]?.finish()).toMatchObject(full);
    // The same file again takes the place of its own line that broke.
    expect(await uploads[0]?.send(chunkSize)).toMatchObject(createReceivedResponse(fileSize));
    for (const way of ways.slice(1)) way.end();
    await Promise.all(sending);
    expect(await uploads[3]?.send(0)).toMatchObject(createReceivedResponse(fileSize));
  });

  test("An account's oldest unfinished upload is deleted above 30 MB.", async () => {
    const invoice = (await getDocument()).id;
    const shipment = path.replace("/portal/", "");
    const others: Awaited<ReturnType<typeof createUpload>>[] = [];
    for (const [at, sha256] of ["a", "b", "c"].map((one) => one.repeat(64)).entries()) {
      const size = 9 * MiB;
      const folder = getUploadFolder({ account: owner.id, shipment, document: invoice, size, sha256 });
      // As if all but its end had come, one after the other.
      await sql`insert into storage.objects (bucket_id, name, created_at)
        values ('upload-chunks', ${`${folder}0-${size - chunkSize}`}, now() - make_interval(mins => ${10 - at}))`;
      others.push(await createUpload(createPdf(), { size: String(size), sha256 }));
    }
    const there = () => Promise.all(others.map(async (upload) => (await upload.ask()).there));
    expect(await there()).toEqual([9 * MiB - chunkSize, 9 * MiB - chunkSize, 9 * MiB - chunkSize]);
    const upload = await createUpload(createPatternedPdf("a.pdf", 6 * MiB));
    expect(await upload.send(0, chunkSize)).toMatchObject(createReceivedResponse(chunkSize));
    expect(await there()).toEqual([0, 9 * MiB - chunkSize, 9 * MiB - chunkSize]);
  });

  test("An account's longest inactive upload is deleted above 20 unfinished files.", async () => {
    const document = (await getDocument()).id;
    const shipment = path.replace("/portal/", "");
    const sha256 = (file: number) => file.toString(16).padStart(64, "0");
    for (let file = 0; file < 20; file += 1) {
      const folder = getUploadFolder({ account: owner.id, shipment, document, size: fileSize, sha256: sha256(file) });
      await sql`insert into storage.objects (bucket_id, name, created_at)
        values ('upload-chunks', ${`${folder}0-20000`}, now() - make_interval(mins => ${30 - file}))`;
    }
    const there = async (file: number) =>
      (await (await createUpload(createPdf(), { size: String(fileSize), sha256: sha256(file) })).ask()).there;
    const upload = await createUpload(createPatternedPdf("a.pdf", fileSize));
    expect(await upload.send(0, chunkSize)).toMatchObject(createReceivedResponse(chunkSize));
    expect([await there(0), await there(1)]).toEqual([0, 20_000]);
    expect(await upload.send(chunkSize)).toMatchObject(createReceivedResponse(fileSize));
    expect(await there(1)).toBe(20_000);
    // However many came by another process at the same time.
    await sql`insert into storage.objects (bucket_id, name)
      select 'upload-chunks', ${`${owner.id}/`} || file || '/0-20000' from generate_series(1, 40) as file`;
    expect(await upload.send(fileSize)).toMatchObject(createReceivedResponse(fileSize));
    const { parts } = await listStored();
    expect(new Set(parts.map((name) => name.split("/")[1])).size).toBe(20);
    expect(await upload.finish()).toMatchObject(uploadedResponse);
  });

  test("Chunks older than a day do not count and are deleted by the account's next upload.", async () => {
    const old = await createUpload(createPatternedPdf("a.pdf", fileSize));
    await old.send(0, 2 * chunkSize);
    await sql`update storage.objects set created_at = now() - interval '25 hours' where bucket_id = 'upload-chunks'
      and name like ${`${owner.id}/%`}`;
    expect(await old.ask()).toMatchObject(createReceivedResponse(0));
    expect((await listStored()).parts).toHaveLength(2);
    expect(await old.send(2 * chunkSize)).toMatchObject(createReceivedResponse(0, 409));
    expect((await listStored()).parts).toEqual([]);
  });

  test.each([
    ["", 200],
    [", even if no shipment update can be sent", 500],
  ])("The site deletes chunks older than a day every hour%s.", async (_also, status) => {
    const [old, fresh] = [
      await createUpload(createPatternedPdf("a.pdf", fileSize)),
      await createUpload(createPatternedPdf("b.pdf", 2 * MiB)),
    ];
    await old.send(0, chunkSize);
    const [past] = (await listStored()).parts;
    await fresh.send(0, 2 * chunkSize);
    const age = () => sql`update storage.objects set created_at = now() - interval '25 hours'
      where bucket_id = 'upload-chunks' and name = ${past ?? ""}`;
    await age();
    // No mail of another test is sent here.
    app.proxy.answer({ pattern: /claim_shipment_emails/, status, body: [] });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const stop = startBackgroundJobs();
    const parts = async () => {
      const { parts } = await listStored();
      return [parts.length, parts.includes(past ?? "")];
    };
    try {
      expect(await parts()).toEqual([3, true]);
      vi.advanceTimersByTime(30_000);
      await expect.poll(parts).toEqual([2, false]);
    } finally {
      vi.useRealTimers();
      await stop();
    }
    expect((await fresh.ask()).there).toBe(2 * chunkSize);
  });
});
