import { hash, randomUUID } from "node:crypto";
import { text } from "node:stream/consumers";
import { beforeEach, describe, expect, test } from "vitest";
import { filePieceBytes } from "../../app/lib/http/transfer-slots.server.ts";
import { verifyDocument } from "../../app/models/document.server.ts";
import { openStoredFile } from "../../app/models/document-file.server.ts";
import { newClientSession, runWithSecondFactor } from "../support/client-sessions.ts";
import { fileRecord, originalContent, setUpDocuments } from "../support/document-suite.ts";

const suite = setUpDocuments();
const { testBackend, owner, stranger, clerk, shipment, query, readPortalFile, storeFile, markUploaded } = suite;
const { updateDocument, verifyByName, findDocument, newShipment } = suite;

const { sha256 } = fileRecord;

/** Verifies the document in the database without the app's comparison of hashes. */
const markVerified = () => updateDocument("Packing List", { verified: true });
/** Uses the secret key to replace the stored file at `path`. Users cannot replace stored files. */
const replaceFile = async (path: string, content = "%PDF-1.7 the forgery!") => {
  const { error } = await testBackend.serviceRole.storage
    .from("documents")
    .upload(path, content, { contentType: "application/pdf", upsert: true });
  if (error) throw error;
};

test("A staff command can verify an uploaded document by the document's name.", async () => {
  await expect(verifyByName()).rejects.toThrow("The Packing List has no file yet.");
  expect((await markVerified()).error).not.toBeNull();
  await expect(verifyByName("Gold")).rejects.toThrow('no document "Gold"');
  await markUploaded(await storeFile());
  await verifyByName("packing list");
  expect(await findDocument("Packing List")).toMatchObject({ uploaded: true, verified: true });
});

test("Only a team member who has passed the second factor can verify a document.", async () => {
  await markUploaded(await storeFile());
  const { id = "" } = (await findDocument("Packing List")) ?? {};
  expect(await verifyDocument(stranger.supabase, testBackend.serviceRole, id, {})).toMatchObject({ status: 404 });
  expect(await verifyDocument(clerk.aal1, testBackend.serviceRole, id, {})).toMatchObject({ status: 404 });
  expect(await verifyDocument(owner.supabase, testBackend.serviceRole, id, {})).toMatchObject({ status: 403 });
  expect(await findDocument("Packing List")).toMatchObject({ verified: false });
  expect(await verifyDocument(clerk.supabase, testBackend.serviceRole, id, { expected_version: 0 })).toMatchObject({
    status: 409,
  });
  expect(await verifyDocument(clerk.supabase, testBackend.serviceRole, id, { expected_version: 1 })).toEqual({
    result: "Packing List",
  });
  expect(await findDocument("Packing List")).toMatchObject({ verified: true, sha256 });
});

test("A document cannot be verified if its stored file was replaced or deleted after the upload.", async () => {
  const path = await storeFile();
  await markUploaded(path);
  await replaceFile(path);
  await expect(verifyByName()).rejects.toThrow("This file is damaged or missing.");
  expect((await markVerified()).error?.code).toBe("PT409");
  const [object] = await query<{ version: string }>("select version from storage.objects where name = $1", [path]);
  // A direct update can change the file's version only together with the verification.
  expect((await updateDocument("Packing List", { storage_version: object?.version })).error?.code).toBe("PT409");
  await testBackend.serviceRole.storage.from("documents").remove([path]);
  await expect(verifyByName()).rejects.toThrow("This file is damaged or missing.");
  expect((await markVerified()).error?.code).toBe("PT409");
  expect(await findDocument("Packing List")).toMatchObject({ verified: false });
});

test("A document can be verified after its file was restored from a backup with the same bytes.", async () => {
  const path = await storeFile();
  await markUploaded(path);
  await replaceFile(path, originalContent);
  expect((await markVerified()).error?.code).toBe("PT409");
  await verifyByName();
  const [object] = await query<{ version: string }>("select version from storage.objects where name = $1", [path]);
  expect(await findDocument("Packing List")).toMatchObject({ verified: true, storage_version: object?.version });
});

test("Only the service role can read the file of a verified document, and only if the file is unchanged.", async () => {
  const path = await storeFile();
  await markUploaded(path);
  await verifyByName();
  const recorded = await findDocument("Packing List");
  if (!recorded) throw new Error("no document");
  const portalFile = (await readPortalFile(owner.supabase, recorded.id)).file;
  expect(portalFile).toMatchObject({ storage_path: path, storage_version: recorded.storage_version, sha256 });
  for (const source of [portalFile ?? recorded, recorded]) {
    const file = await openStoredFile(testBackend.serviceRole, source);
    expect("content" in file && (await text(file.content))).toBe(originalContent);
  }
  // Only the service role can read the bytes of a stored file.
  for (const supabase of [owner.supabase, stranger.supabase, testBackend.anonymous()]) {
    expect(await openStoredFile(supabase, recorded)).toMatchObject({ reason: expect.any(String) });
  }
  await replaceFile(path);
  const rejection = { reason: "This file is damaged or missing.", status: 409 };
  for (const source of [portalFile ?? recorded, recorded])
    expect(await openStoredFile(testBackend.serviceRole, source)).toEqual(rejection);
});

