import { afterEach } from "vitest";
import { createUploadFailedToast, invoiceUploadedToast, setUpInvoice } from "./invoice-fixtures.ts";
import { createResumableUpload } from "./resumable-upload.ts";
import type { TestBrowser } from "./test-app.ts";

type UploadOptions = { header?: Record<string, string>; browser?: TestBrowser; document?: string };

const KiB = 1024;
export const MiB = 1024 * KiB;
export const chunkSize = 256 * KiB;
/** The size in bytes of a file that is just large enough for a resumable upload. */
export const fileSize = 5 * chunkSize;

export const completed = { status: 200, toast: invoiceUploadedToast };
export const rejected = (status: number, description: unknown) => ({
  status,
  toast: createUploadFailedToast(description),
});
/** Returns the response that a test expects if `storedBytes` bytes are stored. */
export const received = (storedBytes: number, status = 200) => ({ status, storedBytes });

/**
 * Creates a client before all tests of a file and a shipment before each test. Deletes the stored files after each
 * test.
 */
export async function setUpResumableUploads() {
  const invoice = await setUpInvoice("Sender");
  const { app, client, owner, readDocument } = invoice;
  afterEach(async () => {
    app.proxy.fail("none");
    await app.sql`delete from storage.objects where name like ${`${owner.id}/%`}`;
  });

  return {
    ...{ app, client, owner, readDocument, invoice },
    /** Creates an upload for a document of the shipment. `header` replaces values of the Upload header. */
    async createUpload(
      file: File,
      { header = {}, browser = client, document = "Commercial Invoice" }: UploadOptions = {},
    ) {
      const { id } = await readDocument(invoice.path, document);
      return createResumableUpload(browser, invoice.path, id, file, header);
    },
    async listStored(account = owner.id) {
      const rows = await app.sql`
        select bucket_id, name from storage.objects where name like ${`${account}/%`} order by name`;
      const list = (bucket: string) => rows.filter((row) => row.bucket_id === bucket).map((row) => String(row.name));
      return { files: list("documents"), chunks: list("upload-chunks") };
    },
  };
}
