import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { textLimits } from "../../app/models/limits.ts";
import { fileColumns, getRejection, invisibleInText, readPage, setUpDesk } from "../support/database-suite.ts";
import { callRepeatedly, readDeskState } from "../support/staff-members.ts";
import { type AppSupabaseClient, toUntypedClient } from "../support/test-backend.ts";

// tests/database/function-privileges.test.ts tests which roles can add and remove files.
const desk = setUpDesk();
const { testBackend, owner, clerk, lead, query, callRpc, addVersion, newShipment, readShipment } = desk;
const { getDocumentId, storeFile, uploadDocument, listAuditEntries } = desk;

let shipment: string;
let document_id: string;
let storage_path: string;
beforeEach(async () => {
  shipment = await newShipment(owner);
  document_id = await getDocumentId(shipment, "Packing List");
  storage_path = await storeFile(shipment, "Packing List");
});
const getForm = (more: object = {}) => ({
  ...{ document_id, storage_path, ...fileColumns, added_from: "whatsapp", added_note: " Page 2\nfollows ", ...more },
});
const addFile = (more: object = {}, supabase: AppSupabaseClient = clerk.supabase) =>
  callRpc("add_file", getForm(more), supabase);
const removeFile = (more: object = {}) =>
  callRpc("remove_added_file", { document_id, reason: "Another client's file", ...more });
const readDocument = async (id = document_id) =>
  (await query("select * from public.documents where id = $1", [id]))[0] ?? {};
const addedColumns = { added_from: "whatsapp", added_note: "Page 2\nfollows" };
const awaited = { uploaded: false, storage_path: null, sha256: null, added_from: null, added_note: null };
const changed = "409 Someone has changed this document. Check the document, then try again.";
const closeShipment = () => query("update public.shipments set stage = 10 where id = $1", [shipment]);

