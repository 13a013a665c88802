import { toUserError } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { isUuid } from "./shipment.server.ts";

const shipmentColumns = "id, user_id, name, status, stage, awb, container_numbers, created_at";

/** Returns the shipments of all clients, newest first. Throws. */
export async function listAllShipments(serviceRole: AppSupabaseClient) {
  const all = [];
  const pageSize = 1000;
  for (let first = 0; ; first += pageSize) {
    const { data, error, status } = await serviceRole
      .from("shipments")
      .select(shipmentColumns)
      .order("created_at", { ascending: false })
      .order("id", { ascending: false })
      .range(first, first + pageSize - 1)
      .retry(false);
    if (error) throw new Error(toUserError({ ...error, status }).reason);
    all.push(...data);
    if (data.length < pageSize) return all;
  }
}

/** Throws unless exactly one shipment has an ID with this prefix. */
export async function findShipmentId(serviceRole: AppSupabaseClient, prefix: string): Promise<string> {
  const typed = prefix.toLowerCase();
  const shape = "00000000-0000-0000-0000-000000000000";
  const isPrefix = typed.length > 0 && typed.length <= shape.length;
  if (!isPrefix || !isUuid(typed + shape.slice(typed.length))) throw new Error(`There is no shipment ${prefix}.`);
  const { data, error, status } = await serviceRole
    .from("shipments")
    .select("id")
    .gte("id", typed + shape.slice(typed.length))
    .lte("id", typed + shape.replaceAll("0", "f").slice(typed.length))
    .limit(2)
    .retry(false);
  if (error) throw new Error(toUserError({ ...error, status }).reason);
  if (data.length > 1) throw new Error(`More than one shipment begins with ${prefix}: give more of its id.`);
  if (!data[0]) throw new Error(`There is no shipment ${prefix}.`);
  return data[0].id;
}
