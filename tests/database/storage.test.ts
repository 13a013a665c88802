import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FILE_TYPES } from "../../app/models/document-media-type.server.ts";
import { type Handle, memoryBackend } from "../support/memory-backend.ts";

type Person = Awaited<ReturnType<typeof world.newClient>>;

let world: Awaited<ReturnType<typeof memoryBackend>>;
let owner: Person;
let stranger: Person;
let visitor: Handle;
/** A fresh shipment of the owner's for each test, the folder of its files, and one file that no document counts yet. */
let shipmentId: string;
let folder: string;
let path: string;

const limit = 10 * 1024 * 1024;
const original = "%PDF-1.7 the original";

beforeAll(async () => {
  world = await memoryBackend();
  owner = await world.newClient("owner@client.example");
  stranger = await world.newClient("stranger@client.example");
  visitor = world.anonymous();
});
afterAll(() => world.close());
beforeEach(async () => {
  shipmentId = await newShipment(owner);
  folder = `${owner.id}/${shipmentId}`;
  path = `${folder}/packing-list-0123456789ab-tea.pdf`;
  const { error } = await put(path, original);
  if (error) throw error;
});

test("the bucket is private and takes files of at most 10 MiB", async () => {
  const { data, error } = await world.company.storage.getBucket("documents");
  expect(error).toBeNull();
  expect(data).toMatchObject({ public: false, file_size_limit: limit });
});

test("a file has no public address", async () => {
  for (const headers of [{ apikey: world.publishableKey }, as(owner), as(stranger)]) {
    const response = await call("GET", `/storage/v1/object/public/documents/${path}`, headers);
    expect(response.ok).toBe(false);
    expect(await response.text()).not.toContain(original);
  }
});

test("the company gets back exactly what was stored, with its media type, and the owner nothing", async () => {
  const bytes = new Uint8Array(4096).map((_, index) => index % 251);
  const file = `${folder}/bill-of-lading-0123456789ab-scan.png`;
  const stored = await bucket(world.company).upload(file, bytes, { contentType: "image/png" });
  expect(stored.error).toBeNull();
  expect((await bucket(owner.handle).download(file)).data).toBeNull();
  const { data } = await bucket(world.company).download(file);
  expect(new Uint8Array((await data?.arrayBuffer()) ?? [])).toEqual(bytes);
  expect(data?.type).toBe("image/png");
});

const everybody = ["a visitor", "a stranger", "the owner"] as const;
const handleOf = (who: (typeof everybody)[number]) =>
  ({ "a visitor": visitor, "a stranger": stranger.handle, "the owner": owner.handle })[who];

for (const who of everybody) {
  test(`${who} sees no file in any list`, async () => {
    const stored = "select name from storage.objects where name like $1";
    expect((await world.backend.db.query(stored, [`${folder}/%`])).rows).toEqual([{ name: path }]);
    for (const prefix of ["", owner.id, folder]) {
      const { data } = await bucket(handleOf(who)).list(prefix);
      expect(data ?? []).toEqual([]);
    }
  });

  test(`${who} cannot read a file, nor learn that it is there`, async () => {
    for (const name of [path, `${folder}/packing-list-none.pdf`]) {
      const { data, error } = await bucket(handleOf(who)).download(name);
      expect(data).toBeNull();
      expect(error).toMatchObject({ status: 400 });
      const info = await bucket(handleOf(who)).info(name);
      expect(info.data).toBeNull();
      const head = await call("HEAD", `/storage/v1/object/documents/${name}`, headersOf(who));
      expect(head.ok).toBe(false);
    }
    const known = await call("GET", `/storage/v1/object/documents/${path}`, headersOf(who));
    const unknown = await call("GET", `/storage/v1/object/documents/${folder}/packing-list-none.pdf`, headersOf(who));
    expect(known.status).toBe(unknown.status);
    expect(await known.text()).toBe(await unknown.text());
  });

  test(`${who} cannot have an address signed for a file`, async () => {
    const { data, error } = await bucket(handleOf(who)).createSignedUrl(path, 60);
    expect(error).not.toBeNull();
    expect(data).toBeNull();
    const many = await bucket(handleOf(who)).createSignedUrls([path], 60);
    expect(many.data?.map(({ signedUrl }) => signedUrl || null) ?? [null]).toEqual([null]);
  });
}

/** A request to the storage API. */
type Attack = { method: string; at: string; headers?: Record<string, string>; body?: object | Uint8Array<ArrayBuffer> };

const forged = text("%PDF-1.7 forged");
const pdf = { "content-type": "application/pdf" };
const json = { "content-type": "application/json" };

