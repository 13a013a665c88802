import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { deleteBeyondRetention, eraseAccount, listBeyondRetention } from "../../app/models/retention.server.ts";
import { countRowsRead } from "../support/database.ts";
import { fileColumns, hashToken, setUpTestBackend, type TestClient } from "../support/database-suite.ts";
import { extendShipmentRetention } from "../support/staff-actions.ts";

const { testBackend, query, newShipment: createShipment } = setUpTestBackend();

let clientCount = 0;

const dateInYears = (years: number) => {
  const day = new Date();
  day.setUTCFullYear(day.getUTCFullYear() + years);
  return day.toISOString().slice(0, 10);
};
const newTestClient = () => testBackend.newClient(`person-${++clientCount}@client.example`);

async function store(bucket: string, name: string, contentType: string): Promise<void> {
  const { error } = await testBackend.serviceRole.storage.from(bucket).upload(name, "%PDF-1.7", { contentType });
  if (error) throw error;
}

/**
 * Creates a shipment with a file for the packing list and a file that belongs to no document. `until` is the last day
 * of retention.
 */
async function newShipment(client: TestClient, until?: string) {
  const id = await createShipment(client);
  const names = ["packing-list-0123456789ab-x.pdf", "bill-of-lading-0123456789ab-half.pdf"];
  const files = names.map((name) => `${client.id}/${id}/${name}`);
  for (const file of files) await store("documents", file, "application/pdf");
  const documents = testBackend.serviceRole.from("documents");
  const recorded = documents.update({ uploaded: true, storage_path: files[0], ...fileColumns });
  await recorded.eq("shipment_id", id).eq("name", "Packing List").throwOnError();
  if (until) await query("update public.shipments set retention_ends_on = $1 where id = $2", [until, id]);
  return { id, files };
}

/** Sets the creation time of the stored files with these `names` to 25 hours ago. */
const ageFiles = (names: string[]) =>
  query("update storage.objects set created_at = now() - interval '25 hours' where name = any($1)", [names]);

/** Sets the times at which the account of `client` was created and last used to `years` years ago. */
const setLastSeen = (client: TestClient, years: number) =>
  query(
    `with seen as (select now() - make_interval(years => $2) as at),
       person as (update auth.users set created_at = seen.at, last_sign_in_at = seen.at from seen where id = $1)
     update auth.sessions set updated_at = seen.at from seen where user_id = $1`,
    [client.id, years],
  );

const getRetentionEnd = async (id: string) =>
  (await query("select retention_ends_on::text from public.shipments where id = $1", [id]))[0]?.retention_ends_on;

const isReadable = async (file = "") =>
  (await testBackend.serviceRole.storage.from("documents").download(file)).data !== null;

