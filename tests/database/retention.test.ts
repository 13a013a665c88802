import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deletePastRetention, eraseAccount, keepShipment, pastRetention } from "../../app/models/retention.server.ts";
import { rowsRead } from "../support/database.ts";
import { memoryBackend } from "../support/memory-backend.ts";

type Person = Awaited<ReturnType<typeof world.newClient>>;

let world: Awaited<ReturnType<typeof memoryBackend>>;
let number = 0;
beforeAll(async () => {
  world = await memoryBackend();
});
afterAll(() => world.close());

const inYears = (years: number) => {
  const day = new Date();
  day.setUTCFullYear(day.getUTCFullYear() + years);
  return day.toISOString().slice(0, 10);
};
const someone = () => world.newClient(`person-${++number}@client.example`);

/** A shipment with a packing list that counts and a file that does not, kept until some day. */
async function aShipment(client: Person, until?: string) {
  const made = await client.handle.from("shipments").insert({ name: "Tea", user_id: client.id }).select("id").single();
  if (made.error) throw made.error;
  const { id } = made.data;
  const names = ["packing-list-0123456789ab-x.pdf", "bill-of-lading-0123456789ab-half.pdf"];
  const files = names.map((name) => `${client.id}/${id}/${name}`);
  for (const file of files) {
    const { error } = await world.company.storage
      .from("documents")
      .upload(file, new TextEncoder().encode("%PDF-1.7"), { contentType: "application/pdf" });
    if (error) throw error;
  }
  const record = { sha256: "0".repeat(64), file_name: "x.pdf", file_size: 8, media_type: "application/pdf" };
  const { error } = await world.company
    .from("documents")
    .update({ uploaded: true, storage_path: files[0], ...record })
    .eq("shipment_id", id)
    .eq("name", "Packing List");
  if (error) throw error;
  if (until) await world.backend.db.query("update public.shipments set retain_until = $1 where id = $2", [until, id]);
  return { id, files };
}

/** Moves the creation and the last use of an account this many years into the past. */
const lastSeen = (client: Person, years: number) =>
  world.backend.db.query(
    `with seen as (select now() - make_interval(years => $2) as at),
       person as (update auth.users set created_at = seen.at, last_sign_in_at = seen.at from seen where id = $1)
     update auth.sessions set updated_at = seen.at from seen where user_id = $1`,
    [client.id, years],
  );

const retainUntil = async (id: string) =>
  (await world.company.from("shipments").select("retain_until").eq("id", id)).data?.[0]?.retain_until;

/** What there is of a shipment: rows, and which of its files the store hands out. */
async function leftOf({ id, files }: { id: string; files: string[] }) {
  const { data } = await world.company.from("shipments").select("id").eq("id", id);
  const documents = await world.company.from("documents").select("uploaded, storage_path").eq("shipment_id", id);
  const there = await Promise.all(files.map((file) => world.company.storage.from("documents").download(file)));
  return {
    shipments: data?.length,
    documents: documents.data?.length,
    files: there.filter(({ data }) => data).length,
  };
}
const whole = { shipments: 1, documents: 4, files: 2 };
const gone = { shipments: 0, documents: 0, files: 0 };

/** Deletes what is past its time. Returns what was reported as deleted. */
async function deleted(company = world.company) {
  const told: object[] = [];
  await deletePastRetention(company, (fields) => told.push(fields));
  return told;
}

/** Erases an account as the command does. Returns the refusal, or null. */
const erase = (client: Person, company = world.company) =>
  eraseAccount(world.company, company, client.id, "They asked", "Wanjiru");

test("a shipment is kept for seven years from the last step it made, and never shorter than staff said", async () => {
  const client = await someone();
  const { id } = await aShipment(client);
  expect(await retainUntil(id)).toBe(inYears(7));
  await world.backend.db.query("update public.shipments set retain_until = '2020-01-01' where id = $1", [id]);
  await world.company.from("shipments").update({ awb: "MEDUX1" }).eq("id", id);
  expect(await retainUntil(id)).toBe("2020-01-01");
  await world.company.rpc("move_shipment", { shipment_id: id, despite_missing: true });
  expect(await retainUntil(id)).toBe(inYears(7));
  expect(await keepShipment(world.company, id, inYears(20))).toEqual({ answer: inYears(7) });
  await world.company.rpc("move_shipment", { shipment_id: id, despite_missing: true });
  expect(await retainUntil(id)).toBe(inYears(20));
  expect(await keepShipment(world.company, id, inYears(8))).toMatchObject({ status: 409 });
  expect(await retainUntil(id)).toBe(inYears(20));
});