/** Every way of the storage API, hosted Supabase's resumable uploads and S3 too, to write or take away an object. */
function attacks(target: string, source: string, into = "documents"): Record<string, Attack> {
  const at = encodeURI(target);
  const pair = (more: object) => ({ bucketId: into, sourceKey: source, destinationKey: target, ...more });
  const resumable = {
    "tus-resumable": "1.0.0",
    "upload-length": String(forged.length),
    "upload-metadata": `bucketName ${btoa(into)},objectName ${btoa(target)},contentType ${btoa("application/pdf")}`,
  };
  const upsert = { "x-upsert": "true" };
  return {
    "uploads it": { method: "POST", at: `object/${into}/${at}`, headers: pdf, body: forged },
    "uploads over it": { method: "POST", at: `object/${into}/${at}`, headers: { ...pdf, ...upsert }, body: forged },
    "puts it": { method: "PUT", at: `object/${into}/${at}`, headers: { ...pdf, ...upsert }, body: forged },
    "has an upload address signed": {
      method: "POST",
      at: `object/upload/sign/${into}/${at}`,
      headers: json,
      body: {},
    },
    "has one signed that overwrites": {
      method: "POST",
      at: `object/upload/sign/${into}/${at}`,
      headers: { ...json, ...upsert },
      body: {},
    },
    "uses its session as a signed address": {
      method: "PUT",
      at: `object/upload/sign/${into}/${at}?token=${owner.accessToken}`,
      headers: pdf,
      body: forged,
    },
    "copies to it": { method: "POST", at: "object/copy", headers: json, body: pair({}) },
    "copies over it": { method: "POST", at: "object/copy", headers: { ...json, ...upsert }, body: pair({}) },
    "moves to it": { method: "POST", at: "object/move", headers: json, body: pair({}) },
    "copies it away": {
      method: "POST",
      at: "object/copy",
      headers: json,
      body: pair({ sourceKey: target, destinationKey: `${source}-copy` }),
    },
    "moves it away": {
      method: "POST",
      at: "object/move",
      headers: json,
      body: pair({ sourceKey: target, destinationKey: `${source}-moved` }),
    },
    "deletes it": { method: "DELETE", at: `object/${into}`, headers: json, body: { prefixes: [target] } },
    "deletes it by its path": { method: "DELETE", at: `object/${into}/${at}` },
    "begins a resumable upload": { method: "POST", at: "upload/resumable", headers: { ...resumable, ...upsert } },
    "begins a signed resumable upload": { method: "POST", at: "upload/resumable/sign", headers: resumable },
    "goes on with one": {
      method: "PATCH",
      at: `upload/resumable/${btoa(target)}`,
      headers: { ...resumable, "upload-offset": "0", "content-type": "application/offset+octet-stream" },
      body: forged,
    },
    "puts it by S3": { method: "PUT", at: `s3/${into}/${at}`, headers: pdf, body: forged },
    "begins a multipart upload by S3": { method: "POST", at: `s3/${into}/${at}?uploads` },
  };
}

for (const who of everybody) {
  test(`${who} cannot store, replace, move, copy or delete a file, nor have it done later`, async () => {
    const source = `${folder}/insurance-certificate-0123456789ab-other.pdf`;
    await put(source, "%PDF-1.7 another");
    for (const counts of [false, true]) {
      if (counts) await count("Packing List", path);
      const before = await everyObject();
      for (const target of [path, `${folder}/bill-of-lading-0123456789ab-new.pdf`]) {
        for (const [way, { method, at, headers = {}, body }] of Object.entries(attacks(target, source))) {
          const sent = body instanceof Uint8Array ? body : body && JSON.stringify(body);
          const answer = await call(method, `/storage/v1/${at}`, { ...headersOf(who), ...headers }, sent);
          // Deleting answers with what it deleted.
          const said = await answer.text();
          expect(answer.ok && said !== "[]", `${who} ${way}: ${answer.status} ${said}`).toBe(false);
        }
      }
      expect(await everyObject()).toEqual(before);
      expect(await contentOf(path)).toBe(original);
      expect(await mediaTypeOf(path)).toBe("application/pdf");
    }
  });

  test(`${who} cannot open, change, empty or delete the bucket`, async () => {
    const { storage } = handleOf(who);
    await storage.updateBucket("documents", { public: true });
    await storage.updateBucket("documents", { public: false, allowedMimeTypes: ["text/html"], fileSizeLimit: 1 });
    await storage.emptyBucket("documents");
    await storage.deleteBucket("documents");
    await storage.createBucket("open", { public: true });
    const { data } = await world.company.storage.listBuckets();
    const known = data?.sort((a, b) => a.id.localeCompare(b.id));
    expect(known).toEqual([
      expect.objectContaining({ id: "documents", public: false, file_size_limit: limit }),
      expect.objectContaining({ id: "parts", public: false, file_size_limit: 256 * 1024 }),
    ]);
    expect(known?.[0]?.allowed_mime_types).toContain("application/pdf");
    expect(await contentOf(path)).toBe(original);
  });
}

