import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FILE_TYPES } from "../../app/models/document-media-type.server.ts";
import { type AppSupabaseClient, startTestBackend } from "../support/test-backend.ts";

type TestClient = Awaited<ReturnType<typeof testBackend.newClient>>;

let testBackend: Awaited<ReturnType<typeof startTestBackend>>;
let owner: TestClient;
let stranger: TestClient;
let visitor: AppSupabaseClient;
/** A fresh shipment of the owner's for each test, the folder of its files, and one file that no document counts yet. */
let shipmentId: string;
let folder: string;
let path: string;

const maxFileBytes = 10 * 1024 * 1024;
const originalContent = "%PDF-1.7 the original";

beforeAll(async () => {
  testBackend = await startTestBackend();
  owner = await testBackend.newClient("owner@client.example");
  stranger = await testBackend.newClient("stranger@client.example");
  visitor = testBackend.anonymous();
});
afterAll(() => testBackend.close());
beforeEach(async () => {
  shipmentId = await newShipment(owner);
  folder = `${owner.id}/${shipmentId}`;
  path = `${folder}/packing-list-0123456789ab-tea.pdf`;
  const { error } = await storeFile(path, originalContent);
  if (error) throw error;
});

test("the bucket is private and takes files of at most 10 MiB", async () => {
  const { data, error } = await testBackend.serviceRole.storage.getBucket("documents");
  expect(error).toBeNull();
  expect(data).toMatchObject({ public: false, file_size_limit: maxFileBytes });
});

test("a file has no public address", async () => {
  for (const headers of [
    { apikey: testBackend.publishableKey },
    createAuthHeaders(owner),
    createAuthHeaders(stranger),
  ]) {
    const response = await sendRequest("GET", `/storage/v1/object/public/documents/${path}`, headers);
    expect(response.ok).toBe(false);
    expect(await response.text()).not.toContain(originalContent);
  }
});

test("the company gets back exactly what was stored, with its media type, and the owner nothing", async () => {
  const bytes = new Uint8Array(4096).map((_, index) => index % 251);
  const file = `${folder}/bill-of-lading-0123456789ab-scan.png`;
  const stored = await getDocumentsBucket(testBackend.serviceRole).upload(file, bytes, { contentType: "image/png" });
  expect(stored.error).toBeNull();
  expect((await getDocumentsBucket(owner.supabase).download(file)).data).toBeNull();
  const { data } = await getDocumentsBucket(testBackend.serviceRole).download(file);
  expect(new Uint8Array((await data?.arrayBuffer()) ?? [])).toEqual(bytes);
  expect(data?.type).toBe("image/png");
});

const allRoles = ["a visitor", "a stranger", "the owner"] as const;
const getClientForRole = (who: (typeof allRoles)[number]) =>
  ({ "a visitor": visitor, "a stranger": stranger.supabase, "the owner": owner.supabase })[who];

for (const who of allRoles) {
  test(`${who} sees no file in any list`, async () => {
    const stored = "select name from storage.objects where name like $1";
    expect((await testBackend.backend.db.query(stored, [`${folder}/%`])).rows).toEqual([{ name: path }]);
    for (const prefix of ["", owner.id, folder]) {
      const { data } = await getDocumentsBucket(getClientForRole(who)).list(prefix);
      expect(data ?? []).toEqual([]);
    }
  });

  test(`${who} cannot read a file, nor learn that it is there`, async () => {
    for (const name of [path, `${folder}/packing-list-none.pdf`]) {
      const { data, error } = await getDocumentsBucket(getClientForRole(who)).download(name);
      expect(data).toBeNull();
      expect(error).toMatchObject({ status: 400 });
      const info = await getDocumentsBucket(getClientForRole(who)).info(name);
      expect(info.data).toBeNull();
      const head = await sendRequest("HEAD", `/storage/v1/object/documents/${name}`, getHeadersForRole(who));
      expect(head.ok).toBe(false);
    }
    const known = await sendRequest("GET", `/storage/v1/object/documents/${path}`, getHeadersForRole(who));
    const unknown = await sendRequest(
      "GET",
      `/storage/v1/object/documents/${folder}/packing-list-none.pdf`,
      getHeadersForRole(who),
    );
    expect(known.status).toBe(unknown.status);
    expect(await known.text()).toBe(await unknown.text());
  });

  test(`${who} cannot have an address signed for a file`, async () => {
    const { data, error } = await getDocumentsBucket(getClientForRole(who)).createSignedUrl(path, 60);
    expect(error).not.toBeNull();
    expect(data).toBeNull();
    const many = await getDocumentsBucket(getClientForRole(who)).createSignedUrls([path], 60);
    expect(many.data?.map(({ signedUrl }) => signedUrl || null) ?? [null]).toEqual([null]);
  });
}

