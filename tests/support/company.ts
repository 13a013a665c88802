/** Actions of the company for tests, on the backend of a running site. */
import process from "node:process";
import type { BackendAccess } from "../../app/lib/env.server.ts";
import { type Backend, companyBackend } from "../../app/lib/supabase.server.ts";
import { issueClientIds as issue } from "../../app/models/client-id.server.ts";
import { findAccount } from "../../app/models/colleague.server.ts";
import { act, moveShipment, orThrow, saveAwb } from "../../app/models/desk-act.server.ts";
import { findDocumentId, verifyDocument } from "../../app/models/document.server.ts";
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

/** So many client IDs. Throws. */
export async function issueClientIds(company: Backend, count: number): Promise<string[]> {
  return orThrow(await issue(company, { count }));
}

/** Moves a shipment on, whatever is missing. Throws. */
export async function advance(company: Backend, id: string, location?: string): Promise<void> {
  orThrow(await moveShipment(company, id, { location, despiteMissing: true }, {}));
}

/** Writes an AWB/BL number. Throws. */
export async function setAwb(company: Backend, id: string, awb: string): Promise<void> {
  orThrow(await saveAwb(company, id, { awb, reason: "Corrected" }, {}));
}

/** Verifies a document of a shipment, by its name. Throws. */
export async function verify(company: Backend, shipment: string, name: string): Promise<void> {
  const refused = await verifyDocument(company, company, await findDocumentId(company, shipment, name), {});
  if (refused) throw new Error(refused.reason);
}

/** Takes the second factors off an account. Throws. */
export async function resetSecondFactors(company: Backend, email: string): Promise<void> {
  orThrow(await act(company, "remove_second_factors", { account: await findAccount(company, email) }));
}
