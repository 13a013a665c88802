import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createClient } from "@supabase/supabase-js";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import ws from "ws";
import { createTotp, type DemoLead, readDemoLead } from "../../app/server/start/demo-lead.ts";
import { backendKeys } from "../../tests/support/backend-keys.ts";
import { getFirstStartDataDir } from "../../tests/support/first-start-data.ts";
import { type Backend, createBackend } from "./backend.ts";

const demoCredentials = { email: "demo@mizigo.example", password: "karibu-mombasa" };

let folder: string;
/** The embedded backend with the demo data. Only the last test changes this data. */
let sharedBackend: Backend;
let sharedDir: string;
const openBackends = new Set<Backend>();

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "backend-"));
  sharedDir = path.join(folder, "shared");
  cpSync(await getFirstStartDataDir(), sharedDir, { recursive: true });
  sharedBackend = await openBackend(sharedDir);
});
afterAll(async () => {
  for (const backend of openBackends) await closeBackend(backend);
  rmSync(folder, { recursive: true, force: true });
});

test("Each demo shipment has the documents, status and tracking events that belong to its stage.", async () => {
  const { client } = await logInDemoClient(sharedBackend);
  const shipments = await client
    .from("shipments")
    .select("id, stage, status, documents (name), tracking_events (status)");
  expect(shipments.data?.map(({ stage }) => stage).sort((a, b) => a - b)).toEqual([1, 3, 6, 10]);
  for (const { stage, status, documents, tracking_events } of shipments.data ?? []) {
    expect(documents).toHaveLength(4);
    expect(tracking_events).toHaveLength(stage - 1);
    if (stage > 1) expect(tracking_events.map((event) => event.status)).toContain(status);
  }
});

test("The demo data contains entries for every list that a lead sees on the desk.", async () => {
  const lead = readDemoLead(await getFirstStartDataDir()) as DemoLead;
  const client = createBackendClient(sharedBackend);
  const { data } = await client.auth.signInWithPassword(lead);
  const [factor] = data.user?.factors ?? [];
  const verification = await client.auth.mfa.challengeAndVerify({ factorId: factor?.id ?? "", code: createTotp(lead) });
  expect(verification.error).toBeNull();
  const today = await client.rpc("desk_today");
  const { to_check, storage, no_update, waiting_for_client, failed_emails, viewer } = today.data;
  expect(viewer.staff).toEqual({ name: "Wanjiru Demo", role: "lead" });
  const counts = [to_check, storage, no_update, waiting_for_client, failed_emails].map(({ count }) => count);
  expect(counts).toEqual([7, 2, 2, 2, 0]);

  const shipments = await client.from("shipments").select("stage, user_id");
  expect(shipments.data).toHaveLength(12);
  expect(new Set(shipments.data?.map(({ user_id }) => user_id)).size).toBe(3);
  expect(new Set(shipments.data?.map(({ stage }) => stage)).size).toBe(10);
});

test("The audit log contains the verification of each verified demo document, and each file's content matches its extension.", async () => {
  const serviceRole = createBackendClient(sharedBackend, backendKeys.secretKey);
  const { data } = await serviceRole.from("documents").select("id, verified, file_name, file_size, media_type");
  const log = await serviceRole.from("audit_log").select("document_id").eq("action", "document verify");
  const verified = data?.filter((document) => document.verified).map(({ id }) => id);
  expect(verified?.sort()).toEqual(log.data?.map(({ document_id }) => document_id).sort());
  const files = data?.filter((document) => document.file_name) ?? [];
  expect(files.filter((document) => document.media_type === "image/png").length).toBeGreaterThan(2);
  for (const { file_name, file_size, media_type } of files) {
    expect(file_name).toMatch(media_type === "image/png" ? /\.png$/ : /\.pdf$/);
    expect(file_size).toBeLessThan(20 * 1024);
  }
});

test("The data API returns times in ISO 8601 format with a UTC offset.", async () => {
  const { client } = await logInDemoClient(sharedBackend);
  const { data } = await client.from("shipments").select("created_at");
  for (const { created_at } of data ?? [])
    expect(created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00$/);
});

