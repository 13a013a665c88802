import { randomUUID } from "node:crypto";
import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { documentSlug } from "../../app/models/document.server.ts";
import { DEFAULT_DOCUMENTS, FILE_TYPES } from "../../app/models/document.ts";
import { memoryBackend } from "../support/memory-backend.ts";

type Person = Awaited<ReturnType<typeof world.newClient>>;
type Document = { id: string; name: string; uploaded: boolean; verified: boolean; storage_path: string | null };

let world: Awaited<ReturnType<typeof memoryBackend>>;
let owner: Person;
let stranger: Person;
/** A fresh shipment of the owner's for each test, and the folder of its files. */
let shipmentId: string;
let folder: string;

/** Handles that know nothing of our tables: any column and value can be sent. */
const raw = (handle: Person["handle"]) => handle as SupabaseClient;

beforeAll(async () => {
  world = await memoryBackend();
  owner = await world.newClient("owner@client.example");
  stranger = await world.newClient("stranger@client.example");
});
afterAll(() => world.close());
beforeEach(async () => {
  shipmentId = await newShipment(owner);
  folder = `${owner.id}/${shipmentId}`;
});

test("a new shipment has the documents that the app lists", async () => {
  const names = (await documents()).map(({ name }) => name);
  expect(names.sort()).toEqual([...DEFAULT_DOCUMENTS].sort());
});

test("the bucket takes the media types that the app takes", async () => {
  const [bucket] = await query<{ allowed_mime_types: string[] }>(
    "select * from storage.buckets where id = 'documents'",
  );
  expect(new Set(bucket?.allowed_mime_types)).toEqual(new Set(Object.values(FILE_TYPES)));
});

test.each([
  ...DEFAULT_DOCUMENTS,
  "Form C-17B",
  "IDF & Permit (2026)",
  "  Packing   List  ",
  "--A--",
  "a_b.c/d\\e",
  "Ärztliches Attest",
  "فاتورة تجارية",
  "发票 2",
  "T1",
  "line\nbreak\ttab",
  "🚢",
])("the app and the database write the document %j the same way in a file's name", async (name) => {
  const [row] = await query<{ slug: string }>("select private.document_slug($1) as slug", [name]);
  expect(row?.slug).toBe(documentSlug(name));
});

test.each([
  { name: "id", value: "00000000-0000-4000-8000-000000000001" },
  { name: "shipment_id", value: "00000000-0000-4000-8000-000000000001" },
  { name: "user_id", value: "00000000-0000-4000-8000-000000000001" },
  { name: "name", value: "Gold Certificate" },
  { name: "verified", value: true },
])("a client cannot change $name of its document", async ({ name, value }) => {
  const before = await documents();
  const { error } = await raw(owner.handle)
    .from("documents")
    .update({ [name]: value })
    .eq("shipment_id", shipmentId);
  expect(error?.code).toBe("42501");
  expect(await documents()).toEqual(before);
});

test("a client cannot verify a document together with marking it uploaded", async () => {
  const path = await store(owner, `${folder}/packing-list-x.pdf`);
  const { error } = await raw(owner.handle)
    .from("documents")
    .update({ uploaded: true, storage_path: path, verified: true })
    .eq("shipment_id", shipmentId)
    .eq("name", "Packing List");
  expect(error?.code).toBe("42501");
  expect(await document("Packing List")).toMatchObject({ uploaded: false, verified: false });
});

test("a document with its file in the bucket can be marked uploaded, by its owner", async () => {
  const path = await store(owner, `${folder}/packing-list-x.pdf`);
  const { data, error } = await mark(owner, "Packing List", { uploaded: true, storage_path: path });
  expect(error).toBeNull();
  expect(data).toHaveLength(1);
  expect(await document("Packing List")).toMatchObject({ uploaded: true, storage_path: path, verified: false });
  const others = (await documents()).filter(({ name }) => name !== "Packing List");
  expect(others.map(({ uploaded }) => uploaded)).toEqual([false, false, false]);
});

test("a stranger cannot mark a document uploaded whose file is in the bucket", async () => {
  const path = await store(owner, `${folder}/packing-list-x.pdf`);
  const { data } = await mark(stranger, "Packing List", { uploaded: true, storage_path: path });
  expect(data).toEqual([]);
  expect(await document("Packing List")).toMatchObject({ uploaded: false, storage_path: null });
});

test("a document cannot be marked uploaded without a file in the bucket", async () => {
  for (const change of [
    { uploaded: true },
    { uploaded: true, storage_path: null },
    { uploaded: true, storage_path: "" },
    { uploaded: true, storage_path: `${folder}/packing-list-x.pdf` },
    { storage_path: `${folder}/packing-list-x.pdf` },
  ]) {
    const { error } = await mark(owner, "Packing List", change);
    expect(error).not.toBeNull();
    expect(await document("Packing List")).toMatchObject({ uploaded: false, storage_path: null });
  }
});

test("a document cannot be marked uploaded once its file was taken back", async () => {
  const path = await store(owner, `${folder}/packing-list-x.pdf`);
  await owner.handle.storage.from("documents").remove([path]);
  const { error } = await mark(owner, "Packing List", { uploaded: true, storage_path: path });
  expect(error?.code).toBe("PT409");
  expect(await document("Packing List")).toMatchObject({ uploaded: false, storage_path: null });
});

