/** Actions of the company for tests, on the backend of a running site. */
import process from "node:process";
import type { BackendAccess } from "../../app/lib/http/env.server.ts";
import { type AppSupabaseClient, serviceRoleClient } from "../../app/lib/supabase/client.server.ts";
import { issueClientIds as issue } from "../../app/models/client-id.server.ts";
import { findDocumentId, verifyDocument } from "../../app/models/document.server.ts";
import { findAccountId } from "../../app/models/staff.server.ts";
import { resultOrThrow, runStaffAction } from "../../app/models/staff-action.server.ts";
import { getRunningAccess } from "../../app/server/embedded-backend.ts";

/**
 * The company's handle on the backend of a data directory, or on the hosted one that the environment names (tests/hosted).
 * Throws when none runs.
 */
export function createServiceRoleClient(dataDir: string) {
  const access = getHostedAccess() ?? getRunningAccess(dataDir);
  if (!access) throw new Error(`No backend runs on ${dataDir}`);
  return serviceRoleClient(access);
}

/** The hosted backend under test, known by MAILS_DIR beside its address and keys; null on every other run. */
export function getHostedAccess(): BackendAccess | null {
  const { SUPABASE_URL: url, SUPABASE_PUBLISHABLE_KEY: publishableKey, SUPABASE_SECRET_KEY: secretKey } = process.env;
  return process.env.MAILS_DIR && url && publishableKey && secretKey ? { url, publishableKey, secretKey } : null;
}

/** An unused client ID. */
export async function newClientId(dataDir: string): Promise<string> {
  const [clientId = ""] = await issueClientIds(createServiceRoleClient(dataDir), 1);
  return clientId;
}

/** So many client IDs. Throws. */
export async function issueClientIds(company: AppSupabaseClient, count: number): Promise<string[]> {
  return resultOrThrow(await issue(company, { count }));
}

/** Moves a shipment on, whatever is missing. Throws. */
export async function advanceShipment(company: AppSupabaseClient, id: string, location?: string): Promise<void> {
  const args = { shipment_id: id, location, despite_missing: true };
  resultOrThrow(await runStaffAction(company, "move_shipment", args));
}

/** Writes an AWB/BL number. Throws. */
export async function setAwb(company: AppSupabaseClient, id: string, awb: string): Promise<void> {
  resultOrThrow(await runStaffAction(company, "save_shipment_numbers", { shipment_id: id, awb, reason: "Corrected" }));
}

/** Verifies a document of a shipment, by its name. Throws. */
export async function verifyDocumentByName(company: AppSupabaseClient, shipment: string, name: string): Promise<void> {
  const refused = await verifyDocument(company, company, await findDocumentId(company, shipment, name), {});
  if (refused) throw new Error(refused.reason);
}

/** Takes the second factors off an account. Throws. */
export async function removeSecondFactors(company: AppSupabaseClient, email: string): Promise<void> {
  resultOrThrow(
    await runStaffAction(company, "remove_second_factors", { account_id: await findAccountId(company, email) }),
  );
}