/** A request to the storage API. */
type StorageRequest = {
  method: string;
  at: string;
  headers?: Record<string, string>;
  body?: object | Uint8Array<ArrayBuffer>;
};

const forgedContent = encodeText("%PDF-1.7 forged");
const pdfHeaders = { "content-type": "application/pdf" };
const jsonHeaders = { "content-type": "application/json" };

/** Every way of the storage API, hosted Supabase's resumable uploads and S3 too, to write or take away an object. */
function createAttacks(target: string, source: string, into = "documents"): Record<string, StorageRequest> {
  const at = encodeURI(target);
  const pair = (more: object) => ({ bucketId: into, sourceKey: source, destinationKey: target, ...more });
  const resumable = {
    "tus-resumable": "1.0.0",
    "upload-length": String(forgedContent.length),
    "upload-metadata": `bucketName ${btoa(into)},objectName ${btoa(target)},contentType ${btoa("application/pdf")}`,
  };
  const upsert = { "x-upsert": "true" };
  return {
    "uploads it": { method: "POST", at: `object/${into}/${at}`, headers: pdfHeaders, body: forgedContent },
    "uploads over it": {
      method: "POST",
      at: `object/${into}/${at}`,
      headers: { ...pdfHeaders, ...upsert },
      body: forgedContent,
    },
    "puts it": {
      method: "PUT",
      at: `object/${into}/${at}`,
      headers: { ...pdfHeaders, ...upsert },
      body: forgedContent,
    },
    "has an upload address signed": {
      method: "POST",
      at: `object/upload/sign/${into}/${at}`,
      headers: jsonHeaders,
      body: {},
    },
    "has one signed that overwrites": {
      method: "POST",
      at: `object/upload/sign/${into}/${at}`,
      headers: { ...jsonHeaders, ...upsert },
      body: {},
    },
    "uses its session as a signed address": {
      method: "PUT",
      at: `object/upload/sign/${into}/${at}?token=${owner.accessToken}`,
      headers: pdfHeaders,
      body: forgedContent,
    },
    "copies to it": { method: "POST", at: "object/copy", headers: jsonHeaders, body: pair({}) },
    "copies over it": { method: "POST", at: "object/copy", headers: { ...jsonHeaders, ...upsert }, body: pair({}) },
    "moves to it": { method: "POST", at: "object/move", headers: jsonHeaders, body: pair({}) },
    "copies it away": {
      method: "POST",
      at: "object/copy",
      headers: jsonHeaders,
      body: pair({ sourceKey: target, destinationKey: `${source}-copy` }),
    },
    "moves it away": {
      method: "POST",
      at: "object/move",
      headers: jsonHeaders,
      body: pair({ sourceKey: target, destinationKey: `${source}-moved` }),
    },
    "deletes it": { method: "DELETE", at: `object/${into}`, headers: jsonHeaders, body: { prefixes: [target] } },
    "deletes it by its path": { method: "DELETE", at: `object/${into}/${at}` },
    "begins a resumable upload": { method: "POST", at: "upload/resumable", headers: { ...resumable, ...upsert } },
    "begins a signed resumable upload": { method: "POST", at: "upload/resumable/sign", headers: resumable },
    "goes on with one": {
      method: "PATCH",
      at: `upload/resumable/${btoa(target)}`,
      headers: { ...resumable, "upload-offset": "0", "content-type": "application/offset+octet-stream" },
      body: forgedContent,
    },
    "puts it by S3": { method: "PUT", at: `s3/${into}/${at}`, headers: pdfHeaders, body: forgedContent },
    "begins a multipart upload by S3": { method: "POST", at: `s3/${into}/${at}?uploads` },
  };
}

