import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll } from "vitest";
import { callConcurrently, newStaffMember } from "./staff-members.ts";
import { type AppSupabaseClient, startTestBackend, type TestBackend, toUntypedClient } from "./test-backend.ts";

export type TestClient = Awaited<ReturnType<TestBackend["newClient"]>>;
export type TestStaffMember = Awaited<ReturnType<typeof newStaffMember>>;
export type DatabaseRow = Record<string, unknown>;

export const sha256 = "0".repeat(64);
/** The columns that the server sets for an uploaded file, except its storage path. */
export const fileColumns = { sha256, file_name: "list.pdf", file_size: 8, media_type: "application/pdf" };

/** Characters that a one-line text must not contain: control characters, line breaks and direction marks. */
export const invisibleCharacters = ["\t", "\n", "\u000b", "\u001b", "\u009b", "\u2028", "\u202e", "\u2066"];
/** Characters that a multi-line text must not contain: `invisibleCharacters` without tab and line feed. */
export const invisibleInText = invisibleCharacters.filter((character) => character !== "\t" && character !== "\n");

/**
 * Starts a backend for the tests of a file. Tests can use the returned backend and its functions from `beforeAll` on.
 */
export function setUpTestBackend() {
  const testBackend = {} as TestBackend;
  beforeAll(async () => {
    Object.assign(testBackend, await startTestBackend());
  });
  afterAll(() => testBackend.close());

  /** Returns the rows of a query that bypasses row-level security. */
  async function query<T = DatabaseRow>(text: string, values: unknown[] = []): Promise<T[]> {
    return (await testBackend.backend.db.query<T>(text, values)).rows;
  }

  /** Creates a client before the tests of a file. The returned object is empty until `beforeAll`. */
  function setUpClient(email: string): TestClient {
    const client = {} as TestClient;
    beforeAll(async () => {
      Object.assign(client, await testBackend.newClient(email));
    });
    return client;
  }

  /** Sends a request with the JSON of `body` to the backend. */
  function sendRequest(method: string, at: string, headers: Record<string, string>, body?: object): Promise<Response> {
    return testBackend.backend.fetch(
      new Request(`http://backend.local${at}`, {
        method,
        headers: { ...headers, ...(body && { "content-type": "application/json" }) },
        body: body && JSON.stringify(body),
      }),
    );
  }

  function createAuthHeaders(token: string) {
    return { apikey: testBackend.publishableKey, authorization: `Bearer ${token}` };
  }

  async function newShipment(client: { id: string }, name = "Tea"): Promise<string> {
    const insert = "insert into public.shipments (user_id, name) values ($1, $2) returning id";
    return String((await query(insert, [client.id, name]))[0]?.id);
  }

  /** Returns the ID of the document `name` of a shipment, or "" if the shipment has no document with this name. */
  async function getDocumentId(shipment: string, name: string): Promise<string> {
    const select = "select id from public.documents where shipment_id = $1 and name = $2";
    return String((await query(select, [shipment, name]))[0]?.id ?? "");
  }

  /** Inserts the row of a stored file for a document. Returns the storage path. */
  async function storeFile(shipment: string, name: string): Promise<string> {
    const slug = name.toLowerCase().replaceAll(" ", "-");
    const [row] = await query<{ path: string }>(
      `insert into storage.objects (bucket_id, name, version)
       select 'documents', concat(user_id, '/', id, '/', $2::text), $3 from public.shipments where id = $1
       returning name as path`,
      [shipment, `${slug}-${randomUUID().slice(-12)}-list.pdf`, randomUUID()],
    );
    return row?.path ?? "";
  }

  /** Uploads a file for a document. Returns the document's ID, and the file's storage path and version. */
  async function uploadDocument(
    shipment: string,
    name = "Packing List",
    columns: object = {},
  ): Promise<{ id: string; path: string; version: string }> {
    const path = await storeFile(shipment, name);
    const { data, error } = await testBackend.serviceRole
      .from("documents")
      .update({ uploaded: true, storage_path: path, ...fileColumns, ...columns })
      .eq("shipment_id", shipment)
      .eq("name", name)
      .select("id, storage_version")
      .single();
    if (error) throw error;
    return { id: data.id, path, version: data.storage_version ?? "" };
  }

  /** Returns the Client ID that an account's sign-up used, or "". */
  async function getClientId(account: string): Promise<string> {
    return String(
      (await query("select client_id from public.client_ids where account_id = $1", [account]))[0]?.client_id ?? "",
    );
  }

  async function readShipment(id: string): Promise<DatabaseRow> {
    return (await query("select * from public.shipments where id = $1", [id]))[0] ?? {};
  }

  /** Returns the audit entries of a shipment, oldest first. */
  function listAuditEntries(shipment: string): Promise<DatabaseRow[]> {
    return query("select * from public.audit_log where shipment_id = $1 order by created_at", [shipment]);
  }

  /** Returns the audit entries of an account, oldest first. */
  function listAccountAuditEntries(account: string): Promise<DatabaseRow[]> {
    return query(
      "select action, actor_name, before, after, reason from public.audit_log where account_id = $1 order by created_at",
      [account],
    );
  }

  /** Runs `job` while a trigger on a table executes `body` before each of the `events`, such as "insert or update". */
  async function runWithTrigger(table: string, events: string, body: string, job: () => Promise<unknown>) {
    await testBackend.backend.db.exec(`
      create function public.test_trigger() returns trigger language plpgsql as $$ begin ${body} end $$;
      create trigger z_test_trigger before ${events} on ${table} for each row execute function public.test_trigger();
    `);
    try {
      await job();
    } finally {
      await testBackend.backend.db.exec(`drop trigger z_test_trigger on ${table}; drop function public.test_trigger`);
    }
  }

  /** Runs `job` while every insert into a table and every update of the table fails with `message`. */
  const runWithRejectedWrites = (table: string, message: string, job: () => Promise<unknown>) =>
    runWithTrigger(table, "insert or update", `raise exception '${message}';`, job);

  /** Runs `job` while every update of a table row takes `seconds` seconds, so that parallel transactions overlap. */
  const runWithSlowUpdates = (table: string, seconds: number, job: () => Promise<unknown>) =>
    runWithTrigger(table, "update", `perform pg_sleep(${seconds}); return new;`, job);

  return {
    ...{ testBackend, query, setUpClient, sendRequest, createAuthHeaders },
    ...{ getClientId, newShipment, readShipment, listAuditEntries, listAccountAuditEntries },
    ...{ getDocumentId, storeFile, uploadDocument, runWithRejectedWrites, runWithSlowUpdates },
  };
}

