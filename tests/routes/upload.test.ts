import { createHash } from "node:crypto";
import process from "node:process";
import postgres from "postgres";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_DOCUMENTS } from "../../app/models/document.ts";
import { copyBrowser, replaceStoredFile } from "../support/route-fixtures.ts";
import { verifyDocumentByName } from "../support/service-role.ts";
import { rejectDocument, resultOrThrow } from "../support/staff-actions.ts";
import {
  createPdf,
  getTestApp,
  getText,
  logInToBackend,
  noStorePattern,
  type ParsedPage,
  parsePage,
  startTestSite,
  type TestBrowser,
} from "../support/test-app.ts";

let app: Awaited<ReturnType<typeof getTestApp>>;
let client: TestBrowser;
let owner: Awaited<ReturnType<typeof logInToBackend>> & { email: string };
let path: string;
beforeAll(async () => {
  app = await getTestApp();
  client = app.browser();
  const email = await client.signUpAndLogIn("Uploader");
  owner = { ...(await logInToBackend(email)), email };
});
beforeEach(async () => {
  path = await client.createShipment("Documents");
});

/** Chooses a file for the invoice of the shipment and presses Upload. */
const uploadInvoice = async (file?: File) =>
  client.submit(await client.open(path), "Upload the Commercial Invoice", file ? { file } : {});

/** The invoice as the backend has it. */
async function readInvoice(of = path) {
  const { data, error } = await owner.backend
    .from("documents")
    .select("id, uploaded, verified, storage_path, sha256, file_name, file_size, media_type")
    .eq("shipment_id", of.replace("/portal/", ""))
    .eq("name", "Commercial Invoice")
    .single();
  if (error) throw error;
  return data;
}

/** The invoice's file as its owner opens it. */
async function openInvoice(): Promise<Response> {
  return readWhole(await client.get(`${path}/documents/${(await readInvoice()).id}`));
}

/** An answer that has been read: one that is not keeps a place among those that the client is sent. */
const readWhole = async (answer: Response) => new Response(await answer.arrayBuffer(), answer);

/** The name of a stored file without the random part of its upload attempt. */
const getFileName = (path: string | null) =>
  path
    ?.split("/")
    .at(-1)
    ?.replace(/-[0-9a-f]{12}-/, "-");

/** The names of the files kept for the shipment. */
async function listFiles(): Promise<(string | undefined)[]> {
  const folder = path.replace("/portal", owner.id);
  const { data, error } = await app.company.storage.from("documents").list(folder);
  if (error) throw error;
  // The embedded backend names them by their whole path.
  return data.map(({ name }) => getFileName(name));
}

const notUploaded = { uploaded: false, verified: false, storage_path: null };
const pngBytes = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, ...Array(40).fill(1)]);

