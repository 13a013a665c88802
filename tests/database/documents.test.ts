import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { documentSlug, findDocumentId, objectPath, verifyDocument } from "../../app/models/document.server.ts";
import { DEFAULT_DOCUMENTS } from "../../app/models/document.ts";
import { type DownloadableFile, readStoredFile } from "../../app/models/document-file.server.ts";
import { FILE_TYPES } from "../../app/models/document-media-type.server.ts";
import { newClientSession, runWithSecondFactor } from "../support/client-sessions.ts";
import { callConcurrently, newStaffMember } from "../support/staff-members.ts";
import { type AppSupabaseClient, startTestBackend, toUntypedClient } from "../support/test-backend.ts";

type TestClient = Awaited<ReturnType<typeof testBackend.newClient>>;
type DocumentColumns = {
  id: string;
  name: string;
  uploaded: boolean;
  verified: boolean;
  storage_path: string | null;
  storage_version: string | null;
  sha256: string | null;
  version: number;
};

let testBackend: Awaited<ReturnType<typeof startTestBackend>>;
let owner: TestClient;
let stranger: TestClient;
let clerk: Awaited<ReturnType<typeof newStaffMember>>;
/** A fresh shipment of the owner's for each test, and the folder of its files. */
let shipmentId: string;
let folder: string;

const originalContent = "%PDF-1.7 the original";
const sha256 = createHash("sha256").update(originalContent).digest("hex");
/** What the server records of a file beside its place. */
const fileRecord = {
  sha256,
  file_name: "Liste août.pdf",
  file_size: originalContent.length,
  media_type: "application/pdf",
};
const awaitedState = { uploaded: false, verified: false, storage_path: null, sha256: null };

beforeAll(async () => {
  testBackend = await startTestBackend();
  owner = await testBackend.newClient("owner@client.example");
  stranger = await testBackend.newClient("stranger@client.example");
  clerk = await newStaffMember(testBackend, "clerk", "clerk@company.example");
});
afterAll(() => testBackend.close());
beforeEach(async () => {
  shipmentId = await newShipment(owner);
  folder = `${owner.id}/${shipmentId}`;
});

test("a new shipment has the documents that the app lists", async () => {
  const names = (await listDocuments()).map(({ name }) => name);
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
  for (const supabase of [owner.supabase, stranger.supabase, testBackend.anonymous()]) {
    const { error } = await toUntypedClient(supabase)
      .from("documents")
      .update({ [name]: value })
      .eq("shipment_id", shipmentId);
    expect(error?.code).toBe("42501");
  }
  for (const document of await listDocuments()) expect(document).toMatchObject(awaitedState);
});

describe("what the server asks as the client before it stores a file", () => {
  const ask = async (supabase: TestClient["supabase"], document_id: string) => {
    const { error, status } = await supabase.rpc("require_upload_allowed", { document_id });
    return error ? [status, error.code, error.message] : [];
  };

  test("is granted to the owner of a document that waits for one, and to nobody else", async () => {
    const { id = "" } = (await findDocument("Packing List")) ?? {};
    expect(await ask(owner.supabase, id)).toEqual([]);
    const unknown = [404, "PT404", "There is no such document."];
    expect(await ask(stranger.supabase, id)).toEqual(unknown);
    expect(await ask(owner.supabase, randomUUID())).toEqual(unknown);
    expect((await ask(testBackend.anonymous(), id)).slice(0, 2)).toEqual([401, "42501"]);
    expect((await listDocuments()).map(({ uploaded }) => uploaded)).toEqual([false, false, false, false]);
  });

  test("is refused for a document that has its file, and for a closed shipment, each in its words", async () => {
    const { id = "" } = (await findDocument("Packing List")) ?? {};
    await markUploaded(await storeFile());
    expect(await ask(owner.supabase, id)).toEqual([409, "PT409", "This document has been uploaded already."]);
    const { id: other = "" } = (await findDocument("Bill of Lading")) ?? {};
    await closeShipment();
    const closed = "This shipment is closed: nothing more can be uploaded to it.";
    expect(await ask(owner.supabase, other)).toEqual([409, "PT409", closed]);
  });
});