for (const who of allRoles) {
  test(`${who} cannot store, replace, move, copy or delete a file, nor have it done later`, async () => {
    const source = `${folder}/insurance-certificate-0123456789ab-other.pdf`;
    await storeFile(source, "%PDF-1.7 another");
    for (const counts of [false, true]) {
      if (counts) await recordFile("Packing List", path);
      const before = await listObjects();
      for (const target of [path, `${folder}/bill-of-lading-0123456789ab-new.pdf`]) {
        for (const [way, { method, at, headers = {}, body }] of Object.entries(createAttacks(target, source))) {
          const sent = body instanceof Uint8Array ? body : body && JSON.stringify(body);
          const result = await sendRequest(
            method,
            `/storage/v1/${at}`,
            { ...getHeadersForRole(who), ...headers },
            sent,
          );
          // Deleting answers with what it deleted.
          const said = await result.text();
          expect(result.ok && said !== "[]", `${who} ${way}: ${result.status} ${said}`).toBe(false);
        }
      }
      expect(await listObjects()).toEqual(before);
      expect(await readObject(path)).toBe(originalContent);
      expect(await getMediaType(path)).toBe("application/pdf");
    }
  });

  test(`${who} cannot open, change, empty or delete the bucket`, async () => {
    const { storage } = getClientForRole(who);
    await storage.updateBucket("documents", { public: true });
    await storage.updateBucket("documents", { public: false, allowedMimeTypes: ["text/html"], fileSizeLimit: 1 });
    await storage.emptyBucket("documents");
    await storage.deleteBucket("documents");
    await storage.createBucket("open", { public: true });
    const { data } = await testBackend.serviceRole.storage.listBuckets();
    const known = data?.sort((a, b) => a.id.localeCompare(b.id));
    expect(known).toEqual([
      expect.objectContaining({ id: "documents", public: false, file_size_limit: maxFileBytes }),
      expect.objectContaining({ id: "upload-chunks", public: false, file_size_limit: 256 * 1024 }),
    ]);
    expect(known?.[0]?.allowed_mime_types).toContain("application/pdf");
    expect(await readObject(path)).toBe(originalContent);
  });
}

describe("of a file on its way", () => {
  const part = () => `${owner.id}/${"a".repeat(64)}/0-16`;
  const bytes = "%PDF-1.7 part of";
  const octets = { contentType: "application/octet-stream", upsert: false };
  beforeEach(async () => {
    await testBackend.serviceRole.storage.from("upload-chunks").remove([part()]);
    const { error } = await testBackend.serviceRole.storage
      .from("upload-chunks")
      .upload(part(), encodeText(bytes), octets);
    if (error) throw error;
  });

  for (const who of allRoles) {
    test(`${who} neither sees, reads, stores nor takes away a part, nor has it done later`, async () => {
      const parts = getClientForRole(who).storage.from("upload-chunks");
      for (const prefix of ["", owner.id, part().slice(0, -5)])
        expect((await parts.list(prefix)).data ?? []).toEqual([]);
      expect((await parts.download(part())).data).toBeNull();
      expect((await parts.info(part())).data).toBeNull();
      expect((await parts.createSignedUrl(part(), 60)).data).toBeNull();
      expect((await getClientForRole(who).rpc("list_upload_chunks", { account_id: owner.id })).error?.code).toBe(
        "42501",
      );
      const before = await listObjects();
      for (const target of [part(), part().replace("0-16", "16-16")]) {
        for (const [way, { method, at, headers = {}, body }] of Object.entries(
          createAttacks(target, part(), "upload-chunks"),
        )) {
          const sent = body instanceof Uint8Array ? body : body && JSON.stringify(body);
          const result = await sendRequest(
            method,
            `/storage/v1/${at}`,
            { ...getHeadersForRole(who), ...headers },
            sent,
          );
          const said = await result.text();
          expect(result.ok && said !== "[]", `${who} ${way}: ${result.status} ${said}`).toBe(false);
        }
      }
      expect(await listObjects()).toEqual(before);
      const kept = await testBackend.serviceRole.storage.from("upload-chunks").download(part());
      expect(await kept.data?.text()).toBe(bytes);
    });
  }

  test("no document counts a part, whoever says so", async () => {
    const record = { sha256: "0".repeat(64), file_name: "x.pdf", file_size: 16, media_type: "application/pdf" };
    for (const storage_path of [part(), `upload-chunks/${part()}`]) {
      const { error } = await testBackend.serviceRole
        .from("documents")
        .update({ uploaded: true, storage_path, ...record })
        .eq("shipment_id", shipmentId)
        .eq("name", "Packing List");
      expect(error?.code).toBe("PT409");
    }
  });

  test("a part is stored once, and is at most 256 KB of bytes", async () => {
    const parts = testBackend.serviceRole.storage.from("upload-chunks");
    expect((await parts.upload(part(), encodeText("others"), octets)).error).toMatchObject({ statusCode: "409" });
    const largest = new Uint8Array(256 * 1024);
    expect((await parts.upload(`${part()}x`, largest, octets)).error).toBeNull();
    expect((await parts.upload(`${part()}y`, new Uint8Array(largest.length + 1), octets)).error).not.toBeNull();
    expect((await parts.upload(`${part()}z`, largest, { contentType: "application/pdf" })).error).not.toBeNull();
    await parts.remove([`${part()}x`]);
  });
});

