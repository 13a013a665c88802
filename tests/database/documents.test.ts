import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { documentSlug, findDocumentId, objectPath, verifyDocument } from "../../app/models/document.server.ts";
import { DEFAULT_DOCUMENTS } from "../../app/models/document.ts";
import { type OpenableFile, openFile } from "../../app/models/document-file.server.ts";
import { FILE_TYPES } from "../../app/models/document-media-type.server.ts";
import { atOnce, newColleague } from "../support/colleague.ts";
import { type Handle, memoryBackend, raw } from "../support/memory-backend.ts";
import { sessionOf, withFactor } from "../support/sessions.ts";

type Person = Awaited<ReturnType<typeof world.newClient>>;
type Document = {
  id: string;
  name: string;
  uploaded: boolean;
  verified: boolean;
  storage_path: string | null;
  storage_version: string | null;
  sha256: string | null;
  version: number;
};

let world: Awaited<ReturnType<typeof memoryBackend>>;
let owner: Person;
let stranger: Person;
let clerk: Awaited<ReturnType<typeof newColleague>>;
/** A fresh shipment of the owner's for each test, and the folder of its files. */
let shipmentId: string;
let folder: string;

const original = "%PDF-1.7 the original";
const sha256 = createHash("sha256").update(original).digest("hex");
/** What the server records of a file beside its place. */
const record = { sha256, file_name: "Liste août.pdf", file_size: original.length, media_type: "application/pdf" };
const awaited = { uploaded: false, verified: false, storage_path: null, sha256: null };

beforeAll(async () => {
  world = await memoryBackend();
  owner = await world.newClient("owner@client.example");
  stranger = await world.newClient("stranger@client.example");
  clerk = await newColleague(world, "clerk", "clerk@company.example");
});
afterAll(() => world.close());
beforeEach(async () => {
  shipmentId = await newShipment(owner);
  folder = `${owner.id}/${shipmentId}`;
});

test("a new shipment has the documents that the app lists", async () => {
  const names = (await documents()).map(({ name }) => name);
  expect(names.sort()).toEqual([...DEFAULT_DOCUMENTS].sort());
});

test("the bucket takes the media types that the app takes", async () => {
  const [bucket] = await query<{ allowed_mime_types: string[] }>(
    "select * from storage.buckets where id = 'documents'",
  );
  expect(new Set(bucket?.allowed_mime_types)).toEqual(new Set(Object.values(FILE_TYPES)));
});

test.each([
  ...DEFAULT_DOCUMENTS,
  "Form C-17B",
  "IDF & Permit (2026)",
  "  Packing   List  ",
  "--A--",
  "a_b.c/d\\e",
  "Ärztliches Attest",
  "فاتورة تجارية",
  "发票 2",
  "T1",
  "line\nbreak\ttab",
  "🚢",
])("the app and the database write the document %j the same way in a file's name", async (name) => {
  const [row] = await query<{ slug: string }>("select private.document_slug($1) as slug", [name]);
  expect(row?.slug).toBe(documentSlug(name));
});

test.each([
  { name: "id", value: "00000000-0000-4000-8000-000000000001" },
  { name: "shipment_id", value: "00000000-0000-4000-8000-000000000001" },
  { name: "user_id", value: "00000000-0000-4000-8000-000000000001" },
  { name: "name", value: "Gold Certificate" },
  { name: "uploaded", value: true },
  { name: "verified", value: true },
  { name: "storage_path", value: "x" },
  { name: "storage_version", value: "x" },
  { name: "sha256", value: "0".repeat(64) },
  { name: "file_name", value: "x" },
  { name: "file_size", value: 1 },
  { name: "media_type", value: "x" },
  { name: "uploaded_at", value: "2020-01-01T00:00:00Z" },
])("a client cannot change $name of its document, nor can anybody else", async ({ name, value }) => {
  for (const handle of [owner.handle, stranger.handle, world.anonymous()]) {
    const { error } = await raw(handle)
      .from("documents")
      .update({ [name]: value })
      .eq("shipment_id", shipmentId);
    expect(error?.code).toBe("42501");
  }
  for (const document of await documents()) expect(document).toMatchObject(awaited);
});

