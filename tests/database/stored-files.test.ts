import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { fileColumns } from "../support/database-suite.ts";
import { newStaffMember } from "../support/staff-members.ts";
import {
  encodeText,
  getDocumentsBucket,
  maxFileBytes,
  originalContent,
  setUpStoredFiles,
} from "../support/stored-file-suite.ts";
import type { AppSupabaseClient } from "../support/test-backend.ts";

const suite = setUpStoredFiles();
const { testBackend, owner, query, setUpClient, createAuthHeaders, storeFile, newStoredFile, sendBytes } = suite;
const { readObject, listObjects } = suite;

const stranger = setUpClient("stranger@client.example");
/**
 * The owner's new shipment in each test, the folder of its files, and the path of a file that belongs to no document.
 */
let shipmentId: string;
let folder: string;
let path: string;

const roles = ["a visitor", "a stranger", "the owner", "a clerk", "a lead"] as const;
type StorageRole = (typeof roles)[number];
let clientsByRole: Record<StorageRole, AppSupabaseClient>;
beforeAll(async () => {
  clientsByRole = {
    "a visitor": testBackend.anonymous(),
    "a stranger": stranger.supabase,
    "the owner": owner.supabase,
    "a clerk": (await newStaffMember(testBackend, "clerk", "clerk@company.example")).supabase,
    "a lead": (await newStaffMember(testBackend, "lead", "lead@company.example")).supabase,
  };
});
beforeEach(async () => {
  ({ shipmentId, folder, path } = await newStoredFile());
});

test("The service role can read a stored file with its exact bytes and media type, but the file's owner cannot read it.", async () => {
  const bytes = new Uint8Array(4096).map((_, index) => index % 251);
  const file = `${folder}/bill-of-lading-0123456789ab-scan.png`;
  const stored = await getDocumentsBucket(testBackend.serviceRole).upload(file, bytes, { contentType: "image/png" });
  expect(stored.error).toBeNull();
  expect((await getDocumentsBucket(owner.supabase).download(file)).data).toBeNull();
  const { data } = await getDocumentsBucket(testBackend.serviceRole).download(file);
  expect(new Uint8Array((await data?.arrayBuffer()) ?? [])).toEqual(bytes);
  expect(data?.type).toBe("image/png");
});

test.each(roles)(
  "Listing, reading or signing a stored file fails for %s with the same response as for a missing file.",
  async (role) => {
    const files = getDocumentsBucket(clientsByRole[role]);
    for (const prefix of ["", owner.id, folder]) expect((await files.list(prefix)).data ?? []).toEqual([]);
    const headers = await getHeadersForRole(role);
    const outcomes = [];
    for (const name of [path, `${folder}/packing-list-none.pdf`]) {
      expect((await files.info(name)).data).toBeNull();
      expect((await files.createSignedUrl(name, 60)).data).toBeNull();
      const many = await files.createSignedUrls([name], 60);
      expect(many.data?.map(({ signedUrl }) => signedUrl || null) ?? [null]).toEqual([null]);
      expect((await sendBytes("HEAD", `/storage/v1/object/documents/${name}`, headers)).ok).toBe(false);
      const opened = await sendBytes("GET", `/storage/v1/object/documents/${name}`, headers);
      outcomes.push([opened.status, await opened.text()]);
      const shared = await sendBytes("GET", `/storage/v1/object/public/documents/${name}`, headers);
      expect([shared.ok, (await shared.text()).includes(originalContent)]).toEqual([false, false]);
    }
    expect(outcomes[0]).toEqual(outcomes[1]);
    expect(outcomes[0]?.[0]).toBe(400);
  },
);

type StorageRequest = {
  method: string;
  at: string;
  headers?: Record<string, string>;
  body?: object | Uint8Array<ArrayBuffer>;
};

const forgedContent = encodeText("%PDF-1.7 forged");
const pdfHeaders = { "content-type": "application/pdf" };
const jsonHeaders = { "content-type": "application/json" };

/**
 * Returns every request of the storage API that writes or removes the object `target` of the bucket `into`, including
 * resumable uploads and S3. Copies and moves have the source object `source`.
 */
