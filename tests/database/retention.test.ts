import { expect, test } from "vitest";
import { deleteBeyondRetention, eraseAccount, listBeyondRetention } from "../../app/models/retention.server.ts";
import { countRowsRead } from "../support/database.ts";
import { fileColumns, setUpTestBackend, type TestClient } from "../support/database-suite.ts";
import { extendShipmentRetention } from "../support/staff-actions.ts";

const { testBackend, query, newShipment: createShipment } = setUpTestBackend();
let clientCount = 0;

const dateInYears = (years: number) => {
  const day = new Date();
  day.setUTCFullYear(day.getUTCFullYear() + years);
  return day.toISOString().slice(0, 10);
};
const newTestClient = () => testBackend.newClient(`person-${++clientCount}@client.example`);

/**
 * Returns a shipment with a packing list's file and a file without a document. `until` is the last day of retention.
 */
async function newShipment(client: TestClient, until?: string) {
  const id = await createShipment(client);
  const names = ["packing-list-0123456789ab-x.pdf", "bill-of-lading-0123456789ab-half.pdf"];
  const files = names.map((name) => `${client.id}/${id}/${name}`);
  for (const file of files) {
    const { error } = await testBackend.serviceRole.storage
      .from("documents")
      .upload(file, new TextEncoder().encode("%PDF-1.7"), { contentType: "application/pdf" });
    if (error) throw error;
  }
  const { error } = await testBackend.serviceRole
    .from("documents")
    .update({ uploaded: true, storage_path: files[0], ...fileColumns })
    .eq("shipment_id", id)
    .eq("name", "Packing List");
  if (error) throw error;
  if (until) await query("update public.shipments set retention_ends_on = $1 where id = $2", [until, id]);
  return { id, files };
}

/** Makes stored files 25 hours old. */
const ageFiles = (names: string[]) =>
  query("update storage.objects set created_at = now() - interval '25 hours' where name = any($1)", [names]);

/** Sets the creation and the last use of an account to `years` ago. */
const setLastSeen = (client: TestClient, years: number) =>
  query(
    `with seen as (select now() - make_interval(years => $2) as at),
       person as (update auth.users set created_at = seen.at, last_sign_in_at = seen.at from seen where id = $1)
     update auth.sessions set updated_at = seen.at from seen where user_id = $1`,
    [client.id, years],
  );

const getRetentionEnd = async (id: string) =>
  (await testBackend.serviceRole.from("shipments").select("retention_ends_on").eq("id", id)).data?.[0]
    ?.retention_ends_on;

/** Returns the number of rows and readable files of a shipment. */
async function countRemaining({ id, files }: { id: string; files: string[] }) {
  const { data } = await testBackend.serviceRole.from("shipments").select("id").eq("id", id);
  const documents = await testBackend.serviceRole.from("documents").select("id").eq("shipment_id", id);
  const downloads = await Promise.all(
    files.map((file) => testBackend.serviceRole.storage.from("documents").download(file)),
  );
  return {
    shipments: data?.length,
    documents: documents.data?.length,
    files: downloads.filter(({ data }) => data).length,
  };
}
const everythingRemaining = { shipments: 1, documents: 4, files: 2 };
const nothingRemaining = { shipments: 0, documents: 0, files: 0 };

async function runRetention(company = testBackend.serviceRole) {
  const reports: object[] = [];
  await deleteBeyondRetention(company, (fields) => reports.push(fields));
  return reports;
}

/** Returns a service-role client whose requests fail if their URL contains `part`. */
const breakRequests = (part: string) =>
  testBackend.serviceRoleThrough(async (request, next) => {
    if (request.url.includes(part)) throw new TypeError("the connection broke");
    return next(request);
  });

/** Erases an account as the staff command does. Returns the email address or the error. */
const eraseClient = (client: TestClient, company = testBackend.serviceRole) =>
  eraseAccount(testBackend.serviceRole, company, client.id, "They asked", "Wanjiru");