test("If a file changes during a download, the download ends with an error before its last piece.", async () => {
  const path = await storeFile();
  const [original, changed] = ["a", "b"].map((letter) => letter.repeat(filePieceBytes + 1000));
  const read = async (replacement: string) => {
    await replaceFile(path, original);
    const record = { storage_path: path, storage_version: null, sha256: hash("sha256", original ?? "") };
    const file = await openStoredFile(testBackend.serviceRole, record);
    if ("reason" in file) throw new Error(file.reason);
    await replaceFile(path, replacement);
    return text(file.content);
  };
  expect((await read(original ?? "")) === original).toBe(true);
  await expect(read(changed ?? "")).rejects.toThrow("This file is damaged or missing.");
});

test("Verifying a document without a recorded hash records the file's hash, but a replaced file is rejected.", async () => {
  const path = await storeFile();
  await markUploaded(path);
  await clearFileHash();
  const recorded = await findDocument("Packing List");
  if (!recorded) throw new Error("no document");
  const portalFile = (await readPortalFile(owner.supabase, recorded.id)).file;
  if (!portalFile) throw new Error("no file");
  expect(portalFile).toMatchObject({ sha256: null, storage_version: recorded.storage_version });
  expect(await openStoredFile(testBackend.serviceRole, portalFile)).toMatchObject({ sha256 });
  expect((await markVerified()).error?.code).toBe("PT409");
  await replaceFile(path);
  expect(await openStoredFile(testBackend.serviceRole, portalFile)).toMatchObject({ status: 409 });
  await expect(verifyByName()).rejects.toThrow("This file is damaged or missing.");

  const lading = await storeFile("Bill of Lading");
  await markUploaded(lading, "Bill of Lading");
  await verifyByName("Bill of Lading");
  await clearFileHash();
  expect(await findDocument("Bill of Lading")).toMatchObject({ verified: true, sha256: null });
  await verifyByName("Bill of Lading");
  expect(await findDocument("Bill of Lading")).toMatchObject({ verified: true, sha256 });
  await expect(verifyByName("Bill of Lading")).rejects.toThrow("is already verified");
});

async function clearFileHash(): Promise<void> {
  await testBackend.backend.db.exec(`
    alter table public.documents disable trigger check_document_file;
    update public.documents set sha256 = null, file_name = null where shipment_id = '${shipment.id}';
    alter table public.documents enable trigger check_document_file;
  `);
}

describe("Request of a client for a file", () => {
  let id: string;
  beforeEach(async () => {
    id = (await findDocument("Packing List"))?.id ?? "";
  });

  test("A client's request for an own file returns the viewer, and the file's path, version and database record.", async () => {
    const path = await storeFile();
    await markUploaded(path);
    const { storage_version } = (await findDocument("Packing List")) ?? {};
    expect(await readPortalFile(owner.supabase, id)).toEqual({
      viewer: { email: owner.email, full_name: `Client ${owner.email}`, has_aal2: false, factors: [], staff: null },
      file: { name: "Packing List", storage_path: path, storage_version, ...fileRecord },
    });
  });

  test("A client's request returns no file if the document has no file or belongs to another shipment or client.", async () => {
    expect((await readPortalFile(owner.supabase, id)).file).toBeNull();
    await markUploaded(await storeFile());
    expect((await readPortalFile(owner.supabase, id)).file).not.toBeNull();
    const foreignShipment = await newShipment(stranger);
    for (const [supabase, document_id, shipment_id] of [
      [owner.supabase, id, await newShipment(owner)],
      [owner.supabase, id, foreignShipment],
      [owner.supabase, id, randomUUID()],
      [owner.supabase, randomUUID(), shipment.id],
      [owner.supabase, (await findDocument("Bill of Lading"))?.id ?? "", shipment.id],
      [stranger.supabase, id, shipment.id],
      [stranger.supabase, id, foreignShipment],
      [clerk.supabase, id, shipment.id],
      [clerk.aal1, id, shipment.id],
    ] as const) {
      const { viewer, file } = await readPortalFile(supabase, document_id, shipment_id);
      expect(file).toBeNull();
      expect(viewer).not.toBeNull();
    }
  });

  test("A request returns no file before the code of the second factor, and no viewer after the end of the session.", async () => {
    await markUploaded(await storeFile());
    const session = await newClientSession(testBackend, owner.email);
    expect((await readPortalFile(session.token, id)).file).not.toBeNull();
    await runWithSecondFactor(testBackend, owner.id, async () => {
      const locked = { viewer: { factors: [{ name: "Phone" }] }, file: null };
      expect(await readPortalFile(session.token, id)).toMatchObject(locked);
    });
    await session.supabase.auth.signOut({ scope: "local" });
    expect(await readPortalFile(session.token, id)).toEqual({ viewer: null, file: null });
    expect((await readPortalFile(owner.supabase, id)).file).not.toBeNull();
  });
});
