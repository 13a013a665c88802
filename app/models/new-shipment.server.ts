import { z } from "zod";
import type { Viewer } from "../lib/auth/viewer.server.ts";
import { oneLine } from "../lib/forms/text-fields.ts";
import { toUserError, type UserError } from "../lib/http/user-error.server.ts";
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
  idempotencyKey: z.uuid("Open this form again and send it once more."),
});

/** Only for a shipment at stage 1. `expectedVersion` is the version that the form showed. */
export async function changeShipment(
  client: Viewer,
  id: string,
  { name, ...numbers }: z.infer<typeof ChangeShipmentFields>,
  expectedVersion: number,
): Promise<UserError | null> {
  const { error, status } = await client.supabase.rpc("change_shipment", {
    shipment_id: id,
    name,
    ...toNumberArguments(numbers),
    expected_version: expectedVersion,
  });
  return error ? toUserError({ ...error, status }) : null;
}

/** A repeated `idempotencyKey` returns the shipment that it created before. */
export async function createShipment(
  client: Viewer,
  { name, idempotencyKey, ...numbers }: z.infer<typeof CreateShipmentFields>,
): Promise<{ id: string } | UserError> {
  const { data, error, status } = await client.supabase
    .from("shipments")
    .insert({
      name,
      ...toNumberColumns(numbers),
      user_id: client.id,
      idempotency_key: idempotencyKey,
      status: "Client Onboarding",
      stage: 1,
    })
    // The embedded backend returns an array if an insert selects nested rows.
    .select("id")
    .single();
  if (!error) return data;
  if (error.code !== "23505") return toUserError({ ...error, status });
  const existing = await client.supabase
    .from("shipments")
    .select("id")
    .eq("user_id", client.id)
    .eq("idempotency_key", idempotencyKey)
    .retry(false)
    .single();
  return existing.error ? toUserError({ ...existing.error, status: existing.status }) : existing.data;
}
