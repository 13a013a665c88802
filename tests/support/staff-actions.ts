/** Staff actions for tests. Each function returns the result of a database function, or a UserError. */
import type { AppSupabaseClient } from "../../app/lib/supabase/client.server.ts";
import { runStaffAction, type StaffActionOptions } from "../../app/models/staff.server.ts";

export { resultOrThrow } from "../../app/models/staff.server.ts";

type Charge = { item: string; amount: number; currency: string; due_on?: string; note?: string };

export const moveShipment = (
  supabase: AppSupabaseClient,
  shipment_id: string,
  { despiteMissing: despite_missing, ...fields }: { location?: string; note?: string; despiteMissing?: boolean },
  options: StaffActionOptions,
) => runStaffAction(supabase, "move_shipment", { shipment_id, ...fields, despite_missing, ...options });

export const correctStage = (
  supabase: AppSupabaseClient,
  shipment_id: string,
  fields: { stage: number; reason: string },
  options: StaffActionOptions,
) => runStaffAction(supabase, "correct_stage", { shipment_id, ...fields, ...despiteAll, ...options });

const despiteAll = { despite_missing: true, despite_due: true };

export const saveArrival = (
  supabase: AppSupabaseClient,
  shipment_id: string,
  fields: { storage_location: string; day: string; cargo: string; free_storage_ends_on?: string },
  options: StaffActionOptions,
) => runStaffAction(supabase, "save_arrival", { shipment_id, ...fields, ...options });

export const sendNote = (supabase: AppSupabaseClient, shipment_id: string, note: string, options: StaffActionOptions) =>
  runStaffAction(supabase, "send_note", { shipment_id, note, actor_name: options.actor_name });

export const setCharge = (
  supabase: AppSupabaseClient,
  shipment_id: string,
  fields: Charge,
  options: StaffActionOptions,
) => runStaffAction(supabase, "set_charge", { shipment_id, ...fields, ...options });

export const setChargePaid = (
  supabase: AppSupabaseClient,
  shipment_id: string,
  fields: { item: string; paid: boolean; reason?: string },
  options: StaffActionOptions,
) => runStaffAction(supabase, "set_charge_paid", { shipment_id, ...fields, ...options });

export const rejectDocument = (
  supabase: AppSupabaseClient,
  document_id: string,
  reason: string,
  options: StaffActionOptions,
) => runStaffAction(supabase, "reject_document", { document_id, reason, ...options });

export const closeAccount = (supabase: AppSupabaseClient, account_id: string, reason: string) =>
  runStaffAction(supabase, "close_account", { account_id, reason });

export const removeStaffMember = (supabase: AppSupabaseClient, account_id: string, reason: string) =>
  runStaffAction(supabase, "remove_staff_member", { account_id, reason });

export const extendShipmentRetention = (supabase: AppSupabaseClient, shipment_id: string, day: string) =>
  runStaffAction(supabase, "extend_shipment_retention", { shipment_id, day });