describe("of a file on its way", () => {
  const part = () => `${owner.id}/${"a".repeat(64)}/0-16`;
  const bytes = "%PDF-1.7 part of";
  const octets = { contentType: "application/octet-stream", upsert: false };
  beforeEach(async () => {
    await world.company.storage.from("parts").remove([part()]);
    const { error } = await world.company.storage.from("parts").upload(part(), text(bytes), octets);
    if (error) throw error;
  });

  for (const who of everybody) {
    test(`${who} neither sees, reads, stores nor takes away a part, nor has it done later`, async () => {
      const parts = handleOf(who).storage.from("parts");
      for (const prefix of ["", owner.id, part().slice(0, -5)])
        expect((await parts.list(prefix)).data ?? []).toEqual([]);
      expect((await parts.download(part())).data).toBeNull();
      expect((await parts.info(part())).data).toBeNull();
      expect((await parts.createSignedUrl(part(), 60)).data).toBeNull();
      expect((await handleOf(who).rpc("kept_parts", { account: owner.id })).error?.code).toBe("42501");
      const before = await everyObject();
      for (const target of [part(), part().replace("0-16", "16-16")]) {
        for (const [way, { method, at, headers = {}, body }] of Object.entries(attacks(target, part(), "parts"))) {
          const sent = body instanceof Uint8Array ? body : body && JSON.stringify(body);
          const answer = await call(method, `/storage/v1/${at}`, { ...headersOf(who), ...headers }, sent);
          const said = await answer.text();
          expect(answer.ok && said !== "[]", `${who} ${way}: ${answer.status} ${said}`).toBe(false);
        }
      }
      expect(await everyObject()).toEqual(before);
      const kept = await world.company.storage.from("parts").download(part());
      expect(await kept.data?.text()).toBe(bytes);
    });
  }

  test("no document counts a part, whoever says so", async () => {
    const record = { sha256: "0".repeat(64), file_name: "x.pdf", file_size: 16, media_type: "application/pdf" };
    for (const storage_path of [part(), `parts/${part()}`]) {
      const { error } = await world.company
        .from("documents")
        .update({ uploaded: true, storage_path, ...record })
        .eq("shipment_id", shipmentId)
        .eq("name", "Packing List");
      expect(error?.code).toBe("PT409");
    }
  });

  test("a part is stored once, and is at most 256 KB of bytes", async () => {
    const parts = world.company.storage.from("parts");
    expect((await parts.upload(part(), text("others"), octets)).error).toMatchObject({ statusCode: "409" });
    const largest = new Uint8Array(256 * 1024);
    expect((await parts.upload(`${part()}x`, largest, octets)).error).toBeNull();
    expect((await parts.upload(`${part()}y`, new Uint8Array(largest.length + 1), octets)).error).not.toBeNull();
    expect((await parts.upload(`${part()}z`, largest, { contentType: "application/pdf" })).error).not.toBeNull();
    await parts.remove([`${part()}x`]);
  });
});

test("not even a client whose bucket is empty can delete it", async () => {
  const empty = await memoryBackend();
  try {
    const client = await empty.newClient("only@client.example");
    for (const handle of [client.handle, empty.anonymous()]) {
      await handle.storage.deleteBucket("documents");
      await handle.storage.updateBucket("documents", { public: true });
    }
    const { data } = await empty.company.storage.listBuckets();
    expect(data).toContainEqual(expect.objectContaining({ id: "documents", public: false }));
  } finally {
    await empty.close();
  }
});

