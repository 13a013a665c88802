import { createHash } from "node:crypto";
import { beforeEach } from "vitest";
import { findDocumentId, objectPath, verifyDocument } from "../../app/models/document.server.ts";
import type { DownloadableFile } from "../../app/models/document-file.server.ts";
import { resultOrThrow } from "../../app/models/staff.server.ts";
import { readPage, setUpDesk } from "./database-suite.ts";
import type { AppSupabaseClient } from "./test-backend.ts";

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
type PortalFileResult = { viewer: object | null; file: DownloadableFile | null };

export const originalContent = "%PDF-1.7 the original";
/** The columns that the server sets for an uploaded file, except its storage path. */
export const fileRecord = {
  sha256: createHash("sha256").update(originalContent).digest("hex"),
  file_name: "Liste août.pdf",
  file_size: originalContent.length,
  media_type: "application/pdf",
};
/** The columns of a document without a file. */
export const awaitedState = { uploaded: false, verified: false, storage_path: null, sha256: null };

/** Calls setUpDesk. Adds a second client (`stranger`) and, before each test, a new shipment of the owner. */
export function setUpDocuments() {
  const suite = setUpDesk();
  const { testBackend, owner, query, newShipment } = suite;
  const stranger = suite.setUpClient("stranger@client.example");
  const shipment = { id: "" };
  beforeEach(async () => {
    shipment.id = await newShipment(owner);
  });

  /** Calls the database function that the site calls for a file request. Returns the viewer and the document's file. */
  function readPortalFile(
    supabase: AppSupabaseClient,
    document_id: string,
    shipment_id = shipment.id,
  ): Promise<PortalFileResult> {
    return readPage(supabase, "portal_file", { document_id, shipment_id });
  }

  async function createPath(name = "Packing List"): Promise<string> {
    return objectPath({ user_id: owner.id, shipment_id: shipment.id, name }, "list.pdf");
  }

  async function storeFile(name = "Packing List"): Promise<string> {
    const path = await createPath(name);
    const options = { contentType: "application/pdf", upsert: false };
    const { error } = await testBackend.serviceRole.storage.from("documents").upload(path, originalContent, options);
    if (error) throw error;
    return path;
  }

  function markUploaded(path: string, name = "Packing List") {
    return updateDocument(name, { uploaded: true, storage_path: path, ...fileRecord });
  }

  function updateDocument(name: string, change: object) {
    return testBackend.serviceRole
      .from("documents")
      .update(change)
      .eq("shipment_id", shipment.id)
      .eq("name", name)
      .select("id");
  }

  /** Verifies a document in the same way as the staff command. Throws if the verification is rejected. */
  async function verifyByName(name = "Packing List"): Promise<void> {
    const id = await findDocumentId(testBackend.serviceRole, shipment.id, name);
    const { serviceRole } = testBackend;
    resultOrThrow(await verifyDocument(serviceRole, serviceRole, id, { actor_name: "Wanjiru" }));
  }

  async function closeShipment(): Promise<void> {
    await query("update public.shipments set stage = 10 where id = $1", [shipment.id]);
  }

  function listDocuments() {
    return query<DocumentColumns>("select * from public.documents where shipment_id = $1 order by name", [shipment.id]);
  }

  async function findDocument(name: string) {
    return (await listDocuments()).find((document) => document.name === name);
  }

  return {
    ...{ ...suite, stranger, shipment, readPortalFile, createPath, storeFile, markUploaded },
    ...{ updateDocument, verifyByName, closeShipment, listDocuments, findDocument },
  };
}
