import process from "node:process";
import postgres from "postgres";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { folderOf } from "../../app/models/upload-parts.server.ts";
import { sendNotices } from "../../app/server/web/notices.ts";
import { Authenticator } from "../support/authenticator.ts";
import { line, partsOf, unevenPdf } from "../support/parts.ts";
import { type Browser, handleOf, keptByNobody, origin, pdf, read, theApp } from "../support/routes.ts";

const KiB = 1024;
const MiB = 1024 * KiB;
const piece = 256 * KiB;
/** Of a file that is just large enough to come in parts. */
const size = 5 * piece;

let app: Awaited<ReturnType<typeof theApp>>;
let sql: postgres.Sql;
let client: Browser;
let owner: Awaited<ReturnType<typeof handleOf>> & { email: string };
let path: string;
beforeAll(async () => {
  app = await theApp();
  sql = postgres(process.env.TESTS_DATABASE_URL ?? "", { max: 1, onnotice: () => undefined });
});
beforeEach(async () => {
  client = app.browser();
  const email = await client.signUpAndIn("Sender");
  owner = { ...(await handleOf(email)), email };
  path = await client.createShipment("Parts");
});
afterEach(() => app.proxy.fail("none"));
afterAll(() => sql.end());

/** A document of the shipment as the backend has it. */
async function documentOf(shipment = path, name = "Commercial Invoice") {
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
const uploadOf = async (file: File, lies?: Record<string, string>, by = client) =>
  partsOf(by, path, (await documentOf()).id, file, lies);

/** What the store has of the account: objects in each bucket. */
async function stored(account = owner.id) {
  const rows = await sql`select bucket_id, name from storage.objects where name like ${`${account}/%`} order by name`;
  const names = (bucket: string) => rows.filter((row) => row.bucket_id === bucket).map((row) => String(row.name));
  return { files: names("documents"), parts: names("parts") };
}

const taken = {
  status: 200,
  toast: { title: "Commercial Invoice uploaded", description: "We check it next.", variant: "default" },
};
const refused = (description: unknown) => ({ title: "Upload failed", description, variant: "destructive" });
const at = (there: number, status = 200) => ({ status, there });

test("a file goes on where its line broke, and becomes the document as one that came whole", async () => {
  const file = unevenPdf("Invoice March.PDF", 1_500_001);
  const upload = await uploadOf(file);
  expect(await upload.ask()).toMatchObject(at(0));
  const way = line(upload.content.slice(0, 700_000));
  const sending = upload.stream(0, way.body);
  await expect.poll(async () => (await stored()).parts.length).toBeGreaterThan(1);
  way.cut();
  await sending.catch(() => undefined);
  expect(await upload.ask()).toMatchObject(at(700_000));
  expect(await documentOf()).toMatchObject({ uploaded: false, storage_path: null });
  expect((await stored()).files).toEqual([]);

  // Another browser of the same person: the file chosen again, after a reload or a login elsewhere.
  const other = app.browser();
  await other.logIn(owner.email);
  const again = await uploadOf(file, {}, other);
  expect(await again.send(700_000)).toMatchObject(at(1_500_001));
  expect((await documentOf()).uploaded).toBe(false);
  expect(await again.finish()).toMatchObject(taken);

  const { id, storage_path, ...recorded } = await documentOf();
  expect(storage_path).toMatch(
    new RegExp(`^${path.replace("/portal", owner.id)}/commercial-invoice-[0-9a-f]{12}-invoice-march\\.pdf$`),
  );
  expect(recorded).toMatchObject({ uploaded: true, file_name: "Invoice March.PDF", file_size: 1_500_001 });
  expect(recorded.media_type).toBe("application/pdf");
  const opened = await client.get(`${path}/documents/${id}`);
  expect(Buffer.from(await opened.arrayBuffer()).equals(Buffer.from(upload.content))).toBe(true);
  expect(await stored()).toEqual({ files: [storage_path], parts: [] });
});

test("what has come is kept while the line is silent, before anybody knows that it is gone", async () => {
  const upload = await uploadOf(unevenPdf("a.pdf", 2 * MiB));
  const way = line(upload.content.slice(0, 100_000));
  const sending = upload.stream(0, way.body);
  await expect.poll(async () => (await upload.ask()).there).toBe(100_000);
  way.send(upload.content.slice(100_000, 400_000));
  await expect.poll(async () => (await upload.ask()).there).toBe(400_000);
  way.cut();
  await sending.catch(() => undefined);
});

test("of a line that breaks all the time no crumbs are kept, but for the end of the file", async () => {
  const upload = await uploadOf(unevenPdf("a.pdf", size));
  expect(await upload.send(0, 9000)).toMatchObject(at(0));
  expect((await stored()).parts).toEqual([]);
  expect(await upload.send(0, size - 1000)).toMatchObject(at(size - 1000));
  expect(await upload.send(size - 1000)).toMatchObject(at(size));
});

test("a document of exactly 10 MiB is taken, a byte more is refused before anything is sent", async () => {
  const upload = await uploadOf(unevenPdf("large.pdf", 10 * MiB));
  expect(await upload.send(0)).toMatchObject(at(10 * MiB));
  expect(await upload.finish()).toMatchObject(taken);

  const larger = await partsOf(
    client,
    path,
    (await documentOf(path, "Packing List")).id,
    unevenPdf("large.pdf", 10 * MiB + 1),
  );
  const tooLarge = refused(
    "This file is over 10 MB. Scan or photograph it at a lower quality, send fewer pages, or e-mail it to us: nairobi@mizigo.example.",
  );
  for (const answer of [await larger.ask(), await larger.send(0), await larger.finish()])
    expect(answer).toMatchObject({ status: 413, toast: tooLarge });
  expect((await stored()).parts).toEqual([]);
});

describe("is refused, and nothing of it becomes a document:", () => {
  test("a part after a gap, whose answer says where it goes on", async () => {
    const upload = await uploadOf(unevenPdf("a.pdf", size));
    expect(await upload.send(piece, 2 * piece)).toMatchObject(at(0, 409));
    expect(await upload.send(0, piece)).toMatchObject(at(piece));
    expect(await upload.send(2 * piece)).toMatchObject(at(piece, 409));
    expect(await upload.finish()).toMatchObject(at(piece, 409));
    // As a browser sends a request again by itself when its line broke: it is to stop, before anything else is asked.
    const calls = await app.proxy.during(async () => {
      expect(await upload.send(0)).toMatchObject({ ...at(piece, 409), connection: "close" });
    });
    expect(calls.filter((call) => /attempt|require_awaited|portal_page/.test(call))).toEqual([]);
    expect((await stored()).parts).toHaveLength(1);
  });

  test("more than was said, at once or bit by bit", async () => {
    const upload = await uploadOf(unevenPdf("a.pdf", size));
    const tooMuch = { status: 413, toast: refused("More of this file came than was said. Send it again.") };
    expect(await upload.send(0, 0, new Uint8Array(size + 1))).toMatchObject(tooMuch);
    expect((await stored()).parts).toEqual([]);
    const way = line(new Uint8Array(size - 1));
    way.send(new Uint8Array(2 * MiB));
    way.end();
    expect(await upload.stream(0, way.body)).toMatchObject(tooMuch);
    const { parts } = await stored();
    const bytes = parts.map((name) => Number(name.split("-").at(-1))).reduce((sum, length) => sum + length, 0);
    expect(bytes).toBeLessThan(size);
  });

  test("another file than was said, whose parts are dropped", async () => {
    const upload = await uploadOf(unevenPdf("a.pdf", size));
    await upload.send(0, piece);
    await upload.send(piece, 0, new Uint8Array(size - piece));
    expect(await upload.finish()).toMatchObject({
      status: 400,
      toast: refused("This file did not arrive as it was sent. Send it again."),
    });
    expect(await stored()).toEqual({ files: [], parts: [] });
    expect(await upload.ask()).toMatchObject(at(0));
    await upload.send(0);
    expect(await upload.finish()).toMatchObject(taken);
  });

  test("another kind than its ending says, or one that we do not take", async () => {
    const png = new File([new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]), new Uint8Array(size)], "scan.pdf");
    const upload = await uploadOf(png);
    await upload.send(0);
    expect(await upload.finish()).toMatchObject({
      status: 400,
      toast: refused("The content of this file is not what its ending .pdf says. Choose another one."),
    });
    expect(await stored()).toEqual({ files: [], parts: [] });
    const program = await uploadOf(new File([new Uint8Array(size)], "invoice.exe"));
    for (const answer of [await program.ask(), await program.send(0)])
      expect(answer).toMatchObject({ status: 400, toast: refused(expect.stringMatching("^We take PDF, photo")) });
    expect((await stored()).parts).toEqual([]);
  });

  test("a request that does not say what it is of", async () => {
    const file = unevenPdf("a.pdf", size);
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
    for (const lie of lies) expect((await (await uploadOf(file, lie)).send(0)).status, JSON.stringify(lie)).toBe(400);
    for (const document of ["", crypto.randomUUID()]) {
      expect(await (await uploadOf(file, { document })).ask()).toMatchObject({
        status: 400,
        toast: refused("Choose the document that the file belongs to."),
      });
    }
    const plain = await client.get(`${path}/documents/parts`);
    expect([plain.status, plain.headers.get("Location")]).toEqual([303, path]);
    expect((await stored()).parts).toEqual([]);
  });

  test("anything but bytes there, bytes anywhere else, and bytes from another site", async () => {
    const form = new FormData();
    form.append("document", (await documentOf()).id);
    form.append("file", pdf());
    expect((await client.post(`${path}/documents/parts`, form)).status).toBe(415);
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
    expect((await bytes(`${path}/documents/parts`, { Origin: "https://other.example" })).status).toBe(403);
    const answer = await bytes(`${path}/documents/parts`);
    expect(answer.status).toBe(400);
    expect(answer.headers.get("Cache-Control") ?? "").toMatch(keptByNobody);
  });

  test("a file for a document that has one, or whose shipment is closed; its parts are not kept", async () => {
    const upload = await uploadOf(unevenPdf("a.pdf", size));
    await upload.send(0);
    await client.press(await client.open(path), "Upload the Commercial Invoice", { file: pdf() });
    const has = { status: 409, toast: refused("This document has been uploaded already.") };
    for (const answer of [await upload.ask(), await upload.finish(), await upload.send(0)])
      expect(answer).toMatchObject(has);
    const closed = await partsOf(client, path, (await documentOf(path, "Packing List")).id, unevenPdf("b.pdf", size));
    await closed.send(0, piece);
    await app.company.from("shipments").update({ stage: 10 }).eq("id", path.replace("/portal/", ""));
    const isClosed = refused("This shipment is closed: nothing more can be uploaded to it.");
    for (const answer of [await closed.ask(), await closed.send(piece), await closed.finish()])
      expect(answer).toMatchObject({ status: 409, toast: isClosed });
    expect((await documentOf(path, "Packing List")).uploaded).toBe(false);
    expect((await stored()).parts).toEqual([]);
  });
});