describe("what the server asks as the client before it stores a file", () => {
  const ask = async (handle: Person["handle"], document_id: string) => {
    const { error, status } = await handle.rpc("require_awaited_file", { document_id });
    return error ? [status, error.code, error.message] : [];
  };

  test("is granted to the owner of a document that waits for one, and to nobody else", async () => {
    const { id = "" } = (await document("Packing List")) ?? {};
    expect(await ask(owner.handle, id)).toEqual([]);
    const unknown = [404, "PT404", "There is no such document."];
    expect(await ask(stranger.handle, id)).toEqual(unknown);
    expect(await ask(owner.handle, randomUUID())).toEqual(unknown);
    expect((await ask(world.anonymous(), id)).slice(0, 2)).toEqual([401, "42501"]);
    expect((await documents()).map(({ uploaded }) => uploaded)).toEqual([false, false, false, false]);
  });

  test("is refused for a document that has its file, and for a closed shipment, each in its words", async () => {
    const { id = "" } = (await document("Packing List")) ?? {};
    await mark(await store());
    expect(await ask(owner.handle, id)).toEqual([409, "PT409", "This document has been uploaded already."]);
    const { id: other = "" } = (await document("Bill of Lading")) ?? {};
    await close();
    const closed = "This shipment is closed: nothing more can be uploaded to it.";
    expect(await ask(owner.handle, other)).toEqual([409, "PT409", closed]);
  });
});

test("a document counts a stored file with its hash, name, size and kind, its version in the store, and the time", async () => {
  const path = await store();
  const before = Date.now();
  expect((await mark(path)).error).toBeNull();
  const [object] = await query<{ version: string }>("select version from storage.objects where name = $1", [path]);
  const [counted] = await query<{ uploaded_at: string }>(
    "select * from public.documents where shipment_id = $1 and uploaded",
    [shipmentId],
  );
  expect(counted).toMatchObject({ name: "Packing List", verified: false, storage_path: path, ...record });
  expect(counted).toMatchObject({ storage_version: object?.version });
  expect(object?.version).toBeTruthy();
  expect(Math.abs(new Date(counted?.uploaded_at ?? 0).getTime() - before)).toBeLessThan(60_000);
});

test("a document counts no file that is not in the bucket, or of which something is not recorded", async () => {
  const path = await store();
  for (const change of [
    { uploaded: true },
    { uploaded: true, storage_path: path },
    { uploaded: true, storage_path: path, ...record, sha256: null },
    { uploaded: true, storage_path: path, ...record, sha256: "not a hash" },
    { uploaded: true, storage_path: path, ...record, file_name: null },
    { uploaded: true, storage_path: path, ...record, file_size: null },
    { uploaded: true, storage_path: path, ...record, media_type: null },
    { uploaded: true, ...record },
    { uploaded: true, storage_path: "", ...record },
    { uploaded: true, storage_path: await place(), ...record },
    { storage_path: path },
    { sha256 },
    { uploaded: false, storage_path: path, ...record },
  ]) {
    const { error } = await update("Packing List", change);
    expect(error, JSON.stringify(change)).not.toBeNull();
    expect(await document("Packing List")).toMatchObject(awaited);
  }
  await world.company.storage.from("documents").remove([path]);
  expect((await mark(path)).error?.code).toBe("PT409");
  const added = await world.company.from("documents").insert({
    shipment_id: shipmentId,
    user_id: owner.id,
    name: "Permit",
    uploaded: true,
    storage_path: path,
    ...record,
  });
  expect(added.error?.code).toBe("PT409");
});

const misplaced: [string, (at: { mine: string; theirs: string; other: string }) => string][] = [
  ["a stranger's file", ({ theirs }) => `${theirs}/packing-list-0123456789ab-x.pdf`],
  ["a file of another shipment", ({ other }) => `${other}/packing-list-0123456789ab-x.pdf`],
  ["a file of another document", ({ mine }) => `${mine}/bill-of-lading-0123456789ab-x.pdf`],
  ["a file without its attempt", ({ mine }) => `${mine}/packing-list-x.pdf`],
  ["a file one folder too deep", ({ mine }) => `${mine}/packing-list-0123456789ab-x.pdf/y.pdf`],
  ["a file behind an empty folder", ({ mine }) => `${mine}/packing-list-0123456789ab-x//deep/y.pdf`],
  ["a file with an encoded slash", ({ mine }) => `${mine}/packing-list-0123456789ab-x%2fy.pdf`],
  ["a file with a line end", ({ mine }) => `${mine}/packing-list-0123456789ab-x.pdf\n`],
  ["a file in capitals", ({ mine }) => `${mine}/packing-list-0123456789ab-X.pdf`],
];