/** Returns the numbers of database rows and readable files of a shipment. */
async function countRemaining({ id, files }: { id: string; files: string[] }) {
  const shipments = await query("select from public.shipments where id = $1", [id]);
  const documents = await query("select from public.documents where shipment_id = $1", [id]);
  const readable = (await Promise.all(files.map(isReadable))).filter(Boolean);
  return { shipments: shipments.length, documents: documents.length, files: readable.length };
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

/** Erases the account of `client` as the staff command does. Returns the account's email address or the error. */
const eraseClient = (client: TestClient, company = testBackend.serviceRole) =>
  eraseAccount(testBackend.serviceRole, company, client.id, "They asked", "Wanjiru");

test("A shipment's retention ends seven years after its last stage change, or later if a team member has set a later day.", async () => {
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

test("Retention deletes only expired shipments with their documents, events and files. A second run finds nothing.", async () => {
  const client = await newTestClient();
  const past = [await newShipment(client, dateInYears(-1)), await newShipment(client, dateInYears(-3))];
  const [recent, today] = [await newShipment(client), await newShipment(client, dateInYears(0))];
  const found = await listBeyondRetention(testBackend.serviceRole);
  expect(found.files).toEqual([]);
  expect(found.shipments).toHaveLength(2);
  expect(found.shipments).toContainEqual({
    ...{ id: past[0]?.id, name: "Tea", retention_ends_on: dateInYears(-1), files: past[0]?.files.sort() },
  });
  expect(await runRetention()).toEqual(
    expect.arrayContaining([{ shipment_id: past[0]?.id }, { shipment_id: past[1]?.id }, { files: 4 }]),
  );
  for (const shipment of past) expect(await countRemaining(shipment)).toEqual(nothingRemaining);
  for (const shipment of [recent, today]) expect(await countRemaining(shipment)).toEqual(everythingRemaining);
  const nothing = { shipments: [], files: [], parts: [], accounts: [] };
  expect(await listBeyondRetention(testBackend.serviceRole)).toEqual(nothing);
  expect(await runRetention()).toEqual([]);
});

test("If retention is interrupted at any call, no remaining document lacks its file, and the next run finishes the deletion.", async () => {
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
    const recorded = await query<{ path: string }>("select storage_path as path from public.documents where uploaded");
    for (const { path } of recorded) expect(await isReadable(path), `after ${completedCalls} calls`).toBe(true);
    await runRetention();
    for (const shipment of past)
      expect(await countRemaining(shipment), `after ${completedCalls} calls`).toEqual(nothingRemaining);
    if (cut) break;
    expect(completedCalls).toBeLessThan(10);
  }
});

test("Retention deletes a file that belongs to no document after a day, but only in the folder of a shipment.", async () => {
  const shipments = [await newShipment(await newTestClient()), await newShipment(await newTestClient())];
  const [young, old] = shipments.map(({ files }) => files[1] ?? "");
  await ageFiles([old ?? "", ...shipments.map(({ files }) => files[0] ?? "")]);
  await store("documents", "forms/power-of-attorney.pdf", "application/pdf");
  await ageFiles(["forms/power-of-attorney.pdf"]);
  expect((await listBeyondRetention(testBackend.serviceRole)).files).toEqual([old]);
  expect(await runRetention()).toEqual([{ files: 1 }]);
  expect([await isReadable(old), await isReadable(young)]).toEqual([false, true]);
  for (const { files } of shipments) expect(await isReadable(files[0])).toBe(true);
});

async function storeChunks({ id }: TestClient, file: string, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, index) => `${id}/${file}/${index * 4}-4`);
  for (const name of names) await store("upload-chunks", name, "application/octet-stream");
  return names;
}
const listChunks = async (account: string) =>
  ((await testBackend.serviceRole.rpc("list_upload_chunks", { account_id: account })).data as { name: string }[])
    .map(({ name }) => name)
    .sort();

test("Retention deletes upload chunks only after a day.", async () => {
  const client = await newTestClient();
  const old = await storeChunks(client, "old", 1);
  // One call deletes at most 100 files, so retention needs two calls to delete the 130 old chunks.
  const { rows: more } = await testBackend.backend.db.query<{ name: string }>(
    `insert into storage.objects (bucket_id, name, version)
     select 'upload-chunks', concat($1::text, '/old/', number, '-4'), gen_random_uuid() from generate_series(1, 129) as number
     returning name`,
    [client.id],
  );
  old.push(...more.map(({ name }) => name));
  const young = await storeChunks(client, "young", 2);
  await ageFiles(old);
  expect((await listBeyondRetention(testBackend.serviceRole)).parts.sort()).toEqual([...old].sort());
  expect(await runRetention()).toEqual([{ parts: 130 }]);
  expect(await listChunks(client.id)).toEqual(young);
  expect(await runRetention()).toEqual([]);
});

