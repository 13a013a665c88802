import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { FILE_TYPES } from "../../app/models/document-file.server.ts";
import { setUpTestBackend } from "../support/database-suite.ts";
import type { AppSupabaseClient } from "../support/test-backend.ts";

const { testBackend, query, setUpClient, newShipment } = setUpTestBackend();
const owner = setUpClient("owner@client.example");
/** The folder of a new shipment for each test, and a file that belongs to no document yet. */
let folder: string;
let path: string;

const maxFileBytes = 10 * 1024 * 1024;
const originalContent = "%PDF-1.7 the original";

beforeEach(async () => {
  folder = `${owner.id}/${await newShipment(owner)}`;
  path = `${folder}/packing-list-0123456789ab-tea.pdf`;
  const { error } = await storeFile(path, originalContent);
  if (error) throw error;
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
    const { error } = await getDocumentsBucket(owner.supabase).move(path, `${folder}/packing-list-b.pdf`, {
      destinationBucket: "archive",
    });
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

test("A file of more than 10 MiB without an announced length is rejected.", async () => {
  const response = await postRaw(`${folder}/commercial-invoice-large.pdf`, new Uint8Array(maxFileBytes + 1), false);
  expect(response.ok).toBe(false);
  expect(await readObject(`${folder}/commercial-invoice-large.pdf`)).toBeNull();
});

test("The documents bucket accepts every media type that the app accepts.", async () => {
  for (const contentType of new Set(Object.values(FILE_TYPES))) {
    const { error } = await getDocumentsBucket(testBackend.serviceRole).upload(
      `${folder}/${randomUUID()}`,
      encodeText("x"),
      { contentType },
    );
    expect(error, contentType).toBeNull();
  }
});

test.each([
  "text/html",
  "image/svg+xml",
  "application/javascript",
  "application/xhtml+xml",
  "application/octet-stream",
  "application/zip",
  "application/x-msdownload",
  "APPLICATION/PDF\u00a0",
  "*/*",
])("The documents bucket rejects a file of type %j.", async (contentType) => {
  const name = `${folder}/bill-of-lading-x.pdf`;
  for (const upsert of [false, true]) {
    const { error } = await getDocumentsBucket(testBackend.serviceRole).upload(name, encodeText("<script>"), {
      contentType,
      upsert,
    });
    expect(error).not.toBeNull();
  }
  expect(await readObject(name)).toBeNull();
});

function getDocumentsBucket(supabase: AppSupabaseClient) {
  return supabase.storage.from("documents");
}

/** Stores a file as the server does. */
function storeFile(at: string, content: string) {
  return getDocumentsBucket(testBackend.serviceRole).upload(at, encodeText(content), {
    contentType: "application/pdf",
    upsert: false,
  });
}

function sendRequest(method: string, at: string, headers: Record<string, string>, body?: BodyInit) {
  return testBackend.backend.fetch(new Request(`http://backend.local${at}`, { method, headers, body }));
}

function encodeText(content: string) {
  return new TextEncoder().encode(content);
}

/** Uploads a file as the service role. Chunked requests do not announce their length in a header. */
function postRaw(at: string, body: Uint8Array<ArrayBuffer>, announced: boolean) {
  const headers = {
    apikey: testBackend.secretKey,
    authorization: `Bearer ${testBackend.secretKey}`,
    "content-type": "application/pdf",
  };
  return sendRequest(
    "POST",
    `/storage/v1/object/documents/${at}`,
    announced ? { ...headers, "content-length": String(body.length) } : headers,
    body,
  );
}

/** Returns the content of a stored object, or null. */
async function readObject(at: string): Promise<string | null> {
  const { data } = await getDocumentsBucket(testBackend.serviceRole).download(at);
  return data ? data.text() : null;
}

/** Returns every stored object, without the time of its last access. */
const listObjects = () => query("select bucket_id, name, version from storage.objects order by 1, 2");