test("a document cannot be marked uploaded with a stranger's file", async () => {
  const theirs = await newShipment(stranger);
  const path = await store(stranger, `${stranger.id}/${theirs}/packing-list-x.pdf`);
  const { error } = await mark(owner, "Packing List", { uploaded: true, storage_path: path });
  expect(error?.code).toBe("PT409");
  expect(await document("Packing List")).toMatchObject({ uploaded: false, storage_path: null });
});

test("a document cannot be marked uploaded with the file of another shipment", async () => {
  const other = await newShipment(owner);
  const path = await store(owner, `${owner.id}/${other}/packing-list-x.pdf`);
  const { error } = await mark(owner, "Packing List", { uploaded: true, storage_path: path });
  expect(error?.code).toBe("PT409");
  expect(await document("Packing List")).toMatchObject({ uploaded: false, storage_path: null });
});

test("a document cannot be marked uploaded with the file of another document of the shipment", async () => {
  const path = await store(owner, `${folder}/bill-of-lading-x.pdf`);
  const { error } = await mark(owner, "Packing List", { uploaded: true, storage_path: path });
  expect(error?.code).toBe("PT409");
  expect(await document("Packing List")).toMatchObject({ uploaded: false, storage_path: null });
});

test("a document that is uploaded stays so and keeps its path, whatever its owner sends", async () => {
  const path = await store(owner, `${folder}/packing-list-x.pdf`);
  const second = await store(owner, `${folder}/packing-list-y.pdf`);
  await mark(owner, "Packing List", { uploaded: true, storage_path: path });
  for (const change of [
    { uploaded: false, storage_path: null },
    { uploaded: false },
    { storage_path: null },
    { storage_path: second },
    { uploaded: true, storage_path: second },
  ]) {
    const { error } = await mark(owner, "Packing List", change);
    expect(error).not.toBeNull();
    expect(await document("Packing List")).toMatchObject({ uploaded: true, storage_path: path });
  }
});

test("marking a document a second time with the same file changes nothing", async () => {
  const path = await store(owner, `${folder}/packing-list-x.pdf`);
  await mark(owner, "Packing List", { uploaded: true, storage_path: path });
  const before = await documents();
  await mark(owner, "Packing List", { uploaded: true, storage_path: path });
  expect(await documents()).toEqual(before);
});

test("staff can verify an uploaded document and no other", async () => {
  const awaited = await world.company
    .from("documents")
    .update({ verified: true })
    .eq("shipment_id", shipmentId)
    .eq("name", "Packing List");
  expect(awaited.error).not.toBeNull();
  expect(await document("Packing List")).toMatchObject({ verified: false });

  const path = await store(owner, `${folder}/packing-list-x.pdf`);
  await mark(owner, "Packing List", { uploaded: true, storage_path: path });
  const uploaded = await world.company
    .from("documents")
    .update({ verified: true })
    .eq("shipment_id", shipmentId)
    .eq("name", "Packing List");
  expect(uploaded.error).toBeNull();
  expect(await document("Packing List")).toMatchObject({ uploaded: true, verified: true });
});

test("a shipment cannot have two documents of one name", async () => {
  const { error } = await world.company
    .from("documents")
    .insert({ shipment_id: shipmentId, user_id: owner.id, name: "Packing List" });
  expect(error?.code).toBe("23505");
});

test("a shipment without documents is not made: when they cannot be added, there is no shipment", async () => {
  await world.backend.db.exec(`
    create function public.refuse_document() returns trigger language plpgsql as
      $$ begin if new.name = 'Bill of Lading' then raise exception 'no'; end if; return new; end $$;
    create trigger refuse_document before insert on public.documents
      for each row execute function public.refuse_document();
  `);
  try {
    const requestId = randomUUID();
    const { error } = await owner.handle
      .from("shipments")
      .insert({ name: "Half", user_id: owner.id, request_id: requestId });
    expect(error).not.toBeNull();
    expect(await query("select 1 from public.shipments where request_id = $1", [requestId])).toEqual([]);
    expect(
      await query("select 1 from public.documents where shipment_id not in (select id from public.shipments)"),
    ).toEqual([]);
  } finally {
    await world.backend.db.exec(
      "drop trigger refuse_document on public.documents; drop function public.refuse_document",
    );
  }
});

async function newShipment(client: Person): Promise<string> {
  const { data, error } = await client.handle
    .from("shipments")
    .insert({ name: "Tea", user_id: client.id })
    .select("id")
    .single();
  if (error) throw error;
  return data.id;
}

/** Puts a file into the bucket as a client and returns its path. */
async function store(client: Person, path: string): Promise<string> {
  const { error } = await client.handle.storage
    .from("documents")
    .upload(path, new TextEncoder().encode("%PDF-1.7"), { contentType: "application/pdf" });
  if (error) throw error;
  return path;
}

function mark(client: Person, name: string, change: { uploaded?: boolean; storage_path?: string | null }) {
  return client.handle.from("documents").update(change).eq("shipment_id", shipmentId).eq("name", name).select("id");
}

async function query<T>(text: string, values: unknown[] = []): Promise<T[]> {
  return (await world.backend.db.query<T>(text, values)).rows;
}

function documents() {
  return query<Document>("select * from public.documents where shipment_id = $1 order by name", [shipmentId]);
}

async function document(name: string) {
  return (await documents()).find((one) => one.name === name);
}
