import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { documentSlug } from "../../app/models/document.server.ts";
import { DEFAULT_DOCUMENTS } from "../../app/models/document.ts";
import { FILE_TYPES } from "../../app/models/file-type.server.ts";
import { runWithSecondFactor } from "../support/client-sessions.ts";
import { awaitedState, fileRecord, setUpDocuments } from "../support/document-suite.ts";
import type { AppSupabaseClient } from "../support/test-backend.ts";

const suite = setUpDocuments();
const { testBackend, owner, stranger, shipment } = suite;
const { query, newShipment, createPath, storeFile, markUploaded, runWithRejectedWrites } = suite;
const { updateDocument, closeShipment, listDocuments, findDocument } = suite;
const { sha256 } = fileRecord;

test("The documents bucket accepts the media types that the app accepts.", async () => {
  const [bucket] = await query("select * from storage.buckets where id = 'documents'");
  expect(new Set(bucket?.allowed_mime_types as string[])).toEqual(
    new Set(FILE_TYPES.map(({ mediaType }) => mediaType)),
  );
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
])("The app and the database derive the same file name from the document name %j.", async (name) => {
  const [row] = await query<{ slug: string }>("select private.document_slug($1) as slug", [name]);
  expect(row?.slug).toBe(documentSlug(name));
});

describe("upload permission", () => {
  const requestUpload = async (supabase: AppSupabaseClient, document_id: string) => {
    const { error, status } = await supabase.rpc("require_upload_allowed", { document_id });
    return error ? [status, error.code, error.message] : [];
  };

  test("Only the owner of a document without a file may upload a file.", async () => {
    const { id = "" } = (await findDocument("Packing List")) ?? {};
    expect(await requestUpload(owner.supabase, id)).toEqual([]);
    const unknown = [404, "PT404", "Document not found."];
    expect(await requestUpload(stranger.supabase, id)).toEqual(unknown);
    expect(await requestUpload(owner.supabase, randomUUID())).toEqual(unknown);
    await runWithSecondFactor(testBackend, owner.id, async () =>
      expect(await requestUpload(owner.supabase, id)).toEqual(unknown),
    );
    expect((await listDocuments()).map(({ uploaded }) => uploaded)).toEqual([false, false, false, false]);
  });

  test("An upload is rejected for a document with a file and for a closed shipment, each with its own message.", async () => {
    const { id = "" } = (await findDocument("Packing List")) ?? {};
    await markUploaded(await storeFile());
    expect(await requestUpload(owner.supabase, id)).toEqual([409, "PT409", "This document already has a file."]);
    const { id: lading = "" } = (await findDocument("Bill of Lading")) ?? {};
    await closeShipment();
    const closed = "This shipment is closed. Call us to send more files.";
    expect(await requestUpload(owner.supabase, lading)).toEqual([409, "PT409", closed]);
  });
});

test("A document records its file's hash, name, size, media type, version and time.", async () => {
  const path = await storeFile();
  const before = Date.now();
  expect((await markUploaded(path)).error).toBeNull();
  const [object] = await query<{ version: string }>("select version from storage.objects where name = $1", [path]);
  const [recorded] = await query<{ uploaded_at: string }>(
    "select * from public.documents where shipment_id = $1 and uploaded",
    [shipment.id],
  );
  expect(recorded).toMatchObject({ name: "Packing List", verified: false, storage_path: path, ...fileRecord });
  expect(recorded).toMatchObject({ storage_version: object?.version });
  expect(object?.version).toBeTruthy();
  expect(Math.abs(new Date(recorded?.uploaded_at ?? 0).getTime() - before)).toBeLessThan(60_000);
});

test("A document cannot record a file that is not stored, or a file without one of its columns.", async () => {
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
    shipment_id: shipment.id,
    user_id: owner.id,
    name: "Permit",
    uploaded: true,
    storage_path: path,
    ...fileRecord,
  });
  expect(added.error?.code).toBe("PT409");
});

