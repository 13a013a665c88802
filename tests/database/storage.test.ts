import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { objectPath } from "../../app/models/document.server.ts";
import { DEFAULT_DOCUMENTS, FILE_TYPES } from "../../app/models/document.ts";
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
  path = `${folder}/packing-list-tea.pdf`;
  const { error } = await put(owner.handle, path, original);
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

test("the owner gets back exactly what it stored, with its media type", async () => {
  const bytes = new Uint8Array(4096).map((_, index) => index % 251);
  const file = `${folder}/bill-of-lading-scan.png`;
  const stored = await bucket(owner.handle).upload(file, bytes, { contentType: "image/png" });
  expect(stored.error).toBeNull();
  const { data } = await bucket(owner.handle).download(file);
  expect(new Uint8Array((await data?.arrayBuffer()) ?? [])).toEqual(bytes);
  expect(data?.type).toBe("image/png");
});

test("the owner sees its own files in the list", async () => {
  const { rows } = await world.backend.db.query<{ name: string }>(
    "select name from storage.objects where name like $1",
    [`${folder}/%`],
  );
  expect(rows).toEqual([{ name: path }]);
  const { data } = await bucket(owner.handle).list(folder);
  expect(data).toHaveLength(1);
});

const outsiders = ["a visitor", "a stranger"] as const;
const outsider = (who: (typeof outsiders)[number]) => (who === "a visitor" ? visitor : stranger.handle);

