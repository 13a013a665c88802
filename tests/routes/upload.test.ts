import { createHash } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_DOCUMENTS } from "../../app/models/document.ts";
import { verify } from "../support/company.ts";
import { type Browser, handleOf, keptByNobody, pdf, read, theApp, words } from "../support/routes.ts";

let app: Awaited<ReturnType<typeof theApp>>;
let client: Browser;
let owner: Awaited<ReturnType<typeof handleOf>>;
let path: string;
beforeAll(async () => {
  app = await theApp();
  client = app.browser();
  owner = await handleOf(await client.signUpAndIn("Uploader"));
});
beforeEach(async () => {
  path = await client.createShipment("Documents");
});

/** Chooses a file for the invoice of the shipment and presses Upload. */
const send = async (file?: File) =>
  client.press(await client.open(path), "Upload the Commercial Invoice", file ? { file } : {});

/** The invoice as the backend has it. */
async function invoice(of = path) {
  const { data, error } = await owner.backend
    .from("documents")
    .select("id, uploaded, verified, storage_path, sha256, file_name, file_size, media_type")
    .eq("shipment_id", of.replace("/portal/", ""))
    .eq("name", "Commercial Invoice")
    .single();
  if (error) throw error;
  return data;
}

/** The name of a stored file without the random part of its upload attempt. */
const nameOf = (path: string | null) =>
  path
    ?.split("/")
    .at(-1)
    ?.replace(/-[0-9a-f]{12}-/, "-");

/** The names of the files kept for the shipment. */
async function files(): Promise<(string | undefined)[]> {
  const folder = path.replace("/portal", owner.id);
  const { data, error } = await app.company.storage.from("documents").list(folder);
  if (error) throw error;
  // The embedded backend names them by their whole path.
  return data.map(({ name }) => nameOf(name));
}

const notUploaded = { uploaded: false, verified: false, storage_path: null };
const png = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, ...Array(40).fill(1)]);

test("a file is stored under its owner, shipment and document, and the owner gets it back as it was", async () => {
  const file = pdf("Invoice March.PDF", 12_345);
  const answer = await send(file);
  expect(answer.status).toBe(303);
  expect(answer.headers.get("Location")).toBe(path);
  expect(answer.headers.get("Cache-Control") ?? "").toMatch(keptByNobody);
  const page = await client.follow(answer);
  expect(page.toasts).toEqual([
    { title: "Commercial Invoice uploaded", description: "We check it next.", variant: "default" },
  ]);
  expect(page.text).toContain("Commercial Invoice Uploaded, we check it next");
  expect(() => page.form("Upload the Commercial Invoice")).toThrow("No button");

  const { storage_path, ...recorded } = await invoice();
  expect(recorded).toMatchObject({ uploaded: true, verified: false });
  expect(storage_path).toMatch(
    new RegExp(`^${path.replace("/portal", owner.id)}/commercial-invoice-[0-9a-f]{12}-invoice-march\\.pdf$`),
  );
  const { data } = await owner.backend.storage.from("documents").download(storage_path ?? "");
  expect(data?.type).toBe("application/pdf");
  expect(await data?.text()).toBe(await file.text());
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
  ["a picture", "scan.png", png, "image/png"],
  ["a table", "list.csv", "Box,Weight\n1,20 kg\n", "text/csv"],
  ["a text", "note.txt", "Habari, karibu Mombasa: é", "text/plain"],
])("%s is taken, with the type of its kind whatever the browser calls it", async (_what, name, content, type) => {
  const answer = await send(new File([content], name, { type: "text/html" }));
  expect(answer.status).toBe(303);
  const { data } = await owner.backend.storage.from("documents").download((await invoice()).storage_path ?? "");
  expect(data?.type.split(";")[0]).toBe(type);
});