test("a file is stored under its owner, shipment and document, and the owner gets it back as it was", async () => {
  const file = createPdf("Invoice March.PDF", 12_345);
  const answer = await uploadInvoice(file);
  expect(answer.status).toBe(303);
  expect(answer.headers.get("Location")).toBe(path);
  expect(answer.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  const page = await client.follow(answer);
  expect(page.toasts).toEqual([
    { title: "Commercial Invoice uploaded", description: "We check it next.", variant: "default" },
  ]);
  expect(page.text).toContain("Commercial Invoice Uploaded, we check it next");
  expect(() => page.form("Upload the Commercial Invoice")).toThrow("No button");

  const { storage_path, ...recorded } = await readInvoice();
  expect(recorded).toMatchObject({ uploaded: true, verified: false });
  expect(storage_path).toMatch(
    new RegExp(`^${path.replace("/portal", owner.id)}/commercial-invoice-[0-9a-f]{12}-invoice-march\\.pdf$`),
  );
  const opened = await openInvoice();
  expect([opened.status, opened.headers.get("Content-Type")]).toEqual([200, "application/pdf"]);
  expect(await opened.text()).toBe(await file.text());
  expect(recorded).toMatchObject({
    sha256: createHash("sha256")
      .update(await file.text())
      .digest("hex"),
    file_name: "Invoice March.PDF",
    file_size: file.size,
    media_type: "application/pdf",
  });
});

test.each([
  [
    "a photo",
    "photo.jpeg",
    new Uint8Array([255, 216, 255, 224, 0, 16, 74, 70, 73, 70, 0, 1, ...Array(40).fill(1)]),
    "image/jpeg",
  ],
  ["a picture", "scan.png", pngBytes, "image/png"],
  ["a table", "list.csv", "Box,Weight\n1,20 kg\n", "text/csv"],
  ["a text", "note.txt", "Habari, karibu Mombasa: é", "text/plain"],
])("%s is taken, with the type of its kind whatever the browser calls it", async (_what, name, content, type) => {
  const answer = await uploadInvoice(new File([content], name, { type: "text/html" }));
  expect(answer.status).toBe(303);
  const opened = await openInvoice();
  expect([opened.status, opened.headers.get("Content-Type")?.split(";")[0]]).toEqual([200, type]);
  expect(Buffer.from(await opened.arrayBuffer())).toEqual(Buffer.from(content));
});

test("a file of exactly 10 MiB is taken", async () => {
  expect((await uploadInvoice(createPdf("large.pdf", 10 * 1024 * 1024))).status).toBe(303);
  expect((await readInvoice()).uploaded).toBe(true);
});

describe("an upload is refused, says why, and leaves the document as it was:", () => {
  const kinds = "PDF, photo (JPG, PNG, WebP, HEIC, TIFF), Word, Excel, ODT, RTF, CSV or text";
  const wrongKind = `We take ${kinds}. Choose a file of one of these kinds.`;
  const notPdf = "The content of this file is not what its ending .pdf says. Choose another one.";
  const tooLarge =
    "This file is over 10 MB. Scan or photograph it at a lower quality, send fewer pages, or e-mail it to us: nairobi@mizigo.example.";
  test.each<{ what: string; file: File; status?: number; reason: string }>([
    { what: "0 bytes", file: new File([], "empty.pdf"), reason: "This file is empty. Choose another one." },
    { what: "a program", file: new File(["MZ", "x".repeat(99)], "invoice.exe"), reason: wrongKind },
    { what: "a page", file: new File(["<script>alert(1)</script>"], "invoice.html"), reason: wrongKind },
    { what: "a picture with a script", file: new File(["<svg onload=alert(1)>"], "a.svg"), reason: wrongKind },
    { what: "no ending", file: new File(["%PDF-1.4 "], "invoice"), reason: wrongKind },
    { what: "two endings", file: new File(["%PDF-1.4 "], "invoice.pdf.exe"), reason: wrongKind },
    { what: "a PNG that says it is a PDF", file: new File([pngBytes], "scan.pdf"), reason: notPdf },
    { what: "a page that says it is a PDF", file: new File(["<h1>Hello</h1>"], "a.pdf"), reason: notPdf },
    {
      what: "a program that says it is a text",
      file: new File([new Uint8Array([77, 90, 0, 0, 1])], "a.txt"),
      reason: "The content of this file is not what its ending .txt says. Choose another one.",
    },
  ])("$what", async ({ file, reason }) => {
    const answer = await uploadInvoice(file);
    expect(answer.status).toBe(400);
    expect(answer.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    const page = await parsePage(answer);
    expect(page.title).toMatch(/^Error: Documents · /);
    expect(page.toasts).toEqual([{ title: "Upload failed", description: reason, variant: "destructive" }]);
    const field = page.all("main input[aria-invalid]")[0];
    expect(page.problems).toEqual([{ text: reason, id: field?.id }]);
    expect(getText(page.all(`[id=${field?.getAttribute("aria-describedby")}]`)[0])).toBe(reason);
    expect(getText(page.all(`label[for=${field?.id}]`)[0])).toBe("File for the Commercial Invoice");
    expect(await readInvoice()).toMatchObject(notUploaded);
    expect(await listFiles()).toEqual([]);

    const again = await client.submit(page, "Upload the Commercial Invoice", { file: createPdf() });
    expect(again.status).toBe(303);
  });

  test.each([
    ["11 MiB", 11 * 1024 * 1024],
    ["one byte over 10 MiB", 10 * 1024 * 1024 + 1],
  ])("%s", async (_what, size) => {
    const page = await parsePage(await uploadInvoice(createPdf("large.pdf", size)));
    expect(page.status).toBe(413);
    expect(page.title).toMatch(/^Error: /);
    expect(page.toasts).toEqual([{ title: "Upload failed", description: tooLarge, variant: "destructive" }]);
    expect(await readInvoice()).toMatchObject(notUploaded);
  });

  test("two files in one form: one at a time", async () => {
    const form = { file: createPdf("invoice.pdf"), another: createPdf("packing-list.pdf") };
    const page = await parsePage(await client.submit(await client.open(path), "Upload the Commercial Invoice", form));
    expect(page.status).toBe(400);
    expect(page.text).toContain("Send one file at a time.");
    expect(await readInvoice()).toMatchObject(notUploaded);
    expect(await listFiles()).toEqual([]);
  });

  test("no file, with the words of the catalogue", async () => {
    const page = await parsePage(await uploadInvoice());
    expect(page.status).toBe(400);
    expect(page.toasts).toEqual([{ title: "No file selected.", description: "", variant: "destructive" }]);
    expect(page.problems.map(({ text }) => text)).toEqual(["No file selected."]);
    expect(page.has(page.problems[0]?.id ?? "")).toBe(true);
    expect(await readInvoice()).toMatchObject(notUploaded);
  });

  test("a text in place of the file", async () => {
    const page = await parsePage(await client.post(path, { document: (await readInvoice()).id, file: "invoice.pdf" }));
    expect(page.status).toBe(400);
    expect(page.toasts[0]?.title).toBe("No file selected.");
  });
});

describe("whatever its name, a file is stored under a name that is safe:", () => {
  test.each([
    ["../../etc/passwd.pdf", "etc-passwd.pdf"],
    ["..\\..\\windows\\system.pdf", /^windows-?system\.pdf$/],
    ["a\"b'c.pdf", /^a-(22)?b-c\.pdf$/],
    ["new\nline.pdf", /^new-?(0a)?-?line\.pdf$/],
    ["فاتورة.pdf", /^[a-z][a-z-]*\.pdf$/],
    ["发票 三月.pdf", /^[a-z][a-z-]*\.pdf$/],
    ["<script>alert(1)</script>.pdf", "script-alert-1-script.pdf"],
    ["%2e%2e%2f.pdf", "2e-2e-2f.pdf"],
    ["🚢.pdf", /^[a-z-]+\.pdf$/],
    ["CON.pdf", "con.pdf"],
    [".pdf", "file.pdf"],
    [`${"n".repeat(296)}.pdf`, `${"n".repeat(80)}.pdf`],
  ])("%j", async (name, safe) => {
    expect((await uploadInvoice(createPdf(name))).status).toBe(303);
    const { storage_path } = await readInvoice();
    const [user, shipment, kept, ...rest] = (storage_path ?? "").split("/");
    expect([user, shipment, rest]).toEqual([owner.id, path.replace("/portal/", ""), []]);
    expect(kept).toMatch(/^commercial-invoice-[0-9a-f]{12}-/);
    expect(kept?.replace(/^commercial-invoice-[0-9a-f]{12}-/, "")).toMatch(
      typeof safe === "string" ? new RegExp(`^${safe.replace(".", "\\.")}$`) : safe,
    );
    expect(await listFiles()).toEqual([getFileName(storage_path)]);
  });
});

describe("a document", () => {
  /** Posts a file for a document by hand, as a page out of date or a stranger would. */
  async function post(document: string, to = path, file = createPdf()) {
    const form = new FormData();
    form.append("document", document);
    form.append("file", file);
    return parsePage(await client.post(to, form));
  }

  test("takes one file: a second one is refused and changes nothing", async () => {
    const first = await client.open(path);
    await client.follow(await client.submit(first, "Upload the Commercial Invoice", { file: createPdf("first.pdf") }));
    const before = await readInvoice();
    for (const name of ["first.pdf", "second.pdf"]) {
      const file = createPdf(name, 5000);
      const page = await parsePage(await client.submit(first, "Upload the Commercial Invoice", { file }));
      expect(page.status).toBe(409);
      expect(page.toasts).toEqual([
        {
          title: "Upload failed",
          description: "This document has been uploaded already.",
          variant: "destructive",
        },
      ]);
      for (const { id } of page.problems) expect(page.has(id), `the link to #${id}`).toBe(true);
    }
    expect(await readInvoice()).toEqual(before);
    expect(await listFiles()).toEqual(["commercial-invoice-first.pdf"]);
    expect((await openInvoice()).headers.get("Content-Length")).toBe("2000");
  });

  test("of a closed shipment takes none: nothing asks for one, and who sends one all the same is told", async () => {
    const before = await client.open(path);
    await client.submit(before, "Upload the Commercial Invoice", { file: createPdf() });
    const asking = await client.open(path);
    expect(asking.text).toContain("Up to 10 MB each: PDF");
    expect(asking.text).toContain("Larger files: nairobi@mizigo.example");
    const id = path.replace("/portal/", "");
    expect((await app.company.from("shipments").update({ stage: 10 }).eq("id", id)).error).toBeNull();

    const closed = await client.open(path);
    expect(closed.text).toContain("Packing List Not uploaded");
    expect(closed.text).not.toMatch(/Up to 10 MB|Larger files/);
    expect(closed.all("main input[type=file]")).toEqual([]);
    const page = await parsePage(await client.submit(asking, "Upload the Packing List", { file: createPdf() }));
    expect(page.status).toBe(409);
    const description = "This shipment is closed: nothing more can be uploaded to it.";
    expect(page.toasts).toEqual([{ title: "Upload failed", description, variant: "destructive" }]);
    for (const { id } of page.problems) expect(page.has(id), `the link to #${id}`).toBe(true);
    expect(await listFiles()).toEqual(["commercial-invoice-invoice.pdf"]);
  });

  test("says which files are taken only while one of the shipment is awaited", async () => {
    for (const name of DEFAULT_DOCUMENTS) {
      const page = await client.open(path);
      expect(page.text).toContain("Up to 10 MB each");
      await client.submit(page, `Upload the ${name}`, { file: createPdf() });
    }
    expect((await client.open(path)).text).not.toMatch(/Up to 10 MB|Larger files/);
  });

  test("that was verified takes none either", async () => {
    const first = await client.open(path);
    await client.submit(first, "Upload the Commercial Invoice", { file: createPdf() });
    await verifyDocumentByName(app.company, path.replace("/portal/", ""), "Commercial Invoice");
    const page = await parsePage(
      await client.submit(first, "Upload the Commercial Invoice", { file: createPdf("b.pdf") }),
    );
    expect(page.status).toBe(409);
    expect((await readInvoice()).verified).toBe(true);
  });

  test("takes one of five files sent at once, and keeps no other", async () => {
    const page = await client.open(path);
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map((number) =>
        client.submit(page, "Upload the Commercial Invoice", { file: createPdf(`${number}.pdf`, 1000 + number) }),
      ),
    );
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    const { uploaded, storage_path } = await readInvoice();
    expect(uploaded).toBe(true);
    expect(await listFiles()).toEqual([getFileName(storage_path)]);
    const winner = answers.findIndex(({ status }) => status === 303) + 1;
    expect((await openInvoice()).headers.get("Content-Length")).toBe(String(1000 + winner));
  });

  test("of another shipment, a stranger's, or none at all is refused, and nothing is written", async () => {
    const other = await client.createShipment("Another");
    const stranger = app.browser();
    const strangers = await logInToBackend(await stranger.signUpAndLogIn("Stranger"));
    const theirs = await stranger.createShipment("Theirs");
    const { data } = await strangers.backend.from("documents").select("id").limit(1).single();
    const ids = [(await readInvoice(other)).id, data?.id ?? "", "0b51e3a8-0000-4000-8000-000000000000", "x", ""];
    const calls = await app.proxy.during(async () => {
      for (const id of ids) {
        const page = await post(id);
        expect(page.status).toBe(400);
        expect(page.toasts).toEqual([
          {
            title: "Upload failed",
            description: "Choose the document that the file belongs to.",
            variant: "destructive",
          },
        ]);
      }
    });
    expect(calls.filter((call) => !call.startsWith("GET "))).toEqual([]);
    expect(await readInvoice()).toMatchObject(notUploaded);
    expect(await readInvoice(other)).toMatchObject(notUploaded);
    expect((await stranger.open(theirs)).text).not.toContain("Uploaded");
  });

  test("is not guessed at when its id is sent twice", async () => {
    const form = new FormData();
    form.append("document", (await readInvoice()).id);
    form.append("document", "0b51e3a8-0000-4000-8000-000000000000");
    form.append("file", createPdf());
    expect((await client.post(path, form)).status).toBe(400);
    expect(await readInvoice()).toMatchObject(notUploaded);
  });

  test("takes one file of a form with two", async () => {
    const form = new FormData();
    form.append("document", (await readInvoice()).id);
    form.append("file", createPdf("a.pdf"));
    form.append("file", createPdf("b.pdf"));
    expect((await client.post(path, form)).status).toBe(400);
    expect(await readInvoice()).toMatchObject(notUploaded);
  });
});

describe("an upload that a script watches", () => {
  const json = { Accept: "application/json" };
  const stored = { title: "Commercial Invoice uploaded", description: "We check it next.", variant: "default" };
  const refused = (description: unknown) => ({ title: "Upload failed", description, variant: "destructive" });

  /** Posts a file to the address for scripts, or nothing in its place. */
  async function watch(file: File | null, headers: Record<string, string> = json, from = client, to = path) {
    const form = new FormData();
    form.append("document", (await readInvoice()).id);
    if (file) form.append("file", file);
    return from.post(`${to}/documents`, form, headers);
  }

  test("is stored as from the page, answered with the toast as data, and leaves no toast for the next page", async () => {
    const answer = await watch(createPdf("March.pdf", 3000));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("Content-Type")).toMatch(/^application\/json/);
    expect(answer.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    expect(await answer.json()).toEqual({ toast: stored });
    expect((await readInvoice()).uploaded).toBe(true);
    expect(await listFiles()).toEqual(["commercial-invoice-march.pdf"]);
    expect((await client.open(path)).toasts).toEqual([]);
  });

  test("goes back to the shipment with the toast when it was a browser's own form", async () => {
    const answer = await watch(createPdf(), { Accept: "text/html" });
    expect(answer.status).toBe(303);
    expect(answer.headers.get("Location")).toBe(path);
    expect(await answer.text()).toBe("");
    expect((await client.follow(answer)).toasts).toEqual([stored]);
  });

  test("that is refused shows a browser its reason on the page of the shipment", async () => {
    const answer = await watch(new File([], "empty.pdf"), {});
    expect((await client.follow(answer)).toasts).toEqual([refused("This file is empty. Choose another one.")]);
    expect(await readInvoice()).toMatchObject(notUploaded);
  });

  test.each<{ what: string; file: File | null; status: number; toast: object }>([
    {
      what: "an empty file",
      file: new File([], "a.pdf"),
      status: 400,
      toast: refused("This file is empty. Choose another one."),
    },
    {
      what: "a PNG that says it is a PDF",
      file: new File([pngBytes], "a.pdf"),
      status: 400,
      toast: refused("The content of this file is not what its ending .pdf says. Choose another one."),
    },
    {
      what: "a file over 10 MB",
      file: createPdf("a.pdf", 10 * 1024 * 1024 + 1),
      status: 413,
      toast: refused(expect.stringMatching(/^This file is over 10 MB\. Scan or .*nairobi@mizigo\.example\.$/)),
    },
    { what: "no file", file: null, status: 400, toast: { title: "No file selected.", variant: "destructive" } },
  ])("of $what is refused in the words of the page, and nothing is kept", async ({ file, status, toast }) => {
    const answer = await watch(file);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toEqual({ toast });
    expect(await readInvoice()).toMatchObject(notUploaded);
    expect(await listFiles()).toEqual([]);
  });

  test("of a document that has its file is 409", async () => {
    await watch(createPdf("first.pdf"));
    const answer = await watch(createPdf("second.pdf"));
    expect(answer.status).toBe(409);
    expect(await answer.json()).toEqual({ toast: refused("This document has been uploaded already.") });
    expect(await listFiles()).toEqual(["commercial-invoice-first.pdf"]);
  });

  test("is the same 404 for a stranger and for a shipment that does not exist, and nothing is written", async () => {
    const stranger = app.browser();
    await stranger.signUpAndLogIn("Stranger");
    for (const to of [path, "/portal/0b51e3a8-0000-4000-8000-000000000000", "/portal/not-a-uuid"]) {
      const answer = await watch(createPdf(), json, stranger, to);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toEqual({ toast: refused("There is no such shipment.") });
      expect((await stranger.follow(await watch(createPdf(), {}, stranger, to))).status).toBe(404);
    }
    expect(await readInvoice()).toMatchObject(notUploaded);
    expect(await listFiles()).toEqual([]);
  });

  test("of somebody who is signed out goes to the login, and on to the shipment after it", async () => {
    const visitor = app.browser();
    for (const headers of [json, {}]) {
      const answer = await watch(createPdf(), headers, visitor);
      expect(answer.status).toBe(303);
      expect(answer.headers.get("Location")).toBe(`/login?next=${encodeURIComponent(`${path}/documents`)}`);
    }
    expect((await client.get(`${path}/documents`)).headers.get("Location")).toBe(path);
    expect(await listFiles()).toEqual([]);
  });

  test("that the backend does not take says so, and the same form succeeds when it does", async () => {
    app.proxy.fail(503, /^POST .*storage/);
    const answer = await watch(createPdf());
    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({ toast: refused(expect.stringMatching("Our records do not answer")) });
    app.proxy.fail("none");
    expect((await watch(createPdf())).status).toBe(200);
  });

  test("while nobody can tell who sends it is a message, not a page", async () => {
    app.proxy.fail(503);
    const answer = await client.post(`${path}/documents`, new FormData(), json).finally(() => app.proxy.fail("none"));
    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({ toast: refused(expect.stringMatching("Our records do not answer")) });
  });
});

/** The row of the invoice on the page of its shipment: its state and its file in words. */
function readInvoiceRow(page: ParsedPage): string[] {
  const row = page.all("main li").find((item) => getText(item.querySelector("p")) === "Commercial Invoice");
  return row?.querySelectorAll("p").slice(1, 3).map(getText) ?? [];
}

describe("a stored file", () => {
  let sql: postgres.Sql;
  let stranger: TestBrowser;
  beforeAll(async () => {
    sql = postgres(process.env.TESTS_DATABASE_URL ?? "", { max: 1, onnotice: () => undefined });
    stranger = app.browser();
    await stranger.signUpAndLogIn("Stranger");
  });
  afterAll(() => sql.end());

  /** Changes a time that the rules of the database keep. */
  const asIfAt = (...statement: [TemplateStringsArray, string]) =>
    sql.begin(async (own) => {
      await own`set local session_replication_role = replica`;
      await own(...statement);
    });
  const takeBack = "Take it back: the Commercial Invoice";
  const idOf = (shipment: string) => shipment.replace("/portal/", "");
  /** Where the invoice of the shipment is opened, as its page says. */
  const addressOn = (page: ParsedPage) =>
    page
      .all("main li a")
      .find((link) => getText(link) === "Open the Commercial Invoice")
      ?.getAttribute("href") ?? "";

  test("says its own name, its size and when it came in East Africa Time, and why it was sent back", async () => {
    await client.follow(await uploadInvoice(createPdf("invoice-2291.pdf", 212 * 1024 - 5)));
    const { id } = await readInvoice();
    const [row] = await sql`select uploaded_at from documents where id = ${id}`;
    const nairobi = new Date(row?.uploaded_at.valueOf() + 3 * 3_600_000).toISOString();
    expect(readInvoiceRow(await client.open(path))).toEqual([
      "Uploaded, we check it next",
      `invoice-2291.pdf, 212 KB, ${nairobi.slice(11, 16)} EAT`,
    ]);
    await asIfAt`update documents set uploaded_at = '2020-05-12T11:05:00Z' where id = ${id}`;
    expect(readInvoiceRow(await client.open(path))[1]).toBe("invoice-2291.pdf, 212 KB, 12 May 2020, 14:05 EAT");

    resultOrThrow(await rejectDocument(app.company, id, "page 2 is unreadable", {}));
    const page = await client.open(path);
    expect(readInvoiceRow(page)[0]).toMatch(/^Sent back \d{1,2} [A-Z][a-z]{2,3}: page 2 is unreadable$/);
    expect([addressOn(page), page.text.includes("invoice-2291.pdf")]).toEqual(["", false]);
    await asIfAt`update documents set rejected_at = '2020-05-12T22:30:00Z' where id = ${id}`;
    expect(readInvoiceRow(await client.open(path))[0]).toBe("Sent back 13 May 2020: page 2 is unreadable");
    expect((await openInvoice()).status).toBe(404);
  });

  test.each([
    ["invoice 2291.pdf", 'filename="invoice 2291.pdf"'],
    ["50% off; x=y.pdf", 'filename="50% off; x=y.pdf"'],
    ["فاتورة.pdf", `filename="??????.pdf"; filename*=UTF-8''${encodeURIComponent("فاتورة")}.pdf`],
  ])("named %s is a download under that name, kept by nobody and sandboxed", async (name, told) => {
    const file = createPdf(name);
    await client.follow(await uploadInvoice(file));
    const address = addressOn(await client.open(path));
    expect(address).toBe(`${path}/documents/${(await readInvoice()).id}`);
    const opened = await client.get(address);
    expect(opened.status).toBe(200);
    expect(opened.headers.get("Content-Disposition")).toBe(`attachment; ${told}`);
    expect(opened.headers.get("Cache-Control")).toBe("private, no-store");
    expect(opened.headers.get("Content-Security-Policy")).toBe("sandbox; default-src 'none'");
    expect([opened.headers.get("Content-Type"), await opened.text()]).toEqual(["application/pdf", await file.text()]);
  });

  test("is sent by the site with what keeps browsers from guessing what it is, and never as a page", async () => {
    await client.follow(await uploadInvoice(new File(["<script>alert(1)</script>"], "page.txt")));
    const site = await startTestSite();
    try {
      const browser = site.browser();
      for (const [name, value] of client.cookies) browser.cookies.set(name, value);
      const opened = await browser.get(`${path}/documents/${(await readInvoice()).id}`);
      const told = (name: string) => opened.headers.get(name);
      expect([opened.status, told("X-Content-Type-Options"), told("Content-Security-Policy")]).toEqual([
        200,
        "nosniff",
        "sandbox; default-src 'none'",
      ]);
      expect([told("Content-Type"), told("Cache-Control")]).toEqual([
        expect.stringMatching(/^text\/plain/),
        "private, no-store",
      ]);
      expect(told("Content-Disposition")).toMatch(/^attachment; /);
      expect(told("ETag")).toBeNull();
    } finally {
      await site.close();
    }
  });

  test("is the same 404 for a stranger, another shipment, none, and what is no id", async () => {
    await client.follow(await uploadInvoice(createPdf()));
    const { id } = await readInvoice();
    const another = await client.createShipment("Another");
    const none = "0b51e3a8-0000-4000-8000-000000000000";
    const asked: [TestBrowser, string][] = [
      [stranger, `${path}/documents/${id}`],
      [client, `${another}/documents/${id}`],
      [client, `${another}/documents/${(await readInvoice(another)).id}`],
      [client, `${path}/documents/${none}`],
      [client, `/portal/${none}/documents/${id}`],
      [client, `/portal/x/documents/${id}`],
      [client, `${path}/documents/x`],
      [client, `${path}/documents/%00`],
      [client, `${path}/documents/${id}'%20or%201=1`],
      [client, `${path}/documents/..%2f..%2fetc%2fpasswd`],
    ];
    const pages = await Promise.all(asked.map(([browser, address]) => browser.open(address)));
    for (const [index, page] of pages.entries()) {
      const look = { status: page.status, title: page.title, text: page.text };
      expect([asked[index]?.[1], look]).toEqual([
        asked[index]?.[1],
        { status: 404, title: pages[0]?.title, text: pages[0]?.text },
      ]);
      expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    }
    expect(pages[0]?.html).not.toContain("%PDF");
  });

  test("asks who is signed out to log in, and whose session was ended elsewhere", async () => {
    await client.follow(await uploadInvoice(createPdf()));
    const address = `${path}/documents/${(await readInvoice()).id}`;
    const left = app.browser();
    await left.logIn(owner.email);
    const kept = copyBrowser(app, left);
    expect((await readWhole(await kept.get(address))).status).toBe(200);
    await left.post("/portal/sign-out", {});
    for (const browser of [app.browser(), kept]) {
      const answer = await browser.get(address);
      expect([answer.status, answer.headers.get("Location"), await answer.text()]).toEqual([
        303,
        // The page that the file is on: a login cannot lead to a download.
        `/login?next=${encodeURIComponent(path)}`,
        "",
      ]);
    }
  });

  test("is not given out when another one lies in its place", async () => {
    await client.follow(await uploadInvoice(createPdf()));
    const { storage_path } = await readInvoice();
    await replaceStoredFile(app.company, storage_path ?? "");
    const page = await parsePage(await openInvoice());
    expect(page.status).toBe(409);
    expect(page.html).not.toContain("%PDF");
    expect(page.text).toContain("The stored file is not the one that was uploaded.");
    await app.company.storage.from("documents").remove([storage_path ?? ""]);
    expect((await openInvoice()).status).toBe(409);
  });

  test("is an answer of words when the store does not answer, and is given out again later", async () => {
    await client.follow(await uploadInvoice(createPdf()));
    const { id } = await readInvoice();
    app.proxy.fail(503, /^GET [^?]*\/storage\/v1\//);
    const answer = await client.get(`${path}/documents/${id}`).finally(() => app.proxy.fail("none"));
    const page = await parsePage(answer);
    expect([page.status, page.html.includes("%PDF")]).toEqual([503, false]);
    expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    expect((await openInvoice()).status).toBe(200);
  });

  test("can be taken back until it is verified: the row asks for one again, and the stored one is gone", async () => {
    await client.follow(await uploadInvoice(createPdf("wrong.pdf")));
    const page = await client.open(path);
    const answer = await client.submit(page, takeBack);
    expect(answer.headers.get("Location")).toBe(path);
    const after = await client.follow(answer);
    expect(after.toasts).toEqual([
      { title: "Taken back", description: "Send us another file for it.", variant: "default" },
    ]);
    expect(readInvoiceRow(after)[0]).toBe("Not uploaded");
    expect(after.text).not.toContain("wrong.pdf");
    expect(await readInvoice()).toMatchObject({ ...notUploaded, sha256: null, file_name: null, file_size: null });
    expect(await listFiles()).toEqual([]);
    expect((await openInvoice()).status).toBe(404);

    const again = await client.follow(await client.submit(page, takeBack));
    expect(again.toasts[0]).toMatchObject({ title: "Not taken back", variant: "destructive" });
    expect(again.toasts[0]?.description).toBe(
      "The Commercial Invoice has changed since you opened this page. Look at it again.",
    );
    expect((await uploadInvoice(createPdf("right.pdf"))).status).toBe(303);
    // The page of the file before speaks of that one.
    const late = await client.follow(await client.submit(page, takeBack));
    expect(late.toasts[0]?.description).toContain("has changed since you opened this page");
    expect([(await readInvoice()).uploaded, await listFiles()]).toEqual([true, ["commercial-invoice-right.pdf"]]);
  });

  test("stays when it is verified, when its shipment is closed, and when a stranger asks", async () => {
    await client.follow(await uploadInvoice(createPdf()));
    const page = await client.open(path);
    const { action, fields } = page.form(takeBack);
    const refused = async (browser = client, sent = fields as Record<string, string>) =>
      (await browser.follow(await browser.post(action, sent))).toasts[0]?.description;
    expect((await stranger.post(action, fields as Record<string, string>)).status).toBe(404);
    expect((await readInvoice()).uploaded).toBe(true);
    for (const expectedVersion of ["", "x", "-1", "99999999999"])
      expect(await refused(client, { expectedVersion })).toContain("has changed");
    expect(await refused(client, {})).toContain("has changed");
    expect((await client.post(`${path}/documents/x`, { expectedVersion: "1" })).status).toBe(404);

    expect((await app.company.from("shipments").update({ stage: 10 }).eq("id", idOf(path))).error).toBeNull();
    const closed = await client.open(path);
    expect(() => closed.form(takeBack)).toThrow("No button");
    expect((await readWhole(await client.get(addressOn(closed)))).status).toBe(200);
    expect(await refused()).toBe("This shipment is closed: its documents stay as they are.");

    expect((await app.company.from("shipments").update({ stage: 2 }).eq("id", idOf(path))).error).toBeNull();
    await verifyDocumentByName(app.company, idOf(path), "Commercial Invoice");
    const verified = await client.open(path);
    expect(() => verified.form(takeBack)).toThrow("No button");
    expect(await refused()).toBe("The Commercial Invoice is verified by now: call us if it is not the right one.");
    expect([(await readInvoice()).verified, (await openInvoice()).status]).toEqual([true, 200]);
  });

  test("that a colleague verifies at the moment it is taken back is verified and there, or neither", async () => {
    const outcomes = new Set<string>();
    for (let round = 0; round < 6; round += 1) {
      path = await client.createShipment(`Round ${round}`);
      await client.follow(await uploadInvoice(createPdf()));
      const page = await client.open(path);
      const [answer] = await Promise.all([
        client.submit(page, takeBack),
        verifyDocumentByName(app.company, idOf(path), "Commercial Invoice").catch((error: Error) => error),
      ]);
      const toast = (await client.follow(answer)).toasts[0]?.title ?? "";
      const { uploaded, verified } = await readInvoice();
      const kept = (await listFiles()).length;
      const opened = (await openInvoice()).status;
      outcomes.add(JSON.stringify([toast, uploaded, verified, kept, opened]));
    }
    for (const outcome of outcomes) {
      expect([
        JSON.stringify(["Taken back", false, false, 0, 404]),
        JSON.stringify(["Not taken back", true, true, 1, 200]),
      ]).toContain(outcome);
    }
  });
});