const places: [string, (places: { mine: string; folder: string; theirs: string }) => string][] = [
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

test.each(places)("a client cannot store a file %s", async (_where, place) => {
  const theirs = `${stranger.id}/${await newShipment(stranger)}`;
  const before = await everyObject();
  for (const upsert of ["false", "true"]) {
    const response = await call(
      "POST",
      `/storage/v1/object/documents/${place({ mine: owner.id, folder, theirs })}`,
      { ...as(owner), "content-type": "application/pdf", "x-upsert": upsert },
      text("%PDF-1.7"),
    );
    expect(response.ok).toBe(false);
  }
  expect(await everyObject()).toEqual(before);
});

test("a client cannot store a file in a bucket of another name", async () => {
  const made = await world.company.storage.createBucket("archive", { public: false });
  expect(made.error).toBeNull();
  try {
    for (const name of ["archive", "nowhere"]) {
      const { error } = await owner.handle.storage
        .from(name)
        .upload(`${folder}/bill-of-lading-x.pdf`, text("%PDF-1.7"), { contentType: "application/pdf" });
      expect(error).not.toBeNull();
    }
    expect(await everyObject()).not.toContainEqual(expect.objectContaining({ bucket_id: "archive" }));
    const { error } = await bucket(owner.handle).move(path, `${folder}/packing-list-b.pdf`, {
      destinationBucket: "archive",
    });
    expect(error).not.toBeNull();
    expect(await contentOf(path)).toBe(original);
  } finally {
    await world.company.storage.deleteBucket("archive");
  }
});

test("a file that counts is read by the company alone, and no token of its owner has an address signed for it", async () => {
  await count("Packing List", path);
  expect((await bucket(owner.handle).download(path)).data).toBeNull();
  expect((await bucket(owner.handle).info(path)).data).toBeNull();
  expect((await bucket(owner.handle).list(folder)).data ?? []).toEqual([]);
  expect((await bucket(owner.handle).createSignedUrl(path, 60)).data).toBeNull();
  expect(await contentOf(path)).toBe(original);
});

test("a file of exactly 10 MiB is taken and one byte more is not", async () => {
  const largest = await raw(`${folder}/bill-of-lading-large.pdf`, new Uint8Array(limit), true);
  expect(largest.ok).toBe(true);
  const larger = await raw(`${folder}/commercial-invoice-large.pdf`, new Uint8Array(limit + 1), true);
  expect(larger.ok).toBe(false);
  expect(await larger.json()).toMatchObject({ statusCode: "413" });
  expect(await contentOf(`${folder}/commercial-invoice-large.pdf`)).toBeNull();
});

test("a file of more than 10 MiB is not taken when its length is not announced either", async () => {
  const response = await raw(`${folder}/commercial-invoice-large.pdf`, new Uint8Array(limit + 1), false);
  expect(response.ok).toBe(false);
  expect(await contentOf(`${folder}/commercial-invoice-large.pdf`)).toBeNull();
});

test("the bucket takes a file of every type that the app takes", async () => {
  for (const contentType of new Set(Object.values(FILE_TYPES))) {
    const { error } = await bucket(world.company).upload(`${folder}/${randomUUID()}`, text("x"), { contentType });
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
    const { error } = await bucket(world.company).upload(name, text("<script>"), { contentType, upsert });
    expect(error).not.toBeNull();
  }
  expect(await contentOf(name)).toBeNull();
});

function bucket(handle: Handle) {
  return handle.storage.from("documents");
}

/** Stores a file as the server does. */
function put(at: string, content: string) {
  return bucket(world.company).upload(at, text(content), { contentType: "application/pdf", upsert: false });
}

/** A plain upload by the company, with or without the length in its header, as chunked requests have none. */
function raw(at: string, body: Uint8Array<ArrayBuffer>, announced: boolean) {
  const headers = {
    apikey: world.secretKey,
    authorization: `Bearer ${world.secretKey}`,
    "content-type": "application/pdf",
  };
  return call(
    "POST",
    `/storage/v1/object/documents/${at}`,
    announced ? { ...headers, "content-length": String(body.length) } : headers,
    body,
  );
}

function call(method: string, at: string, headers: Record<string, string>, body?: BodyInit) {
  return world.backend.fetch(new Request(`http://backend.local${at}`, { method, headers, body }));
}

function as(person: Person) {
  return { apikey: world.publishableKey, authorization: `Bearer ${person.accessToken}` };
}

function headersOf(who: (typeof everybody)[number]): Record<string, string> {
  if (who === "a visitor") return { apikey: world.publishableKey };
  return as(who === "the owner" ? owner : stranger);
}

function text(content: string) {
  return new TextEncoder().encode(content);
}

/** Marks a document of the shipment as uploaded with this file. */
async function count(name: string, at: string): Promise<void> {
  const record = { sha256: "0".repeat(64), file_name: "x.pdf", file_size: 1, media_type: "application/pdf" };
  const { data, error } = await world.company
    .from("documents")
    .update({ uploaded: true, storage_path: at, ...record })
    .eq("shipment_id", shipmentId)
    .eq("name", name)
    .select("id");
  if (error) throw error;
  expect(data).toHaveLength(1);
}

async function newShipment(client: Person): Promise<string> {
  const { data, error } = await client.handle
    .from("shipments")
    .insert({ name: "Tea", user_id: client.id })
    .select("id")
    .single();
  if (error) throw error;
  return data.id;
}

/** What is stored at a place, as the company reads it; null when there is nothing. */
async function contentOf(at: string): Promise<string | null> {
  const { data } = await bucket(world.company).download(at);
  return data ? data.text() : null;
}

async function mediaTypeOf(at: string): Promise<string | undefined> {
  return (await bucket(world.company).download(at)).data?.type;
}

/** Every stored object past row-level security, without the time of its last reading. */
async function everyObject() {
  const { rows } = await world.backend.db.query("select bucket_id, name, version from storage.objects order by 1, 2");
  return rows;
}