test("a file of exactly 10 MiB is taken", async () => {
  expect((await send(pdf("large.pdf", 10 * 1024 * 1024))).status).toBe(303);
  expect((await invoice()).uploaded).toBe(true);
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
    { what: "a PNG that says it is a PDF", file: new File([png], "scan.pdf"), reason: notPdf },
    { what: "a page that says it is a PDF", file: new File(["<h1>Hello</h1>"], "a.pdf"), reason: notPdf },
    {
      what: "a program that says it is a text",
      file: new File([new Uint8Array([77, 90, 0, 0, 1])], "a.txt"),
      reason: "The content of this file is not what its ending .txt says. Choose another one.",
    },
  ])("$what", async ({ file, reason }) => {
    const answer = await send(file);
    expect(answer.status).toBe(400);
    expect(answer.headers.get("Cache-Control") ?? "").toMatch(keptByNobody);
    const page = await read(answer);
    expect(page.title).toMatch(/^Error: Documents · /);
    expect(page.toasts).toEqual([{ title: "Upload failed", description: reason, variant: "destructive" }]);
    const field = page.all("main input[aria-invalid]")[0];
    expect(page.problems).toEqual([{ text: reason, id: field?.id }]);
    expect(words(page.all(`[id=${field?.getAttribute("aria-describedby")}]`)[0])).toBe(reason);
    expect(words(page.all(`label[for=${field?.id}]`)[0])).toBe("File for the Commercial Invoice");
    expect(await invoice()).toMatchObject(notUploaded);
    expect(await files()).toEqual([]);

    const again = await client.press(page, "Upload the Commercial Invoice", { file: pdf() });
    expect(again.status).toBe(303);
  });

  test.each([
    ["11 MiB", 11 * 1024 * 1024],
    ["one byte over 10 MiB", 10 * 1024 * 1024 + 1],
  ])("%s", async (_what, size) => {
    const page = await read(await send(pdf("large.pdf", size)));
    expect(page.status).toBe(413);
    expect(page.title).toMatch(/^Error: /);
    expect(page.toasts).toEqual([{ title: "Upload failed", description: tooLarge, variant: "destructive" }]);
    expect(await invoice()).toMatchObject(notUploaded);
  });

  test("two files in one form: one at a time", async () => {
    const form = { file: pdf("invoice.pdf"), another: pdf("packing-list.pdf") };
    const page = await read(await client.press(await client.open(path), "Upload the Commercial Invoice", form));
    expect(page.status).toBe(400);
    expect(page.text).toContain("Send one file at a time.");
    expect(await invoice()).toMatchObject(notUploaded);
    expect(await files()).toEqual([]);
  });

  test("no file, with the words of the catalogue", async () => {
    const page = await read(await send());
    expect(page.status).toBe(400);
    expect(page.toasts).toEqual([{ title: "No file selected.", description: "", variant: "destructive" }]);
    expect(page.problems.map(({ text }) => text)).toEqual(["No file selected."]);
    expect(page.has(page.problems[0]?.id ?? "")).toBe(true);
    expect(await invoice()).toMatchObject(notUploaded);
  });

  test("a text in place of the file", async () => {
    const page = await read(await client.post(path, { document: (await invoice()).id, file: "invoice.pdf" }));
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
    expect((await send(pdf(name))).status).toBe(303);
    const { storage_path } = await invoice();
    const [user, shipment, kept, ...rest] = (storage_path ?? "").split("/");
    expect([user, shipment, rest]).toEqual([owner.id, path.replace("/portal/", ""), []]);
    expect(kept).toMatch(/^commercial-invoice-[0-9a-f]{12}-/);
    expect(kept?.replace(/^commercial-invoice-[0-9a-f]{12}-/, "")).toMatch(
      typeof safe === "string" ? new RegExp(`^${safe.replace(".", "\\.")}$`) : safe,
    );
    expect(await files()).toEqual([nameOf(storage_path)]);
  });
});