test.each(misplaced)("a document does not count %s", async (_what, where) => {
  const theirs = `${stranger.id}/${await newShipment(stranger)}`;
  const path = where({ mine: folder, theirs, other: `${owner.id}/${await newShipment(owner)}` });
  await query("insert into storage.objects (bucket_id, name, version) values ('documents', $1, '1')", [path]);
  expect((await mark(path)).error?.code).toBe("PT409");
  expect(await document("Packing List")).toMatchObject(awaited);
});

test("a closed shipment counts no file, not even the company's", async () => {
  const path = await store();
  await close();
  const { error } = await mark(path);
  expect(error).toMatchObject({ code: "PT409", message: expect.stringContaining("closed") });
  expect(await document("Packing List")).toMatchObject(awaited);
});

test.each<[string, object]>([
  ["its mark", { uploaded: false, storage_path: null }],
  ["all of it", { uploaded: false, storage_path: null, sha256: null, file_name: null, file_size: null }],
  ["its place", { storage_path: "another" }],
  ["its hash", { sha256: "0".repeat(64) }],
  ["its hash with its mark of verification", { sha256: "0".repeat(64), verified: true }],
  ["its version", { storage_version: "1" }],
  ["its version with its mark of verification", { storage_version: "1", verified: true }],
  ["its name", { file_name: "other.pdf" }],
  ["its size", { file_size: 1 }],
  ["its kind", { media_type: "text/plain" }],
  ["its time", { uploaded_at: "2020-01-01T00:00:00Z" }],
])("of a file that counts nobody changes %s", async (_what, change) => {
  const path = await store();
  await store();
  await mark(path);
  const before = await documents();
  expect((await update("Packing List", change)).error).not.toBeNull();
  expect(await documents()).toEqual(before);
});

