import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { fileColumns, getRejection, setUpDesk, sha256 } from "../support/database-suite.ts";
import { readDeskState, runInSession } from "../support/staff-members.ts";
import { type AppSupabaseClient, toUntypedClient } from "../support/test-backend.ts";

const desk = setUpDesk();
const { testBackend, owner, clerk, lead, query, callRpc, newShipment, listAuditEntries, getDocumentId } = desk;
const { storeFile, uploadDocument, runConcurrently, runWithSlowUpdates } = desk;
let shipment: string;
beforeEach(async () => {
  shipment = await newShipment(owner);
});

describe("Documents on the desk", () => {
  let file: Awaited<ReturnType<typeof uploadDocument>>;
  beforeEach(async () => {
    file = await uploadDocument(shipment, "Packing List");
  });
  const verify = (more: object = {}, supabase: AppSupabaseClient = clerk.supabase) =>
    callRpc("verify_document", { document_id: file.id, sha256, storage_version: file.version, ...more }, supabase);
  const unverify = (more: object = {}) =>
    callRpc("unverify_document", { document_id: file.id, reason: "Wrong", ...more });
  const reject = (more: object = {}) =>
    callRpc("reject_document", { document_id: file.id, reason: "Blurred", ...more });
  const readDocument = async () => (await query("select * from public.documents where id = $1", [file.id]))[0] ?? {};
  const listActions = async () =>
    (await listAuditEntries(shipment)).map(({ action, document_id, reason }) => [action, document_id, reason]);

  test("A document can be verified once, and undoing the verification needs a reason.", async () => {
    await verify({ expected_version: 1 });
    expect(await readDocument()).toMatchObject({ verified: true });
    expect(await getRejection(verify())).toBe("409 The Packing List is already verified.");
    await unverify({ expected_version: 2 });
    expect(await readDocument()).toMatchObject({ verified: false, uploaded: true, storage_path: file.path, sha256 });
    expect(await getRejection(unverify())).toBe("409 The Packing List is not verified.");
    await verify();
    expect(await listActions()).toEqual([
      ["document verify", file.id, null],
      ["document unverify", file.id, "Wrong"],
      ["document verify", file.id, null],
    ]);
  });

  test("A document cannot be verified if its file is missing or the stored file differs from the uploaded file.", async () => {
    const exchanged = "409 This file is damaged or missing.";
    const before = await readDeskState(testBackend);
    expect(await getRejection(verify({ storage_version: "2" }))).toBe(exchanged);
    expect(await getRejection(verify({ sha256: "1".repeat(64) }))).toMatch(/^409 /);
    await query("update storage.objects set version = 'exchanged' where name = $1", [file.path]);
    expect(await getRejection(verify())).toBe(exchanged);
    const awaited = await getDocumentId(shipment, "Bill of Lading");
    const missing = "409 The Bill of Lading has no file yet.";
    expect(await getRejection(verify({ document_id: awaited }))).toBe(missing);
    expect(await getRejection(verify({ document_id: randomUUID() }))).toBe("404 Document not found.");
    expect(await readDeskState(testBackend)).toEqual(before);
  });

  test("A rejected document has no file, and the client sees the reason until the upload of a new file.", async () => {
    await reject({ reason: " The second page is blurred ", expected_version: 1 });
    const nothing = { storage_path: null, storage_version: null, sha256: null, file_name: null, uploaded_at: null };
    expect(await readDocument()).toMatchObject({ uploaded: false, verified: false, ...nothing });
    const page = await toUntypedClient(owner.supabase).rpc("portal_page", { opened_id: shipment }, { get: true });
    expect(page.data.shipment.documents).toContainEqual({
      ...{ id: file.id, name: "Packing List", uploaded: false, verified: false, version: 2 },
      ...{ file_name: null, file_size: null, media_type: null, uploaded_at: null },
      ...{ rejected_at: expect.any(String), rejection_reason: "The second page is blurred" },
      ...{ added_from: null, added_note: null, added_by: null },
    });
    expect((await listAuditEntries(shipment)).at(-1)).toMatchObject({
      ...{ action: "document request-new-file", document_id: file.id, reason: "The second page is blurred" },
      before: { sha256 },
    });
    // The storage path contains the client's file name. The audit log is stored longer than the client's data, so an
    // entry must not contain the path.
    expect(JSON.stringify(await listAuditEntries(shipment))).not.toContain("list.pdf");
    expect(await getRejection(reject())).toBe("409 The Packing List has no file yet.");

    expect((await owner.supabase.rpc("require_upload_allowed", { document_id: file.id })).error).toBeNull();
    const nextFile = await uploadDocument(shipment, "Packing List");
    expect(await readDocument()).toMatchObject({ uploaded: true, storage_path: nextFile.path });
    expect(await readDocument()).toMatchObject({ rejected_at: null, rejection_reason: null });
  });

  test("A rejected document's file cannot become another document's file, and retention deletes the file a day later.", async () => {
    await reject();
    const recorded = { uploaded: true, storage_path: file.path, ...fileColumns };
    const lading = await getDocumentId(shipment, "Bill of Lading");
    expect((await testBackend.serviceRole.from("documents").update(recorded).eq("id", lading)).error?.code).toBe(
      "PT409",
    );
    const listExpired = async () => JSON.stringify((await testBackend.serviceRole.rpc("beyond_retention")).data);
    expect(await listExpired()).not.toContain(file.path);
    await query("update storage.objects set created_at = now() - interval '25 hours' where name = $1", [file.path]);
    expect(await listExpired()).toContain(file.path);
  });

  test("A verified document and a document of a closed shipment cannot be rejected.", async () => {
    await verify();
    expect(await getRejection(reject())).toBe("409 The Packing List is verified. Undo the verification first.");
    await unverify();
    await callRpc("correct_stage", { shipment_id: shipment, stage: 10, reason: "Done", despite_missing: true });
    const before = await readDeskState(testBackend);
    expect(await getRejection(reject())).toBe(
      "409 This shipment is closed. Reopen the shipment to request a new file.",
    );
    expect(await readDeskState(testBackend)).toEqual(before);
  });

  test("Verifying, undoing or rejecting fails if another team member has changed the document since the page was opened.", async () => {
    await verify({ expected_version: 1 }, lead.supabase);
    const old = "409 Someone has changed this document. Check the document, then try again.";
    for (const run of [verify, unverify, reject]) {
      expect(await getRejection(run({ expected_version: 1 }))).toBe(old);
    }
    expect(await listAuditEntries(shipment)).toHaveLength(1);
  });

  test("Each opening of a document's file adds an audit entry. Opening fails if the document belongs to another shipment.", async () => {
    const open = (more: object = {}) =>
      callRpc("open_document", { document_id: file.id, shipment_id: shipment, ...more });
    const opened = await open();
    expect(opened).toEqual({
      ...{ shipment_id: shipment, name: "Packing List", storage_path: file.path, storage_version: file.version },
      ...{ sha256, file_name: "list.pdf", media_type: "application/pdf" },
    });
    await open();
    expect(await listActions()).toEqual([
      ["document open", file.id, null],
      ["document open", file.id, null],
    ]);
    const awaited = await getDocumentId(shipment, "Bill of Lading");
    const otherShipment = await newShipment(owner);
    const before = await readDeskState(testBackend);
    for (const wrong of [
      ...[awaited, randomUUID(), null].map((id) => ({ document_id: id })),
      ...[otherShipment, randomUUID(), null].map((id) => ({ shipment_id: id })),
    ]) {
      expect(await getRejection(open(wrong)), JSON.stringify(wrong)).toBe("404 File not found.");
    }
    expect(await readDeskState(testBackend)).toEqual(before);
  });
});