const misplacedFiles: [string, (at: { folder: string; foreignFolder: string; otherFolder: string }) => string][] = [
  ["a stranger's file", ({ foreignFolder }) => `${foreignFolder}/packing-list-0123456789ab-x.pdf`],
  ["a file of another shipment", ({ otherFolder }) => `${otherFolder}/packing-list-0123456789ab-x.pdf`],
  ["a file of another document", ({ folder }) => `${folder}/bill-of-lading-0123456789ab-x.pdf`],
  ["a file without its random part", ({ folder }) => `${folder}/packing-list-x.pdf`],
  ["a file one folder too deep", ({ folder }) => `${folder}/packing-list-0123456789ab-x.pdf/y.pdf`],
  ["a file behind an empty folder", ({ folder }) => `${folder}/packing-list-0123456789ab-x//deep/y.pdf`],
  ["a file with an encoded slash", ({ folder }) => `${folder}/packing-list-0123456789ab-x%2fy.pdf`],
  ["a file with a line end", ({ folder }) => `${folder}/packing-list-0123456789ab-x.pdf\n`],
  ["a file in capitals", ({ folder }) => `${folder}/packing-list-0123456789ab-X.pdf`],
];

test.each(misplacedFiles)("A document cannot record %s.", async (_what, where) => {
  const foreignFolder = `${stranger.id}/${await newShipment(stranger)}`;
  const path = where({
    folder: `${owner.id}/${shipment.id}`,
    foreignFolder,
    otherFolder: `${owner.id}/${await newShipment(owner)}`,
  });
  await query("insert into storage.objects (bucket_id, name, version) values ('documents', $1, '1')", [path]);
  expect((await markUploaded(path)).error?.code).toBe("PT409");
  expect(await findDocument("Packing List")).toMatchObject(awaitedState);
});

test("A document of a closed shipment cannot record a file, even by the service role.", async () => {
  const path = await storeFile();
  await closeShipment();
  const { error } = await markUploaded(path);
  expect(error).toMatchObject({ code: "PT409", message: expect.stringContaining("closed") });
  expect(await findDocument("Packing List")).toMatchObject(awaitedState);
});

test.each<[string, object]>([
  ["the mark", { uploaded: false, storage_path: null }],
  ["all columns", { uploaded: false, storage_path: null, sha256: null, file_name: null, file_size: null }],
  ["the path", { storage_path: "another" }],
  ["the hash", { sha256: "0".repeat(64) }],
  ["the hash together with the verification", { sha256: "0".repeat(64), verified: true }],
  ["the version", { storage_version: "1" }],
  ["the version together with the verification", { storage_version: "1", verified: true }],
  ["the name", { file_name: "other.pdf" }],
  ["the size", { file_size: 1 }],
  ["the media type", { media_type: "text/plain" }],
  ["the time", { uploaded_at: "2020-01-01T00:00:00Z" }],
])("An update cannot change %s of a recorded file.", async (_what, change) => {
  const path = await storeFile();
  await storeFile();
  await markUploaded(path);
  const before = await listDocuments();
  expect((await updateDocument("Packing List", change)).error).not.toBeNull();
  expect(await listDocuments()).toEqual(before);
});

test("A shipment cannot have two documents with the same name.", async () => {
  const { error } = await testBackend.serviceRole
    .from("documents")
    .insert({ shipment_id: shipment.id, user_id: owner.id, name: "Packing List" });
  expect(error?.code).toBe("23505");
});

test("A shipment is not created if its documents cannot be added.", async () => {
  await runWithRejectedWrites("public.documents", "no", async () => {
    const { error } = await owner.supabase.from("shipments").insert({ name: "Half", user_id: owner.id });
    expect(error?.message).toBe("no");
  });
  expect(await query("select from public.shipments where name = 'Half'")).toEqual([]);
});