describe("a document", () => {
  /** Posts a file for a document by hand, as a page out of date or a stranger would. */
  async function post(document: string, to = path, file = pdf()) {
    const form = new FormData();
    form.append("document", document);
    form.append("file", file);
    return read(await client.post(to, form));
  }

  test("takes one file: a second one is refused and changes nothing", async () => {
    const first = await client.open(path);
    await client.follow(await client.press(first, "Upload the Commercial Invoice", { file: pdf("first.pdf") }));
    const before = await invoice();
    for (const name of ["first.pdf", "second.pdf"]) {
      const file = pdf(name, 5000);
      const page = await read(await client.press(first, "Upload the Commercial Invoice", { file }));
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
    expect(await invoice()).toEqual(before);
    expect(await files()).toEqual(["commercial-invoice-first.pdf"]);
    const { data } = await owner.backend.storage.from("documents").download(before.storage_path ?? "");
    expect(data?.size).toBe(2000);
  });

  test("of a closed shipment takes none: nothing asks for one, and who sends one all the same is told", async () => {
    const before = await client.open(path);
    await client.press(before, "Upload the Commercial Invoice", { file: pdf() });
    const asking = await client.open(path);
    expect(asking.text).toContain("Up to 10 MB each: PDF");
    expect(asking.text).toContain("Larger files: nairobi@mizigo.example");
    const id = path.replace("/portal/", "");
    expect((await app.company.from("shipments").update({ stage: 10 }).eq("id", id)).error).toBeNull();

    const closed = await client.open(path);
    expect(closed.text).toContain("Packing List Not uploaded");
    expect(closed.text).not.toMatch(/Up to 10 MB|Larger files/);
    expect(closed.all("main input[type=file]")).toEqual([]);
    const page = await read(await client.press(asking, "Upload the Packing List", { file: pdf() }));
    expect(page.status).toBe(409);
    const description = "This shipment is closed: nothing more can be uploaded to it.";
    expect(page.toasts).toEqual([{ title: "Upload failed", description, variant: "destructive" }]);
    for (const { id } of page.problems) expect(page.has(id), `the link to #${id}`).toBe(true);
    expect(await files()).toEqual(["commercial-invoice-invoice.pdf"]);
  });

  test("says which files are taken only while one of the shipment is awaited", async () => {
    for (const name of DEFAULT_DOCUMENTS) {
      const page = await client.open(path);
      expect(page.text).toContain("Up to 10 MB each");
      await client.press(page, `Upload the ${name}`, { file: pdf() });
    }
    expect((await client.open(path)).text).not.toMatch(/Up to 10 MB|Larger files/);
  });

  test("that was verified takes none either", async () => {
    const first = await client.open(path);
    await client.press(first, "Upload the Commercial Invoice", { file: pdf() });
    await verify(app.company, path.replace("/portal/", ""), "Commercial Invoice");
    const page = await read(await client.press(first, "Upload the Commercial Invoice", { file: pdf("b.pdf") }));
    expect(page.status).toBe(409);
    expect((await invoice()).verified).toBe(true);
  });

  test("takes one of five files sent at once, and keeps no other", async () => {
    const page = await client.open(path);
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map((number) =>
        client.press(page, "Upload the Commercial Invoice", { file: pdf(`${number}.pdf`, 1000 + number) }),
      ),
    );
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    const { uploaded, storage_path } = await invoice();
    expect(uploaded).toBe(true);
    expect(await files()).toEqual([nameOf(storage_path)]);
    const winner = answers.findIndex(({ status }) => status === 303) + 1;
    const { data } = await owner.backend.storage.from("documents").download(storage_path ?? "");
    expect(data?.size).toBe(1000 + winner);
  });

  test("of another shipment, a stranger's, or none at all is refused, and nothing is written", async () => {
    const other = await client.createShipment("Another");
    const stranger = app.browser();
    const strangers = await handleOf(await stranger.signUpAndIn("Stranger"));
    const theirs = await stranger.createShipment("Theirs");
    const { data } = await strangers.backend.from("documents").select("id").limit(1).single();
    const ids = [(await invoice(other)).id, data?.id ?? "", "0b51e3a8-0000-4000-8000-000000000000", "x", ""];
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
    expect(await invoice()).toMatchObject(notUploaded);
    expect(await invoice(other)).toMatchObject(notUploaded);
    expect((await stranger.open(theirs)).text).not.toContain("Uploaded");
  });

  test("is not guessed at when its id is sent twice", async () => {
    const form = new FormData();
    form.append("document", (await invoice()).id);
    form.append("document", "0b51e3a8-0000-4000-8000-000000000000");
    form.append("file", pdf());
    expect((await client.post(path, form)).status).toBe(400);
    expect(await invoice()).toMatchObject(notUploaded);
  });

  test("takes one file of a form with two", async () => {
    const form = new FormData();
    form.append("document", (await invoice()).id);
    form.append("file", pdf("a.pdf"));
    form.append("file", pdf("b.pdf"));
    expect((await client.post(path, form)).status).toBe(400);
    expect(await invoice()).toMatchObject(notUploaded);
  });
});