test("not even a client whose bucket is empty can delete it", async () => {
  const empty = await startTestBackend();
  try {
    const client = await empty.newClient("only@client.example");
    for (const supabase of [client.supabase, empty.anonymous()]) {
      await supabase.storage.deleteBucket("documents");
      await supabase.storage.updateBucket("documents", { public: true });
    }
    const { data } = await empty.serviceRole.storage.listBuckets();
    expect(data).toContainEqual(expect.objectContaining({ id: "documents", public: false }));
  } finally {
    await empty.close();
  }
});

const uploadTargets: [string, (places: { mine: string; folder: string; theirs: string }) => string][] = [
  ["where its document's file would be", ({ folder }) => `${folder}/bill-of-lading-0123456789ab-x.pdf`],
  ["in a stranger's folder", ({ theirs }) => `${theirs}/bill-of-lading-x.pdf`],
  [
    "in its own folder under a stranger's shipment",
    ({ mine, theirs }) => `${mine}/${theirs.split("/")[1]}/bill-of-lading-x.pdf`,
  ],
  [
    "in a stranger's folder under its own shipment",
    ({ folder, theirs }) => `${theirs.split("/")[0]}/${folder.split("/")[1]}/bill-of-lading-x.pdf`,
  ],
  ["under a shipment that is none", ({ mine }) => `${mine}/${randomUUID()}/bill-of-lading-x.pdf`],
  ["under something that is no id", ({ mine }) => `${mine}/shipment/bill-of-lading-x.pdf`],
  ["one folder too deep", ({ folder }) => `${folder}/more/bill-of-lading-x.pdf`],
  ["below a name that fits, behind an empty folder", ({ folder }) => `${folder}/bill-of-lading-x//deep/y.pdf`],
  ["one folder too deep, below a name that fits", ({ folder }) => `${folder}/bill-of-lading-x.pdf/y.pdf`],
  ["one folder too high", ({ mine }) => `${mine}/bill-of-lading-x.pdf`],
  ["at the top", () => "bill-of-lading-x.pdf"],
  ["under an unknown document's name", ({ folder }) => `${folder}/gold-certificate-x.pdf`],
  ["under a document's name alone", ({ folder }) => `${folder}/bill-of-lading`],
  ["under the beginning of a document's name", ({ folder }) => `${folder}/bill-x.pdf`],
  ["under no name", ({ folder }) => `${folder}/`],
  ["under a document's name in capitals", ({ folder }) => `${folder}/BILL-OF-LADING-x.pdf`],
  ["in its folder written in capitals", ({ folder }) => `${folder.toUpperCase()}/bill-of-lading-x.pdf`],
  ["behind a way up", ({ folder }) => `${folder}/../bill-of-lading-x.pdf`],
  ["behind an encoded way up", ({ folder }) => `${folder}/%2e%2e/bill-of-lading-x.pdf`],
  ["behind one that is encoded twice", ({ folder }) => `${folder}/%252e%252e%252fbill-of-lading-x.pdf`],
  ["behind an encoded slash", ({ folder }) => `${folder}/bill-of-lading-x%2f..%2fy.pdf`],
  ["behind an empty folder", ({ folder }) => `${folder.replace("/", "//")}/bill-of-lading-x.pdf`],
];

