/** Set-up that tests of resumable uploads share: a new client with a new shipment before each test. */
import process from "node:process";
import postgres from "postgres";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { TestApp } from "./desk-fixtures.ts";
import { createUploadFailedToast, invoiceUploadedToast } from "./invoice-fixtures.ts";
import { createResumableUpload } from "./resumable-upload.ts";
import { getTestApp, logInToBackend, type TestBrowser } from "./test-app.ts";

const KiB = 1024;
export const MiB = 1024 * KiB;
export const chunkSize = 256 * KiB;
/** The size of a file that is just large enough to be sent in chunks. */
export const fileSize = 5 * chunkSize;

export const completed = { status: 200, toast: invoiceUploadedToast };
export const rejected = (status: number, description: unknown) => ({
  status,
  toast: createUploadFailedToast(description),
});
/** Returns the response that says how many bytes are stored. */
export const received = (storedBytes: number, status = 200) => ({ status, storedBytes });

export function setUpResumableUploads() {
  let app: TestApp;
  let sql: postgres.Sql;
  let client: TestBrowser;
  let owner: Awaited<ReturnType<typeof logInToBackend>> & { email: string };
  let path: string;
  beforeAll(async () => {
    app = await getTestApp();
    sql = postgres(process.env.TESTS_DATABASE_URL ?? "", { max: 1, onnotice: () => undefined });
  });
  beforeEach(async () => {
    client = app.browser();
    const email = await client.signUpAndLogIn("Sender");
    owner = { ...(await logInToBackend(email)), email };
    path = await client.createShipment("Chunks");
  });
  afterEach(() => app.proxy.fail("none"));
  afterAll(() => sql.end());

  /** Returns the record of a document of a shipment. */
  async function readDocument(shipmentPath = path, name = "Commercial Invoice") {
    const { data, error } = await app.company
      .from("documents")
      .select("id, uploaded, storage_path, sha256, file_name, file_size, media_type")
      .eq("shipment_id", shipmentPath.replace("/portal/", ""))
      .eq("name", name)
      .single();
    if (error) throw error;
    return data;
  }

  return {
    get app() {
      return app;
    },
    get sql() {
      return sql;
    },
    get client() {
      return client;
    },
    get owner() {
      return owner;
    },
    get path() {
      return path;
    },
    readDocument,
    /** Starts an upload for a document of the shipment. `header` replaces values of the Upload header. */
    async createUpload(
      file: File,
      {
        header = {},
        browser = client,
        document = "Commercial Invoice",
      }: {
        header?: Record<string, string>;
        browser?: TestBrowser;
        document?: string;
      } = {},
    ) {
      return createResumableUpload(browser, path, (await readDocument(path, document)).id, file, header);
    },
    /** Returns the stored files and the stored chunks of an account. */
    async listStored(account = owner.id) {
      const rows = await sql`
        select bucket_id, name from storage.objects where name like ${`${account}/%`} order by name`;
      const list = (bucket: string) => rows.filter((row) => row.bucket_id === bucket).map((row) => String(row.name));
      return { files: list("documents"), chunks: list("upload-chunks") };
    },
  };
}
