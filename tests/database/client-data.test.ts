import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { enrollFactor, newClientSession, newEndedSession, runWithSecondFactor } from "../support/client-sessions.ts";
import {
  callRpcOrGetRejection as callRpc,
  type DatabaseRow,
  decodeClaims,
  fileColumns,
  hashToken,
  readPage,
  setUpDesk,
  type TestClient,
} from "../support/database-suite.ts";
import type { AppSupabaseClient } from "../support/test-backend.ts";

const suite = setUpDesk();
const { testBackend, owner, clerk, query, addVersion, getClientId, newShipment, uploadDocument } = suite;
const { getDocumentId, storeFile } = suite;

let first: ClientData;
let second: ClientData;
beforeAll(async () => {
  first = await createClientData(await testBackend.newClient("achieng@client.example"), "Maize");
  second = await createClientData(await testBackend.newClient("barasa@client.example"), "Sorghum");
});
const readExport = (supabase: AppSupabaseClient, position: object = {}) => readPage(supabase, "data_export", position);
const readPortalAccount = (supabase: AppSupabaseClient): Promise<{ viewer: DatabaseRow; account: DatabaseRow }> =>
  readPage(supabase, "portal_account");

test("The data of the account page consists of exactly the client's own account data.", async () => {
  for (let count = 0; count < 2; count += 1) await newClientSession(testBackend, first.client.email);
  const { viewer, account } = await readPortalAccount(first.client.supabase);
  const { email } = first.client;
  expect(viewer).toEqual({ email, full_name: `Client ${email}`, has_aal2: false, factors: [], staff: null });
  const [retention] = await query<{ day: string }>(
    "select max(retention_ends_on)::text as day from public.shipments where user_id = $1",
    [first.client.id],
  );
  expect(account).toEqual({
    ...{ created_at: expect.any(String), client_id: first.clientId, new_email: first.newEmail },
    ...{ shipment_emails_enabled: true, erasure_requested_at: expect.any(String), phone: first.phone },
    ...{ retention_ends_on: retention?.day, other_sessions: 2 },
  });
  await query("insert into private.email_opt_outs (account_id) values ($1)", [first.client.id]);
  const setExpiry = "update private.email_changes set expires_at = now() + $2::interval where account_id = $1";
  await query(setExpiry, [first.client.id, "-1 second"]);
  const { account: changed } = await readPortalAccount(first.client.supabase);
  expect(changed).toMatchObject({ shipment_emails_enabled: false, new_email: null });
  await query("delete from private.email_opt_outs");
  await query(setExpiry, [first.client.id, "1 hour"]);
});

test("The account page shows the number of the client's other valid sessions.", async () => {
  const client = await testBackend.newClient("roaming@client.example");
  const countOtherSessions = async () => (await readPortalAccount(client.supabase)).account?.other_sessions;
  expect(await countOtherSessions()).toBe(0);
  const recent = await newClientSession(testBackend, client.email);
  const expired = await newClientSession(testBackend, client.email);
  expect(await countOtherSessions()).toBe(2);
  const setLastUse = async ({ supabase }: { supabase: AppSupabaseClient }, time: string) => {
    const token = (await supabase.auth.getSession()).data.session?.access_token ?? "";
    const { session_id } = decodeClaims(token);
    await query(
      `update auth.sessions set created_at = now() - interval '1 year', updated_at = now() - $2::interval where id = $1`,
      [session_id, time],
    );
  };
  await setLastUse(recent, "29 days");
  await setLastUse(expired, "31 days");
  expect(await countOtherSessions()).toBe(1);
  await newEndedSession(testBackend, client.email);
  expect(await countOtherSessions()).toBe(1);
  // If the client has a second factor, sessions that have not passed the second factor do not count.
  const { factorId, app } = await enrollFactor(client.supabase);
  const { supabase } = await newClientSession(testBackend, client.email);
  expect(await countOtherSessions()).toBe(0);
  await supabase.auth.mfa.challengeAndVerify({ factorId, code: await app.freshCode() });
  expect(await countOtherSessions()).toBe(1);
});

test("A client's account page and data export contain no secrets and no data of other clients or team members.", async () => {
  const readBoth = async ({ supabase }: { supabase: AppSupabaseClient }) =>
    JSON.stringify([await readPortalAccount(supabase), await readExport(supabase)]);
  const own = await readBoth(first.client);
  for (const mark of first.marks) expect(own).toContain(mark);
  const secrets = [...first.hidden, ...second.marks, ...second.hidden];
  for (const secret of [...secrets, owner.email, owner.id, clerk.id, clerk.email, clerk.name])
    expect(own).not.toContain(secret);
  const staff = await readBoth(clerk);
  expect(staff).toContain(clerk.email);
  for (const secret of [...first.marks, ...secrets]) expect(staff).not.toContain(secret);
});

