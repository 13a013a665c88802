import { z } from "zod";
import type { Viewer } from "../lib/auth/viewer.server.ts";
import { oneLine } from "../lib/forms/text-fields.ts";
import type { UserError } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { dataOrThrow, dataOrUserError, fetchPages, getResultError } from "../lib/supabase/result.server.ts";
import { maxLength } from "./limits.ts";
import { ShipmentNumberFields, toNumberArguments, toNumberColumns } from "./shipment-fields.server.ts";

const shipmentNameField = (missing: string) => oneLine(missing).max(...maxLength("shipmentName", " for the name"));
const shipmentNameRequired = "Enter a name for the shipment.";

export const ChangeShipmentFields = z.object({
  name: shipmentNameField(shipmentNameRequired).min(1, shipmentNameRequired),
  ...ShipmentNumberFields.shape,
});

export const CreateShipmentFields = z.object({
  name: shipmentNameField("")
    .optional()
    .transform((name) => name ?? ""),
  ...ShipmentNumberFields.shape,
  idempotencyKey: z.uuid("We received only part of the form. Reload the page, then send the form again."),
});

/** The database rejects a change after stage 1. `expectedVersion` is the version that the form showed. */
export async function changeShipment(
  client: Viewer,
  id: string,
  { name, ...numbers }: z.infer<typeof ChangeShipmentFields>,
  expectedVersion: number,
): Promise<UserError | null> {
  const args = { shipment_id: id, name, ...toNumberArguments(numbers), expected_version: expectedVersion };
  return getResultError(await client.supabase.rpc("change_shipment", args));
}

/** Creates a shipment, or returns the shipment that an earlier call with the same `idempotencyKey` created. */
export async function createShipment(
  client: Viewer,
  { name, idempotencyKey, ...numbers }: z.infer<typeof CreateShipmentFields>,
): Promise<{ id: string } | UserError> {
  const inserted = await client.supabase
    .from("shipments")
    .insert({
      name,
      ...toNumberColumns(numbers),
      user_id: client.id,
      idempotency_key: idempotencyKey,
      status: "Client Onboarding",
      stage: 1,
    })
    // Only the id is selected, because the embedded backend ignores `single` for an insert with nested rows.
    .select("id")
    .single();
  if (inserted.error?.code !== "23505") return dataOrUserError(inserted);
  const existing = await client.supabase
    .from("shipments")
    .select("id")
    .eq("user_id", client.id)
    .eq("idempotency_key", idempotencyKey)
    .retry(false)
    .single();
  return dataOrUserError(existing);
}

export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

const listedColumns = "id, user_id, name, status, stage, awb, container_numbers, created_at";

export async function listAllShipments(serviceRole: AppSupabaseClient) {
  const all = [];
  const pages = fetchPages((first, last) =>
    serviceRole
      .from("shipments")
      .select(listedColumns)
      .order("created_at", { ascending: false })
      .order("id", { ascending: false })
      .range(first, last)
      .retry(false),
  );
  for await (const page of pages) all.push(...page);
  return all;
}

/** Returns the ID of the only shipment with this prefix. Throws if no shipment or several shipments match. */
export async function findShipmentId(serviceRole: AppSupabaseClient, prefix: string): Promise<string> {
  const typed = prefix.toLowerCase();
  const shape = "00000000-0000-0000-0000-000000000000";
  const isPrefix = typed.length > 0 && typed.length <= shape.length;
  if (!isPrefix || !isUuid(typed + shape.slice(typed.length)))
    throw new Error(`No shipment has an ID that begins with ${prefix}.`);
  const query = serviceRole
    .from("shipments")
    .select("id")
    .gte("id", typed + shape.slice(typed.length))
    .lte("id", typed + shape.replaceAll("0", "f").slice(typed.length))
    .limit(2)
    .retry(false);
  const [found, another] = dataOrThrow(await query);
  if (another)
    throw new Error(`Several shipments have an ID that begins with ${prefix}. Enter more characters of the ID.`);
  if (!found) throw new Error(`No shipment has an ID that begins with ${prefix}.`);
  return found.id;
}