describe("of somebody else's upload", () => {
  test("a stranger finds nothing and adds nothing, by its shipment, its document or the same file", async () => {
    const file = unevenPdf("a.pdf", size);
    const upload = await uploadOf(file);
    await upload.send(0, piece);
    const before = await stored();
    const stranger = app.browser();
    const { id } = await handleOf(await stranger.signUpAndIn("Stranger"));
    const theirs = await stranger.createShipment("Theirs");
    const document = (await documentOf()).id;

    const there = await partsOf(stranger, path, document, file);
    const nowhere = await partsOf(stranger, `/portal/${crypto.randomUUID()}`, document, file);
    for (const act of ["ask", "send", "finish"] as const) {
      const answer = await there[act](piece);
      expect(answer).toMatchObject({ status: 404, toast: refused("There is no such shipment.") });
      expect(await nowhere[act](piece)).toEqual(answer);
    }
    const mixed = await partsOf(stranger, theirs, document, file);
    expect((await mixed.send(0)).status).toBe(400);
    const own = await partsOf(stranger, theirs, (await documentOf(theirs)).id, file);
    expect(await own.ask()).toMatchObject(at(0));
    expect(await own.send(piece)).toMatchObject(at(0, 409));
    expect(await stored(id)).toEqual({ files: [], parts: [] });
    expect(await stored()).toEqual(before);
  });

  test("a visitor goes to the login, and on to the shipment after it", async () => {
    const upload = await uploadOf(unevenPdf("a.pdf", size), {}, app.browser());
    for (const act of ["ask", "send", "finish"] as const) {
      const { status, location } = await upload[act](0);
      expect([status, location]).toEqual([303, `/login?next=${encodeURIComponent(path)}`]);
    }
  });
});

