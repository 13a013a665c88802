import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import { inject } from "vitest";
import ws from "ws";
import type { Database } from "../../app/lib/supabase/database.ts";
import type { Email } from "../../supabase/contract/email-delivery.ts";
import { type Backend, createBackend } from "../../supabase/local/backend.ts";
import { backendKeys, backendOptions } from "./backend-keys.ts";
import { createDatabase } from "./database.ts";
import { copyFirstStartDataDir } from "./first-start-data.ts";
import { findPostgrest, withPostgrest } from "./postgrest.ts";

const { publishableKey, secretKey } = backendKeys;

type FetchInterceptor = (request: Request, next: Backend["fetch"]) => Promise<Response>;

export type AppSupabaseClient = SupabaseClient<Database>;
export type TestBackend = Awaited<ReturnType<typeof startTestBackend>>;

/** Returns the Supabase client without the types of our tables, so that a test can send unknown columns and values. */
export const toUntypedClient = (supabase: AppSupabaseClient) => supabase as SupabaseClient;

/**
 * Starts a backend and returns it with Supabase clients. The backend has its own database on a PostgreSQL server and
 * PostgREST as its data API, except in the Vitest project "pglite". There, the backend is the embedded backend with demo
 * data. The caller must close the backend after the tests.
 */
export async function startTestBackend() {
  const server = inject("postgres");
  const database = server ? await createDatabase(server, inject("migrated")) : null;
  // Copies an existing PGlite database, because creating a PGlite database takes seconds.
  const folder = database ? mkdtempSync(path.join(tmpdir(), "objects-")) : await copyFirstStartDataDir();
  const emails: Email[] = [];
  let deliveryError: Error | null = null;
  const embedded = await createBackend({
    dataDir: database ? null : folder,
    databaseUrl: database?.url ?? null,
    objectsDir: folder,
    ...backendOptions,
    deliver: async (email) => {
      if (deliveryError) throw deliveryError;
      emails.push(email);
    },
  });
  const backend = database ? withPostgrest(embedded, database.url) : embedded;

  const newSupabaseClient = (
    key: string,
    through: FetchInterceptor = (request, next) => next(request),
    headers: Record<string, string> = {},
  ): AppSupabaseClient =>
    createClient<Database>("http://backend.local", key, {
      auth: { persistSession: false, autoRefreshToken: false },
      global: { headers, fetch: (input, init) => through(new Request(input, init), backend.fetch) },
      realtime: { transport: ws as unknown as typeof WebSocket },
    });

  const serviceRole = newSupabaseClient(secretKey);

  /** Creates a confirmed client of the company with a signed-in Supabase client. */
  async function newClient(email: string, password = "a good password") {
    const issued = await serviceRole.rpc("issue_client_ids", {});
    if (issued.error) throw issued.error;
    const [invitation] = issued.data;
    const created = await serviceRole.auth.admin.createUser({
      email,
      password,
      email_confirm: true,
      user_metadata: { full_name: `Client ${email}`, client_id: invitation?.client_id },
    });
    if (created.error) throw created.error;
    const supabase = newSupabaseClient(publishableKey);
    const { data, error } = await supabase.auth.signInWithPassword({ email, password });
    if (error) throw error;
    return { supabase, id: data.user.id, email, accessToken: data.session.access_token };
  }

  return {
    backend,
    emails,
    /** Makes the delivery of emails fail with `error`, or succeed again if `error` is null. */
    rejectEmails: (error: Error | null) => {
      deliveryError = error;
    },
    serviceRole,
    /**
     * Returns a service-role client that sends its requests with the function `through`, which can simulate failures.
     */
    serviceRoleThrough: (through: FetchInterceptor) => newSupabaseClient(secretKey, through),
    /**
     * Returns a Supabase client that always sends the access token `token`, even after the end of the token's session.
     */
    withToken: (token: string) => newSupabaseClient(publishableKey, undefined, { Authorization: `Bearer ${token}` }),
    anonymous: () => newSupabaseClient(publishableKey),
    newClient,
    publishableKey,
    secretKey,
    /** True if the data API of `backend` is PostgREST. */
    hasPostgrest: Boolean(database && findPostgrest()),
    /** Sends a request to the embedded data API, even if `backend` has PostgREST. */
    fetchEmbedded: embedded.fetch,
    close: async () => {
      await backend.close();
      await database?.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
