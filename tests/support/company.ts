/** Actions of the company for tests, on the backend of a running site. */
import process from "node:process";
import type { BackendAccess } from "../../app/lib/env.server.ts";
import { companyBackend } from "../../app/lib/supabase.server.ts";
import { issueClientIds } from "../../app/models/client-id.server.ts";
import { runningAccess } from "../../app/server/embedded.ts";

/**
 * The company's handle on the backend of a data directory, or on the hosted one that the environment names (tests/hosted).
 * Throws when none runs.
 */
export function companyOf(dataDir: string) {
  const access = hostedAccess() ?? runningAccess(dataDir);
  if (!access) throw new Error(`No backend runs on ${dataDir}`);
  return companyBackend(access);
}

/** The hosted backend under test, known by MAILS_DIR beside its address and keys; null on every other run. */
export function hostedAccess(): BackendAccess | null {
  const { SUPABASE_URL: url, SUPABASE_PUBLISHABLE_KEY: publishableKey, SUPABASE_SECRET_KEY: secretKey } = process.env;
  return process.env.MAILS_DIR && url && publishableKey && secretKey ? { url, publishableKey, secretKey } : null;
}

/** An unused client ID. */
export async function newClientId(dataDir: string): Promise<string> {
  const [clientId = ""] = await issueClientIds(companyOf(dataDir), 1);
  return clientId;
}
