import { z } from "zod";
import type { Viewer } from "../lib/auth/viewer.server.ts";
import { oneLine } from "../lib/forms/text-fields.ts";
import type { UserError } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { dataOrThrow, dataOrUserError, fetchPages, getResultError } from "../lib/supabase/result.server.ts";
import { maxLength } from "./limits.ts";
import { ShipmentNumberFields, toNumberArguments } from "./shipment-fields.server.ts";

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

/** The database rejects a change after stage 1. `expectedVersion` is the version when the form was rendered. */
export async function changeShipment(
  client: Viewer,
  id: string,
  { name, ...numbers }: z.infer<typeof ChangeShipmentFields>,
  expectedVersion: number,
): Promise<UserError | null> {
  const args = { shipment_id: id, name, ...toNumberArguments(numbers), expected_version: expectedVersion };
  return getResultError(await client.supabase.rpc("change_shipment", args));
}

export async function withdrawOwnShipment(
  client: Viewer,
  shipment_id: string,
  expected_version: number,
): Promise<UserError | null> {
  return getResultError(await client.supabase.rpc("withdraw_own_shipment", { shipment_id, expected_version }));
}

/** Creates a shipment, or returns the shipment that an earlier call with the same `idempotencyKey` created. */
export async function createShipment(
  client: Viewer,
  { name, idempotencyKey, awb, containerNumbers }: z.infer<typeof CreateShipmentFields>,
): Promise<{ id: string } | UserError> {
  const inserted = await client.supabase
    .from("shipments")
    .insert({
      name,
      awb: awb || null,
      container_numbers: containerNumbers,
      user_id: client.id,
      idempotency_key: idempotencyKey,
      status: "Client Onboarding",
      stage: 1,
    })
    // Selects only the ID, because the embedded backend ignores `single` if an insert also selects nested rows.
    .select("id")
    .single();
  if (inserted.error?.code !== "23505") return dataOrUserError(inserted);
  const existing = client.supabase.from("shipments").select("id");
  const ownKey = { user_id: client.id, idempotency_key: idempotencyKey };
  return dataOrUserError(await existing.match(ownKey).retry(false).single());
}

export function isUuid(text: string | undefined): text is string {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text ?? "");
}

export async function listAllShipments(serviceRole: AppSupabaseClient) {
  const all = [];
  const pages = fetchPages((first, last) =>
    serviceRole
      .from("shipments")
      .select("id, user_id, name, status, stage, awb, container_numbers, created_at")
      .is("withdrawn_at", null)
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
  const first = typed + shape.slice(typed.length);
  const last = typed + shape.replaceAll("0", "f").slice(typed.length);
  if (typed === "" || !isUuid(first)) throw new Error(`No shipment has an ID that begins with ${prefix}.`);
  const query = serviceRole.from("shipments").select("id").gte("id", first).lte("id", last);
  const [found, another] = dataOrThrow(await query.limit(2).retry(false));
  if (another)
    throw new Error(`Several shipments have an ID that begins with ${prefix}. Enter more characters of the ID.`);
  if (!found) throw new Error(`No shipment has an ID that begins with ${prefix}.`);
  return found.id;
}