describe("the company verifies", () => {
  /** Sets the mark directly, without the model's comparison of hashes. */
  const verifyUnseen = () => update("Packing List", { verified: true });
  /** Exchanges a stored file, which takes the secret key. */
  const exchange = async (path: string, content = "%PDF-1.7 the forgery!") => {
    const { error } = await world.company.storage
      .from("documents")
      .upload(path, content, { contentType: "application/pdf", upsert: true });
    if (error) throw error;
  };

  test("a document by its name, once its file is there", async () => {
    await expect(verify()).rejects.toThrow("The Packing List has not been uploaded yet.");
    expect((await verifyUnseen()).error).not.toBeNull();
    await expect(verify("Gold")).rejects.toThrow('no document "Gold"');
    await mark(await store());
    await verify("packing list");
    expect(await document("Packing List")).toMatchObject({ uploaded: true, verified: true });
  });

  test("a document once: a second time says so and changes nothing", async () => {
    await mark(await store());
    await verify();
    const before = await documents();
    await expect(verify()).rejects.toThrow("The Packing List is verified already.");
    expect(await documents()).toEqual(before);
  });

  test("a document at the desk as by its command, and clients and strangers none", async () => {
    await mark(await store());
    const { id = "" } = (await document("Packing List")) ?? {};
    expect(await verifyDocument(stranger.handle, world.company, id, {})).toMatchObject({ status: 404 });
    expect(await verifyDocument(clerk.aal1, world.company, id, {})).toMatchObject({ status: 404 });
    expect(await verifyDocument(owner.handle, world.company, id, {})).toMatchObject({ status: 403 });
    expect(await document("Packing List")).toMatchObject({ verified: false });
    expect(await verifyDocument(clerk.handle, world.company, id, { seen: 0 })).toMatchObject({ status: 409 });
    expect(await verifyDocument(clerk.handle, world.company, id, { seen: 1 })).toBeNull();
    expect(await document("Packing List")).toMatchObject({ verified: true, sha256 });
  });

  test("no file that was exchanged since it counts", async () => {
    const path = await store();
    await mark(path);
    await exchange(path);
    await expect(verify()).rejects.toThrow("The stored file is not the one that was uploaded.");
    expect((await verifyUnseen()).error?.code).toBe("PT409");
    const [object] = await query<{ version: string }>("select version from storage.objects where name = $1", [path]);
    // The version changes only in the update that verifies the document.
    expect((await update("Packing List", { storage_version: object?.version })).error?.code).toBe("PT409");
    expect(await document("Packing List")).toMatchObject({ verified: false });
  });

  test("a file whose bytes came back from a backup, as the new object that it is", async () => {
    const path = await store();
    await mark(path);
    await exchange(path, original);
    expect((await verifyUnseen()).error?.code).toBe("PT409");
    await verify();
    const [object] = await query<{ version: string }>("select version from storage.objects where name = $1", [path]);
    expect(await document("Packing List")).toMatchObject({ verified: true, storage_version: object?.version });
  });

  test("no file that is gone", async () => {
    const path = await store();
    await mark(path);
    await world.company.storage.from("documents").remove([path]);
    await expect(verify()).rejects.toThrow("The stored file is not the one that was uploaded.");
    expect((await verifyUnseen()).error?.code).toBe("PT409");
  });

  test("and what was verified opens as it was, for its owner and the company, or not at all", async () => {
    const path = await store();
    await mark(path);
    await verify();
    const counted = await document("Packing List");
    if (!counted) throw new Error("no document");
    const told = (await fileOf(owner.handle, counted.id)).file;
    expect(told).toMatchObject({ storage_path: path, storage_version: counted.storage_version, sha256 });
    for (const known of [told ?? counted, counted]) {
      const file = await openFile(world.company, known);
      expect("content" in file && new TextDecoder().decode(file.content)).toBe(original);
    }
    // The bytes are read by the company's key alone.
    for (const handle of [owner.handle, stranger.handle, world.anonymous()]) {
      expect(await openFile(handle, counted)).toMatchObject({ reason: expect.any(String) });
    }
    await exchange(path);
    const refused = { reason: "The stored file is not the one that was uploaded.", status: 409 };
    for (const known of [told ?? counted, counted]) expect(await openFile(world.company, known)).toEqual(refused);
  });

  test("a file from before hashes were recorded: it gets its hash, unless it was exchanged since", async () => {
    const path = await store();
    await mark(path);
    await forgetHash();
    const counted = await document("Packing List");
    if (!counted) throw new Error("no document");
    const told = (await fileOf(owner.handle, counted.id)).file;
    if (!told) throw new Error("no file");
    expect(told).toMatchObject({ sha256: null, storage_version: counted.storage_version });
    expect(await openFile(world.company, told)).toMatchObject({ sha256 });
    expect((await verifyUnseen()).error?.code).toBe("PT409");
    await exchange(path);
    expect(await openFile(world.company, told)).toMatchObject({ status: 409 });
    await expect(verify()).rejects.toThrow("The stored file is not the one that was uploaded.");

    const other = await store("Bill of Lading");
    await mark(other, "Bill of Lading");
    await verify("Bill of Lading");
    await forgetHash();
    expect(await document("Bill of Lading")).toMatchObject({ verified: true, sha256: null });
    await verify("Bill of Lading");
    expect(await document("Bill of Lading")).toMatchObject({ verified: true, sha256 });
    await expect(verify("Bill of Lading")).rejects.toThrow("is verified already");
  });
});