test("A shipment is stored for seven years after its last move, and at least until the day that staff have set.", async () => {
  const client = await newTestClient();
  const { id } = await newShipment(client);
  expect(await getRetentionEnd(id)).toBe(dateInYears(7));
  await query("update public.shipments set retention_ends_on = '2020-01-01' where id = $1", [id]);
  await testBackend.serviceRole.from("shipments").update({ awb: "MEDUX1" }).eq("id", id);
  expect(await getRetentionEnd(id)).toBe("2020-01-01");
  await testBackend.serviceRole.rpc("move_shipment", { shipment_id: id, despite_missing: true });
  expect(await getRetentionEnd(id)).toBe(dateInYears(7));
  const extended = await extendShipmentRetention(testBackend.serviceRole, id, dateInYears(20));
  expect(extended).toEqual({ result: dateInYears(7) });
  await testBackend.serviceRole.rpc("move_shipment", { shipment_id: id, despite_missing: true });
  expect(await getRetentionEnd(id)).toBe(dateInYears(20));
  expect(await extendShipmentRetention(testBackend.serviceRole, id, dateInYears(8))).toMatchObject({ status: 409 });
  expect(await getRetentionEnd(id)).toBe(dateInYears(20));
});

test("The list of expired shipments has all their files, and reading the list changes nothing.", async () => {
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

test("Retention deletes expired shipments with documents, events and files, and nothing else; a second run finds none.", async () => {
  const client = await newTestClient();
  const past = [await newShipment(client, dateInYears(-1)), await newShipment(client, dateInYears(-3))];
  const recent = await newShipment(client);
  expect(await runRetention()).toEqual(
    expect.arrayContaining([{ shipment_id: past[0]?.id }, { shipment_id: past[1]?.id }, { files: 4 }]),
  );
  for (const shipment of past) expect(await countRemaining(shipment)).toEqual(nothingRemaining);
  expect(await countRemaining(recent)).toEqual(everythingRemaining);
  const nothing = { shipments: [], files: [], parts: [], accounts: [] };
  expect(await listBeyondRetention(testBackend.serviceRole)).toEqual(nothing);
  expect(await runRetention()).toEqual([]);
  expect((await client.supabase.from("shipments").select("id")).data).toEqual([{ id: recent.id }]);
});

test("After an interruption at any call, no document has a deleted file, and the next run finishes.", async () => {
  const client = await newTestClient();
  for (let completedCalls = 0; ; completedCalls += 1) {
    const past = [await newShipment(client, dateInYears(-1)), await newShipment(client, dateInYears(-1))];
    let calls = 0;
    const breaking = testBackend.serviceRoleThrough(async (request, next) => {
      if (request.method === "GET" || /\/(beyond_retention|list_upload_chunks)$/.test(request.url))
        return next(request);
      calls += 1;
      if (calls > completedCalls + 1) throw new TypeError("the connection broke before");
      const result = await next(request);
      if (calls === completedCalls + 1) throw new TypeError("the connection broke after");
      return result;
    });
    const cut = await runRetention(breaking).catch(() => null);
    const counted = await testBackend.serviceRole.from("documents").select("storage_path").eq("uploaded", true);
    for (const { storage_path } of counted.data ?? []) {
      const file = await testBackend.serviceRole.storage.from("documents").download(storage_path ?? "");
      expect(file.error, `after ${completedCalls} calls`).toBeNull();
    }
    await runRetention();
    for (const shipment of past)
      expect(await countRemaining(shipment), `after ${completedCalls} calls`).toEqual(nothingRemaining);
    if (cut) break;
    expect(completedCalls).toBeLessThan(10);
  }
});

test("A file without a document is deleted only after a day.", async () => {
  const shipments = [await newShipment(await newTestClient()), await newShipment(await newTestClient())];
  const [young, old] = shipments.map(({ files }) => files[1] ?? "");
  await ageFiles([old ?? "", ...shipments.map(({ files }) => files[0] ?? "")]);
  expect((await listBeyondRetention(testBackend.serviceRole)).files).toEqual([old]);
  expect(await runRetention()).toEqual([{ files: 1 }]);
  const exists = async (file = "") =>
    (await testBackend.serviceRole.storage.from("documents").download(file)).data !== null;
  expect([await exists(old), await exists(young)]).toEqual([false, true]);
  for (const { files } of shipments) expect(await exists(files[0])).toBe(true);
});

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

test("Upload chunks are deleted only after a day.", async () => {
  const client = await newTestClient();
  const old = await storeChunks(client, "old", 130);
  const young = await storeChunks(client, "young", 2);
  await ageFiles(old);
  expect((await listBeyondRetention(testBackend.serviceRole)).parts.sort()).toEqual([...old].sort());
  expect(await runRetention()).toEqual([{ parts: 130 }]);
  expect(await listChunks(client.id)).toEqual(young);
  expect(await runRetention()).toEqual([]);
});

test("Listing the upload chunks of one account reads no rows of other accounts.", async () => {
  const [client, otherClient] = [await newTestClient(), await newTestClient()];
  const own = await storeChunks(client, "own", 3);
  const { db } = testBackend.backend;
  await db.query(
    `insert into storage.objects (bucket_id, name)
     select 'upload-chunks', $1 || '/' || gen_random_uuid() || '/0-4' from generate_series(1, 3000)`,
    [otherClient.id],
  );
  await db.exec("analyze storage.objects");
  const read = await countRowsRead(db, "storage.objects", "public.list_upload_chunks(given.value::uuid)", client.id);
  expect(read).toBeGreaterThanOrEqual(own.length);
  expect(read).toBeLessThan(100);
  expect(await listChunks(client.id)).toEqual(own);
  await db.query("delete from storage.objects where name like $1 || '/%'", [otherClient.id]);
});

test("Erasing an account deletes only the upload chunks of this account, also after an interruption.", async () => {
  const [client, otherClient] = [await newTestClient(), await newTestClient()];
  await storeChunks(client, "file", 3);
  const otherChunks = await storeChunks(otherClient, "file", 1);
  const breaking = breakRequests("/object/upload-chunks");
  expect(await eraseClient(client, breaking)).toMatchObject({ status: 503 });
  expect(await eraseClient(client)).toEqual({ result: client.email });
  expect(await listChunks(client.id)).toEqual([]);
  expect(await listChunks(otherClient.id)).toEqual(otherChunks);
});

test("Retention does not delete a file outside the folders of shipments.", async () => {
  const { storage } = testBackend.serviceRole;
  await storage.from("documents").upload("forms/power-of-attorney.pdf", "%PDF-1.7", { contentType: "application/pdf" });
  await runRetention();
  expect((await storage.from("documents").download("forms/power-of-attorney.pdf")).error).toBeNull();
});

test("An account without shipments that was unused for seven years is deleted with its Client ID and its data in Supabase Auth.", async () => {
  const unused = await newTestClient();
  const used = await newTestClient();
  const shipper = await newTestClient();
  const recent = await newShipment(shipper);
  await setLastSeen(unused, 8);
  await setLastSeen(shipper, 8);
  await setLastSeen(used, 6);
  const found = await listBeyondRetention(testBackend.serviceRole);
  expect(found.accounts.map(({ email }) => email)).toEqual([unused.email]);
  expect(await runRetention()).toEqual([{ account_id: unused.id }]);

  const rows = await query(
    `select 'user' from auth.users where id = $1
     union all select 'client ID' from public.client_ids where account_id = $1
     union all select 'identity' from auth.identities where user_id = $1
     union all select 'session' from auth.sessions where user_id = $1
     union all select 'token' from auth.refresh_tokens where user_id::text = $1::text
     union all select 'log' from auth.audit_log_entries where payload::text like '%' || $1::text || '%'`,
    [unused.id],
  );
  expect(rows).toEqual([]);
  const auth = testBackend.anonymous().auth;
  expect((await auth.signInWithPassword({ email: unused.email, password: "a good password" })).error).not.toBeNull();
  for (const { email } of [used, shipper]) {
    expect((await auth.signInWithPassword({ email, password: "a good password" })).error).toBeNull();
  }
  expect(await countRemaining(recent)).toEqual(everythingRemaining);
});

test("Erasing an account deletes only data of this account, except for data that must be stored.", async () => {
  const client = await newTestClient();
  const stranger = await newTestClient();
  const past = await newShipment(client, dateInYears(-1));
  const foreign = await newShipment(stranger, dateInYears(-1));
  // A sign-up with the email address of an existing account stores a hash of that address with the Client ID.
  const issued = (await testBackend.serviceRole.rpc("issue_client_ids", {})).data?.[0]?.client_id ?? "";
  await testBackend.serviceRole.rpc("redeem_client_id", { client_id: issued, email: client.email });
  const readHash = () =>
    testBackend.serviceRole.from("client_ids").select("email_hash").eq("client_id", issued).single();
  expect((await readHash()).data?.email_hash).toMatch(/^[0-9a-f]{64}$/);
  expect(await eraseClient(client)).toEqual({ result: client.email });
  expect((await readHash()).data?.email_hash).toBe("");
  for (const email of [client.email, "new@client.example"]) {
    expect((await testBackend.serviceRole.rpc("admit_sign_up", { client_id: issued, email })).data).toBe(false);
  }
  expect(await countRemaining(past)).toEqual(nothingRemaining);
  expect(await countRemaining(foreign)).toEqual(everythingRemaining);
  expect(await eraseClient(client)).toEqual({ reason: "Client account not found.", status: 404 });
  expect((await client.supabase.auth.getUser()).data.user).toBeNull();
});

test("Erasing an account deletes all of its shipments, even if one response lists only some shipments.", async () => {
  const client = await newTestClient();
  await query("insert into public.shipments (user_id, name) select $1, 'Past' from generate_series(1, 5)", [client.id]);
  await query("update public.shipments set retention_ends_on = '2020-01-01' where user_id = $1", [client.id]);
  const short = testBackend.serviceRoleThrough(async (request, next) => {
    const url = new URL(request.url);
    if (request.method !== "GET" || !url.pathname.endsWith("/shipments")) return next(request);
    url.searchParams.set("limit", "2");
    return next(new Request(url, request));
  });
  expect(await eraseClient(client, short)).toEqual({ result: client.email });
  const remaining = await testBackend.serviceRole.from("shipments").select("id").eq("user_id", client.id);
  expect(remaining.data).toEqual([]);
});

test("Erasing an account deletes only the entries of this account in the log of Supabase Auth, also after an interruption.", async () => {
  const client = await newTestClient();
  const otherClient = await newTestClient();
  const listActions = async (id: string) => {
    const rows = await query<{ action: string }>(
      "select payload ->> 'action' as action from auth.audit_log_entries where payload::text like '%' || $1 || '%'",
      [id],
    );
    return rows.map(({ action }) => action);
  };
  const write = (payload: object) =>
    query("insert into auth.audit_log_entries (id, payload) values (gen_random_uuid(), $1)", [payload]);
  for (const { id, email } of [client, otherClient])
    await write({ action: "login", actor_id: id, actor_username: email });
  await write({ action: "login", actor_id: "no id", actor_username: "nobody" });
  const breaking = breakRequests("delete_orphaned_auth_log");
  expect(await eraseClient(client, breaking)).toMatchObject({ status: 503 });
  expect(await listActions(client.id)).toEqual(expect.arrayContaining(["login", "user_deleted"]));
  await deleteBeyondRetention(testBackend.serviceRole, () => undefined);
  expect(await listActions(client.id)).toEqual([]);
  expect(await listActions(otherClient.id)).toContain("login");
  expect(await listActions("no id")).toEqual(["login"]);
});

test("An interrupted erasure is finished by erasing the account again.", async () => {
  const client = await newTestClient();
  const breaking = breakRequests("/admin/users/");
  expect(await eraseClient(client, breaking)).toEqual({
    reason:
      "The account is closed. Some of the data was not deleted. Our system is not responding. Try again in a minute. " +
      "Erase the account again.",
    status: 503,
  });
  expect((await testBackend.serviceRole.rpc("find_account_id", { email: client.email })).data).toBe(client.id);
  expect(await eraseClient(client)).toEqual({ result: client.email });
  expect((await testBackend.serviceRole.rpc("find_account_id", { email: client.email })).data).toBeNull();
});
