import { setUpTestBackend } from "./database-suite.ts";
import type { AppSupabaseClient } from "./test-backend.ts";

export const maxFileBytes = 10 * 1024 * 1024;
export const originalContent = "%PDF-1.7 the original";

export const encodeText = (content: string) => new TextEncoder().encode(content);

export const getDocumentsBucket = (supabase: AppSupabaseClient) => supabase.storage.from("documents");

/** Calls setUpTestBackend and adds a client with stored files. */
export function setUpStoredFiles() {
  const suite = setUpTestBackend();
  const { testBackend, query } = suite;
  const owner = suite.setUpClient("owner@client.example");

  async function storeFile(path: string, content: string): Promise<void> {
    const options = { contentType: "application/pdf", upsert: false };
    const { error } = await getDocumentsBucket(testBackend.serviceRole).upload(path, encodeText(content), options);
    if (error) throw error;
  }

  /** Creates a shipment of the owner and stores a file in the shipment's folder. The file belongs to no document. */
  async function newStoredFile() {
    const shipmentId = await suite.newShipment(owner);
    const folder = `${owner.id}/${shipmentId}`;
    const path = `${folder}/packing-list-0123456789ab-tea.pdf`;
    await storeFile(path, originalContent);
    return { shipmentId, folder, path };
  }

  function sendBytes(method: string, at: string, headers: Record<string, string>, body?: BodyInit): Promise<Response> {
    return testBackend.backend.fetch(new Request(`http://backend.local${at}`, { method, headers, body }));
  }

  async function readObject(path: string): Promise<string | null> {
    const { data } = await getDocumentsBucket(testBackend.serviceRole).download(path);
    return data ? data.text() : null;
  }

  /** Returns every stored object without its last access time. */
  const listObjects = () => query("select bucket_id, name, version from storage.objects order by 1, 2");

  return { ...suite, owner, storeFile, newStoredFile, sendBytes, readObject, listObjects };
}