describe("Adding a file for a client", () => {
  test("A team member's file becomes the file of the client's document, with its way to the company, and no email is sent.", async () => {
    for (const name of ["Commercial Invoice", "Insurance Certificate", "Bill of Lading"])
      await uploadDocument(shipment, name);
    await query("update public.shipments set staff_action_at = now() - interval '1 day' where id = $1", [shipment]);
    expect(await addFile({ expected_version: 0 })).toBe(storage_path);
    const [object] = await query<{ version: string }>("select version from storage.objects where name = $1", [
      storage_path,
    ]);
    expect(await readDocument()).toMatchObject({
      ...{ user_id: owner.id, uploaded: true, verified: false, storage_path, storage_version: object?.version },
      ...{ ...fileColumns, ...addedColumns, uploaded_at: expect.anything(), version: 1 },
    });
    const { waiting_on, staff_action_at } = await readShipment(shipment);
    expect([waiting_on, Date.now() - new Date(String(staff_action_at)).getTime() < 60_000]).toEqual(["company", true]);
    const [entry, ...others] = await listAuditEntries(shipment);
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ action: "document add-file", document_id, actor_name: clerk.name, reason: null });
    // The audit log is stored longer than the client's data, so the entry must not contain the note or the file's name.
    expect(entry?.after).toEqual({ sha256: fileColumns.sha256, added_from: "whatsapp" });
    expect(await query("select from public.email_outbox where shipment_id = $1", [shipment])).toEqual([]);
  });

  test("Only the desk shows which team member added a file. The client sees how the file reached the company, and the note.", async () => {
    await addFile();
    const seen = async (supabase: AppSupabaseClient, page: string, key: string) => {
      const { documents } = (await readPage(supabase, page, { opened_id: shipment }))[key];
      return documents.find(({ id }: { id: string }) => id === document_id);
    };
    const portal = await seen(owner.supabase, "portal_page", "shipment");
    expect(portal).toMatchObject({ ...addedColumns, added_by: null });
    expect(await seen(lead.supabase, "desk_shipments", "opened")).toMatchObject({
      ...addedColumns,
      added_by: clerk.name,
    });
    const { file } = await readPage(owner.supabase, "portal_file", { document_id, shipment_id: shipment });
    expect(file).toMatchObject({ storage_path, sha256: fileColumns.sha256 });
  });

  test("A client, a team member and the server cannot change how a file reached the company.", async () => {
    await uploadDocument(shipment, "Bill of Lading");
    await addFile();
    const before = await readDeskState(testBackend);
    const change = { added_from: "paper", added_note: "Changed" };
    for (const supabase of [testBackend.anonymous(), owner.supabase, clerk.supabase, clerk.aal1, lead.supabase]) {
      const { error } = await supabase.from("documents").update(change).eq("shipment_id", shipment);
      expect(error?.code).toBe("42501");
    }
    for (const values of [{ added_from: "paper" }, { added_note: null }, { added_from: null, added_note: null }]) {
      const rows = testBackend.serviceRole.from("documents").update(values);
      expect((await rows.eq("id", document_id)).error?.code, JSON.stringify(values)).toBe("PT409");
    }
    const lading = await getDocumentId(shipment, "Bill of Lading");
    expect((await testBackend.serviceRole.from("documents").update(change).eq("id", lading)).error?.code).toBe("PT409");
    expect(await readDeskState(testBackend)).toEqual(before);
  });

  test("A client and a team member at AAL1 cannot add or remove a file.", async () => {
    await addFile();
    const before = await readDeskState(testBackend);
    const other = { document_id: await getDocumentId(shipment, "Bill of Lading"), expected_version: 0 };
    const path = await storeFile(shipment, "Bill of Lading");
    const denied = "403 Only team members can take this action.";
    for (const supabase of [owner.supabase, clerk.aal1, lead.aal1]) {
      expect(await getRejection(addFile({ ...other, storage_path: path }, supabase))).toBe(denied);
      const removal = { document_id, reason: "Mine" };
      expect(await getRejection(callRpc("remove_added_file", removal, supabase))).toBe(denied);
    }
    expect(await readDeskState(testBackend)).toEqual(before);
  });

  test("A file without a source, with an unknown source or with an invalid note is rejected.", async () => {
    const before = await readDeskState(testBackend);
    expect(await getRejection(addFile({ added_from: null }))).toBe("400 Choose how the file reached us.");
    expect(await getRejection(addFile({ added_from: "fax" }))).toMatch(/^400 /);
    const notes = ["x".repeat(textLimits.fileNote + 1), ...invisibleInText.map((character) => `Page${character}2`)];
    for (const added_note of notes) expect(await getRejection(addFile({ added_note }))).toMatch(/^400 /);
    expect(await readDeskState(testBackend)).toEqual(before);
    await addFile({ added_note: "  " });
    expect(await readDocument()).toMatchObject({ added_note: null });
  });

  test("A file is rejected if the document has a file or has changed, the shipment is closed, or the file is not stored.", async () => {
    expect(await getRejection(addFile({ document_id: randomUUID(), expected_version: 0 }))).toBe(
      "404 Document not found.",
    );
    const missing = "409 The file of this document is missing. Upload the file again.";
    const [folder = ""] = storage_path.split("/packing-list");
    for (const path of [
      `${folder}/packing-list-${"0".repeat(12)}-list.pdf`,
      await storeFile(shipment, "Bill of Lading"),
      await storeFile(await newShipment(owner), "Packing List"),
    ])
      expect(await getRejection(addFile({ storage_path: path }))).toBe(missing);
    await uploadDocument(shipment, "Packing List");
    expect(await getRejection(addFile({ expected_version: 0 }))).toBe(changed);
    expect(await getRejection(addFile())).toBe("409 The Packing List already has a file.");
    const lading = await getDocumentId(shipment, "Bill of Lading");
    await closeShipment();
    const before = await readDeskState(testBackend);
    const form = { document_id: lading, storage_path: await storeFile(shipment, "Bill of Lading") };
    expect(await getRejection(addFile(form))).toBe("409 This shipment is closed. Reopen the shipment to add a file.");
    expect(await readDeskState(testBackend)).toEqual(before);
  });

  test("If two team members add a file in parallel, the document gets one file.", async () => {
    const form = await addVersion("add_file", getForm());
    const call = { name: "add_file", args: form, token: clerk.accessToken };
    const results = await callRepeatedly(testBackend, 5, call);
    expect(results.filter(({ result }) => result)).toEqual([{ result: storage_path }]);
    expect(results.flatMap(({ rejection }) => rejection ?? [])).toEqual(Array(4).fill(changed.slice(4)));
    expect(await listAuditEntries(shipment)).toHaveLength(1);
  });

  test("An added file counts towards the daily limit of the client's uploads.", async () => {
    await query("delete from private.rate_limit_hits");
    await uploadDocument(shipment, "Bill of Lading");
    await addFile();
    const hits = await query("select key, count(*)::integer from private.rate_limit_hits group by key");
    expect(hits).toEqual([{ key: expect.any(String), count: 2 }]);
  });

  test("The client can remove an added file until a team member verifies the file.", async () => {
    await addFile();
    const client = (seen: number) =>
      toUntypedClient(owner.supabase).rpc("remove_file", { document_id, expected_version: seen });
    const { version } = await readDocument();
    const verification = {
      document_id,
      sha256: fileColumns.sha256,
      storage_version: (await readDocument()).storage_version,
    };
    await callRpc("verify_document", verification);
    expect((await client(Number(version) + 1)).error?.code).toBe("PT409");
    await callRpc("unverify_document", { document_id, reason: "Wrong" });
    expect((await client(Number(version) + 2)).data).toBe(storage_path);
    expect(await readDocument()).toMatchObject(awaited);
  });
});

