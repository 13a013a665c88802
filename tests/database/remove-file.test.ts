import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { DEFAULT_DOCUMENTS } from "../../app/models/document.ts";
import { callRpcOrGetRejection } from "../support/database-suite.ts";
import { awaitedState, fileRecord, setUpDocuments } from "../support/document-suite.ts";
import { callConcurrently, callRepeatedly } from "../support/staff-members.ts";
import type { AppSupabaseClient } from "../support/test-backend.ts";

const suite = setUpDocuments();
const { testBackend, owner, stranger, clerk, shipment } = suite;
const { query, readPortalFile, readShipment, storeFile, markUploaded } = suite;
const { verifyByName, closeShipment, listDocuments, findDocument } = suite;
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

test("Removing a file returns its path, and the document waits for a file again.", async () => {
  for (const name of DEFAULT_DOCUMENTS.filter((name) => name !== "Packing List"))
    await markUploaded(await storeFile(name), name);
  expect(await readShipment(shipment.id)).toMatchObject({ waiting_on: "company" });
  await query("update public.shipments set changed_at = now() - interval '1 day' where id = $1", [shipment.id]);
  const listOthers = async () => (await listDocuments()).filter((document) => document.id !== id);
  const before = await listOthers();
  expect(await removeFile()).toBe(path);
  const nothing = { storage_version: null, file_name: null, file_size: null, media_type: null, uploaded_at: null };
  const notRejected = { rejected_at: null, rejection_reason: null };
  expect(await findDocument("Packing List")).toMatchObject({ ...awaitedState, ...nothing, ...notRejected, version: 2 });
  expect(await listOthers()).toEqual(before);
  const { waiting_on, changed_at } = await readShipment(shipment.id);
  expect(waiting_on).toBe("client");
  expect(Math.abs(new Date(String(changed_at)).getTime() - Date.now())).toBeLessThan(60_000);
  expect((await readPortalFile(owner.supabase, id)).file).toBeNull();
  // The removal of a file by the client is no staff action and queues no email.
  expect(await query("select from public.audit_log where document_id = $1", [id])).toEqual([]);
  expect(await query("select from public.email_outbox where shipment_id = $1", [shipment.id])).toEqual([]);

  expect((await owner.supabase.rpc("require_upload_allowed", { document_id: id })).error).toBeNull();
  const nextFile = await storeFile();
  expect((await markUploaded(nextFile)).error).toBeNull();
  expect(await findDocument("Packing List")).toMatchObject({ uploaded: true, storage_path: nextFile, version: 3 });
  expect(await readShipment(shipment.id)).toMatchObject({ waiting_on: "company" });
});

test("Only the owner of a document can remove its file.", async () => {
  const before = await listDocuments();
  const unknown = "404 Document not found.";
  for (const supabase of [stranger.supabase, clerk.supabase]) expect(await removeFile(supabase)).toBe(unknown);
  expect(await removeFile(owner.supabase, 1, randomUUID())).toBe(unknown);
  expect(await listDocuments()).toEqual(before);
});

test("Removing a file fails for another version or a document without a file.", async () => {
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

test("A verified file or a file of a closed shipment cannot be removed.", async () => {
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

test("Of a parallel removal and verification of a file, exactly one succeeds.", async () => {
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
