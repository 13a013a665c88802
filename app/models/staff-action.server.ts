import { z } from "zod";
import { toUserError, type UserError, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import type { Database } from "../lib/supabase/database.ts";
import { isUuid } from "./shipment.server.ts";

type DatabaseFunctions = Database["public"]["Functions"];

/** `expected_version` is the record's version when the form was rendered. `actor_name` names who runs a command. */
export type StaffActionOptions = { expected_version?: number; idempotency_key?: string; actor_name?: string };

export type StaffActionResult<Result> = { result: Result };

/** Calls a database function, which checks, performs and logs an action in one transaction. Omits null arguments. */
export async function runStaffAction<Name extends keyof DatabaseFunctions>(
  supabase: AppSupabaseClient,
  name: Name,
  args: { [Key in keyof DatabaseFunctions[Name]["Args"]]?: DatabaseFunctions[Name]["Args"][Key] | null },
): Promise<StaffActionResult<DatabaseFunctions[Name]["Returns"]> | UserError> {
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined && value !== null));
  const { data, error, status } = await supabase.rpc(name, given as never);
  return error ? toUserError({ ...error, status }) : { result: data as DatabaseFunctions[Name]["Returns"] };
}

/** Returns the result of an action. Throws an error with the reason of a UserError. */
export function resultOrThrow<Result>(outcome: StaffActionResult<Result> | UserError): Result {
  if ("reason" in outcome) throw new Error(outcome.reason);
  return outcome.result;
}

export const BULK_MOVE_OUTCOMES = ["moved", "missing", "closed", "changed", "unknown"] as const;
export type BulkMoveOutcome = (typeof BULK_MOVE_OUTCOMES)[number];

const BulkMoveResult = z.object({ id: z.string(), failure: z.enum(BULK_MOVE_OUTCOMES).nullable() });
export type BulkMoveResult = z.infer<typeof BulkMoveResult>;

/** Advances up to 50 shipments by one stage. If one cannot advance, the others still do. */
export async function moveShipments(
  supabase: AppSupabaseClient,
  moves: { id: string; expected_version?: number }[],
  location: string | undefined,
  signed: Omit<StaffActionOptions, "expected_version">,
): Promise<StaffActionResult<BulkMoveResult[]> | UserError> {
  const moved = await runStaffAction(supabase, "move_shipments", { moves, location, ...signed });
  if ("reason" in moved) return moved;
  const all = z.array(BulkMoveResult).safeParse(moved.result);
  return all.success ? { result: all.data } : userErrorFromThrown(all.error);
}

export function readBulkMoveOutcomes({ searchParams }: URL): Record<string, BulkMoveOutcome> {
  const of = (outcome: BulkMoveOutcome) => (searchParams.get(outcome) ?? "").split(",").filter(isUuid);
  return Object.fromEntries(
    BULK_MOVE_OUTCOMES.flatMap((outcome) => of(outcome).map((id) => [id, outcome])).slice(0, 50),
  );
}

export const BulkMovePageData = z.object({
  shipments: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      client_name: z.string(),
      stage: z.number(),
      status: z.string(),
      missing: z.array(z.string()),
    }),
  ),
});

/** Returns the unresolved failed emails, oldest first. Throws if the backend rejects the call. */
export async function listFailedEmails(serviceRole: AppSupabaseClient) {
  const { data, error, status } = await serviceRole
    .from("failed_emails")
    .select("id, failed_at, kind, sent_to")
    .is("resolved_at", null)
    .order("failed_at")
    .retry(false);
  if (error) throw new Error(toUserError({ ...error, status }).reason);
  return data;
}