test.each(uploadTargets)("a client cannot store a file %s", async (_where, place) => {
  const theirs = `${stranger.id}/${await newShipment(stranger)}`;
  const before = await listObjects();
  for (const upsert of ["false", "true"]) {
    const response = await sendRequest(
      "POST",
      `/storage/v1/object/documents/${place({ mine: owner.id, folder, theirs })}`,
      { ...createAuthHeaders(owner), "content-type": "application/pdf", "x-upsert": upsert },
      encodeText("%PDF-1.7"),
    );
    expect(response.ok).toBe(false);
  }
  expect(await listObjects()).toEqual(before);
});

test("a client cannot store a file in a bucket of another name", async () => {
  const made = await testBackend.serviceRole.storage.createBucket("archive", { public: false });
  expect(made.error).toBeNull();
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

test("a file that counts is read by the company alone, and no token of its owner has an address signed for it", async () => {
  await recordFile("Packing List", path);
  expect((await getDocumentsBucket(owner.supabase).download(path)).data).toBeNull();
  expect((await getDocumentsBucket(owner.supabase).info(path)).data).toBeNull();
  expect((await getDocumentsBucket(owner.supabase).list(folder)).data ?? []).toEqual([]);
  expect((await getDocumentsBucket(owner.supabase).createSignedUrl(path, 60)).data).toBeNull();
  expect(await readObject(path)).toBe(originalContent);
});

test("a file of exactly 10 MiB is taken and one byte more is not", async () => {
  const largest = await postRaw(`${folder}/bill-of-lading-large.pdf`, new Uint8Array(maxFileBytes), true);
  expect(largest.ok).toBe(true);
  const larger = await postRaw(`${folder}/commercial-invoice-large.pdf`, new Uint8Array(maxFileBytes + 1), true);
  expect(larger.ok).toBe(false);
  expect(await larger.json()).toMatchObject({ statusCode: "413" });
  expect(await readObject(`${folder}/commercial-invoice-large.pdf`)).toBeNull();
});

test("a file of more than 10 MiB is not taken when its length is not announced either", async () => {
  const response = await postRaw(`${folder}/commercial-invoice-large.pdf`, new Uint8Array(maxFileBytes + 1), false);
  expect(response.ok).toBe(false);
  expect(await readObject(`${folder}/commercial-invoice-large.pdf`)).toBeNull();
});

test("the bucket takes a file of every type that the app takes", async () => {
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
])("the bucket does not take a file of type %j", async (contentType) => {
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

/** A plain upload by the company, with or without the length in its header, as chunked requests have none. */
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

function sendRequest(method: string, at: string, headers: Record<string, string>, body?: BodyInit) {
  return testBackend.backend.fetch(new Request(`http://backend.local${at}`, { method, headers, body }));
}

function createAuthHeaders(person: TestClient) {
  return { apikey: testBackend.publishableKey, authorization: `Bearer ${person.accessToken}` };
}

function getHeadersForRole(who: (typeof allRoles)[number]): Record<string, string> {
  if (who === "a visitor") return { apikey: testBackend.publishableKey };
  return createAuthHeaders(who === "the owner" ? owner : stranger);
}

function encodeText(content: string) {
  return new TextEncoder().encode(content);
}

/** Marks a document of the shipment as uploaded with this file. */
async function recordFile(name: string, at: string): Promise<void> {
  const record = { sha256: "0".repeat(64), file_name: "x.pdf", file_size: 1, media_type: "application/pdf" };
  const { data, error } = await testBackend.serviceRole
    .from("documents")
    .update({ uploaded: true, storage_path: at, ...record })
    .eq("shipment_id", shipmentId)
    .eq("name", name)
    .select("id");
  if (error) throw error;
  expect(data).toHaveLength(1);
}

async function newShipment(client: TestClient): Promise<string> {
  const { data, error } = await client.supabase
    .from("shipments")
    .insert({ name: "Tea", user_id: client.id })
    .select("id")
    .single();
  if (error) throw error;
  return data.id;
}

/** What is stored at a place, as the company reads it; null when there is nothing. */
async function readObject(at: string): Promise<string | null> {
  const { data } = await getDocumentsBucket(testBackend.serviceRole).download(at);
  return data ? data.text() : null;
}

async function getMediaType(at: string): Promise<string | undefined> {
  return (await getDocumentsBucket(testBackend.serviceRole).download(at)).data?.type;
}

/** Every stored object past row-level security, without the time of its last reading. */
async function listObjects() {
  const { rows } = await testBackend.backend.db.query(
    "select bucket_id, name, version from storage.objects order by 1, 2",
  );
  return rows;
}