test("a document counts a stored file with its hash, name, size and kind, its version in the store, and the time", async () => {
  const path = await storeFile();
  const before = Date.now();
  expect((await markUploaded(path)).error).toBeNull();
  const [object] = await query<{ version: string }>("select version from storage.objects where name = $1", [path]);
  const [counted] = await query<{ uploaded_at: string }>(
    "select * from public.documents where shipment_id = $1 and uploaded",
    [shipmentId],
  );
  expect(counted).toMatchObject({ name: "Packing List", verified: false, storage_path: path, ...fileRecord });
  expect(counted).toMatchObject({ storage_version: object?.version });
  expect(object?.version).toBeTruthy();
  expect(Math.abs(new Date(counted?.uploaded_at ?? 0).getTime() - before)).toBeLessThan(60_000);
});

test("a document counts no file that is not in the bucket, or of which something is not recorded", async () => {
  const path = await storeFile();
  for (const change of [
    { uploaded: true },
    { uploaded: true, storage_path: path },
    { uploaded: true, storage_path: path, ...fileRecord, sha256: null },
    { uploaded: true, storage_path: path, ...fileRecord, sha256: "not a hash" },
    { uploaded: true, storage_path: path, ...fileRecord, file_name: null },
    { uploaded: true, storage_path: path, ...fileRecord, file_size: null },
    { uploaded: true, storage_path: path, ...fileRecord, media_type: null },
    { uploaded: true, ...fileRecord },
    { uploaded: true, storage_path: "", ...fileRecord },
    { uploaded: true, storage_path: await createPath(), ...fileRecord },
    { storage_path: path },
    { sha256 },
    { uploaded: false, storage_path: path, ...fileRecord },
  ]) {
    const { error } = await updateDocument("Packing List", change);
    expect(error, JSON.stringify(change)).not.toBeNull();
    expect(await findDocument("Packing List")).toMatchObject(awaitedState);
  }
  await testBackend.serviceRole.storage.from("documents").remove([path]);
  expect((await markUploaded(path)).error?.code).toBe("PT409");
  const added = await testBackend.serviceRole.from("documents").insert({
    shipment_id: shipmentId,
    user_id: owner.id,
    name: "Permit",
    uploaded: true,
    storage_path: path,
    ...fileRecord,
  });
  expect(added.error?.code).toBe("PT409");
});