describe("Parallel requests for documents", () => {
  test("If a document is verified and rejected in parallel, exactly one of the two actions succeeds.", async () => {
    const file = await uploadDocument(shipment, "Packing List");
    const outcomes = await runConcurrently([
      ["verify_document", { document_id: file.id, sha256, storage_version: file.version, expected_version: 1 }, clerk],
      ["reject_document", { document_id: file.id, reason: "Blurred", expected_version: 1 }, lead],
    ]);
    expect(outcomes.filter((outcome) => outcome === "done")).toHaveLength(1);
    expect(outcomes).toContain("Someone has changed this document. Check the document, then try again.");
    expect(await listAuditEntries(shipment)).toHaveLength(1);
  });

  test("Rejecting one document and uploading another document of the same shipment in parallel causes no deadlock.", async () => {
    const names = ["Packing List", "Bill of Lading"];
    const files = [await uploadDocument(shipment, "Packing List"), await uploadDocument(shipment, "Bill of Lading")];
    await runWithSlowUpdates("public.documents", 0.3, async () => {
      const rejections = await runConcurrently(
        files.map(({ id }) => ["reject_document", { document_id: id, reason: "Blurred" }, clerk]),
      );
      expect(rejections).toEqual(["done", "done"]);
      const paths = await Promise.all(names.map((name) => storeFile(shipment, name)));
      const counted = await Promise.allSettled(
        files.map(({ id }, index) =>
          runInSession(testBackend, (session) =>
            session.unsafe(
              `update public.documents set uploaded = true, storage_path = $1, sha256 = $2, file_name = 'list.pdf',
               file_size = 8, media_type = 'application/pdf' where id = $3`,
              [paths[index] ?? "", sha256, id],
            ),
          ),
        ),
      );
      expect(counted.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
    });
    expect(await query("select from public.documents where shipment_id = $1 and uploaded", [shipment])).toHaveLength(2);
  });
});