describe("a client who opens a document", () => {
  let id: string;
  beforeEach(async () => {
    id = (await document("Packing List"))?.id ?? "";
  });

  test("is told where its file is stored and what it has to be, with who asks", async () => {
    const path = await store();
    await mark(path);
    const { file_size: _, ...told } = record;
    const { storage_version } = (await document("Packing List")) ?? {};
    expect(await fileOf(owner.handle, id)).toEqual({
      caller: {
        email: owner.email,
        full_name: `Client ${owner.email}`,
        gave_code: false,
        factors: [],
        colleague: null,
      },
      file: { name: "Packing List", storage_path: path, storage_version, ...told },
    });
  });

  test("is told of no file where there is none, of another shipment or of somebody else's", async () => {
    expect((await fileOf(owner.handle, id)).file).toBeNull();
    await mark(await store());
    expect((await fileOf(owner.handle, id)).file).not.toBeNull();
    const theirs = await newShipment(stranger);
    for (const [handle, document_id, shipment_id] of [
      [owner.handle, id, await newShipment(owner)],
      [owner.handle, id, theirs],
      [owner.handle, id, randomUUID()],
      [owner.handle, randomUUID(), shipmentId],
      [owner.handle, (await document("Bill of Lading"))?.id ?? "", shipmentId],
      [stranger.handle, id, shipmentId],
      [stranger.handle, id, theirs],
      [clerk.handle, id, shipmentId],
      [clerk.aal1, id, shipmentId],
    ] as const) {
      const { caller, file } = await fileOf(handle, document_id, shipment_id);
      expect(file).toBeNull();
      expect(caller).not.toBeNull();
    }
    await expect(fileOf(world.anonymous(), id)).rejects.toMatchObject({ code: "42501" });
  });

  test("is told of no file, and is nobody, once the session has ended", async () => {
    await mark(await store());
    const left = await sessionOf(world, owner.email);
    expect((await fileOf(left.token, id)).file).not.toBeNull();
    await left.handle.auth.signOut({ scope: "local" });
    expect(await fileOf(left.token, id)).toEqual({ caller: null, file: null });
    expect((await fileOf(owner.handle, id)).file).not.toBeNull();
  });

  test("is told of no file before the code of a second factor is given", async () => {
    await mark(await store());
    await withFactor(world, owner.id, async () => {
      expect(await fileOf(owner.handle, id)).toMatchObject({ caller: { factors: [{ name: "Phone" }] }, file: null });
    });
    expect((await fileOf(owner.handle, id)).file).not.toBeNull();
  });
});