describe("an upload that a script watches", () => {
  const json = { Accept: "application/json" };
  const stored = { title: "Commercial Invoice uploaded", description: "We check it next.", variant: "default" };
  const refused = (description: unknown) => ({ title: "Upload failed", description, variant: "destructive" });

  /** Posts a file to the address for scripts, or nothing in its place. */
  async function watch(file: File | null, headers: Record<string, string> = json, from = client, to = path) {
    const form = new FormData();
    form.append("document", (await invoice()).id);
    if (file) form.append("file", file);
    return from.post(`${to}/documents`, form, headers);
  }

  test("is stored as from the page, answered with the toast as data, and leaves no toast for the next page", async () => {
    const answer = await watch(pdf("March.pdf", 3000));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("Content-Type")).toMatch(/^application\/json/);
    expect(answer.headers.get("Cache-Control") ?? "").toMatch(keptByNobody);
    expect(await answer.json()).toEqual({ toast: stored });
    expect((await invoice()).uploaded).toBe(true);
    expect(await files()).toEqual(["commercial-invoice-march.pdf"]);
    expect((await client.open(path)).toasts).toEqual([]);
  });

  test("goes back to the shipment with the toast when it was a browser's own form", async () => {
    const answer = await watch(pdf(), { Accept: "text/html" });
    expect(answer.status).toBe(303);
    expect(answer.headers.get("Location")).toBe(path);
    expect(await answer.text()).toBe("");
    expect((await client.follow(answer)).toasts).toEqual([stored]);
  });

  test("that is refused shows a browser its reason on the page of the shipment", async () => {
    const answer = await watch(new File([], "empty.pdf"), {});
    expect((await client.follow(answer)).toasts).toEqual([refused("This file is empty. Choose another one.")]);
    expect(await invoice()).toMatchObject(notUploaded);
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
      file: new File([png], "a.pdf"),
      status: 400,
      toast: refused("The content of this file is not what its ending .pdf says. Choose another one."),
    },
    {
      what: "a file over 10 MB",
      file: pdf("a.pdf", 10 * 1024 * 1024 + 1),
      status: 413,
      toast: refused(expect.stringMatching(/^This file is over 10 MB\. Scan or .*nairobi@mizigo\.example\.$/)),
    },
    { what: "no file", file: null, status: 400, toast: { title: "No file selected.", variant: "destructive" } },
  ])("of $what is refused in the words of the page, and nothing is kept", async ({ file, status, toast }) => {
    const answer = await watch(file);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toEqual({ toast });
    expect(await invoice()).toMatchObject(notUploaded);
    expect(await files()).toEqual([]);
  });

  test("of a document that has its file is 409", async () => {
    await watch(pdf("first.pdf"));
    const answer = await watch(pdf("second.pdf"));
    expect(answer.status).toBe(409);
    expect(await answer.json()).toEqual({ toast: refused("This document has been uploaded already.") });
    expect(await files()).toEqual(["commercial-invoice-first.pdf"]);
  });

  test("is the same 404 for a stranger and for a shipment that does not exist, and nothing is written", async () => {
    const stranger = app.browser();
    await stranger.signUpAndIn("Stranger");
    for (const to of [path, "/portal/0b51e3a8-0000-4000-8000-000000000000", "/portal/not-a-uuid"]) {
      const answer = await watch(pdf(), json, stranger, to);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toEqual({ toast: refused("There is no such shipment.") });
      expect((await stranger.follow(await watch(pdf(), {}, stranger, to))).status).toBe(404);
    }
    expect(await invoice()).toMatchObject(notUploaded);
    expect(await files()).toEqual([]);
  });

  test("of somebody who is signed out goes to the login, and on to the shipment after it", async () => {
    const visitor = app.browser();
    for (const headers of [json, {}]) {
      const answer = await watch(pdf(), headers, visitor);
      expect(answer.status).toBe(303);
      expect(answer.headers.get("Location")).toBe(`/login?next=${encodeURIComponent(`${path}/documents`)}`);
    }
    expect((await client.get(`${path}/documents`)).headers.get("Location")).toBe(path);
    expect(await files()).toEqual([]);
  });

  test("that the backend does not take says so, and the same form succeeds when it does", async () => {
    app.proxy.fail(503, /^POST .*storage/);
    const answer = await watch(pdf());
    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({ toast: refused(expect.stringMatching("Our records do not answer")) });
    app.proxy.fail("none");
    expect((await watch(pdf())).status).toBe(200);
  });

  test("while nobody can tell who sends it is a message, not a page", async () => {
    app.proxy.fail(503);
    const answer = await client.post(`${path}/documents`, new FormData(), json).finally(() => app.proxy.fail("none"));
    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({ toast: refused(expect.stringMatching("Our records do not answer")) });
  });
});