for (const who of outsiders) {
  test(`${who} sees no file in any list`, async () => {
    for (const prefix of ["", owner.id, folder]) {
      const { data } = await bucket(outsider(who)).list(prefix);
      expect(data ?? []).toEqual([]);
    }
  });

  test(`${who} cannot read a file, nor learn that it is there`, async () => {
    for (const name of [path, `${folder}/packing-list-none.pdf`]) {
      const { data, error } = await bucket(outsider(who)).download(name);
      expect(data).toBeNull();
      expect(error).toMatchObject({ status: 400 });
      const info = await bucket(outsider(who)).info(name);
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
    const { data, error } = await bucket(outsider(who)).createSignedUrl(path, 60);
    expect(error).not.toBeNull();
    expect(data).toBeNull();
  });

  test(`${who} cannot store a file for the owner's document`, async () => {
    for (const upsert of [false, true]) {
      const name = `${folder}/bill-of-lading-${randomUUID()}.pdf`;
      const { error } = await put(outsider(who), name, "forged", upsert);
      expect(error).not.toBeNull();
      expect(await contentOf(name)).toBeNull();
    }
    const signed = await call(
      "POST",
      `/storage/v1/object/upload/sign/documents/${folder}/bill-of-lading-x.pdf`,
      headersOf(who),
    );
    expect(signed.ok).toBe(false);
  });

  test(`${who} cannot replace, change, move, copy or delete the owner's file`, async () => {
    const theirs = `${stranger.id}/${await newShipment(stranger)}/packing-list-stolen.pdf`;
    const files = bucket(outsider(who));
    await files.upload(path, text("forged"), { contentType: "application/pdf", upsert: true });
    await files.update(path, text("forged"), { contentType: "application/pdf" });
    await files.move(path, theirs);
    await files.copy(path, theirs);
    await files.remove([path]);
    expect(await contentOf(path)).toBe(original);
    expect(await contentOf(theirs)).toBeNull();
    expect(await mediaTypeOf(path)).toBe("application/pdf");
  });

  test(`${who} cannot open, change, empty or delete the bucket`, async () => {
    const { storage } = outsider(who);
    await storage.updateBucket("documents", { public: true });
    await storage.updateBucket("documents", { public: false, allowedMimeTypes: ["text/html"], fileSizeLimit: 1 });
    await storage.emptyBucket("documents");
    await storage.deleteBucket("documents");
    await storage.createBucket("open", { public: true });
    const { data } = await world.company.storage.listBuckets();
    expect(data).toEqual([expect.objectContaining({ id: "documents", public: false, file_size_limit: limit })]);
    expect(data?.[0]?.allowed_mime_types).toContain("application/pdf");
    expect(await contentOf(path)).toBe(original);
  });
}

test("not even a client whose bucket is empty can delete it", async () => {
  const empty = await memoryBackend();
  try {
    const client = await empty.newClient("only@client.example");
    for (const handle of [client.handle, empty.anonymous()]) {
      await handle.storage.deleteBucket("documents");
      await handle.storage.updateBucket("documents", { public: true });
    }
    const { data } = await empty.company.storage.listBuckets();
    expect(data).toEqual([expect.objectContaining({ id: "documents", public: false })]);
  } finally {
    await empty.close();
  }
});

test.each(DEFAULT_DOCUMENTS)("the owner can store a file for its %s where the app puts it", async (name) => {
  const at = objectPath({ user_id: owner.id, shipment_id: shipmentId, name }, "فاتورة (final).PDF");
  const { error } = await put(owner.handle, at, "%PDF-1.4");
  expect(error).toBeNull();
  expect(await contentOf(at)).toBe("%PDF-1.4");
});

const misplaced: [string, (places: { mine: string; folder: string; theirs: string }) => string][] = [
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
  ["one folder too deep, below a name that fits", ({ folder }) => `${folder}/bill-of-lading-x.pdf/y.pdf`],
  ["one folder too high", ({ mine }) => `${mine}/bill-of-lading-x.pdf`],
  ["at the top", () => "bill-of-lading-x.pdf"],
  ["under an unknown document's name", ({ folder }) => `${folder}/gold-certificate-x.pdf`],
  ["under a document's name alone", ({ folder }) => `${folder}/bill-of-lading`],
  ["under the beginning of a document's name", ({ folder }) => `${folder}/bill-x.pdf`],
  ["under no name", ({ folder }) => `${folder}/`],
  ["under a document's name in capitals", ({ folder }) => `${folder}/BILL-OF-LADING-x.pdf`],
  ["in its folder written in capitals", ({ folder }) => `${folder.toUpperCase()}/bill-of-lading-x.pdf`],
  ["behind an encoded way up", ({ folder }) => `${folder}/%2e%2e/bill-of-lading-x.pdf`],
  ["behind an encoded slash", ({ folder }) => `${folder}/bill-of-lading-x%2f..%2fy.pdf`],
  ["behind an empty folder", ({ folder }) => `${folder.replace("/", "//")}/bill-of-lading-x.pdf`],
];

test.each(misplaced)("a client cannot store a file %s", async (_where, place) => {
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

test("the owner may replace or take back a file until its document counts it", async () => {
  const replaced = await put(owner.handle, path, "%PDF-1.7 better", true);
  expect(replaced.error).toBeNull();
  expect(await contentOf(path)).toBe("%PDF-1.7 better");
  const removed = await bucket(owner.handle).remove([path]);
  expect(removed.data).toHaveLength(1);
  expect(await contentOf(path)).toBeNull();
});

test("a file is not replaced by one of the same name that does not ask to replace it", async () => {
  const { error } = await put(owner.handle, path, "%PDF-1.7 other", false);
  expect(error).toMatchObject({ statusCode: "409" });
  expect(await contentOf(path)).toBe(original);
});

test("a file that counts can still be read by its owner", async () => {
  await count("Packing List", path);
  const { data } = await bucket(owner.handle).download(path);
  expect(await data?.text()).toBe(original);
});

test("a file that counts cannot be replaced, moved or deleted by its owner", async () => {
  await count("Packing List", path);
  const files = bucket(owner.handle);
  const upserted = await put(owner.handle, path, "forged", true);
  expect(upserted.error).toMatchObject({ statusCode: "403" });
  const inserted = await put(owner.handle, path, "forged", false);
  expect(inserted.error).not.toBeNull();
  const updated = await files.update(path, text("forged"), { contentType: "application/pdf" });
  expect(updated.error).not.toBeNull();
  const moved = await files.move(path, `${folder}/bill-of-lading-tea.pdf`);
  expect(moved.error).not.toBeNull();
  const renamed = await files.move(path, `${folder}/packing-list-other.pdf`);
  expect(renamed.error).not.toBeNull();
  const removed = await files.remove([path]);
  expect(removed.data ?? []).toEqual([]);
  expect(await contentOf(path)).toBe(original);
});

test("a file that counts cannot be replaced by moving or copying another over it", async () => {
  const other = `${folder}/bill-of-lading-other.pdf`;
  await put(owner.handle, other, "forged");
  await count("Packing List", path);
  await bucket(owner.handle).move(other, path);
  await bucket(owner.handle).copy(other, path);
  const forced = await call(
    "POST",
    "/storage/v1/object/copy",
    { ...as(owner), "content-type": "application/json", "x-upsert": "true" },
    JSON.stringify({ bucketId: "documents", sourceKey: other, destinationKey: path }),
  );
  expect(forced.ok).toBe(false);
  expect(await contentOf(path)).toBe(original);
});

test("once a document has its file, no further one is stored for it", async () => {
  await count("Packing List", path);
  const second = `${folder}/packing-list-second.pdf`;
  const { error } = await put(owner.handle, second, "%PDF-1.7");
  expect(error).toMatchObject({ statusCode: "403" });
  expect(await contentOf(second)).toBeNull();
  const other = await put(owner.handle, `${folder}/bill-of-lading-x.pdf`, "%PDF-1.7");
  expect(other.error).toBeNull();
});

test("a file that counts stays when another document's name is the beginning of its document's", async () => {
  const added = await world.company
    .from("documents")
    .insert({ shipment_id: shipmentId, user_id: owner.id, name: "Packing List 2" });
  expect(added.error).toBeNull();
  const second = `${folder}/packing-list-2-tea.pdf`;
  await put(owner.handle, second, original);
  await count("Packing List 2", second);

  const replaced = await put(owner.handle, second, "forged", true);
  expect(replaced.error).not.toBeNull();
  await bucket(owner.handle).remove([second]);
  expect(await contentOf(second)).toBe(original);
});

test("whatever its owner tries, every document that counts a file has it, unchanged", async () => {
  await count("Packing List", path);
  const borrowed = `${folder}/bill-of-lading-tea.pdf`;
  await put(owner.handle, borrowed, original);
  await owner.handle
    .from("documents")
    .update({ uploaded: true, storage_path: borrowed })
    .eq("shipment_id", shipmentId)
    .eq("name", "Insurance Certificate");
  for (const file of [path, borrowed]) {
    await put(owner.handle, file, "forged", true);
    await bucket(owner.handle).remove([file]);
  }
  const { data } = await owner.handle
    .from("documents")
    .select("storage_path")
    .eq("shipment_id", shipmentId)
    .eq("uploaded", true);
  expect(data).toContainEqual({ storage_path: path });
  for (const document of data ?? []) expect(await contentOf(document.storage_path ?? "")).toBe(original);
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

test.each(Object.values(FILE_TYPES))("the bucket takes a file of type %s", async (type) => {
  const { error } = await bucket(owner.handle).upload(`${folder}/bill-of-lading-${randomUUID()}`, text("x"), {
    contentType: type,
  });
  expect(error).toBeNull();
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
    const { error } = await bucket(owner.handle).upload(name, text("<script>"), { contentType, upsert });
    expect(error).not.toBeNull();
  }
  expect(await contentOf(name)).toBeNull();
});

test("a file that was stored with a good type cannot be replaced by one of another", async () => {
  const { error } = await bucket(owner.handle).update(path, text("<script>"), { contentType: "text/html" });
  expect(error).not.toBeNull();
  expect(await contentOf(path)).toBe(original);
  expect(await mediaTypeOf(path)).toBe("application/pdf");
});

function bucket(handle: Handle) {
  return handle.storage.from("documents");
}

function put(handle: Handle, at: string, content: string, upsert = false) {
  return bucket(handle).upload(at, text(content), { contentType: "application/pdf", upsert });
}

/** A plain upload by the owner, with or without the length in its header, as chunked requests have none. */
function raw(at: string, body: Uint8Array<ArrayBuffer>, announced: boolean) {
  const headers = { ...as(owner), "content-type": "application/pdf" };
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

function headersOf(who: (typeof outsiders)[number]): Record<string, string> {
  return who === "a visitor" ? { apikey: world.publishableKey } : as(stranger);
}

function text(content: string) {
  return new TextEncoder().encode(content);
}

/** Marks a document of the shipment as uploaded with this file. */
async function count(name: string, at: string): Promise<void> {
  const { data, error } = await owner.handle
    .from("documents")
    .update({ uploaded: true, storage_path: at })
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