describe("a client who takes a file back", () => {
  let id: string;
  let path: string;
  beforeEach(async () => {
    id = (await document("Packing List"))?.id ?? "";
    path = await store();
    await mark(path);
  });
  const takeBack = async (handle: Handle = owner.handle, seen: number | null = 1, document_id = id) => {
    const { data, error, status } = await raw(handle).rpc("take_back_file", { document_id, seen });
    return error ? `${status} ${error.message}` : data;
  };
  const changed = "409 The Packing List has changed since you opened this page. Look at it again.";
  const shipmentNow = async () =>
    (
      await query<{ turn: string; changed_at: string }>("select * from public.shipments where id = $1", [shipmentId])
    )[0];

  test("learns where it was stored, and the document waits for a file again", async () => {
    for (const name of DEFAULT_DOCUMENTS.filter((one) => one !== "Packing List")) await mark(await store(name), name);
    expect(await shipmentNow()).toMatchObject({ turn: "company" });
    await query("update public.shipments set changed_at = now() - interval '1 day' where id = $1", [shipmentId]);
    const others = async () => (await documents()).filter((one) => one.id !== id);
    const before = await others();
    expect(await takeBack()).toBe(path);
    const nothing = { storage_version: null, file_name: null, file_size: null, media_type: null, uploaded_at: null };
    const notSentBack = { sent_back_at: null, sent_back_reason: null };
    expect(await document("Packing List")).toMatchObject({ ...awaited, ...nothing, ...notSentBack, version: 2 });
    expect(await others()).toEqual(before);
    const { turn, changed_at } = (await shipmentNow()) ?? {};
    expect(turn).toBe("client");
    expect(Math.abs(new Date(changed_at ?? 0).getTime() - Date.now())).toBeLessThan(60_000);
    expect((await fileOf(owner.handle, id)).file).toBeNull();
    // No act of the company's, and nothing to tell by mail.
    expect(await query("select from public.acts where document = $1", [id])).toEqual([]);
    expect(await query("select from public.notices where shipment_id = $1", [shipmentId])).toEqual([]);

    expect((await owner.handle.rpc("require_awaited_file", { document_id: id })).error).toBeNull();
    const again = await store();
    expect((await mark(again)).error).toBeNull();
    expect(await document("Packing List")).toMatchObject({ uploaded: true, storage_path: again, version: 3 });
    expect(await shipmentNow()).toMatchObject({ turn: "company" });
  });

  test("takes back their own, with a session that is good for the account, and nobody else's", async () => {
    const before = await documents();
    const unknown = "404 There is no such document.";
    for (const handle of [stranger.handle, clerk.handle]) expect(await takeBack(handle)).toBe(unknown);
    expect(await takeBack(owner.handle, 1, randomUUID())).toBe(unknown);
    expect(await takeBack(world.anonymous())).toMatch(/^401 /);
    expect(await takeBack(world.company)).toMatch(/^40[134] /);
    const again = "403 Log in again to do this.";
    expect(await takeBack(clerk.aal1)).toBe(again);
    await withFactor(world, owner.id, async () => expect(await takeBack()).toBe(again));
    const left = await sessionOf(world, owner.email);
    await left.handle.auth.signOut({ scope: "local" });
    expect(await takeBack(left.token)).toBe(again);
    expect(await documents()).toEqual(before);
  });

  test("takes back the file that was seen and no other, and none where there is none", async () => {
    const before = await documents();
    for (const seen of [0, 2, -1, 2_147_483_647, null]) expect(await takeBack(owner.handle, seen)).toBe(changed);
    expect(await documents()).toEqual(before);
    expect(await takeBack()).toBe(path);
    for (const seen of [1, 2]) expect(await takeBack(owner.handle, seen)).toBe(changed);
    const other = await store();
    await mark(other);
    expect(await takeBack(owner.handle, 1)).toBe(changed);
    expect(await document("Packing List")).toMatchObject({ uploaded: true, storage_path: other });
    expect(await takeBack(owner.handle, 3)).toBe(other);
  });

  test("takes back none that is verified, and none of a closed shipment", async () => {
    await verify();
    let before = await documents();
    const verified = "409 The Packing List is verified by now: call us if it is not the right one.";
    for (const seen of [1, 2, null]) expect(await takeBack(owner.handle, seen)).toBe(verified);
    expect(await documents()).toEqual(before);
    await mark(await store("Bill of Lading"), "Bill of Lading");
    await close();
    before = await documents();
    const other = await document("Bill of Lading");
    expect(await takeBack(owner.handle, 1, other?.id)).toBe(
      "409 This shipment is closed: its documents stay as they are.",
    );
    expect(await documents()).toEqual(before);
  });

  test("ten times at once takes it back once", async () => {
    const call = { name: "take_back_file", args: { document_id: id, seen: 1 }, token: owner.accessToken };
    const answers = await atOnce(
      world,
      Array.from({ length: 10 }, () => call),
    );
    expect(answers.filter(({ answer }) => answer !== undefined)).toEqual([{ answer: path }]);
    expect(answers.flatMap(({ refused }) => refused ?? [])).toEqual(Array(9).fill(changed.slice(4)));
    expect(await document("Packing List")).toMatchObject({ ...awaited, version: 2 });
  });

  test("while a clerk verifies it has it back, or it is verified, and the other is told", async () => {
    for (let round = 0; round < 6; round += 1) {
      const { version = 0, storage_version } = (await document("Packing List")) ?? {};
      const both = [
        { name: "take_back_file", args: { document_id: id, seen: version }, token: owner.accessToken },
        {
          name: "verify_document",
          args: { document_id: id, sha256, file_version: storage_version, seen: version },
          token: clerk.accessToken,
        },
      ];
      const [one, two] = await atOnce(world, round % 2 ? both.reverse() : both);
      const [taken, verified] = round % 2 ? [two, one] : [one, two];
      expect([taken, verified].filter((answer) => answer?.refused)).toHaveLength(1);
      const now = await document("Packing List");
      if (taken?.refused) {
        expect(taken.refused).toMatch(/^The Packing List (is verified by now|has changed)/);
        expect(now).toMatchObject({ uploaded: true, verified: true });
        const undone = { document_id: id, reason: "Another round" };
        expect((await raw(clerk.handle).rpc("unverify_document", undone)).error).toBeNull();
      } else {
        expect(taken?.answer).toBeTruthy();
        expect(now).toMatchObject(awaited);
        await mark(await store());
      }
    }
  });
});