test("Listing an account's upload chunks reads no table rows of other accounts.", async () => {
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

test("Retention deletes an account without shipments after seven years without use, with its Client ID and Supabase Auth data.", async () => {
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

test("Erasing an account deletes all data of only this account, except for data that must be stored.", async () => {
  const client = await newTestClient();
  const stranger = await newTestClient();
  const past = await newShipment(client, dateInYears(-1));
  const foreign = await newShipment(stranger, dateInYears(-1));
  // A sign-up with an existing account's email address stores the address's hash with the Client ID.
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

test("A withdrawn shipment does not keep an account from being erased, and is deleted with its files.", async () => {
  const client = await newTestClient();
  const withdrawn = await newShipment(client);
  const second = await newShipment(client);
  const withdraw = async ({ id }: { id: string }) => {
    const args = { shipment_id: id, reason: "Created twice" };
    await testBackend.serviceRole.rpc("withdraw_shipment", args).throwOnError();
  };
  await withdraw(withdrawn);
  expect(await eraseClient(client)).toMatchObject({ status: 409 });
  expect(await countRemaining(withdrawn)).toEqual(everythingRemaining);
  await withdraw(second);
  expect(await eraseClient(client)).toEqual({ result: client.email });
  for (const shipment of [withdrawn, second]) expect(await countRemaining(shipment)).toEqual(nothingRemaining);
});

test("Erasing an account deletes all its shipments, even if the database lists the shipments in several responses.", async () => {
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

test.each(["/object/upload-chunks", "/admin/users/", "delete_orphaned_auth_log"])(
  "An erasure that was interrupted at %s can be finished, and deletes no uploads or log entries of other accounts.",
  async (interruption) => {
    const [client, otherClient] = [await newTestClient(), await newTestClient()];
    const listActions = async (id: string) => {
      const sql =
        "select payload ->> 'action' as action from auth.audit_log_entries where payload::text like '%' || $1 || '%'";
      return (await query(sql, [id])).map(({ action }) => action);
    };
    for (const actor_id of [client.id, otherClient.id, `no id ${interruption}`])
      await query("insert into auth.audit_log_entries (id, payload) values (gen_random_uuid(), $1)", [
        { action: "login", actor_id },
      ]);
    await storeChunks(client, "file", 1);
    const otherChunks = await storeChunks(otherClient, "file", 1);
    const reason =
      "The erasure is not complete: the account is closed, but some of its data still exists. " +
      "Our system is not responding. Try again in a minute. Erase the account again.";
    expect(await eraseClient(client, breakRequests(interruption))).toEqual({ reason, status: 503 });
    expect(await listActions(client.id)).toContain("login");
    await eraseClient(client);
    await runRetention();
    expect((await testBackend.serviceRole.rpc("find_account_id", { email: client.email })).data).toBeNull();
    expect([await listChunks(client.id), await listActions(client.id)]).toEqual([[], []]);
    expect(await listChunks(otherClient.id)).toEqual(otherChunks);
    expect(await listActions(otherClient.id)).toContain("login");
    expect(await listActions(`no id ${interruption}`)).toEqual(["login"]);
  },
);

test("Retention deletes expired email changes and password links immediately, and share links and shipment updates after a month.", async () => {
  const [client, secondClient, thirdClient] = [await newTestClient(), await newTestClient(), await newTestClient()];
  const shipment = await createShipment(client, "Rice");
  await query("delete from public.email_outbox");
  const share =
    "insert into private.share_links (id, shipment_id, token_hash, expires_at) values ($1, $2, $3, now() + $4::interval)";
  const address =
    "insert into private.email_changes (account_id, token_hash, email, expires_at) values ($1, $2, 'x@y.example', now() + $3::interval)";
  const password =
    "insert into private.password_links (account_id, token_hash, expires_at, redeemed_at) values ($1, $2, now() + $3::interval, $4)";
  const update =
    "insert into public.email_outbox (account_id, shipment_id, kind, detail, created_at) values ($1, $2, 'note', $3, now() - $4::interval)";
  const minute = "1 minute";
  // Retention deletes an expired share link only after a month.
  for (const time of [minute, `-${minute}`, "-30 days -1 minute"])
    await query(share, [randomUUID(), shipment, hashToken(time), time]);
  await query(address, [client.id, hashToken("a"), minute]);
  await query(address, [secondClient.id, hashToken("b"), `-${minute}`]);
  await query(password, [client.id, hashToken("a"), minute, null]);
  await query(password, [thirdClient.id, hashToken("b"), minute, new Date().toISOString()]);
  await query(password, [secondClient.id, hashToken("c"), `-${minute}`, null]);
  await query(update, [client.id, shipment, "recent", "29 days 23 hours"]);
  await query(update, [client.id, shipment, "old", "30 days 1 hour"]);
  expect((await testBackend.serviceRole.rpc("delete_expired_links")).data).toBe(4);
  const remaining = await query(
    `select (select array_agg(token_hash order by token_hash) from private.share_links) as shares,
       (select array_agg(account_id) from private.email_changes) as addresses,
       (select array_agg(token_hash order by token_hash) from private.password_links) as passwords,
       (select array_agg(detail) from public.email_outbox) as updates`,
  );
  expect(remaining).toEqual([
    {
      shares: [hashToken(minute), hashToken(`-${minute}`)].sort(),
      addresses: [client.id],
      passwords: [hashToken("a"), hashToken("b")].sort(),
      updates: ["recent"],
    },
  ]);
  expect((await testBackend.serviceRole.rpc("delete_expired_links")).data).toBe(0);
});