test("Each of several parallel requests has only the database privileges of its own sender.", async () => {
  const { client } = await logInDemoClient(sharedBackend);
  const visitor = createBackendClient(sharedBackend);
  const serviceRole = createBackendClient(sharedBackend, backendKeys.secretKey);
  const results = await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      if (index % 3 === 0) return (await client.from("shipments").select("id")).data?.length;
      if (index % 3 === 1) return (await visitor.from("shipments").select("id")).error?.code;
      return (await serviceRole.from("client_ids").select("client_id")).data?.length;
    }),
  );
  expect(results).toEqual(Array.from({ length: 60 }, (_, index) => [4, "42501", 4][index % 3]));
});

test("A failed request does not block later requests.", async () => {
  const [malformed, login] = await Promise.all([
    sendRequest("POST", "/auth/v1/signup", '{"email":'),
    createBackendClient(sharedBackend).auth.signInWithPassword(demoCredentials),
  ]);
  expect(malformed.ok).toBe(false);
  expect(login.error).toBeNull();
});

test.each([
  ["rows", "POST", "/rest/v1/shipments", (items: object[]) => items],
  ["file names", "DELETE", "/storage/v1/object/documents", (items: object[]) => ({ prefixes: items })],
])(
  "The backend rejects a request with more than 1000 %s before it queries the database.",
  async (_what, method, at, body) => {
    const createBody = (count: number) => JSON.stringify(body(Array(count).fill({ name: "x" })));
    expect((await sendRequest(method, at, createBody(1000))).status).not.toBe(413);
    for (const type of ["application/json", "text/plain"])
      expect((await sendRequest(method, at, createBody(1001), type)).status, type).toBe(413);
    expect((await sendRequest(method, at, `name\n${"x\n".repeat(1001)}`, "text/csv")).status).toBe(415);
  },
);

test("The data API embeds tables two levels deep, and rejects requests with deeper or too many embedded tables.", async () => {
  const { client } = await logInDemoClient(sharedBackend);
  const nested = (depth: number): string =>
    depth === 0 ? "id" : `id,${depth % 2 ? "documents" : "shipments"}(${nested(depth - 1)})`;
  const selectNested = (depth: number) =>
    (depth % 2 ? client.from("shipments") : client.from("documents")).select(nested(depth));
  expect((await selectNested(2)).error).toBeNull();
  expect((await selectNested(3)).status).toBe(413);
  const behindQuotes = `"a)))":id,documents(id,shipments(id,documents(id)))`;
  const sideBySide = Array.from({ length: 13 }, (_, index) => `a${index}:documents(id)`).join(",");
  for (const select of [behindQuotes, sideBySide])
    expect((await client.from("shipments").select(select)).status, select).toBe(413);
  const conditions = `(${"not.and(".repeat(20)}name.eq.x${")".repeat(21)}`;
  expect((await sendRequest("GET", `/rest/v1/shipments?and=${conditions}`)).status).toBe(413);
});

test("The data API rejects a request with more than 2 MiB or more than 10,000 values.", async () => {
  const send = (row: object) => sendRequest("POST", "/rest/v1/shipments", JSON.stringify(row));
  const rowWithBytes = (bytes: number) => ({ name: "x".repeat(bytes - 11) });
  const rowWithKeys = (keys: number) =>
    Object.fromEntries(Array.from({ length: keys }, (_, index) => [`a${index}`, 1]));
  for (const row of [rowWithBytes(2 * 1024 * 1024), rowWithKeys(10_000)])
    expect((await send(row)).status).not.toBe(413);
  for (const row of [rowWithBytes(2 * 1024 * 1024 + 1), rowWithKeys(10_001)])
    expect((await send(row)).status).toBe(413);
});

