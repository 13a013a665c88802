import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  deleteBeyondRetention,
  eraseAccount,
  extendShipmentRetention,
  listBeyondRetention,
} from "../../app/models/retention.server.ts";
import { countRowsRead } from "../support/database.ts";
import { startTestBackend } from "../support/test-backend.ts";

type TestClient = Awaited<ReturnType<typeof testBackend.newClient>>;

let testBackend: Awaited<ReturnType<typeof startTestBackend>>;
let clientCount = 0;
beforeAll(async () => {
  testBackend = await startTestBackend();
});
afterAll(() => testBackend.close());

const dateInYears = (years: number) => {
  const day = new Date();
  day.setUTCFullYear(day.getUTCFullYear() + years);
  return day.toISOString().slice(0, 10);
};
const newTestClient = () => testBackend.newClient(`person-${++clientCount}@client.example`);

/** A shipment with a packing list that counts and a file that does not, kept until some day. */
async function newShipment(client: TestClient, until?: string) {
  const made = await client.supabase
    .from("shipments")
    .insert({ name: "Tea", user_id: client.id })
    .select("id")
    .single();
  if (made.error) throw made.error;
  const { id } = made.data;
  const names = ["packing-list-0123456789ab-x.pdf", "bill-of-lading-0123456789ab-half.pdf"];
  const files = names.map((name) => `${client.id}/${id}/${name}`);
  for (const file of files) {
    const { error } = await testBackend.serviceRole.storage
      .from("documents")
      .upload(file, new TextEncoder().encode("%PDF-1.7"), { contentType: "application/pdf" });
    if (error) throw error;
  }
  const record = { sha256: "0".repeat(64), file_name: "x.pdf", file_size: 8, media_type: "application/pdf" };
  const { error } = await testBackend.serviceRole
    .from("documents")
    .update({ uploaded: true, storage_path: files[0], ...record })
    .eq("shipment_id", id)
    .eq("name", "Packing List");
  if (error) throw error;
  if (until)
    await testBackend.backend.db.query("update public.shipments set retention_ends_on = $1 where id = $2", [until, id]);
  return { id, files };
}

/** Moves the creation and the last use of an account this many years into the past. */
const setLastSeen = (client: TestClient, years: number) =>
  testBackend.backend.db.query(
    `with seen as (select now() - make_interval(years => $2) as at),
       person as (update auth.users set created_at = seen.at, last_sign_in_at = seen.at from seen where id = $1)
     update auth.sessions set updated_at = seen.at from seen where user_id = $1`,
    [client.id, years],
  );

const getRetentionEnd = async (id: string) =>
  (await testBackend.serviceRole.from("shipments").select("retention_ends_on").eq("id", id)).data?.[0]
    ?.retention_ends_on;

/** What there is of a shipment: rows, and which of its files the store hands out. */
async function countRemaining({ id, files }: { id: string; files: string[] }) {
  const { data } = await testBackend.serviceRole.from("shipments").select("id").eq("id", id);
  const documents = await testBackend.serviceRole
    .from("documents")
    .select("uploaded, storage_path")
    .eq("shipment_id", id);
  const there = await Promise.all(
    files.map((file) => testBackend.serviceRole.storage.from("documents").download(file)),
  );
  return {
    shipments: data?.length,
    documents: documents.data?.length,
    files: there.filter(({ data }) => data).length,
  };
}
const everythingRemaining = { shipments: 1, documents: 4, files: 2 };
const nothingRemaining = { shipments: 0, documents: 0, files: 0 };

/** Deletes what is past its time. Returns what was reported as deleted. */
async function runRetention(company = testBackend.serviceRole) {
  const told: object[] = [];
  await deleteBeyondRetention(company, (fields) => told.push(fields));
  return told;
}

/** Erases an account as the command does. Returns the refusal, or null. */
const eraseClient = (client: TestClient, company = testBackend.serviceRole) =>
  eraseAccount(testBackend.serviceRole, company, client.id, "They asked", "Wanjiru");

