import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import ws from "ws";
import type { Database } from "../../app/lib/supabase/database.ts";
import type { Email } from "../../supabase/contract/email-delivery.ts";
import { type Backend, createBackend } from "../../supabase/local/backend.ts";
import { backendKeys } from "./backend-keys.ts";
import { createMigratedDatabase } from "./database.ts";
import { copyFirstStartDataDir } from "./first-start-data.ts";

const { publishableKey, secretKey } = backendKeys;

type FetchInterceptor = (request: Request, next: Backend["fetch"]) => Promise<Response>;

export type AppSupabaseClient = SupabaseClient<Database>;

/** The handle without the types of our tables, so that a test can send unknown columns and values. */
export const toUntypedClient = (handle: AppSupabaseClient) => handle as SupabaseClient;

/**
 * The embedded backend with supabase-js handles on it: on a database of its own on a PostgreSQL server, or, in the
 * project "pglite", in a folder with the demo. Close it after the tests.
 */
export async function startTestBackend() {
  const database = await createMigratedDatabase();
  // On PGlite, the database that a first start made: making one takes seconds.
  const folder = database ? mkdtempSync(path.join(tmpdir(), "objects-")) : await copyFirstStartDataDir();
  const mails: Email[] = [];
  const backend: Backend = await createBackend({
    dataDir: database ? null : folder,
    databaseUrl: database?.url ?? null,
    objectsDir: folder,
    siteUrl: "http://127.0.0.1:3000",
    ...backendKeys,
    deliver: async (mail) => {
      mails.push(mail);
    },
    seed: false,
  });

  const handle = (
    key: string,
    through: FetchInterceptor = (request, next) => next(request),
    headers: Record<string, string> = {},
  ): AppSupabaseClient =>
    createClient<Database>("http://backend.local", key, {
      auth: { persistSession: false, autoRefreshToken: false },
      global: { headers, fetch: (input, init) => through(new Request(input, init), backend.fetch) },
      realtime: { transport: ws as unknown as typeof WebSocket },
    });

  const company = handle(secretKey);

  /** A confirmed client, as the company makes one, with its signed-in handle. */
  async function newClient(email: string, password = "a good password") {
    const issued = await company.rpc("issue_client_ids", {});
    if (issued.error) throw issued.error;
    const [invitation] = issued.data;
    const made = await company.auth.admin.createUser({
      email,
      password,
      email_confirm: true,
      user_metadata: { full_name: `Client ${email}`, client_id: invitation?.client_id },
    });
    if (made.error) throw made.error;
    const client = handle(publishableKey);
    const { data, error } = await client.auth.signInWithPassword({ email, password });
    if (error) throw error;
    return { handle: client, id: data.user.id, email, accessToken: data.session.access_token };
  }

  return {
    backend,
    mails,
    company,
    /** The company's handle with something in between, such as a line that breaks. */
    companyThrough: (through: FetchInterceptor) => handle(secretKey, through),
    /** A handle that keeps sending an access token, whatever became of its session. */
    withToken: (token: string) => handle(publishableKey, undefined, { Authorization: `Bearer ${token}` }),
    /** A handle without a session, as a visitor's requests have it. */
    anonymous: () => handle(publishableKey),
    newClient,
    publishableKey,
    secretKey,
    close: async () => {
      await backend.close();
      await database?.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
