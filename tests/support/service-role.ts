/** Actions of the company in the backend of a running site. The functions throw if the action fails. */
import process from "node:process";
import type { BackendAccess } from "../../app/lib/http/env.server.ts";
import { type AppSupabaseClient, serviceRoleClient } from "../../app/lib/supabase/client.server.ts";
import { issueClientIds as issue } from "../../app/models/client-id.server.ts";
import { findDocumentId, verifyDocument } from "../../app/models/document.server.ts";
import { resultOrThrow, runStaffAction } from "../../app/models/staff.server.ts";
import { getRunningAccess } from "../../app/server/embedded-backend.ts";

/**
 * Returns a service-role client for the backend of a data directory, or for the hosted backend under test
 * (tests/hosted). Throws if no backend is running.
 */
export function createServiceRoleClient(dataDir: string) {
  const access = getHostedAccess() ?? getRunningAccess(dataDir);
  if (!access) throw new Error(`No backend with the data directory ${dataDir} is running.`);
  return serviceRoleClient(access);
}

/** Returns the hosted backend under test, or null if the environment variable EMAILS_DIR is not set. */
export function getHostedAccess(): BackendAccess | null {
  const { SUPABASE_URL: url, SUPABASE_PUBLISHABLE_KEY: publishableKey, SUPABASE_SECRET_KEY: secretKey } = process.env;
  return process.env.EMAILS_DIR && url && publishableKey && secretKey ? { url, publishableKey, secretKey } : null;
}

export async function newClientId(dataDir: string): Promise<string> {
  const [clientId = ""] = await issueClientIds(createServiceRoleClient(dataDir), 1);
  return clientId;
}

export async function issueClientIds(serviceRole: AppSupabaseClient, count: number): Promise<string[]> {
  return resultOrThrow(await issue(serviceRole, { count }));
}

/** Advances a shipment by one stage, even if documents or payments are missing. */
export async function advanceShipment(serviceRole: AppSupabaseClient, id: string, location?: string): Promise<void> {
  const args = { shipment_id: id, location, despite_missing: true, despite_due: true };
  resultOrThrow(await runStaffAction(serviceRole, "move_shipment", args));
}

export async function setAwb(serviceRole: AppSupabaseClient, id: string, awb: string): Promise<void> {
  resultOrThrow(
    await runStaffAction(serviceRole, "save_shipment_numbers", { shipment_id: id, awb, reason: "Corrected" }),
  );
}

export async function verifyDocumentByName(
  serviceRole: AppSupabaseClient,
  shipment: string,
  name: string,
): Promise<void> {
  const id = await findDocumentId(serviceRole, shipment, name);
  resultOrThrow(await verifyDocument(serviceRole, serviceRole, id, {}));
}