test("The data export contains the account, its emails and activity, and each shipment with all its data.", async () => {
  const { account, shipments } = await readExport(first.client.supabase);
  expect(account).toMatchObject({
    ...{ id: first.client.id, email: first.client.email, full_name: `Client ${first.client.email}` },
    ...{ client_id: first.clientId, client_id_issued_for: null, client_id_sent_to: null, new_email: first.newEmail },
    ...{
      phone: first.phone,
      second_factors: [],
      shipment_emails_enabled: true,
      erasure_requested_at: expect.any(String),
    },
    failed_emails: [{ kind: "email change", sent_to: first.newEmail, failed_at: expect.any(String) }],
    audit_entries: [{ action: "account reopen", reason: "Maize: they called" }].map((entry) =>
      expect.objectContaining(entry),
    ),
  });
  expect(account.sessions.length).toBeGreaterThan(0);
  const emails = account.shipment_emails.map(({ kind, detail, reason }: DatabaseRow) => ({ kind, detail, reason }));
  expect(emails).toEqual([
    { kind: "rejected", detail: "Bill of Lading", reason: "Maize is blurred" },
    { kind: "charge", detail: "duties", reason: null },
    { kind: "stage", detail: "2", reason: null },
    { kind: "note", detail: "note", reason: null },
    { kind: "arrived", detail: "naivasha 2026-03-01", reason: null },
  ]);
  expect(shipments).toHaveLength(1);
  const [shipment] = shipments;
  expect(shipment).toMatchObject({
    ...{ id: first.shipment, name: "Maize", awb: "AWB-Maize", container_numbers: ["CSQU3054383"], stage: 2 },
    arrival: expect.objectContaining({ storage_location: "naivasha", cargo: "container-40" }),
    charges: [{ item: "duties", amount: 1234.5, currency: "KES", note: "Duties of Maize", paid_at: null }],
    tracking_events: [
      { stage: 2, status: "Document Verification", location: "Port of Maize", note: null },
      { stage: 2, status: "Note", location: null, note: "Note on Maize" },
    ],
    share_links: [{ created_at: expect.any(String), expires_at: expect.any(String) }],
    stage_visits: [
      { stage: 1, ended_at: expect.any(String), client_seconds: expect.any(Number) },
      { stage: 2, ended_at: null },
    ],
  });
  expect(shipment.documents.map(({ name, uploaded }: DatabaseRow) => [name, uploaded])).toEqual([
    ["Bill of Lading", false],
    ["Commercial Invoice", false],
    ["Insurance Certificate", true],
    ["Packing List", true],
  ]);
  expect(shipment.documents[0]).toMatchObject({ rejection_reason: "Maize is blurred" });
  expect(shipment.documents[2]).toMatchObject({ added_from: "whatsapp", added_note: "Maize by phone" });
  expect(shipment.documents[3]).toMatchObject({ file_name: "Maize.pdf", storage_path: first.path });
  expect(shipment.audit_entries.map(({ action }: DatabaseRow) => action)).toEqual([
    ...["document request-new-file", "document add-file", "charge save", "shipment move", "shipment note"],
    ...["shipment save-numbers", "shipment arrived", "client share"],
  ]);
});

test("The account page and the data export have no data before the second factor's code, and no viewer after the session's end.", async () => {
  const { client } = first;
  const position = { before: new Date().toISOString(), before_id: randomUUID() };
  await runWithSecondFactor(testBackend, client.id, async () => {
    const viewer = { email: client.email, factors: [{ name: "Phone" }] };
    expect(await readPortalAccount(client.supabase)).toMatchObject({ viewer, account: null });
    for (const page of [{}, position]) {
      expect(await readExport(client.supabase, page)).toMatchObject({ viewer, account: null, shipments: null });
    }
  });
  const ended = await newEndedSession(testBackend, client.email);
  expect(await readPortalAccount(ended)).toEqual({ viewer: null, account: null });
  for (const page of [{}, position]) {
    expect(await readExport(ended, page)).toEqual({ viewer: null, account: null, shipments: null });
  }
});