test("clients neither say how long a shipment is kept nor ask what is past its time", async () => {
  const client = await someone();
  const early = { name: "Early", user_id: client.id, retain_until: "2020-01-01" };
  expect((await (client.handle as SupabaseClient).from("shipments").insert(early)).error?.code).toBe("42501");
  const { id } = await aShipment(client);
  expect((await client.handle.from("shipments").update({ retain_until: "2020-01-01" }).eq("id", id)).error?.code).toBe(
    "42501",
  );
  expect(await retainUntil(id)).toBe(inYears(7));
  for (const handle of [client.handle, world.anonymous()]) {
    expect((await handle.rpc("past_retention")).error?.code).toBe("42501");
  }
});

test("what is past its time is listed with all its files, and looking changes nothing", async () => {
  const client = await someone();
  const past = await aShipment(client, inYears(-1));
  const today = await aShipment(client, inYears(0));
  const found = await pastRetention(world.company);
  expect(found.shipments).toEqual([
    { id: past.id, name: "Tea", retain_until: inYears(-1), files: [...past.files].sort() },
  ]);
  expect(found.files).toEqual([]);
  expect(await leftOf(past)).toEqual(whole);
  expect(await leftOf(today)).toEqual(whole);
  await deleted();
});

test("deleting takes shipments past their time with documents, events and files, and nothing else; again, it finds none", async () => {
  const client = await someone();
  const past = [await aShipment(client, inYears(-1)), await aShipment(client, inYears(-3))];
  const kept = await aShipment(client);
  expect(await deleted()).toEqual(
    expect.arrayContaining([{ shipment: past[0]?.id }, { shipment: past[1]?.id }, { files: 4 }]),
  );
  for (const one of past) expect(await leftOf(one)).toEqual(gone);
  expect(await leftOf(kept)).toEqual(whole);
  expect(await pastRetention(world.company)).toEqual({ shipments: [], files: [], parts: [], accounts: [] });
  expect(await deleted()).toEqual([]);
  expect((await client.handle.from("shipments").select("id")).data).toEqual([{ id: kept.id }]);
});

test("wherever deleting is cut off, no document counts a file that is gone, and the next run finishes", async () => {
  const client = await someone();
  for (let answered = 0; ; answered += 1) {
    const past = [await aShipment(client, inYears(-1)), await aShipment(client, inYears(-1))];
    let calls = 0;
    const breaking = world.companyThrough(async (request, next) => {
      if (request.method === "GET" || /\/(past_retention|kept_parts)$/.test(request.url)) return next(request);
      calls += 1;
      if (calls > answered + 1) throw new TypeError("the line broke before");
      const answer = await next(request);
      if (calls === answered + 1) throw new TypeError("the line broke after");
      return answer;
    });
    const cut = await deleted(breaking).catch(() => null);
    const counted = await world.company.from("documents").select("storage_path").eq("uploaded", true);
    for (const { storage_path } of counted.data ?? []) {
      const file = await world.company.storage.from("documents").download(storage_path ?? "");
      expect(file.error, `after ${answered} calls`).toBeNull();
    }
    await deleted();
    for (const one of past) expect(await leftOf(one), `after ${answered} calls`).toEqual(gone);
    if (cut) break;
    expect(answered).toBeLessThan(10);
  }
});

test("a file that no document counts goes after a day, and not while an upload may be under way", async () => {
  const shipments = [await aShipment(await someone()), await aShipment(await someone())];
  const [young, old] = shipments.map(({ files }) => files[1] ?? "");
  const day = "update storage.objects set created_at = now() - interval '25 hours' where name = any($1)";
  await world.backend.db.query(day, [[old, ...shipments.map(({ files }) => files[0])]]);
  expect((await pastRetention(world.company)).files).toEqual([old]);
  expect(await deleted()).toEqual([{ files: 1 }]);
  const there = async (file = "") => (await world.company.storage.from("documents").download(file)).data !== null;
  expect([await there(old), await there(young)]).toEqual([false, true]);
  for (const { files } of shipments) expect(await there(files[0])).toBe(true);
});

/** Stores parts of a file on its way, an account's. */
async function someParts({ id }: Person, file: string, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, index) => `${id}/${file}/${index * 4}-4`);
  for (const name of names) {
    const { error } = await world.company.storage
      .from("parts")
      .upload(name, new TextEncoder().encode("part"), { contentType: "application/octet-stream" });
    if (error) throw error;
  }
  return names;
}
const keptParts = async (account: string) =>
  ((await world.company.rpc("kept_parts", { account })).data as { name: string }[]).map(({ name }) => name).sort();