function createAttacks(target: string, source: string, into = "documents"): Record<string, StorageRequest> {
  const at = encodeURI(target);
  const pair = (more: object) => ({ bucketId: into, sourceKey: source, destinationKey: target, ...more });
  const resumable = {
    "tus-resumable": "1.0.0",
    "upload-length": String(forgedContent.length),
    "upload-metadata": `bucketName ${btoa(into)},objectName ${btoa(target)},contentType ${btoa("application/pdf")}`,
  };
  const upsert = { "x-upsert": "true" };
  const put = (method: string, at: string, headers = {}): StorageRequest => ({
    ...{ method, at, headers: { ...pdfHeaders, ...headers }, body: forgedContent },
  });
  const post = (at: string, body: object, headers = {}): StorageRequest => ({
    ...{ method: "POST", at, headers: { ...jsonHeaders, ...headers }, body },
  });
  return {
    upload: put("POST", `object/${into}/${at}`),
    "upload over it": put("POST", `object/${into}/${at}`, upsert),
    put: put("PUT", `object/${into}/${at}`, upsert),
    "signed upload address": post(`object/upload/sign/${into}/${at}`, {}),
    "signed upload address that overwrites": post(`object/upload/sign/${into}/${at}`, {}, upsert),
    "session as a signed address": put("PUT", `object/upload/sign/${into}/${at}?token=${owner.accessToken}`),
    copy: post("object/copy", pair({})),
    "copy over it": post("object/copy", pair({}), upsert),
    move: post("object/move", pair({})),
    "copy of it": post("object/copy", pair({ sourceKey: target, destinationKey: `${source}-copy` })),
    "move of it": post("object/move", pair({ sourceKey: target, destinationKey: `${source}-moved` })),
    delete: { ...post(`object/${into}`, { prefixes: [target] }), method: "DELETE" },
    "delete by path": { method: "DELETE", at: `object/${into}/${at}` },
    "resumable upload": { method: "POST", at: "upload/resumable", headers: { ...resumable, ...upsert } },
    "signed resumable upload": { method: "POST", at: "upload/resumable/sign", headers: resumable },
    "continued resumable upload": put("PATCH", `upload/resumable/${btoa(target)}`, {
      ...{ ...resumable, "upload-offset": "0", "content-type": "application/offset+octet-stream" },
    }),
    "put by S3": put("PUT", `s3/${into}/${at}`),
    "multipart upload by S3": { method: "POST", at: `s3/${into}/${at}?uploads` },
  };
}

/**
 * Checks that every request in `attacks` fails for `role`. A deletion counts as failed if its response is an empty
 * list.
 */
async function expectAttacksFail(role: StorageRole, attacks: Record<string, StorageRequest>): Promise<void> {
  for (const [name, { method, at, headers, body }] of Object.entries(attacks)) {
    const sentBody = body instanceof Uint8Array ? body : body && JSON.stringify(body);
    const sentHeaders = { ...(await getHeadersForRole(role)), ...headers };
    const result = await sendBytes(method, `/storage/v1/${at}`, sentHeaders, sentBody);
    const text = await result.text();
    expect(result.ok && text !== "[]", `${role}, ${name}: ${result.status} ${text}`).toBe(false);
  }
}

test.each(roles)("Every request that stores, replaces, moves, copies or deletes a file fails for %s.", async (role) => {
  const source = `${folder}/insurance-certificate-0123456789ab-other.pdf`;
  await storeFile(source, "%PDF-1.7 another");
  const otherTargets = [
    ...[`${folder}/%252e%252e%252fbill-of-lading-x.pdf`, "bill-of-lading-x.pdf"],
    `${stranger.id}/${shipmentId}/bill-of-lading-0123456789ab-new.pdf`,
  ];
  const before = await listObjects();
  for (const target of [`${folder}/bill-of-lading-0123456789ab-new.pdf`, ...(role === "the owner" ? otherTargets : [])])
    await expectAttacksFail(role, createAttacks(target, source));
  // Sends the requests twice: before and after the file is recorded as a document's file.
  await expectAttacksFail(role, createAttacks(path, source));
  await recordFile("Packing List", path);
  await expectAttacksFail(role, createAttacks(path, source));
  expect(await listObjects()).toEqual(before);
  expect(await readObject(path)).toBe(originalContent);
});

test.each(roles)("No request of %s can create, change, empty or delete a storage bucket.", async (role) => {
  const { storage } = clientsByRole[role];
  await query("delete from storage.objects where bucket_id = 'upload-chunks'");
  for (const bucket of ["documents", "upload-chunks"]) {
    await storage.updateBucket(bucket, { public: true });
    await storage.updateBucket(bucket, { public: false, allowedMimeTypes: ["text/html"], fileSizeLimit: 1 });
    await storage.emptyBucket(bucket);
    await storage.deleteBucket(bucket);
  }
  await storage.createBucket("open", { public: true });
  const { data } = await testBackend.serviceRole.storage.listBuckets();
  const buckets = data?.sort((a, b) => a.id.localeCompare(b.id));
  expect(buckets).toMatchObject([
    { id: "documents", public: false, file_size_limit: maxFileBytes },
    { id: "upload-chunks", public: false, file_size_limit: 256 * 1024 },
  ]);
  expect(buckets?.[0]?.allowed_mime_types).toContain("application/pdf");
  expect(await readObject(path)).toBe(originalContent);
});