test("The data export lists each shipment once, newest first, in pages of 50, even if creation times are equal.", async () => {
  const many = await testBackend.newClient("many@client.example");
  await query(
    `insert into public.shipments (user_id, name, created_at)
       select $1, 'Crate ' || number, now() - (number / 7) * interval '1 minute' from generate_series(1, 120) as number`,
    [many.id],
  );
  const ids = await query<{ id: string }>(
    "select id from public.shipments where user_id = $1 order by created_at desc, id desc",
    [many.id],
  );
  const seen: string[] = [];
  let position = {};
  for (const length of [50, 50, 20, 0]) {
    const { account, shipments } = await readExport(many.supabase, position);
    expect(account === null).toBe(seen.length > 0);
    expect(shipments).toHaveLength(length);
    seen.push(...shipments.map(({ id }: { id: string }) => id));
    const last = shipments.at(-1);
    if (last) position = { before: last.created_at, before_id: last.id };
    // This shipment is newer than all shipments of the first page, so the next page must not contain it.
    expect((await many.supabase.from("shipments").insert({ name: "Now", user_id: many.id })).error).toBeNull();
  }
  expect(seen).toEqual(ids.map(({ id }) => id));
});

type ClientData = {
  client: TestClient;
  shipment: string;
  path: string;
  clientId: string;
  newEmail: string;
  phone: string;
  /** Texts that only this client's data export may contain. */
  marks: string[];
  /** Secrets of the client's account that no data export may contain. */
  hidden: string[];
};

/** Creates data of every kind for `client`. All texts contain `word`. */
async function createClientData(client: TestClient, word: string): Promise<ClientData> {
  const { serviceRole } = testBackend;
  const call = async (name: string, args: object, supabase: AppSupabaseClient = clerk.supabase) => {
    const result = await callRpc(name, await addVersion(name, args), supabase);
    expect(String(result), name).not.toMatch(/^[45]\d\d /);
    return result;
  };
  const shipment = await newShipment(client, word);
  const target = { shipment_id: shipment };
  const { path } = await uploadDocument(shipment, "Packing List", { file_name: `${word}.pdf` });
  const lading = await uploadDocument(shipment, "Bill of Lading", { file_name: `${word}-lading.pdf` });
  await call("reject_document", { document_id: lading.id, reason: `${word} is blurred` });
  const certificate = await getDocumentId(shipment, "Insurance Certificate");
  const storage_path = await storeFile(shipment, "Insurance Certificate");
  const added = { ...fileColumns, added_from: "whatsapp", added_note: `${word} by phone` };
  await call("add_file", { document_id: certificate, storage_path, ...added });
  await call("set_charge", { ...target, item: "duties", amount: 1234.5, currency: "KES", note: `Duties of ${word}` });
  await call("move_shipment", { ...target, despite_missing: true, location: `Port of ${word}` });
  await call("send_note", { ...target, note: `Note on ${word}` });
  await call("save_shipment_numbers", { ...target, awb: `AWB-${word}`, container_numbers: ["CSQU3054383"] });
  const arrival = {
    storage_location: "naivasha",
    day: "2026-03-01",
    cargo: "container-40",
    free_storage_ends_on: "2026-03-05",
  };
  await call("save_arrival", { ...target, ...arrival });
  const [share, token_hash] = [randomUUID(), hashToken(`link to ${word}`)];
  await call("create_share_link", { id: share, ...target, token_hash }, client.supabase);
  const newEmail = `${word.toLowerCase()}@new.example`;
  const phone = `+2547${String(word.length).padStart(8, "7")}`;
  await call("change_phone", { phone }, client.supabase);
  const token = String(await call("start_email_change", { account_id: client.id, email: newEmail }, serviceRole));
  const failure = { kind: "email change", sent_to: newEmail, account_id: client.id };
  await call("record_failed_email", failure, serviceRole);
  await call("set_erasure_request", { requested: true }, client.supabase);
  await call("issue_password_link", { account_id: client.id, valid_hours: 1 }, serviceRole);
  await query("update auth.users set banned_until = now() + interval '1 day' where id = $1", [client.id]);
  await call("reopen_account", { account_id: client.id, reason: `${word}: they called` });
  const clientId = await getClientId(client.id);
  const documents = await query<{ id: string }>("select id from public.documents where shipment_id = $1", [shipment]);
  const marks = [
    client.id,
    client.email,
    word,
    `${word}.pdf`,
    shipment,
    path,
    clientId,
    newEmail,
    phone,
    `AWB-${word}`,
  ];
  const hidden = [share, token_hash, token, hashToken(token), `${word}-lading.pdf`];
  const data = { client, shipment, path, clientId, newEmail, phone, hidden };
  return { ...data, marks: [...marks, ...documents.map(({ id }) => id)] };
}