describe("a session that ends in the middle", () => {
  test("sends nothing more, and after the login the file goes on", async () => {
    const upload = await uploadOf(unevenPdf("a.pdf", size));
    await upload.send(0, piece);
    const way = line(upload.content.slice(piece, 2 * piece));
    const sending = upload.stream(piece, way.body);
    await expect.poll(async () => (await stored()).parts.length).toBe(2);
    await sql`delete from auth.sessions where user_id = ${owner.id}`;
    way.send(upload.content.slice(2 * piece));
    way.end();
    await sending;
    for (const act of ["finish", "ask", "send"] as const) {
      const again = await upload[act](0);
      expect([again.status, again.location]).toEqual([303, `/login?next=${encodeURIComponent(path)}`]);
    }
    expect((await documentOf()).uploaded).toBe(false);
    await client.logIn(owner.email);
    expect(await upload.ask()).toMatchObject(at(size));
    expect(await upload.finish()).toMatchObject(taken);
  });

  test("or that has not given the code of a second factor", async () => {
    const upload = await uploadOf(unevenPdf("a.pdf", size));
    await upload.send(0, piece);
    const other = app.browser();
    await other.logIn(owner.email);
    const page = await read(await other.press(await other.open("/portal/2fa"), "Set up 2FA"));
    const authenticator = Authenticator.fromUri(
      page
        .all("a")
        .find((link) => link.getAttribute("href")?.startsWith("otpauth:"))
        ?.getAttribute("href") ?? null,
    );
    await other.press(page, "Enable 2FA", { code: await authenticator.freshCode() });
    client.cookies.clear();
    expect((await client.post("/login", { email: owner.email, password: "a good password" })).status).toBe(303);
    for (const act of ["ask", "send", "finish"] as const) {
      const answer = await upload[act](piece);
      expect([answer.status, answer.location?.split("?")[0]]).toEqual([303, "/login/verify"]);
    }
    expect((await stored()).parts).toHaveLength(1);
    const onward = await uploadOf(unevenPdf("a.pdf", size), {}, other);
    expect(await onward.ask()).toMatchObject(at(piece));
  });
});