/**
 * Calls setUpTestBackend and adds a client, a clerk and a lead. `callRpc` uses the clerk's session by default.
 * `callRpc` and `runConcurrently` add the record's current version if the arguments have no version.
 */
export function setUpDesk() {
  const suite = setUpTestBackend();
  const { testBackend, query } = suite;
  const owner = {} as TestClient;
  const clerk = {} as TestStaffMember;
  const lead = {} as TestStaffMember;
  beforeAll(async () => {
    Object.assign(owner, await testBackend.newClient("owner@client.example"));
    Object.assign(clerk, await newStaffMember(testBackend, "clerk", "clerk@company.example"));
    Object.assign(lead, await newStaffMember(testBackend, "lead", "lead@company.example"));
  });

  /** Runs calls of team members in parallel. Returns for each call "done" or the message of the rejection. */
  async function runConcurrently(calls: [string, Record<string, unknown>, TestStaffMember][]): Promise<string[]> {
    const versioned = await Promise.all(
      calls.map(async ([name, args, { accessToken: token }]) => ({ name, args: await addVersion(name, args), token })),
    );
    const results = await callConcurrently(testBackend, versioned);
    return results.map(({ rejection }) => rejection ?? "done");
  }

  async function addVersion(name: string, args: object): Promise<Record<string, unknown>> {
    const { shipment_id, document_id, item } = args as Record<string, string | undefined>;
    const [row] = await query<{ version: number }>(
      `select coalesce(
         (select version from public.documents where id = $2),
         case when $3::text is not null then coalesce(
           (select version from public.charges where charges.shipment_id = $1 and charges.item = $3), -1
         ) end,
         (select version from public.shipments where id = $1), 0
       ) as version
       from pg_proc where proname = $4 and 'expected_version' = any (proargnames)`,
      [shipment_id, document_id, item, name],
    );
    return row ? { expected_version: row.version, ...args } : { ...args };
  }

  const call = createRpcCaller(() => clerk.supabase);
  const callRpc: typeof call = async (name, args, supabase) => call(name, await addVersion(name, args), supabase);
  return { ...suite, owner, clerk, lead, runConcurrently, addVersion, callRpc };
}

/**
 * Returns a function that calls a database function, by default with the Supabase client from `getCaller`. The returned
 * function throws an RpcError if the call is rejected.
 */
export function createRpcCaller(getCaller: () => AppSupabaseClient) {
  return async (name: string, args: object, supabase: AppSupabaseClient = getCaller()): Promise<unknown> => {
    const { data, error, status } = await toUntypedClient(supabase).rpc(name, args);
    if (error) throw new RpcError(error.message, status);
    return data;
  };
}

class RpcError extends Error {
  status: number;
  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** Awaits a call. Returns "done", or the status and message of the call's RpcError. */
export async function getRejection(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "done";
  } catch (error) {
    if (error instanceof RpcError) return `${error.status} ${error.message}`;
    throw error;
  }
}

/** Calls a database function. Returns the result, or the status and message of the rejection. */
export async function callRpcOrGetRejection(name: string, args: object, supabase: AppSupabaseClient): Promise<unknown> {
  const { data, error, status } = await toUntypedClient(supabase).rpc(name, args);
  return error ? `${status} ${error.message}` : data;
}

/** Calls a database function that reads a page's data. Returns the data. Throws if the call is rejected. */
// biome-ignore lint/suspicious/noExplicitAny: each test reads another part of the page's JSON
export async function readPage(supabase: AppSupabaseClient, name: string, args: object = {}): Promise<any> {
  const { data, error } = await toUntypedClient(supabase).rpc(name, args, { get: true });
  if (error) throw error;
  return data;
}

export const hashToken = (token: string) => createHash("sha256").update(token).digest("hex");

export function decodeClaims(token: string): Record<string, unknown> & { sub: string } {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
}