test("parts of a file that did not arrive go after a day, and those of today stay", async () => {
  const client = await someone();
  const old = await someParts(client, "old", 130);
  const young = await someParts(client, "young", 2);
  const day = "update storage.objects set created_at = now() - interval '25 hours' where name = any($1)";
  await world.backend.db.query(day, [old]);
  expect((await pastRetention(world.company)).parts.sort()).toEqual([...old].sort());
  expect(await deleted()).toEqual([{ parts: 130 }]);
  expect(await keptParts(client.id)).toEqual(young);
  expect(await deleted()).toEqual([]);
});

test("the parts of one account are found by their names, however many others have", async () => {
  const [client, other] = [await someone(), await someone()];
  const own = await someParts(client, "own", 3);
  const { db } = world.backend;
  await db.query(
    `insert into storage.objects (bucket_id, name)
     select 'parts', $1 || '/' || gen_random_uuid() || '/0-4' from generate_series(1, 3000)`,
    [other.id],
  );
  await db.exec("analyze storage.objects");
  const read = await rowsRead(db, "storage.objects", "public.kept_parts(given.value::uuid)", client.id);
  expect(read).toBeGreaterThanOrEqual(own.length);
  expect(read).toBeLessThan(100);
  expect(await keptParts(client.id)).toEqual(own);
  await db.query("delete from storage.objects where name like $1 || '/%'", [other.id]);
});

test("erasing an account takes what came of its files with it, after an interruption too, and nobody else's", async () => {
  const [client, other] = [await someone(), await someone()];
  await someParts(client, "file", 3);
  const theirs = await someParts(other, "file", 1);
  const breaking = world.companyThrough(async (request, next) => {
    if (request.url.includes("/object/parts")) throw new TypeError("the line broke");
    return next(request);
  });
  expect(await erase(client, breaking)).toMatchObject({ status: 503 });
  expect(await erase(client)).toBeNull();
  expect(await keptParts(client.id)).toEqual([]);
  expect(await keptParts(other.id)).toEqual(theirs);
});

test("a file that somebody else put into the bucket is not the portal's to delete", async () => {
  const { storage } = world.company;
  await storage.from("documents").upload("forms/power-of-attorney.pdf", "%PDF-1.7", { contentType: "application/pdf" });
  await deleted();
  expect((await storage.from("documents").download("forms/power-of-attorney.pdf")).error).toBeNull();
});

test("an account that nobody used for seven years and that has no shipment goes, with its client ID and all that auth knows", async () => {
  const unused = await someone();
  const used = await someone();
  const shipper = await someone();
  const kept = await aShipment(shipper);
  await lastSeen(unused, 8);
  await lastSeen(shipper, 8);
  await lastSeen(used, 6);
  const found = await pastRetention(world.company);
  expect(found.accounts.map(({ email }) => email)).toEqual([unused.email]);
  expect(await deleted()).toEqual([{ account: unused.id }]);

  const { rows } = await world.backend.db.query(
    `select 'user' from auth.users where id = $1
     union all select 'client ID' from public.client_ids where claimed_by = $1
     union all select 'identity' from auth.identities where user_id = $1
     union all select 'session' from auth.sessions where user_id = $1
     union all select 'token' from auth.refresh_tokens where user_id::text = $1::text
     union all select 'log' from auth.audit_log_entries where payload::text like '%' || $1::text || '%'`,
    [unused.id],
  );
  expect(rows).toEqual([]);
  const door = world.anonymous().auth;
  expect((await door.signInWithPassword({ email: unused.email, password: "a good password" })).error).not.toBeNull();
  for (const { email } of [used, shipper]) {
    expect((await door.signInWithPassword({ email, password: "a good password" })).error).toBeNull();
  }
  expect(await leftOf(kept)).toEqual(whole);
});

test("an account whose shipments have to be kept is not erased, and the words say until when", async () => {
  const client = await someone();
  const past = await aShipment(client, inYears(-1));
  const kept = await aShipment(client);
  expect(await erase(client)).toEqual({
    reason: `This account has shipments that have to be kept, the last until ${inYears(7)}: nothing was deleted.`,
    status: 409,
  });
  expect(await leftOf(past)).toEqual(whole);
  expect(await leftOf(kept)).toEqual(whole);
});