describe("a store that refuses", () => {
  test.each([503, "close"] as const)("(%s) in the middle keeps what it has, and it goes on", async (fault) => {
    const upload = await uploadOf(unevenPdf("a.pdf", size));
    const way = line(upload.content.slice(0, piece));
    const sending = upload.stream(0, way.body);
    await expect.poll(async () => (await stored()).parts.length).toBe(1);
    app.proxy.fail(fault, /^POST .*object\/parts/);
    way.send(upload.content.slice(piece));
    way.end();
    const unavailable = refused(expect.stringMatching("^Our records do not answer"));
    expect(await sending).toMatchObject({ status: 503, toast: unavailable });
    app.proxy.fail("none");
    expect(await upload.ask()).toMatchObject(at(piece));
    expect(await upload.send(piece)).toMatchObject(at(size));
    app.proxy.fail(fault, /^GET .*object\/parts/);
    expect(await upload.finish()).toMatchObject({ status: 503, toast: unavailable });
    app.proxy.fail(fault, /^POST .*object\/documents/);
    expect(await upload.finish()).toMatchObject({ status: 503, toast: unavailable });
    expect(await documentOf()).toMatchObject({ uploaded: false });
    app.proxy.fail("none");
    expect(await upload.finish()).toMatchObject(taken);
  });

  test("stores a part once whose answer was lost", async () => {
    const upload = await uploadOf(unevenPdf("a.pdf", size));
    app.proxy.fail("lost answer", /^POST .*object\/parts/);
    expect((await upload.send(0)).status).toBe(503);
    app.proxy.fail("none");
    expect(await upload.ask()).toMatchObject(at(piece));
    expect(await upload.send(piece)).toMatchObject(at(size));
    expect((await stored()).parts).toHaveLength(5);
    expect(await upload.finish()).toMatchObject(taken);
  });
});

