/** A large file on its way to the site of a place, which may end meanwhile. */
import { type ClientRequest, request } from "node:http";
import { expect } from "vitest";
import { createPatternedPdf, createResumableUpload } from "./resumable-upload.ts";
import { createServiceRoleClient } from "./service-role.ts";
import { origin, type TestBrowser } from "./test-app.ts";

/** Of the whole file, of what is sent of it at first, and of the parts in which it is kept. */
export const largeFileSize = 1_500_000;
const firstRequestSize = 900_000;
const chunkSize = 256 * 1024;

/** A new shipment of a signed-in client, and the upload of a large file for its packing list. */
export async function createLargeUpload(place: { dataDir: string; port: number }, browser: TestBrowser, name: string) {
  const made = await browser.post("/portal/new", { name, idempotencyKey: crypto.randomUUID() });
  const path = made.headers.get("Location") ?? "";
  const documents = () => createServiceRoleClient(place.dataDir).from("documents").select("id, uploaded, storage_path");
  const { data, error } = await documents()
    .eq("shipment_id", path.replace("/portal/", ""))
    .eq("name", "Packing List")
    .single();
  if (error) throw error;
  const inATab = () => createResumableUpload(browser, path, data.id, createPatternedPdf("list.pdf", largeFileSize));
  const upload = await inATab();
  return {
    ...upload,
    document: data.id,
    /** The same upload in another tab of the browser. */
    inATab,
    /** Sends a part of the file and stops in the middle, without ending the request, which it returns. */
    async sendHalf(): Promise<ClientRequest> {
      const sending = request({
        port: place.port,
        method: "POST",
        path: `${path}/documents/resumable-upload`,
        headers: {
          Upload: upload.about({ from: "0" }),
          Cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; "),
          Origin: origin,
          "Content-Type": "application/octet-stream",
          "Content-Length": largeFileSize,
        },
      });
      sending.on("error", () => undefined);
      sending.write(upload.content.slice(0, firstRequestSize));
      await expect.poll(async () => (await upload.ask()).there).toBeGreaterThanOrEqual(firstRequestSize - chunkSize);
      return sending;
    },
    /** Expects what was sent by `sendHalf` to be there, and no document made of it; then sends the rest. */
    async expectToGoOn() {
      const { there = 0 } = await upload.ask();
      expect(there).toBeGreaterThanOrEqual(firstRequestSize - chunkSize);
      expect((await documents().eq("id", data.id).single()).data).toMatchObject({
        uploaded: false,
        storage_path: null,
      });
      expect(await upload.send(there)).toMatchObject({ status: 200, there: largeFileSize });
    },
    /** Expects what is opened as the document to be the file, and nothing to be left of its parts. */
    async expectWhole() {
      const opened = await browser.get(`${path}/documents/${data.id}`);
      expect(Buffer.from(await opened.arrayBuffer()).equals(Buffer.from(upload.content))).toBe(true);
      expect((await createServiceRoleClient(place.dataDir).rpc("list_upload_chunks")).data).toEqual([]);
    },
  };
}