test("a shipment is kept for seven years from the last step it made, and never shorter than staff said", async () => {
  const client = await newTestClient();
  const { id } = await newShipment(client);
  expect(await getRetentionEnd(id)).toBe(dateInYears(7));
  await testBackend.backend.db.query("update public.shipments set retention_ends_on = '2020-01-01' where id = $1", [
    id,
  ]);
  await testBackend.serviceRole.from("shipments").update({ awb: "MEDUX1" }).eq("id", id);
  expect(await getRetentionEnd(id)).toBe("2020-01-01");
  await testBackend.serviceRole.rpc("move_shipment", { shipment_id: id, despite_missing: true });
  expect(await getRetentionEnd(id)).toBe(dateInYears(7));
  expect(await extendShipmentRetention(testBackend.serviceRole, id, dateInYears(20))).toEqual({
    result: dateInYears(7),
  });
  await testBackend.serviceRole.rpc("move_shipment", { shipment_id: id, despite_missing: true });
  expect(await getRetentionEnd(id)).toBe(dateInYears(20));
  expect(await extendShipmentRetention(testBackend.serviceRole, id, dateInYears(8))).toMatchObject({ status: 409 });
  expect(await getRetentionEnd(id)).toBe(dateInYears(20));
});

test("clients neither say how long a shipment is kept nor ask what is past its time", async () => {
  const client = await newTestClient();
  const early = { name: "Early", user_id: client.id, retention_ends_on: "2020-01-01" };
  expect((await (client.supabase as SupabaseClient).from("shipments").insert(early)).error?.code).toBe("42501");
  const { id } = await newShipment(client);
  expect(
    (await client.supabase.from("shipments").update({ retention_ends_on: "2020-01-01" }).eq("id", id)).error?.code,
  ).toBe("42501");
  expect(await getRetentionEnd(id)).toBe(dateInYears(7));
  for (const supabase of [client.supabase, testBackend.anonymous()]) {
    expect((await supabase.rpc("beyond_retention")).error?.code).toBe("42501");
  }
});

test("what is past its time is listed with all its files, and looking changes nothing", async () => {
  const client = await newTestClient();
  const past = await newShipment(client, dateInYears(-1));
  const today = await newShipment(client, dateInYears(0));
  const found = await listBeyondRetention(testBackend.serviceRole);
  expect(found.shipments).toEqual([
    { id: past.id, name: "Tea", retention_ends_on: dateInYears(-1), files: [...past.files].sort() },
  ]);
  expect(found.files).toEqual([]);
  expect(await countRemaining(past)).toEqual(everythingRemaining);
  expect(await countRemaining(today)).toEqual(everythingRemaining);
  await runRetention();
});

test("deleting takes shipments past their time with documents, events and files, and nothing else; again, it finds none", async () => {
  const client = await newTestClient();
  const past = [await newShipment(client, dateInYears(-1)), await newShipment(client, dateInYears(-3))];
  const kept = await newShipment(client);
  expect(await runRetention()).toEqual(
    expect.arrayContaining([{ shipment_id: past[0]?.id }, { shipment_id: past[1]?.id }, { files: 4 }]),
  );
  for (const one of past) expect(await countRemaining(one)).toEqual(nothingRemaining);
  expect(await countRemaining(kept)).toEqual(everythingRemaining);
  expect(await listBeyondRetention(testBackend.serviceRole)).toEqual({
    shipments: [],
    files: [],
    parts: [],
    accounts: [],
  });
  expect(await runRetention()).toEqual([]);
  expect((await client.supabase.from("shipments").select("id")).data).toEqual([{ id: kept.id }]);
});