const misplacedFiles: [string, (at: { mine: string; theirs: string; other: string }) => string][] = [
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

test.each(misplacedFiles)("a document does not count %s", async (_what, where) => {
  const theirs = `${stranger.id}/${await newShipment(stranger)}`;
  const path = where({ mine: folder, theirs, other: `${owner.id}/${await newShipment(owner)}` });
  await query("insert into storage.objects (bucket_id, name, version) values ('documents', $1, '1')", [path]);
  expect((await markUploaded(path)).error?.code).toBe("PT409");
  expect(await findDocument("Packing List")).toMatchObject(awaitedState);
});

test("a closed shipment counts no file, not even the company's", async () => {
  const path = await storeFile();
  await closeShipment();
  const { error } = await markUploaded(path);
  expect(error).toMatchObject({ code: "PT409", message: expect.stringContaining("closed") });
  expect(await findDocument("Packing List")).toMatchObject(awaitedState);
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
  const path = await storeFile();
  await storeFile();
  await markUploaded(path);
  const before = await listDocuments();
  expect((await updateDocument("Packing List", change)).error).not.toBeNull();
  expect(await listDocuments()).toEqual(before);
});

describe("the company verifies", () => {
  /** Sets the mark directly, without the model's comparison of hashes. */
  const verifyUnseen = () => updateDocument("Packing List", { verified: true });
  /** Exchanges a stored file, which takes the secret key. */
  const exchange = async (path: string, content = "%PDF-1.7 the forgery!") => {
    const { error } = await testBackend.serviceRole.storage
      .from("documents")
      .upload(path, content, { contentType: "application/pdf", upsert: true });
    if (error) throw error;
  };

  test("a document by its name, once its file is there", async () => {
    await expect(verifyByName()).rejects.toThrow("The Packing List has not been uploaded yet.");
    expect((await verifyUnseen()).error).not.toBeNull();
    await expect(verifyByName("Gold")).rejects.toThrow('no document "Gold"');
    await markUploaded(await storeFile());
    await verifyByName("packing list");
    expect(await findDocument("Packing List")).toMatchObject({ uploaded: true, verified: true });
  });

  test("a document once: a second time says so and changes nothing", async () => {
    await markUploaded(await storeFile());
    await verifyByName();
    const before = await listDocuments();
    await expect(verifyByName()).rejects.toThrow("The Packing List is verified already.");
    expect(await listDocuments()).toEqual(before);
  });

  test("a document at the desk as by its command, and clients and strangers none", async () => {
    await markUploaded(await storeFile());
    const { id = "" } = (await findDocument("Packing List")) ?? {};
    expect(await verifyDocument(stranger.supabase, testBackend.serviceRole, id, {})).toMatchObject({ status: 404 });
    expect(await verifyDocument(clerk.aal1, testBackend.serviceRole, id, {})).toMatchObject({ status: 404 });
    expect(await verifyDocument(owner.supabase, testBackend.serviceRole, id, {})).toMatchObject({ status: 403 });
    expect(await findDocument("Packing List")).toMatchObject({ verified: false });
    expect(await verifyDocument(clerk.supabase, testBackend.serviceRole, id, { expected_version: 0 })).toMatchObject({
      status: 409,
    });
    expect(await verifyDocument(clerk.supabase, testBackend.serviceRole, id, { expected_version: 1 })).toBeNull();
    expect(await findDocument("Packing List")).toMatchObject({ verified: true, sha256 });
  });

  test("no file that was exchanged since it counts", async () => {
    const path = await storeFile();
    await markUploaded(path);
    await exchange(path);
    await expect(verifyByName()).rejects.toThrow("The stored file is not the one that was uploaded.");
    expect((await verifyUnseen()).error?.code).toBe("PT409");
    const [object] = await query<{ version: string }>("select version from storage.objects where name = $1", [path]);
    // The version changes only in the update that verifies the document.
    expect((await updateDocument("Packing List", { storage_version: object?.version })).error?.code).toBe("PT409");
    expect(await findDocument("Packing List")).toMatchObject({ verified: false });
  });

  test("a file whose bytes came back from a backup, as the new object that it is", async () => {
    const path = await storeFile();
    await markUploaded(path);
    await exchange(path, originalContent);
    expect((await verifyUnseen()).error?.code).toBe("PT409");
    await verifyByName();
    const [object] = await query<{ version: string }>("select version from storage.objects where name = $1", [path]);
    expect(await findDocument("Packing List")).toMatchObject({ verified: true, storage_version: object?.version });
  });

  test("no file that is gone", async () => {
    const path = await storeFile();
    await markUploaded(path);
    await testBackend.serviceRole.storage.from("documents").remove([path]);
    await expect(verifyByName()).rejects.toThrow("The stored file is not the one that was uploaded.");
    expect((await verifyUnseen()).error?.code).toBe("PT409");
  });

  test("and what was verified opens as it was, for its owner and the company, or not at all", async () => {
    const path = await storeFile();
    await markUploaded(path);
    await verifyByName();
    const counted = await findDocument("Packing List");
    if (!counted) throw new Error("no document");
    const told = (await readPortalFile(owner.supabase, counted.id)).file;
    expect(told).toMatchObject({ storage_path: path, storage_version: counted.storage_version, sha256 });
    for (const known of [told ?? counted, counted]) {
      const file = await readStoredFile(testBackend.serviceRole, known);
      expect("content" in file && new TextDecoder().decode(file.content)).toBe(originalContent);
    }
    // The bytes are read by the company's key alone.
    for (const supabase of [owner.supabase, stranger.supabase, testBackend.anonymous()]) {
      expect(await readStoredFile(supabase, counted)).toMatchObject({ reason: expect.any(String) });
    }
    await exchange(path);
    const rejection = { reason: "The stored file is not the one that was uploaded.", status: 409 };
    for (const known of [told ?? counted, counted])
      expect(await readStoredFile(testBackend.serviceRole, known)).toEqual(rejection);
  });

  test("a file from before hashes were recorded: it gets its hash, unless it was exchanged since", async () => {
    const path = await storeFile();
    await markUploaded(path);
    await clearFileHash();
    const counted = await findDocument("Packing List");
    if (!counted) throw new Error("no document");
    const told = (await readPortalFile(owner.supabase, counted.id)).file;
    if (!told) throw new Error("no file");
    expect(told).toMatchObject({ sha256: null, storage_version: counted.storage_version });
    expect(await readStoredFile(testBackend.serviceRole, told)).toMatchObject({ sha256 });
    expect((await verifyUnseen()).error?.code).toBe("PT409");
    await exchange(path);
    expect(await readStoredFile(testBackend.serviceRole, told)).toMatchObject({ status: 409 });
    await expect(verifyByName()).rejects.toThrow("The stored file is not the one that was uploaded.");

    const other = await storeFile("Bill of Lading");
    await markUploaded(other, "Bill of Lading");
    await verifyByName("Bill of Lading");
    await clearFileHash();
    expect(await findDocument("Bill of Lading")).toMatchObject({ verified: true, sha256: null });
    await verifyByName("Bill of Lading");
    expect(await findDocument("Bill of Lading")).toMatchObject({ verified: true, sha256 });
    await expect(verifyByName("Bill of Lading")).rejects.toThrow("is verified already");
  });
});

describe("a client who opens a document", () => {
  let id: string;
  beforeEach(async () => {
    id = (await findDocument("Packing List"))?.id ?? "";
  });

  test("is told where its file is stored and what it has to be, with who asks", async () => {
    const path = await storeFile();
    await markUploaded(path);
    const { file_size: _, ...told } = fileRecord;
    const { storage_version } = (await findDocument("Packing List")) ?? {};
    expect(await readPortalFile(owner.supabase, id)).toEqual({
      viewer: {
        email: owner.email,
        full_name: `Client ${owner.email}`,
        has_aal2: false,
        factors: [],
        staff: null,
      },
      file: { name: "Packing List", storage_path: path, storage_version, ...told },
    });
  });

  test("is told of no file where there is none, of another shipment or of somebody else's", async () => {
    expect((await readPortalFile(owner.supabase, id)).file).toBeNull();
    await markUploaded(await storeFile());
    expect((await readPortalFile(owner.supabase, id)).file).not.toBeNull();
    const theirs = await newShipment(stranger);
    for (const [supabase, document_id, shipment_id] of [
      [owner.supabase, id, await newShipment(owner)],
      [owner.supabase, id, theirs],
      [owner.supabase, id, randomUUID()],
      [owner.supabase, randomUUID(), shipmentId],
      [owner.supabase, (await findDocument("Bill of Lading"))?.id ?? "", shipmentId],
      [stranger.supabase, id, shipmentId],
      [stranger.supabase, id, theirs],
      [clerk.supabase, id, shipmentId],
      [clerk.aal1, id, shipmentId],
    ] as const) {
      const { viewer, file } = await readPortalFile(supabase, document_id, shipment_id);
      expect(file).toBeNull();
      expect(viewer).not.toBeNull();
    }
    await expect(readPortalFile(testBackend.anonymous(), id)).rejects.toMatchObject({ code: "42501" });
  });

  test("is told of no file, and is nobody, once the session has ended", async () => {
    await markUploaded(await storeFile());
    const left = await newClientSession(testBackend, owner.email);
    expect((await readPortalFile(left.token, id)).file).not.toBeNull();
    await left.supabase.auth.signOut({ scope: "local" });
    expect(await readPortalFile(left.token, id)).toEqual({ viewer: null, file: null });
    expect((await readPortalFile(owner.supabase, id)).file).not.toBeNull();
  });

  test("is told of no file before the code of a second factor is given", async () => {
    await markUploaded(await storeFile());
    await runWithSecondFactor(testBackend, owner.id, async () => {
      expect(await readPortalFile(owner.supabase, id)).toMatchObject({
        viewer: { factors: [{ name: "Phone" }] },
        file: null,
      });
    });
    expect((await readPortalFile(owner.supabase, id)).file).not.toBeNull();
  });
});

describe("a client who takes a file back", () => {
  let id: string;
  let path: string;
  beforeEach(async () => {
    id = (await findDocument("Packing List"))?.id ?? "";
    path = await storeFile();
    await markUploaded(path);
  });
  const takeBack = async (supabase: AppSupabaseClient = owner.supabase, seen: number | null = 1, document_id = id) => {
    const { data, error, status } = await toUntypedClient(supabase).rpc("remove_file", {
      document_id,
      expected_version: seen,
    });
    return error ? `${status} ${error.message}` : data;
  };
  const changed = "409 The Packing List has changed since you opened this page. Look at it again.";
  const shipmentNow = async () =>
    (
      await query<{ waiting_on: string; changed_at: string }>("select * from public.shipments where id = $1", [
        shipmentId,
      ])
    )[0];

  test("learns where it was stored, and the document waits for a file again", async () => {
    for (const name of DEFAULT_DOCUMENTS.filter((one) => one !== "Packing List"))
      await markUploaded(await storeFile(name), name);
    expect(await shipmentNow()).toMatchObject({ waiting_on: "company" });
    await query("update public.shipments set changed_at = now() - interval '1 day' where id = $1", [shipmentId]);
    const others = async () => (await listDocuments()).filter((one) => one.id !== id);
    const before = await others();
    expect(await takeBack()).toBe(path);
    const nothing = { storage_version: null, file_name: null, file_size: null, media_type: null, uploaded_at: null };
    const notSentBack = { rejected_at: null, rejection_reason: null };
    expect(await findDocument("Packing List")).toMatchObject({
      ...awaitedState,
      ...nothing,
      ...notSentBack,
      version: 2,
    });
    expect(await others()).toEqual(before);
    const { waiting_on, changed_at } = (await shipmentNow()) ?? {};
    expect(waiting_on).toBe("client");
    expect(Math.abs(new Date(changed_at ?? 0).getTime() - Date.now())).toBeLessThan(60_000);
    expect((await readPortalFile(owner.supabase, id)).file).toBeNull();
    // No act of the company's, and nothing to tell by mail.
    expect(await query("select from public.audit_log where document_id = $1", [id])).toEqual([]);
    expect(await query("select from public.email_outbox where shipment_id = $1", [shipmentId])).toEqual([]);

    expect((await owner.supabase.rpc("require_upload_allowed", { document_id: id })).error).toBeNull();
    const again = await storeFile();
    expect((await markUploaded(again)).error).toBeNull();
    expect(await findDocument("Packing List")).toMatchObject({ uploaded: true, storage_path: again, version: 3 });
    expect(await shipmentNow()).toMatchObject({ waiting_on: "company" });
  });

  test("takes back their own, with a session that is good for the account, and nobody else's", async () => {
    const before = await listDocuments();
    const unknown = "404 There is no such document.";
    for (const supabase of [stranger.supabase, clerk.supabase]) expect(await takeBack(supabase)).toBe(unknown);
    expect(await takeBack(owner.supabase, 1, randomUUID())).toBe(unknown);
    expect(await takeBack(testBackend.anonymous())).toMatch(/^401 /);
    expect(await takeBack(testBackend.serviceRole)).toMatch(/^40[134] /);
    const again = "403 Log in again to do this.";
    expect(await takeBack(clerk.aal1)).toBe(again);
    await runWithSecondFactor(testBackend, owner.id, async () => expect(await takeBack()).toBe(again));
    const left = await newClientSession(testBackend, owner.email);
    await left.supabase.auth.signOut({ scope: "local" });
    expect(await takeBack(left.token)).toBe(again);
    expect(await listDocuments()).toEqual(before);
  });

  test("takes back the file that was seen and no other, and none where there is none", async () => {
    const before = await listDocuments();
    for (const seen of [0, 2, -1, 2_147_483_647, null]) expect(await takeBack(owner.supabase, seen)).toBe(changed);
    expect(await listDocuments()).toEqual(before);
    expect(await takeBack()).toBe(path);
    for (const seen of [1, 2]) expect(await takeBack(owner.supabase, seen)).toBe(changed);
    const other = await storeFile();
    await markUploaded(other);
    expect(await takeBack(owner.supabase, 1)).toBe(changed);
    expect(await findDocument("Packing List")).toMatchObject({ uploaded: true, storage_path: other });
    expect(await takeBack(owner.supabase, 3)).toBe(other);
  });

  test("takes back none that is verified, and none of a closed shipment", async () => {
    await verifyByName();
    let before = await listDocuments();
    const verified = "409 The Packing List is verified by now: call us if it is not the right one.";
    for (const seen of [1, 2, null]) expect(await takeBack(owner.supabase, seen)).toBe(verified);
    expect(await listDocuments()).toEqual(before);
    await markUploaded(await storeFile("Bill of Lading"), "Bill of Lading");
    await closeShipment();
    before = await listDocuments();
    const other = await findDocument("Bill of Lading");
    expect(await takeBack(owner.supabase, 1, other?.id)).toBe(
      "409 This shipment is closed: its documents stay as they are.",
    );
    expect(await listDocuments()).toEqual(before);
  });

  test("ten times at once takes it back once", async () => {
    const call = { name: "remove_file", args: { document_id: id, expected_version: 1 }, token: owner.accessToken };
    const results = await callConcurrently(
      testBackend,
      Array.from({ length: 10 }, () => call),
    );
    expect(results.filter(({ result }) => result !== undefined)).toEqual([{ result: path }]);
    expect(results.flatMap(({ rejection }) => rejection ?? [])).toEqual(Array(9).fill(changed.slice(4)));
    expect(await findDocument("Packing List")).toMatchObject({ ...awaitedState, version: 2 });
  });

  test("while a clerk verifies it has it back, or it is verified, and the other is told", async () => {
    for (let round = 0; round < 6; round += 1) {
      const { version = 0, storage_version } = (await findDocument("Packing List")) ?? {};
      const both = [
        { name: "remove_file", args: { document_id: id, expected_version: version }, token: owner.accessToken },
        {
          name: "verify_document",
          args: { document_id: id, sha256, storage_version, expected_version: version },
          token: clerk.accessToken,
        },
      ];
      const [one, two] = await callConcurrently(testBackend, round % 2 ? both.reverse() : both);
      const [taken, verified] = round % 2 ? [two, one] : [one, two];
      expect([taken, verified].filter((result) => result?.rejection)).toHaveLength(1);
      const now = await findDocument("Packing List");
      if (taken?.rejection) {
        expect(taken.rejection).toMatch(/^The Packing List (is verified by now|has changed)/);
        expect(now).toMatchObject({ uploaded: true, verified: true });
        const undone = { document_id: id, reason: "Another round" };
        expect((await toUntypedClient(clerk.supabase).rpc("unverify_document", undone)).error).toBeNull();
      } else {
        expect(taken?.result).toBeTruthy();
        expect(now).toMatchObject(awaitedState);
        await markUploaded(await storeFile());
      }
    }
  });
});

test("a shipment cannot have two documents of one name", async () => {
  const { error } = await testBackend.serviceRole
    .from("documents")
    .insert({ shipment_id: shipmentId, user_id: owner.id, name: "Packing List" });
  expect(error?.code).toBe("23505");
});

test("a shipment without documents is not made: when they cannot be added, there is no shipment", async () => {
  await testBackend.backend.db.exec(`
    create function public.refuse_document() returns trigger language plpgsql as
      $$ begin if new.name = 'Bill of Lading' then raise exception 'no'; end if; return new; end $$;
    create trigger refuse_document before insert on public.documents
      for each row execute function public.refuse_document();
  `);
  try {
    const requestId = randomUUID();
    const { error } = await owner.supabase
      .from("shipments")
      .insert({ name: "Half", user_id: owner.id, idempotency_key: requestId });
    expect(error).not.toBeNull();
    expect(await query("select 1 from public.shipments where idempotency_key = $1", [requestId])).toEqual([]);
    expect(
      await query("select 1 from public.documents where shipment_id not in (select id from public.shipments)"),
    ).toEqual([]);
  } finally {
    await testBackend.backend.db.exec(
      "drop trigger refuse_document on public.documents; drop function public.refuse_document",
    );
  }
});

async function newShipment(client: TestClient): Promise<string> {
  const { data, error } = await client.supabase
    .from("shipments")
    .insert({ name: "Tea", user_id: client.id })
    .select("id")
    .single();
  if (error) throw error;
  return data.id;
}

type PortalFileResult = { viewer: object | null; file: DownloadableFile | null };

/** What the portal tells somebody of a document's file before the server reads it. */
async function readPortalFile(
  supabase: AppSupabaseClient,
  document_id: string,
  shipment_id = shipmentId,
): Promise<PortalFileResult> {
  const { data, error } = await toUntypedClient(supabase).rpc(
    "portal_file",
    { document_id, shipment_id },
    { get: true },
  );
  if (error) throw error;
  return data;
}

/** Where the server would put a file of the owner's. */
async function createPath(name = "Packing List"): Promise<string> {
  return objectPath({ user_id: owner.id, shipment_id: shipmentId, name }, "list.pdf");
}

/** Puts a file into the bucket as the server does and returns its path. */
async function storeFile(name = "Packing List"): Promise<string> {
  const path = await createPath(name);
  const { error } = await testBackend.serviceRole.storage
    .from("documents")
    .upload(path, originalContent, { contentType: "application/pdf", upsert: false });
  if (error) throw error;
  return path;
}

/** Marks a document as the server does. */
function markUploaded(path: string, name = "Packing List") {
  return updateDocument(name, { uploaded: true, storage_path: path, ...fileRecord });
}

function updateDocument(name: string, change: object) {
  return testBackend.serviceRole
    .from("documents")
    .update(change)
    .eq("shipment_id", shipmentId)
    .eq("name", name)
    .select("id");
}

/** Verifies a document as the company's command does. Throws when it is refused. */
async function verifyByName(name = "Packing List"): Promise<void> {
  const id = await findDocumentId(testBackend.serviceRole, shipmentId, name);
  const rejection = await verifyDocument(testBackend.serviceRole, testBackend.serviceRole, id, {
    actor_name: "Wanjiru",
  });
  if (rejection) throw new Error(rejection.reason);
}

/** Leaves the files of the shipment as they were before hashes were recorded. */
async function clearFileHash(): Promise<void> {
  await testBackend.backend.db.exec(`
    alter table public.documents disable trigger check_document_file;
    update public.documents set sha256 = null, file_name = null where shipment_id = '${shipmentId}';
    alter table public.documents enable trigger check_document_file;
  `);
}

async function closeShipment(): Promise<void> {
  const { error } = await testBackend.serviceRole.from("shipments").update({ stage: 10 }).eq("id", shipmentId);
  if (error) throw error;
}

async function query<T>(text: string, values: unknown[] = []): Promise<T[]> {
  return (await testBackend.backend.db.query<T>(text, values)).rows;
}

function listDocuments() {
  return query<DocumentColumns>("select * from public.documents where shipment_id = $1 order by name", [shipmentId]);
}

async function findDocument(name: string) {
  return (await listDocuments()).find((one) => one.name === name);
}