test("a file whose last answer was lost is taken, and was stored once", async () => {
  const upload = await uploadOf(unevenPdf("a.pdf", size));
  await upload.send(0);
  const [first, second] = await Promise.all([upload.finish(), upload.finish()]);
  expect([first, second]).toMatchObject([taken, taken]);
  expect(await upload.ask()).toMatchObject(taken);
  expect(await upload.finish()).toMatchObject(taken);
  expect(await upload.send(0)).toMatchObject(taken);
  expect(await stored()).toEqual({ files: [(await documentOf()).storage_path], parts: [] });
});

test("two tabs that send the same file at once both hear that it was taken, and it is stored once", async () => {
  const file = unevenPdf("a.pdf", size);
  const [first, second] = [await uploadOf(file), await uploadOf(file)];
  const way = line(first.content.slice(0, 300_000));
  const sending = first.stream(0, way.body);
  await expect.poll(async () => (await stored()).parts.length).toBe(1);
  expect(await second.ask()).toMatchObject(at(piece));
  // The first gives way, with what has come of it.
  const { there, status } = await second.send(piece);
  expect({ there, status }).toEqual({ there: 300_000, status: 409 });
  expect(await second.send(300_000)).toMatchObject(at(size));
  expect(await sending).toMatchObject({ status: 200 });
  expect(await Promise.all([first.finish(), second.finish()])).toMatchObject([taken, taken]);
  expect(await stored()).toEqual({ files: [(await documentOf()).storage_path], parts: [] });
});

test("a part that another process has stored meanwhile is no failure", async () => {
  const upload = await uploadOf(unevenPdf("a.pdf", size));
  await upload.send(0, piece);
  const [first = ""] = (await stored()).parts;
  const way = line(upload.content.slice(piece, piece + 100));
  const asked = () => app.proxy.calls.filter((call) => call.includes("kept_parts")).length;
  const before = asked();
  const sending = upload.stream(piece, way.body);
  // It was asked how much is there, and is not any more.
  await expect.poll(asked).toBe(before + 2);
  const other = await app.company.storage
    .from("parts")
    .upload(first.replace(/0-\d+$/, `${piece}-${piece}`), upload.content.slice(piece, 2 * piece), {
      contentType: "application/octet-stream",
    });
  expect(other.error).toBeNull();
  way.send(upload.content.slice(piece + 100));
  way.end();
  expect(await sending).toMatchObject(at(size));
  expect(await upload.finish()).toMatchObject(taken);
});