test("wherever deleting is cut off, no document counts a file that is gone, and the next run finishes", async () => {
  const client = await newTestClient();
  for (let answered = 0; ; answered += 1) {
    const past = [await newShipment(client, dateInYears(-1)), await newShipment(client, dateInYears(-1))];
    let calls = 0;
    const breaking = testBackend.serviceRoleThrough(async (request, next) => {
      if (request.method === "GET" || /\/(beyond_retention|list_upload_chunks)$/.test(request.url))
        return next(request);
      calls += 1;
      if (calls > answered + 1) throw new TypeError("the line broke before");
      const result = await next(request);
      if (calls === answered + 1) throw new TypeError("the line broke after");
      return result;
    });
    const cut = await runRetention(breaking).catch(() => null);
    const counted = await testBackend.serviceRole.from("documents").select("storage_path").eq("uploaded", true);
    for (const { storage_path } of counted.data ?? []) {
      const file = await testBackend.serviceRole.storage.from("documents").download(storage_path ?? "");
      expect(file.error, `after ${answered} calls`).toBeNull();
    }
    await runRetention();
    for (const one of past) expect(await countRemaining(one), `after ${answered} calls`).toEqual(nothingRemaining);
    if (cut) break;
    expect(answered).toBeLessThan(10);
  }
});

test("a file that no document counts goes after a day, and not while an upload may be under way", async () => {
  const shipments = [await newShipment(await newTestClient()), await newShipment(await newTestClient())];
  const [young, old] = shipments.map(({ files }) => files[1] ?? "");
  const day = "update storage.objects set created_at = now() - interval '25 hours' where name = any($1)";
  await testBackend.backend.db.query(day, [[old, ...shipments.map(({ files }) => files[0])]]);
  expect((await listBeyondRetention(testBackend.serviceRole)).files).toEqual([old]);
  expect(await runRetention()).toEqual([{ files: 1 }]);
  const there = async (file = "") =>
    (await testBackend.serviceRole.storage.from("documents").download(file)).data !== null;
  expect([await there(old), await there(young)]).toEqual([false, true]);
  for (const { files } of shipments) expect(await there(files[0])).toBe(true);
});

/** Stores parts of a file on its way, an account's. */
async function storeChunks({ id }: TestClient, file: string, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, index) => `${id}/${file}/${index * 4}-4`);
  for (const name of names) {
    const { error } = await testBackend.serviceRole.storage
      .from("upload-chunks")
      .upload(name, new TextEncoder().encode("part"), { contentType: "application/octet-stream" });
    if (error) throw error;
  }
  return names;
}
const listChunks = async (account: string) =>
  ((await testBackend.serviceRole.rpc("list_upload_chunks", { account_id: account })).data as { name: string }[])
    .map(({ name }) => name)
    .sort();

test("parts of a file that did not arrive go after a day, and those of today stay", async () => {
  const client = await newTestClient();
  const old = await storeChunks(client, "old", 130);
  const young = await storeChunks(client, "young", 2);
  const day = "update storage.objects set created_at = now() - interval '25 hours' where name = any($1)";
  await testBackend.backend.db.query(day, [old]);
  expect((await listBeyondRetention(testBackend.serviceRole)).parts.sort()).toEqual([...old].sort());
  expect(await runRetention()).toEqual([{ parts: 130 }]);
  expect(await listChunks(client.id)).toEqual(young);
  expect(await runRetention()).toEqual([]);
});

test("the parts of one account are found by their names, however many others have", async () => {
  const [client, other] = [await newTestClient(), await newTestClient()];
  const own = await storeChunks(client, "own", 3);
  const { db } = testBackend.backend;
  await db.query(
    `insert into storage.objects (bucket_id, name)
     select 'upload-chunks', $1 || '/' || gen_random_uuid() || '/0-4' from generate_series(1, 3000)`,
    [other.id],
  );
  await db.exec("analyze storage.objects");
  const read = await countRowsRead(db, "storage.objects", "public.list_upload_chunks(given.value::uuid)", client.id);
  expect(read).toBeGreaterThanOrEqual(own.length);
  expect(read).toBeLessThan(100);
  expect(await listChunks(client.id)).toEqual(own);
  await db.query("delete from storage.objects where name like $1 || '/%'", [other.id]);
});

