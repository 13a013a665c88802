/** A large file on its way to the site of a place, which may end meanwhile. */
import { type ClientRequest, request } from "node:http";
import { expect } from "vitest";
import { companyOf } from "./company.ts";
import { partsOf, unevenPdf } from "./parts.ts";
import { type Browser, origin } from "./routes.ts";

/** Of the whole file, of what is sent of it at first, and of the parts in which it is kept. */
export const size = 1_500_000;
const half = 900_000;
const piece = 256 * 1024;

/** A new shipment of a signed-in client, and the upload of a large file for its packing list. */
export async function largeUpload(place: { dataDir: string; port: number }, browser: Browser, name: string) {
  const made = await browser.post("/portal/new", { name, requestId: crypto.randomUUID() });
  const path = made.headers.get("Location") ?? "";
  const documents = () => companyOf(place.dataDir).from("documents").select("id, uploaded, storage_path");
  const { data, error } = await documents()
    .eq("shipment_id", path.replace("/portal/", ""))
    .eq("name", "Packing List")
    .single();
  if (error) throw error;
  const inATab = () => partsOf(browser, path, data.id, unevenPdf("list.pdf", size));
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
        path: `${path}/documents/parts`,
        headers: {
          Upload: upload.about({ from: "0" }),
          Cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; "),
          Origin: origin,
          "Content-Type": "application/octet-stream",
          "Content-Length": size,
        },
      });
      sending.on("error", () => undefined);
      sending.write(upload.content.slice(0, half));
      await expect.poll(async () => (await upload.ask()).there).toBeGreaterThanOrEqual(half - piece);
      return sending;
    },
    /** Expects what was sent by `sendHalf` to be there, and no document made of it; then sends the rest. */
    async expectToGoOn() {
      const { there = 0 } = await upload.ask();
      expect(there).toBeGreaterThanOrEqual(half - piece);
      expect((await documents().eq("id", data.id).single()).data).toMatchObject({
        uploaded: false,
        storage_path: null,
      });
      expect(await upload.send(there)).toMatchObject({ status: 200, there: size });
    },
    /** Expects what is opened as the document to be the file, and nothing to be left of its parts. */
    async expectWhole() {
      const opened = await browser.get(`${path}/documents/${data.id}`);
      expect(Buffer.from(await opened.arrayBuffer()).equals(Buffer.from(upload.content))).toBe(true);
      expect((await companyOf(place.dataDir).rpc("kept_parts")).data).toEqual([]);
    },
  };
}
