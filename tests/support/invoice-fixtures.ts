/** A client whose shipment has a commercial invoice to upload. */
import { beforeAll, beforeEach } from "vitest";
import type { TestApp } from "./desk-fixtures.ts";
import { createPdf, getTestApp, logInToBackend, type ParsedPage, type TestBrowser } from "./test-app.ts";

/** Some columns of a document without a file. */
export const noFile = { uploaded: false, verified: false, storage_path: null };

export const pngBytes = new Uint8Array([
  137,
  80,
  78,
  71,
  13,
  10,
  26,
  10,
  0,
  0,
  0,
  13,
  73,
  72,
  68,
  82,
  ...Array(40).fill(1),
]);

export const createUploadFailedToast = (description: unknown) => ({
  title: "Upload failed",
  description,
  variant: "destructive",
});
export const invoiceUploadedToast = {
  title: "Commercial Invoice uploaded",
  description: "We check it next.",
  variant: "default",
};

/** Reads a response completely: an unread download holds one of the client's download slots. */
const readCompletely = async (response: Response) => new Response(await response.arrayBuffer(), response);

/** Returns the name of a stored file without the random part of its upload. */
export const getFileName = (path: string | null) => path?.replace(/^.*\//, "").replace(/-[0-9a-f]{12}-/, "-");

/** Creates one client per test file and one shipment per test. */
export function setUpInvoice(name: string) {
  let app: TestApp;
  let client: TestBrowser;
  let owner: Awaited<ReturnType<typeof logInToBackend>> & { email: string };
  let path: string;
  beforeAll(async () => {
    app = await getTestApp();
    client = app.browser();
    const email = await client.signUpAndLogIn(name);
    owner = { ...(await logInToBackend(email)), email };
    // Only the first page shows the reminder to set up a second factor.
    await client.open("/portal");
  });
  beforeEach(async () => {
    path = await client.createShipment("Documents");
  });

  /** Returns the record of the invoice of a shipment. */
  async function readInvoice(shipmentPath = path) {
    const { data, error } = await app.company
      .from("documents")
      .select("id, uploaded, verified, storage_path, sha256, file_name, file_size, media_type")
      .eq("shipment_id", shipmentPath.replace("/portal/", ""))
      .eq("name", "Commercial Invoice")
      .single();
    if (error) throw error;
    return data;
  }

  return {
    get app() {
      return app;
    },
    get client() {
      return client;
    },
    get owner() {
      return owner;
    },
    /** The path of the shipment in the portal. */
    get path() {
      return path;
    },
    get shipmentId() {
      return path.replace("/portal/", "");
    },
    readInvoice,
    /** Sends the upload form of the invoice, from `page` or from the current page of the shipment. */
    upload: async (file: File = createPdf(), page?: ParsedPage) =>
      client.submit(page ?? (await client.open(path)), "Upload the Commercial Invoice", { file }),
    /** Opens the file of the invoice. */
    download: async () => readCompletely(await client.get(`${path}/documents/${(await readInvoice()).id}`)),
    /** Returns the names of the stored files of the shipment. */
    async listFiles() {
      const { data, error } = await app.company.storage.from("documents").list(path.replace("/portal", owner.id));
      if (error) throw error;
      return data.map((file) => getFileName(file.name));
    },
  };
}