test("erasing an account takes what came of its files with it, after an interruption too, and nobody else's", async () => {
  const [client, other] = [await newTestClient(), await newTestClient()];
  await storeChunks(client, "file", 3);
  const theirs = await storeChunks(other, "file", 1);
  const breaking = testBackend.serviceRoleThrough(async (request, next) => {
    if (request.url.includes("/object/upload-chunks")) throw new TypeError("the line broke");
    return next(request);
  });
  expect(await eraseClient(client, breaking)).toMatchObject({ status: 503 });
  expect(await eraseClient(client)).toBeNull();
  expect(await listChunks(client.id)).toEqual([]);
  expect(await listChunks(other.id)).toEqual(theirs);
});

test("a file that somebody else put into the bucket is not the portal's to delete", async () => {
  const { storage } = testBackend.serviceRole;
  await storage.from("documents").upload("forms/power-of-attorney.pdf", "%PDF-1.7", { contentType: "application/pdf" });
  await runRetention();
  expect((await storage.from("documents").download("forms/power-of-attorney.pdf")).error).toBeNull();
});

test("an account that nobody used for seven years and that has no shipment goes, with its client ID and all that auth knows", async () => {
  const unused = await newTestClient();
  const used = await newTestClient();
  const shipper = await newTestClient();
  const kept = await newShipment(shipper);
  await setLastSeen(unused, 8);
  await setLastSeen(shipper, 8);
  await setLastSeen(used, 6);
  const found = await listBeyondRetention(testBackend.serviceRole);
  expect(found.accounts.map(({ email }) => email)).toEqual([unused.email]);
  expect(await runRetention()).toEqual([{ account_id: unused.id }]);

  const { rows } = await testBackend.backend.db.query(
    `select 'user' from auth.users where id = $1
     union all select 'client ID' from public.client_ids where account_id = $1
     union all select 'identity' from auth.identities where user_id = $1
     union all select 'session' from auth.sessions where user_id = $1
     union all select 'token' from auth.refresh_tokens where user_id::text = $1::text
     union all select 'log' from auth.audit_log_entries where payload::text like '%' || $1::text || '%'`,
    [unused.id],
  );
  expect(rows).toEqual([]);
  const door = testBackend.anonymous().auth;
  expect((await door.signInWithPassword({ email: unused.email, password: "a good password" })).error).not.toBeNull();
  for (const { email } of [used, shipper]) {
    expect((await door.signInWithPassword({ email, password: "a good password" })).error).toBeNull();
  }
  expect(await countRemaining(kept)).toEqual(everythingRemaining);
});

test("an account whose shipments have to be kept is not erased, and the words say until when", async () => {
  const client = await newTestClient();
  const past = await newShipment(client, dateInYears(-1));
  const kept = await newShipment(client);
  expect(await eraseClient(client)).toEqual({
    reason: `This account has shipments that have to be kept, the last until ${dateInYears(7)}: nothing was deleted.`,
    status: 409,
  });
  expect(await countRemaining(past)).toEqual(everythingRemaining);
  expect(await countRemaining(kept)).toEqual(everythingRemaining);
});

test("erasing an account deletes it with the data that need not be kept, and nobody else's", async () => {
  const client = await newTestClient();
  const stranger = await newTestClient();
  const past = await newShipment(client, dateInYears(-1));
  const theirs = await newShipment(stranger, dateInYears(-1));
  // A client ID sent with the e-mail of an existing account makes no account, and is spent with a hash of the e-mail.
  const issued = (await testBackend.serviceRole.rpc("issue_client_ids", {})).data?.[0]?.client_id ?? "";
  await testBackend.serviceRole.rpc("redeem_client_id", { client_id: issued, email: client.email });
  const marked = () => testBackend.serviceRole.from("client_ids").select("email_hash").eq("client_id", issued).single();
  expect((await marked()).data?.email_hash).toMatch(/^[0-9a-f]{64}$/);
  expect(await eraseClient(client)).toBeNull();
  expect((await marked()).data?.email_hash).toBe("");
  for (const email of [client.email, "new@client.example"]) {
    expect((await testBackend.serviceRole.rpc("admit_sign_up", { client_id: issued, email })).data).toBe(false);
  }
  expect(await countRemaining(past)).toEqual(nothingRemaining);
  expect(await countRemaining(theirs)).toEqual(everythingRemaining);
  expect(await eraseClient(client)).toEqual({ reason: "There is no such client.", status: 404 });
  expect((await client.supabase.auth.getUser()).data.user).toBeNull();
});