test("erasing an account deletes it with the data that need not be kept, and nobody else's", async () => {
  const client = await someone();
  const stranger = await someone();
  const past = await aShipment(client, inYears(-1));
  const theirs = await aShipment(stranger, inYears(-1));
  // A client ID sent with the e-mail of an existing account makes no account, and is spent with a hash of the e-mail.
  const issued = (await world.company.rpc("issue_client_ids", {})).data?.[0]?.client_id ?? "";
  await world.company.rpc("spend_client_id", { client_id: issued, email: client.email });
  const marked = () => world.company.from("client_ids").select("used_with").eq("client_id", issued).single();
  expect((await marked()).data?.used_with).toMatch(/^[0-9a-f]{64}$/);
  expect(await erase(client)).toBeNull();
  expect((await marked()).data?.used_with).toBe("");
  for (const email of [client.email, "new@client.example"]) {
    expect((await world.company.rpc("admit_sign_up", { client_id: issued, email })).data).toBe(false);
  }
  expect(await leftOf(past)).toEqual(gone);
  expect(await leftOf(theirs)).toEqual(whole);
  expect(await erase(client)).toEqual({ reason: "There is no such client.", status: 404 });
  expect((await client.handle.auth.getUser()).data.user).toBeNull();
});

test("erasing an account deletes all of its shipments, however few of them one answer lists", async () => {
  const client = await someone();
  const { db } = world.backend;
  await db.query("insert into public.shipments (user_id, name) select $1, 'Past' from generate_series(1, 5)", [
    client.id,
  ]);
  await db.query("update public.shipments set retain_until = '2020-01-01' where user_id = $1", [client.id]);
  const short = world.companyThrough(async (request, next) => {
    const url = new URL(request.url);
    if (request.method !== "GET" || !url.pathname.endsWith("/shipments")) return next(request);
    url.searchParams.set("limit", "2");
    return next(new Request(url, request));
  });
  expect(await erase(client, short)).toBeNull();
  const left = await world.company.from("shipments").select("id").eq("user_id", client.id);
  expect(left.data).toEqual([]);
});

test("what auth's log tells of somebody goes with the account, after an interruption too, and of nobody else", async () => {
  const client = await someone();
  const other = await someone();
  const told = async (id: string) => {
    const { rows } = await world.backend.db.query<{ action: string }>(
      "select payload ->> 'action' as action from auth.audit_log_entries where payload::text like '%' || $1 || '%'",
      [id],
    );
    return rows.map(({ action }) => action);
  };
  const write = (payload: object) =>
    world.backend.db.query("insert into auth.audit_log_entries (id, payload) values (gen_random_uuid(), $1)", [
      payload,
    ]);
  for (const { id, email } of [client, other]) await write({ action: "login", actor_id: id, actor_username: email });
  await write({ action: "login", actor_id: "no id", actor_username: "nobody" });
  const breaking = world.companyThrough(async (request, next) => {
    if (request.url.includes("forget_gone_accounts")) throw new TypeError("the line broke");
    return next(request);
  });
  expect(await erase(client, breaking)).toMatchObject({ status: 503 });
  expect(await told(client.id)).toEqual(expect.arrayContaining(["login", "user_deleted"]));
  await deletePastRetention(world.company, () => undefined);
  expect(await told(client.id)).toEqual([]);
  expect(await told(other.id)).toContain("login");
  expect(await told("no id")).toEqual(["login"]);
});

test("erasing an account that was cut off is finished by erasing it again", async () => {
  const client = await someone();
  const breaking = world.companyThrough(async (request, next) => {
    if (request.url.includes("/admin/users/")) throw new TypeError("the line broke");
    return next(request);
  });
  expect(await erase(client, breaking)).toEqual({
    reason:
      "Not everything is erased yet. Our records do not answer at the moment. Try again in a minute. " +
      "The account is closed: erase it again.",
    status: 503,
  });
  expect((await world.company.rpc("find_account", { email: client.email })).data).toBe(client.id);
  expect(await erase(client)).toBeNull();
  expect((await world.company.rpc("find_account", { email: client.email })).data).toBeNull();
});

test("only the company deletes accounts", async () => {
  const client = await someone();
  for (const handle of [world.anonymous(), client.handle]) {
    expect((await handle.auth.admin.deleteUser(client.id)).error).not.toBeNull();
  }
  expect((await client.handle.auth.getUser()).data.user?.id).toBe(client.id);
});