test("a shipment cannot have two documents of one name", async () => {
  const { error } = await world.company
    .from("documents")
    .insert({ shipment_id: shipmentId, user_id: owner.id, name: "Packing List" });
  expect(error?.code).toBe("23505");
});

test("a shipment without documents is not made: when they cannot be added, there is no shipment", async () => {
  await world.backend.db.exec(`
    create function public.refuse_document() returns trigger language plpgsql as
      $$ begin if new.name = 'Bill of Lading' then raise exception 'no'; end if; return new; end $$;
    create trigger refuse_document before insert on public.documents
      for each row execute function public.refuse_document();
  `);
  try {
    const requestId = randomUUID();
    const { error } = await owner.handle
      .from("shipments")
      .insert({ name: "Half", user_id: owner.id, request_id: requestId });
    expect(error).not.toBeNull();
    expect(await query("select 1 from public.shipments where request_id = $1", [requestId])).toEqual([]);
    expect(
      await query("select 1 from public.documents where shipment_id not in (select id from public.shipments)"),
    ).toEqual([]);
  } finally {
    await world.backend.db.exec(
      "drop trigger refuse_document on public.documents; drop function public.refuse_document",
    );
  }
});

async function newShipment(client: Person): Promise<string> {
  const { data, error } = await client.handle
    .from("shipments")
    .insert({ name: "Tea", user_id: client.id })
    .select("id")
    .single();
  if (error) throw error;
  return data.id;
}

type Told = { caller: object | null; file: OpenableFile | null };

/** What the portal tells somebody of a document's file before the server reads it. */
async function fileOf(handle: Handle, document_id: string, shipment_id = shipmentId): Promise<Told> {
  const { data, error } = await raw(handle).rpc("portal_file", { document_id, shipment_id }, { get: true });
  if (error) throw error;
  return data;
}

/** Where the server would put a file of the owner's. */
async function place(name = "Packing List"): Promise<string> {
  return objectPath({ user_id: owner.id, shipment_id: shipmentId, name }, "list.pdf");
}

/** Puts a file into the bucket as the server does and returns its path. */
async function store(name = "Packing List"): Promise<string> {
  const path = await place(name);
  const { error } = await world.company.storage
    .from("documents")
    .upload(path, original, { contentType: "application/pdf", upsert: false });
  if (error) throw error;
  return path;
}

/** Marks a document as the server does. */
function mark(path: string, name = "Packing List") {
  return update(name, { uploaded: true, storage_path: path, ...record });
}

function update(name: string, change: object) {
  return world.company.from("documents").update(change).eq("shipment_id", shipmentId).eq("name", name).select("id");
}

/** Verifies a document as the company's command does. Throws when it is refused. */
async function verify(name = "Packing List"): Promise<void> {
  const id = await findDocumentId(world.company, shipmentId, name);
  const refused = await verifyDocument(world.company, world.company, id, { by_name: "Wanjiru" });
  if (refused) throw new Error(refused.reason);
}

/** Leaves the files of the shipment as they were before hashes were recorded. */
async function forgetHash(): Promise<void> {
  await world.backend.db.exec(`
    alter table public.documents disable trigger guard_document_file;
    update public.documents set sha256 = null, file_name = null where shipment_id = '${shipmentId}';
    alter table public.documents enable trigger guard_document_file;
  `);
}

async function close(): Promise<void> {
  const { error } = await world.company.from("shipments").update({ stage: 10 }).eq("id", shipmentId);
  if (error) throw error;
}

async function query<T>(text: string, values: unknown[] = []): Promise<T[]> {
  return (await world.backend.db.query<T>(text, values)).rows;
}

function documents() {
  return query<Document>("select * from public.documents where shipment_id = $1 order by name", [shipmentId]);
}

async function document(name: string) {
  return (await documents()).find((one) => one.name === name);
}
