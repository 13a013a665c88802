/** Shipments that clients open, and change while they are at stage 1. */
import { z } from "zod";
import { type Refusal, refusalOf } from "../lib/refusal.server.ts";
import type { Client } from "../lib/session.server.ts";
import { oneLine } from "./text.ts";

const nameOr = (missing: string) => oneLine(missing).max(120, "Use at most 120 characters for the name.");
const noName = "Enter a name for the shipment.";
/** The number of the air waybill or the bill of lading, where it is known; "" is none. */
const awb = oneLine("")
  .max(64, "Use at most 64 characters for the AWB/BL.")
  .optional()
  .transform((text) => text ?? "");

/** The form that changes a shipment at stage 1. */
export const ChangeShipment = z.object({ name: nameOr(noName).min(1, noName), awb });

/** The create form. `requestId` is an idempotency key: a form posted twice makes one shipment. */
export const CreateShipment = z.object({
  name: nameOr("")
    .optional()
    .transform((name) => name ?? ""),
  awb,
  requestId: z.uuid("Open this form again and send it once more."),
});

/** Changes the name and the AWB/BL of a shipment of the client's at stage 1; `seen` is its version then. Null when done. */
export async function changeShipment(
  client: Client,
  id: string,
  { name, awb }: z.infer<typeof ChangeShipment>,
  seen: number,
): Promise<Refusal | null> {
  const { error, status } = await client.backend.rpc("change_shipment", { shipment_id: id, name, awb, seen });
  return error ? refusalOf({ ...error, status }) : null;
}

/**
 * Opens a shipment at stage 1. The same `requestId` again finds the shipment it made, so that a form sent twice, or
 * again after a lost answer, makes one. Returns the shipment's id or a refusal.
 */
export async function createShipment(
  client: Client,
  { name, awb = "", requestId }: { name: string; awb?: string; requestId: string },
): Promise<{ id: string } | Refusal> {
  const { data, error, status } = await client.backend
    .from("shipments")
    .insert({
      name,
      awb: awb || null,
      user_id: client.id,
      request_id: requestId,
      status: "Client Onboarding",
      stage: 1,
    })
    // Only the id: the embedded backend returns an array when an insert selects nested rows.
    .select("id")
    .single();
  if (!error) return data;
  if (error.code !== "23505") return refusalOf({ ...error, status });
  const made = await client.backend
    .from("shipments")
    .select("id")
    .eq("user_id", client.id)
    .eq("request_id", requestId)
    .retry(false)
    .single();
  return made.error ? refusalOf({ ...made.error, status: made.status }) : made.data;
}