// This test must be last, because it closes the shared backend.
test("A restarted backend has the same rows, files and sessions, and does not run the seed files again.", async () => {
  const { client, session } = await logInDemoClient(sharedBackend);
  const seeded = await client.from("shipments").select("id").order("id");
  expect(seeded.data).toHaveLength(4);
  const created = await client
    .from("shipments")
    .insert({ name: "Tea", user_id: session.user.id })
    .select("id")
    .single();
  expect(created.error).toBeNull();
  const filePath = `${session.user.id}/${created.data?.id}/packing-list-0123456789ab-x.pdf`;
  const serviceRole = createBackendClient(sharedBackend, backendKeys.secretKey);
  const stored = await serviceRole.storage
    .from("documents")
    .upload(filePath, new TextEncoder().encode("%PDF-1.7"), { contentType: "application/pdf" });
  expect(stored.error).toBeNull();
  const record = { sha256: "0".repeat(64), file_name: "x.pdf", file_size: 8, media_type: "application/pdf" };
  const updated = await serviceRole
    .from("documents")
    .update({ uploaded: true, storage_path: filePath, ...record })
    .eq("shipment_id", created.data?.id)
    .eq("name", "Packing List");
  expect(updated.error).toBeNull();
  // A second run of the seed files would insert the deleted row again.
  const deletedId = seeded.data?.[0]?.id;
  expect((await serviceRole.from("shipments").delete().eq("id", deletedId)).error).toBeNull();
  const before = await readAllRows(sharedBackend);
  await closeBackend(sharedBackend);

  const second = await openBackend(sharedDir);
  expect(await readAllRows(second)).toEqual(before);
  const again = await logInDemoClient(second);
  const shipments = await again.client.from("shipments").select("id, name");
  expect(shipments.data).toHaveLength(4);
  expect(shipments.data).toContainEqual({ id: created.data?.id, name: "Tea" });
  expect(shipments.data).not.toContainEqual(expect.objectContaining({ id: deletedId }));
  const bucket = createBackendClient(second, backendKeys.secretKey).storage.from("documents");
  expect((await bucket.info(filePath)).data?.size).toBe(8);
  const file = await bucket.download(filePath);
  expect(await file.data?.text()).toBe("%PDF-1.7");
  expect(file.data?.type).toBe("application/pdf");
  const renewed = await createBackendClient(second).auth.refreshSession({ refresh_token: session.refresh_token });
  expect(renewed.error).toBeNull();
  await closeBackend(second);

  // A new signing key ends every session and invalidates all refresh tokens.
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const third = await openBackend(sharedDir, await exportJWK(privateKey));
  const { refresh_token } = again.session;
  const refreshed = await createBackendClient(third).auth.refreshSession({ refresh_token });
  expect(refreshed.error?.code).toBe("refresh_token_not_found");
  const { client: clientAfterKeyChange } = await logInDemoClient(third);
  expect((await clientAfterKeyChange.from("shipments").select("id")).data).toHaveLength(4);
});

async function openBackend(dataDir: string, signingKey: JWK = backendKeys.signingKey): Promise<Backend> {
  const backend = await createBackend({
    dataDir,
    databaseUrl: null,
    objectsDir: path.join(folder, "objects"),
    siteUrl: "http://127.0.0.1:3000",
    emailFrom: { name: "The company", address: "office@company.example" },
    ...backendKeys,
    signingKey,
    deliver: async () => undefined,
    seed: true,
  });
  openBackends.add(backend);
  return backend;
}

/** Sends a request with the publishable key to the shared backend. */
function sendRequest(method: string, at: string, body?: string, type = "application/json"): Promise<Response> {
  const headers = { apikey: backendKeys.publishableKey, "content-type": type };
  return sharedBackend.fetch(new Request(`http://backend.local${at}`, { method, headers, body }));
}

async function closeBackend(backend: Backend): Promise<void> {
  if (openBackends.delete(backend)) await backend.close();
}

function createBackendClient(backend: Backend, key = backendKeys.publishableKey) {
  return createClient("http://backend.local", key, {
    auth: { persistSession: false, autoRefreshToken: false },
    global: { fetch: (input, init) => backend.fetch(new Request(input, init)) },
    realtime: { transport: ws as unknown as typeof WebSocket },
  });
}

async function logInDemoClient(backend: Backend) {
  const client = createBackendClient(backend);
  const { data, error } = await client.auth.signInWithPassword(demoCredentials);
  if (error) throw error;
  return { client, session: data.session };
}

async function readAllRows(backend: Backend) {
  const tables = ["client_ids", "shipments", "documents", "tracking_events"].map((table) => `public.${table}`);
  const readRows = async (table: string) => (await backend.db.query(`select * from ${table} order by 1`)).rows;
  return Promise.all([...tables, "storage.objects"].map(readRows));
}
