import { beforeEach, expect, test } from "vitest";
import {
  encodeText,
  getDocumentsBucket,
  maxFileBytes,
  originalContent,
  setUpStoredFiles,
} from "../support/stored-file-suite.ts";

const { testBackend, owner, newStoredFile, sendBytes, readObject, listObjects } = setUpStoredFiles();
/** Each test has a new shipment. `folder` contains its files. The file at `path` belongs to no document. */
let folder: string;
let path: string;

beforeEach(async () => {
  ({ folder, path } = await newStoredFile());
});

test("A client cannot store or move a file into another bucket.", async () => {
  const created = await testBackend.serviceRole.storage.createBucket("archive", { public: false });
  expect(created.error).toBeNull();
  try {
    for (const name of ["archive", "nowhere"]) {
      const { error } = await owner.supabase.storage
        .from(name)
        .upload(`${folder}/bill-of-lading-x.pdf`, encodeText("%PDF-1.7"), { contentType: "application/pdf" });
      expect(error).not.toBeNull();
    }
    expect(await listObjects()).not.toContainEqual(expect.objectContaining({ bucket_id: "archive" }));
    const target = { destinationBucket: "archive" };
    const { error } = await getDocumentsBucket(owner.supabase).move(path, `${folder}/packing-list-b.pdf`, target);
    expect(error).not.toBeNull();
    expect(await readObject(path)).toBe(originalContent);
  } finally {
    await testBackend.serviceRole.storage.deleteBucket("archive");
  }
});

test("A file of exactly 10 MiB is accepted and one byte more is rejected.", async () => {
  const largest = await postRaw(`${folder}/bill-of-lading-large.pdf`, new Uint8Array(maxFileBytes), true);
  expect(largest.ok).toBe(true);
  const larger = await postRaw(`${folder}/commercial-invoice-large.pdf`, new Uint8Array(maxFileBytes + 1), true);
  expect(larger.ok).toBe(false);
  expect(await larger.json()).toMatchObject({ statusCode: "413" });
  expect(await readObject(`${folder}/commercial-invoice-large.pdf`)).toBeNull();
});

test("A file of more than 10 MiB without a Content-Length is rejected.", async () => {
  const response = await postRaw(`${folder}/commercial-invoice-large.pdf`, new Uint8Array(maxFileBytes + 1), false);
  expect(response.ok).toBe(false);
  expect(await readObject(`${folder}/commercial-invoice-large.pdf`)).toBeNull();
});

test.each([
  ...["text/html", "image/svg+xml", "application/javascript", "application/xhtml+xml", "application/octet-stream"],
  ...["application/zip", "application/x-msdownload", "APPLICATION/PDF\u00a0", "*/*"],
])("The documents bucket rejects a file of type %j.", async (contentType) => {
  const name = `${folder}/bill-of-lading-x.pdf`;
  for (const upsert of [false, true]) {
    const bucket = getDocumentsBucket(testBackend.serviceRole);
    const { error } = await bucket.upload(name, encodeText("<script>"), { contentType, upsert });
    expect(error).not.toBeNull();
  }
  expect(await readObject(name)).toBeNull();
});

/** Uploads a file as the service role, with a Content-Length if `announced`, otherwise in chunks. */
function postRaw(at: string, body: Uint8Array<ArrayBuffer>, announced: boolean) {
  const headers = {
    apikey: testBackend.secretKey,
    authorization: `Bearer ${testBackend.secretKey}`,
    "content-type": "application/pdf",
  };
  const sentHeaders = announced ? { ...headers, "content-length": String(body.length) } : headers;
  return sendBytes("POST", `/storage/v1/object/documents/${at}`, sentHeaders, body);
}