describe("Removing an added file", () => {
  test("A team member can remove an added file with a reason. The client must then upload a file, and gets no email.", async () => {
    await addFile();
    expect(await removeFile({ expected_version: 1 })).toBe("Packing List");
    expect(await readDocument()).toMatchObject({ ...awaited, rejected_at: null, rejection_reason: null, version: 2 });
    expect((await readShipment(shipment)).waiting_on).toBe("client");
    const [, entry] = await listAuditEntries(shipment);
    expect(entry).toMatchObject({
      ...{ action: "document remove-file", document_id, actor_name: clerk.name, reason: "Another client's file" },
      before: { sha256: fileColumns.sha256, added_from: "whatsapp" },
    });
    expect(await query("select from public.email_outbox where shipment_id = $1", [shipment])).toEqual([]);
    const next = await storeFile(shipment, "Packing List");
    expect(await addFile({ storage_path: next, added_from: "email", added_note: null })).toBe(next);
  });

  test("The file of a client, a verified document or a closed shipment cannot be removed as an added file.", async () => {
    expect(await getRejection(removeFile())).toBe("409 The Packing List has no file yet.");
    await addFile();
    expect(await getRejection(removeFile({ expected_version: 0 }))).toBe(changed);
    const lading = await uploadDocument(shipment, "Bill of Lading");
    expect(await getRejection(removeFile({ document_id: lading.id }))).toBe(
      "409 The client uploaded the file of the Bill of Lading. Request a new file instead.",
    );
    const { storage_version } = await readDocument();
    await callRpc("verify_document", { document_id, sha256: fileColumns.sha256, storage_version });
    expect(await getRejection(removeFile())).toBe("409 The Packing List is verified. Undo the verification first.");
    await callRpc("unverify_document", { document_id, reason: "Wrong" });
    await closeShipment();
    const before = await readDeskState(testBackend);
    expect(await getRejection(removeFile())).toBe(
      "409 This shipment is closed. Reopen the shipment to remove the file.",
    );
    expect(await readDeskState(testBackend)).toEqual(before);
  });
});
