import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { documentSlug } from "../../app/models/document.server.ts";
import { DEFAULT_DOCUMENTS } from "../../app/models/document.ts";
import { FILE_TYPES } from "../../app/models/file-type.server.ts";
import { runWithSecondFactor } from "../support/client-sessions.ts";
import { callRpcOrGetRejection } from "../support/database-suite.ts";
import { awaitedState, fileRecord, setUpDocuments } from "../support/document-suite.ts";
import { callConcurrently, callRepeatedly } from "../support/staff-members.ts";
import type { AppSupabaseClient } from "../support/test-backend.ts";

const suite = setUpDocuments();
const { testBackend, owner, stranger, shipment, query, newShipment, createPath, storeFile, markUploaded } = suite;
const { runWithRejectedWrites, updateDocument, closeShipment, listDocuments, findDocument, clerk } = suite;
const { readPortalFile, readShipment, verifyByName } = suite;

const { sha256 } = fileRecord;

test("The storage bucket for documents accepts exactly the media types that the app accepts.", async () => {
  const [bucket] = await query("select * from storage.buckets where id = 'documents'");
  expect(new Set(bucket?.allowed_mime_types as string[])).toEqual(
    new Set(FILE_TYPES.map(({ mediaType }) => mediaType)),
  );
});

test("The app and the database derive the same slug from a document's name.", async () => {
  const names = [
    ...[...DEFAULT_DOCUMENTS, "Form C-17B", "IDF & Permit (2026)", "  Packing   List  ", "--A--", "a_b.c/d\\e"],
    ...["Ärztliches Attest", "فاتورة تجارية", "发票 2", "T1", "line\nbreak\ttab", "🚢"],
  ];
  const slugs = "select name, private.document_slug(name) as slug from unnest($1::text[]) as name";
  expect(await query(slugs, [names])).toEqual(names.map((name) => ({ name, slug: documentSlug(name) })));
});