test("erasing an account deletes all of its shipments, however few of them one answer lists", async () => {
  const client = await newTestClient();
  const { db } = testBackend.backend;
  await db.query("insert into public.shipments (user_id, name) select $1, 'Past' from generate_series(1, 5)", [
    client.id,
  ]);
  await db.query("update public.shipments set retention_ends_on = '2020-01-01' where user_id = $1", [client.id]);
  const short = testBackend.serviceRoleThrough(async (request, next) => {
    const url = new URL(request.url);
    if (request.method !== "GET" || !url.pathname.endsWith("/shipments")) return next(request);
    url.searchParams.set("limit", "2");
    return next(new Request(url, request));
  });
  expect(await eraseClient(client, short)).toBeNull();
  const left = await testBackend.serviceRole.from("shipments").select("id").eq("user_id", client.id);
  expect(left.data).toEqual([]);
});

test("what auth's log tells of somebody goes with the account, after an interruption too, and of nobody else", async () => {
  const client = await newTestClient();
  const other = await newTestClient();
  const told = async (id: string) => {
    const { rows } = await testBackend.backend.db.query<{ action: string }>(
      "select payload ->> 'action' as action from auth.audit_log_entries where payload::text like '%' || $1 || '%'",
      [id],
    );
    return rows.map(({ action }) => action);
  };
  const write = (payload: object) =>
    testBackend.backend.db.query("insert into auth.audit_log_entries (id, payload) values (gen_random_uuid(), $1)", [
      payload,
    ]);
  for (const { id, email } of [client, other]) await write({ action: "login", actor_id: id, actor_username: email });
  await write({ action: "login", actor_id: "no id", actor_username: "nobody" });
  const breaking = testBackend.serviceRoleThrough(async (request, next) => {
    if (request.url.includes("delete_orphaned_auth_log")) throw new TypeError("the line broke");
    return next(request);
  });
  expect(await eraseClient(client, breaking)).toMatchObject({ status: 503 });
  expect(await told(client.id)).toEqual(expect.arrayContaining(["login", "user_deleted"]));
  await deleteBeyondRetention(testBackend.serviceRole, () => undefined);
  expect(await told(client.id)).toEqual([]);
  expect(await told(other.id)).toContain("login");
  expect(await told("no id")).toEqual(["login"]);
});

test("erasing an account that was cut off is finished by erasing it again", async () => {
  const client = await newTestClient();
  const breaking = testBackend.serviceRoleThrough(async (request, next) => {
    if (request.url.includes("/admin/users/")) throw new TypeError("the line broke");
    return next(request);
  });
  expect(await eraseClient(client, breaking)).toEqual({
    reason:
      "Not everything is erased yet. Our records do not answer at the moment. Try again in a minute. " +
      "The account is closed: erase it again.",
    status: 503,
  });
  expect((await testBackend.serviceRole.rpc("find_account_id", { email: client.email })).data).toBe(client.id);
  expect(await eraseClient(client)).toBeNull();
  expect((await testBackend.serviceRole.rpc("find_account_id", { email: client.email })).data).toBeNull();
});

test("only the company deletes accounts", async () => {
  const client = await newTestClient();
  for (const supabase of [testBackend.anonymous(), client.supabase]) {
    expect((await supabase.auth.admin.deleteUser(client.id)).error).not.toBeNull();
  }
  expect((await client.supabase.auth.getUser()).data.user?.id).toBe(client.id);
});
