/** Creates a client whose shipment needs a commercial invoice. */
import { beforeEach } from "vitest";
import { newClient } from "./route-fixtures.ts";
import { createPdf, getTestApp, type ParsedPage } from "./test-app.ts";

export const noFile = { uploaded: false, verified: false, storage_path: null };

export const createUploadFailedToast = (description: unknown) => ({
  title: "Upload failed",
  description,
  variant: "destructive",
});
export const invoiceUploadedToast = {
  title: "Commercial Invoice uploaded",
  description: "We will check your file.",
  variant: "default",
};

/** Reads a response completely, because an unread response occupies one of the client's download slots. */
const readCompletely = async (response: Response) => new Response(await response.arrayBuffer(), response);

/** Returns the name of a stored file without the random characters that the upload has added. */
const getFileName = (path: string | null) => path?.replace(/^.*\//, "").replace(/-[0-9a-f]{12}-/, "-");

/** Creates a client before all tests of a file, and a shipment before each test. */
export async function setUpInvoice(name: string) {
  const app = await getTestApp();
  const { browser: client, ...owner } = await newClient(app, name);
  // The first page after the login shows the 2FA reminder. Opens that page here, so that later pages do not show it.
  await client.open("/portal");
  let path = "";
  beforeEach(async () => {
    path = await client.createShipment("Documents");
  });

  async function readDocument(shipmentPath = path, name = "Commercial Invoice") {
    const { data, error } = await app.company
      .from("documents")
      .select("id, uploaded, verified, storage_path, sha256, file_name, file_size, media_type")
      .eq("shipment_id", shipmentPath.replace("/portal/", ""))
      .eq("name", name)
      .single();
    if (error) throw error;
    return data;
  }

  return {
    app,
    client,
    owner,
    readDocument,
    get path() {
      return path;
    },
    get shipmentId() {
      return path.replace("/portal/", "");
    },
    /** Sends the upload form of the invoice from `page`, or from a newly opened page of the shipment. */
    upload: async (file: File = createPdf(), page?: ParsedPage) =>
      client.submit(page ?? (await client.open(path)), "Upload the Commercial Invoice", { file }),
    download: async () => readCompletely(await client.get(`${path}/documents/${(await readDocument()).id}`)),
    async listFiles() {
      const { data, error } = await app.company.storage.from("documents").list(path.replace("/portal", owner.id));
      if (error) throw error;
      return data.map((file) => getFileName(file.name));
    },
  };
}