describe("Permission to upload", () => {
  const requestUpload = async (supabase: AppSupabaseClient, document_id: string) => {
    const { error, status } = await supabase.rpc("require_upload_allowed", { document_id });
    return error ? [status, error.code, error.message] : [];
  };

  test("Only the owner of a document can upload a file, and only if the document has no file.", async () => {
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

  test("An upload is rejected for a document that has a file and for a closed shipment. Each case has its own message.", async () => {
    const { id = "" } = (await findDocument("Packing List")) ?? {};
    await markUploaded(await storeFile());
    expect(await requestUpload(owner.supabase, id)).toEqual([
      409,
      "PT409",
      "This document already has a file. To upload another file, remove the current file first.",
    ]);
    const { id: lading = "" } = (await findDocument("Bill of Lading")) ?? {};
    await closeShipment();
    const closed = "This shipment is closed. Call us to send more files.";
    expect(await requestUpload(owner.supabase, lading)).toEqual([409, "PT409", closed]);
  });
});

test("A document records its file's hash, name, size, media type, version and upload time.", async () => {
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

test("A document cannot record a file that is not in the storage, or a file without its hash, name, size or media type.", async () => {
  const path = await storeFile();
  const recorded = { uploaded: true, storage_path: path, ...fileRecord };
  for (const change of [
    ...[{ uploaded: true }, { uploaded: true, storage_path: path }, { uploaded: true, ...fileRecord }],
    ...[{ storage_path: path }, { sha256 }],
    { ...recorded, sha256: null },
    { ...recorded, sha256: "not a hash" },
    { ...recorded, file_name: null },
    { ...recorded, file_size: null },
    { ...recorded, media_type: null },
    { ...recorded, storage_path: "" },
    { ...recorded, storage_path: await createPath() },
    { ...recorded, uploaded: false },
  ]) {
    expect((await updateDocument("Packing List", change)).error, JSON.stringify(change)).not.toBeNull();
  }
  expect(await findDocument("Packing List")).toMatchObject(awaitedState);
  await testBackend.serviceRole.storage.from("documents").remove([path]);
  expect((await markUploaded(path)).error?.code).toBe("PT409");
  const permit = { shipment_id: shipment.id, user_id: owner.id, name: "Permit", ...recorded };
  expect((await testBackend.serviceRole.from("documents").insert(permit)).error?.code).toBe("PT409");
});

test("A document cannot record a file in another folder, another document's file, or an invalid storage path.", async () => {
  const folder = `${owner.id}/${shipment.id}`;
  const misplaced = [
    `${stranger.id}/${await newShipment(stranger)}/packing-list-0123456789ab-x.pdf`,
    `${owner.id}/${await newShipment(owner)}/packing-list-0123456789ab-x.pdf`,
    `${folder}/bill-of-lading-0123456789ab-x.pdf`,
    `${folder}/packing-list-x.pdf`,
    `${folder}/packing-list-0123456789ab-x.pdf/y.pdf`,
    `${folder}/packing-list-0123456789ab-x//deep/y.pdf`,
    `${folder}/packing-list-0123456789ab-x%2fy.pdf`,
    `${folder}/packing-list-0123456789ab-x.pdf\n`,
    `${folder}/packing-list-0123456789ab-X.pdf`,
  ];
  for (const path of misplaced) {
    await query("insert into storage.objects (bucket_id, name, version) values ('documents', $1, '1')", [path]);
    expect((await markUploaded(path)).error?.code, path).toBe("PT409");
  }
  expect(await findDocument("Packing List")).toMatchObject(awaitedState);
});

test("A document of a closed shipment cannot record a file, even by the service role.", async () => {
  const path = await storeFile();
  await closeShipment();
  const { error } = await markUploaded(path);
  expect(error).toMatchObject({ code: "PT409", message: expect.stringContaining("closed") });
  expect(await findDocument("Packing List")).toMatchObject(awaitedState);
});

test("A direct update cannot replace a document's recorded file, even together with the verification.", async () => {
  const path = await storeFile();
  const otherFile = await storeFile();
  await markUploaded(path);
  const before = await listDocuments();
  for (const change of [
    { uploaded: false, storage_path: null },
    { uploaded: false, storage_path: null, sha256: null, file_name: null, file_size: null },
    ...[{ storage_path: "another" }, { storage_path: otherFile }, { sha256: "0".repeat(64) }, { storage_version: "1" }],
    ...[
      { sha256: "0".repeat(64), verified: true },
      { storage_version: "1", verified: true },
    ],
    ...[{ file_name: "other.pdf" }, { file_size: 1 }, { media_type: "text/plain" }],
    { uploaded_at: "2020-01-01T00:00:00Z" },
  ]) {
    expect((await updateDocument("Packing List", change)).error, JSON.stringify(change)).not.toBeNull();
  }
  expect(await listDocuments()).toEqual(before);
});

test("If adding a new shipment's documents fails, the shipment is not created.", async () => {
  await runWithRejectedWrites("public.documents", "no", async () => {
    const { error } = await owner.supabase.from("shipments").insert({ name: "Half", user_id: owner.id });
    expect(error?.message).toBe("no");
  });
  expect(await query("select from public.shipments where name = 'Half'")).toEqual([]);
});

describe("Removing a file", () => {
  const { sha256 } = fileRecord;

  let id: string;
  let path: string;
  beforeEach(async () => {
    id = (await findDocument("Packing List"))?.id ?? "";
    path = await storeFile();
    await markUploaded(path);
  });
  const removeFile = (supabase: AppSupabaseClient = owner.supabase, seen: number | null = 1, document_id = id) =>
    callRpcOrGetRejection("remove_file", { document_id, expected_version: seen }, supabase);
  const outdated = "409 The Packing List has changed. Check the document, then try again.";

  test("Removing a document's file returns the file's path, and the document needs a file again.", async () => {
    for (const name of DEFAULT_DOCUMENTS.filter((name) => name !== "Packing List"))
      await markUploaded(await storeFile(name), name);
    expect(await readShipment(shipment.id)).toMatchObject({ waiting_on: "company" });
    await query("update public.shipments set changed_at = now() - interval '1 day' where id = $1", [shipment.id]);
    const listOthers = async () => (await listDocuments()).filter((document) => document.id !== id);
    const before = await listOthers();
    expect(await removeFile()).toBe(path);
    const nothing = { storage_version: null, file_name: null, file_size: null, media_type: null, uploaded_at: null };
    const notRejected = { rejected_at: null, rejection_reason: null };
    expect(await findDocument("Packing List")).toMatchObject({
      ...awaitedState,
      ...nothing,
      ...notRejected,
      version: 2,
    });
    expect(await listOthers()).toEqual(before);
    const { waiting_on, changed_at } = await readShipment(shipment.id);
    expect(waiting_on).toBe("client");
    expect(Math.abs(new Date(String(changed_at)).getTime() - Date.now())).toBeLessThan(60_000);
    expect((await readPortalFile(owner.supabase, id)).file).toBeNull();
    // A client's removal of a file queues no email.
    const entries = await query("select actor_name, action from public.audit_log where document_id = $1", [id]);
    expect(entries).toEqual([{ actor_name: "Client", action: "client remove" }]);
    expect(await query("select from public.email_outbox where shipment_id = $1", [shipment.id])).toEqual([]);

    expect((await owner.supabase.rpc("require_upload_allowed", { document_id: id })).error).toBeNull();
    const nextFile = await storeFile();
    expect((await markUploaded(nextFile)).error).toBeNull();
    expect(await findDocument("Packing List")).toMatchObject({ uploaded: true, storage_path: nextFile, version: 3 });
    expect(await readShipment(shipment.id)).toMatchObject({ waiting_on: "company" });
  });

  test("Only the owner of a document can remove the document's file.", async () => {
    const before = await listDocuments();
    const unknown = "404 Document not found.";
    for (const supabase of [stranger.supabase, clerk.supabase]) expect(await removeFile(supabase)).toBe(unknown);
    expect(await removeFile(owner.supabase, 1, randomUUID())).toBe(unknown);
    expect(await listDocuments()).toEqual(before);
  });

  test("Removing a file fails if the document has no file or a newer file.", async () => {
    const before = await listDocuments();
    for (const seen of [0, 2, -1, 2_147_483_647, null]) expect(await removeFile(owner.supabase, seen)).toBe(outdated);
    expect(await listDocuments()).toEqual(before);
    expect(await removeFile()).toBe(path);
    for (const seen of [1, 2]) expect(await removeFile(owner.supabase, seen)).toBe(outdated);
    const otherFile = await storeFile();
    await markUploaded(otherFile);
    expect(await removeFile(owner.supabase, 1)).toBe(outdated);
    expect(await findDocument("Packing List")).toMatchObject({ uploaded: true, storage_path: otherFile });
    expect(await removeFile(owner.supabase, 3)).toBe(otherFile);
  });

  test("The file of a verified document or of a closed shipment cannot be removed.", async () => {
    await verifyByName();
    let before = await listDocuments();
    const verified = "409 We have already verified the Packing List. Call us if the file is wrong.";
    for (const seen of [1, 2, null]) expect(await removeFile(owner.supabase, seen)).toBe(verified);
    expect(await listDocuments()).toEqual(before);
    await markUploaded(await storeFile("Bill of Lading"), "Bill of Lading");
    await closeShipment();
    before = await listDocuments();
    const otherFile = await findDocument("Bill of Lading");
    expect(await removeFile(owner.supabase, 1, otherFile?.id)).toBe(
      "409 This shipment is closed. Call us to change a document.",
    );
    expect(await listDocuments()).toEqual(before);
  });

  test("Only one of ten parallel requests removes a file.", async () => {
    const call = { name: "remove_file", args: { document_id: id, expected_version: 1 }, token: owner.accessToken };
    const results = await callRepeatedly(testBackend, 10, call);
    expect(results.filter(({ result }) => result !== undefined)).toEqual([{ result: path }]);
    expect(results.flatMap(({ rejection }) => rejection ?? [])).toEqual(Array(9).fill(outdated.slice(4)));
    expect(await findDocument("Packing List")).toMatchObject({ ...awaitedState, version: 2 });
  });

  test("If a file is removed and verified in parallel, exactly one of the two actions succeeds.", async () => {
    for (let round = 0; round < 6; round += 1) {
      const { version = 0, storage_version } = (await findDocument("Packing List")) ?? {};
      const verification = { document_id: id, sha256, storage_version, expected_version: version };
      const both = [
        { name: "remove_file", args: { document_id: id, expected_version: version }, token: owner.accessToken },
        { name: "verify_document", args: verification, token: clerk.accessToken },
      ];
      const [first, second] = await callConcurrently(testBackend, round % 2 ? both.reverse() : both);
      const [removed, verified] = round % 2 ? [second, first] : [first, second];
      expect([removed, verified].filter((result) => result?.rejection)).toHaveLength(1);
      const document = await findDocument("Packing List");
      if (removed?.rejection) {
        expect(removed.rejection).toMatch(/^(We have already verified the Packing List|The Packing List has changed)/);
        expect(document).toMatchObject({ uploaded: true, verified: true });
        const undone = { document_id: id, reason: "Another round" };
        expect((await testBackend.serviceRole.rpc("unverify_document", undone)).error).toBeNull();
      } else {
        expect(removed?.result).toBeTruthy();
        expect(document).toMatchObject(awaitedState);
        await markUploaded(await storeFile());
      }
    }
  });
});