describe("room", () => {
  test("is for three files of an account at once, as for whole ones; what is put together counts too", async () => {
    const names = ["Commercial Invoice", "Packing List", "Insurance Certificate", "Bill of Lading"];
    const uploads = await Promise.all(
      names.map(async (name) => partsOf(client, path, (await documentOf(path, name)).id, unevenPdf("a.pdf", size))),
    );
    const ways = uploads.slice(0, 3).map((upload) => line(upload.content.slice(0, piece)));
    const sending = ways.map((way, index) => uploads[index]?.stream(0, way.body));
    await expect.poll(async () => (await stored()).parts.length).toBe(3);
    const full = { status: 429, toast: refused("Your other files are still on their way. Try again in a minute.") };
    expect(await uploads[3]?.send(0)).toMatchObject(full);
    expect(await uploads[3]?.finish()).toMatchObject(full);
    // The same file again takes the place of its own line that broke.
    expect(await uploads[0]?.send(piece)).toMatchObject(at(size));
    for (const way of ways.slice(1)) way.end();
    await Promise.all(sending);
    expect(await uploads[3]?.send(0)).toMatchObject(at(size));
  });

  test("is for 30 MB of an account's files that did not arrive whole: the oldest makes way", async () => {
    const invoice = (await documentOf()).id;
    const shipment = path.replace("/portal/", "");
    const others: Awaited<ReturnType<typeof uploadOf>>[] = [];
    for (const [at, sha256] of ["a", "b", "c"].map((one) => one.repeat(64)).entries()) {
      const size = 9 * MiB;
      const folder = folderOf({ account: owner.id, shipment, document: invoice, size, sha256 });
      // As if all but its end had come, one after the other.
      await sql`insert into storage.objects (bucket_id, name, created_at)
        values ('parts', ${`${folder}0-${size - piece}`}, now() - make_interval(mins => ${10 - at}))`;
      others.push(await uploadOf(pdf(), { size: String(size), sha256 }));
    }
    const there = () => Promise.all(others.map(async (upload) => (await upload.ask()).there));
    expect(await there()).toEqual([9 * MiB - piece, 9 * MiB - piece, 9 * MiB - piece]);
    const upload = await uploadOf(unevenPdf("a.pdf", 6 * MiB));
    expect(await upload.send(0, piece)).toMatchObject(at(piece));
    expect(await there()).toEqual([0, 9 * MiB - piece, 9 * MiB - piece]);
  });

  test("is for 20 files of an account that did not arrive whole: the one that waits the longest makes way", async () => {
    const document = (await documentOf()).id;
    const shipment = path.replace("/portal/", "");
    const sha256 = (file: number) => file.toString(16).padStart(64, "0");
    for (let file = 0; file < 20; file += 1) {
      const folder = folderOf({ account: owner.id, shipment, document, size, sha256: sha256(file) });
      await sql`insert into storage.objects (bucket_id, name, created_at)
        values ('parts', ${`${folder}0-20000`}, now() - make_interval(mins => ${30 - file}))`;
    }
    const there = async (file: number) =>
      (await (await uploadOf(pdf(), { size: String(size), sha256: sha256(file) })).ask()).there;
    const upload = await uploadOf(unevenPdf("a.pdf", size));
    expect(await upload.send(0, piece)).toMatchObject(at(piece));
    expect([await there(0), await there(1)]).toEqual([0, 20_000]);
    expect(await upload.send(piece)).toMatchObject(at(size));
    expect(await there(1)).toBe(20_000);
    // However many came by another process at the same time.
    await sql`insert into storage.objects (bucket_id, name)
      select 'parts', ${`${owner.id}/`} || file || '/0-20000' from generate_series(1, 40) as file`;
    expect(await upload.send(size)).toMatchObject(at(size));
    const { parts } = await stored();
    expect(new Set(parts.map((name) => name.split("/")[1])).size).toBe(20);
    expect(await upload.finish()).toMatchObject(taken);
  });

  test("is for a day: what came before is asked for again, and is gone with the account's next upload", async () => {
    const old = await uploadOf(unevenPdf("a.pdf", size));
    await old.send(0, 2 * piece);
    await sql`update storage.objects set created_at = now() - interval '25 hours' where bucket_id = 'parts'
      and name like ${`${owner.id}/%`}`;
    expect(await old.ask()).toMatchObject(at(0));
    expect((await stored()).parts).toHaveLength(2);
    expect(await old.send(2 * piece)).toMatchObject(at(0, 409));
    expect((await stored()).parts).toEqual([]);
  });

  test.each([
    ["", 200],
    [", though no notice can be sent", 500],
  ])("is made each hour by the site itself, of what is more than a day old%s", async (_also, status) => {
    const [old, fresh] = [await uploadOf(unevenPdf("a.pdf", size)), await uploadOf(unevenPdf("b.pdf", 2 * MiB))];
    await old.send(0, piece);
    const [past] = (await stored()).parts;
    await fresh.send(0, 2 * piece);
    const age = () => sql`update storage.objects set created_at = now() - interval '25 hours'
      where bucket_id = 'parts' and name = ${past ?? ""}`;
    await age();
    // No mail of another test is sent here.
    app.proxy.answer({ of: /claim_notices/, status, body: [] });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const stop = sendNotices();
    const parts = async () => {
      const { parts } = await stored();
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
    expect((await fresh.ask()).there).toBe(2 * piece);
  });
});
