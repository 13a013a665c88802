/** Uploads a large file to a site that may stop during the upload. */
import { type ClientRequest, request } from "node:http";
import { expect } from "vitest";
import { createPatternedPdf, createResumableUpload } from "./resumable-upload.ts";
import { createServiceRoleClient } from "./service-role.ts";
import { origin, type TestBrowser } from "./test-app.ts";

export const largeFileSize = 1_500_000;
const firstRequestSize = 900_000;
const chunkSize = 256 * 1024;

/** Creates a shipment of a signed-in client. Returns the upload of a large file for the shipment's packing list. */
export async function createLargeUpload(place: { dataDir: string; port: number }, browser: TestBrowser, name: string) {
  const created = await browser.post("/portal/new", { name, idempotencyKey: crypto.randomUUID() });
  const path = created.headers.get("Location") ?? "";
  const documents = () => createServiceRoleClient(place.dataDir).from("documents").select("id, uploaded, storage_path");
  const { data, error } = await documents()
    .eq("shipment_id", path.replace("/portal/", ""))
    .eq("name", "Packing List")
    .single();
  if (error) throw error;
  const openUpload = () => createResumableUpload(browser, path, data.id, createPatternedPdf("list.pdf", largeFileSize));
  const upload = await openUpload();
  return {
    ...upload,
    document: data.id,
    /** Returns the upload of the same file in another tab of the browser. */
    openInSecondTab: openUpload,
    /** Sends the first part of the file and returns the request without ending the request. */
    async sendHalf(): Promise<ClientRequest> {
      const sending = request({
        port: place.port,
        method: "POST",
        path: `${path}/documents/resumable-upload`,
        headers: {
          Upload: upload.describe({ from: "0" }),
          Cookie: browser.cookieHeader,
          Origin: origin,
          "Content-Type": "application/octet-stream",
          "Content-Length": largeFileSize,
        },
      });
      sending.on("error", () => undefined);
      sending.write(upload.content.slice(0, firstRequestSize));
      await expect
        .poll(async () => (await upload.ask()).storedBytes)
        .toBeGreaterThanOrEqual(firstRequestSize - chunkSize);
      return sending;
    },
    /** Checks that exactly the chunks from `sendHalf` are stored, then sends the rest of the file. */
    async expectContinues() {
      const { storedBytes = 0 } = await upload.ask();
      expect(storedBytes).toBeGreaterThanOrEqual(firstRequestSize - chunkSize);
      expect((await documents().eq("id", data.id).single()).data).toMatchObject({
        uploaded: false,
        storage_path: null,
      });
      expect(await upload.send(storedBytes)).toMatchObject({ status: 200, storedBytes: largeFileSize });
    },
    /** Checks that the document's file is complete and that no chunks are stored. */
    async expectWhole() {
      const opened = await browser.get(`${path}/documents/${data.id}`);
      expect(Buffer.from(await opened.arrayBuffer()).equals(Buffer.from(upload.content))).toBe(true);
      expect((await createServiceRoleClient(place.dataDir).rpc("list_upload_chunks")).data).toEqual([]);
    },
  };
}