describe("Upload chunks", () => {
  const chunkName = () => `${owner.id}/${"a".repeat(64)}/0-16`;
  const bytes = "%PDF-1.7 part of";
  const octets = { contentType: "application/octet-stream", upsert: false };
  beforeEach(async () => {
    await testBackend.serviceRole.storage.from("upload-chunks").remove([chunkName()]);
    const { error } = await testBackend.serviceRole.storage
      .from("upload-chunks")
      .upload(chunkName(), encodeText(bytes), octets);
    if (error) throw error;
  });

  test.each(roles)("Every request that lists, reads, stores or removes an upload chunk fails for %s.", async (role) => {
    const chunks = clientsByRole[role].storage.from("upload-chunks");
    for (const prefix of ["", owner.id, chunkName().slice(0, -5)])
      expect((await chunks.list(prefix)).data ?? []).toEqual([]);
    expect((await chunks.download(chunkName())).data).toBeNull();
    expect((await chunks.info(chunkName())).data).toBeNull();
    expect((await chunks.createSignedUrl(chunkName(), 60)).data).toBeNull();
    const before = await listObjects();
    for (const target of [chunkName(), chunkName().replace("0-16", "16-16")])
      await expectAttacksFail(role, createAttacks(target, chunkName(), "upload-chunks"));
    expect(await listObjects()).toEqual(before);
  });

  test("A document cannot record an upload chunk as its file.", async () => {
    for (const storage_path of [chunkName(), `upload-chunks/${chunkName()}`]) {
      await expect(recordFile("Packing List", storage_path)).rejects.toMatchObject({ code: "PT409" });
    }
  });

  test("An upload chunk cannot be overwritten, and a chunk of more than 256 KB is rejected.", async () => {
    const chunks = testBackend.serviceRole.storage.from("upload-chunks");
    expect((await chunks.upload(chunkName(), encodeText("others"), octets)).error).toMatchObject({ statusCode: "409" });
    const largest = new Uint8Array(256 * 1024);
    expect((await chunks.upload(`${chunkName()}x`, largest, octets)).error).toBeNull();
    expect((await chunks.upload(`${chunkName()}y`, new Uint8Array(largest.length + 1), octets)).error).not.toBeNull();
    expect((await chunks.upload(`${chunkName()}z`, largest, { contentType: "application/pdf" })).error).not.toBeNull();
    await chunks.remove([`${chunkName()}x`]);
  });
});

async function getHeadersForRole(role: StorageRole): Promise<Record<string, string>> {
  const { session } = (await clientsByRole[role].auth.getSession()).data;
  return session ? createAuthHeaders(session.access_token) : { apikey: testBackend.publishableKey };
}

/** Records the file at `storage_path` as the uploaded file of the shipment's document `name`. */
function recordFile(name: string, storage_path: string) {
  const file = { uploaded: true, storage_path, ...fileColumns };
  const documents = testBackend.serviceRole.from("documents").update(file);
  return documents.eq("shipment_id", shipmentId).eq("name", name).throwOnError();
}

test("A file of exactly 10 MiB is accepted, and one byte more is rejected with and without a Content-Length.", async () => {
  const { secretKey } = testBackend;
  const keys = { apikey: secretKey, authorization: `Bearer ${secretKey}`, "content-type": "application/pdf" };
  const postFile = (name: string, size: number, announced: boolean) => {
    const headers = announced ? { ...keys, "content-length": String(size) } : keys;
    return sendBytes("POST", `/storage/v1/object/documents/${folder}/${name}`, headers, new Uint8Array(size));
  };
  expect((await postFile("bill-of-lading-large.pdf", maxFileBytes, true)).ok).toBe(true);
  for (const announced of [true, false]) {
    const larger = await postFile("commercial-invoice-large.pdf", maxFileBytes + 1, announced);
    expect([larger.ok, (await larger.json()).statusCode]).toEqual([false, "413"]);
    expect(await readObject(`${folder}/commercial-invoice-large.pdf`)).toBeNull();
  }
});

test("The storage bucket for documents rejects files of other media types than the accepted types.", async () => {
  const name = `${folder}/bill-of-lading-x.pdf`;
  const bucket = getDocumentsBucket(testBackend.serviceRole);
  for (const contentType of [
    ...["text/html", "image/svg+xml", "application/javascript", "application/xhtml+xml", "application/octet-stream"],
    ...["application/zip", "application/x-msdownload", "APPLICATION/PDF\u00a0", "*/*"],
  ]) {
    for (const upsert of [false, true]) {
      const { error } = await bucket.upload(name, encodeText("<script>"), { contentType, upsert });
      expect(error, contentType).not.toBeNull();
    }
  }
  expect(await readObject(name)).toBeNull();
});
