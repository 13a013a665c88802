/** Acts of the company on shipments, documents and what all clients read: by a colleague at the desk, or by a command. */
import { z } from "zod";
import { toUserError, type UserError, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import type { Database } from "../lib/supabase/database.ts";
import { isUuid } from "./shipment.server.ts";

type DatabaseFunctions = Database["public"]["Functions"];

/**
 * `expected_version` is the version that the form was opened with; a newer one is rejected with 409. `idempotency_key` makes a
 * form that is sent twice one action. `actor_name` names the person who runs a command.
 */
export type StaffActionOptions = { expected_version?: number; idempotency_key?: string; actor_name?: string };

/** An act that was done, with what its function answers. */
export type StaffActionResult<Answer> = { result: Answer };

/** Calls the function of an act, which judges, does and logs it in one transaction. Null arguments are left out. */
export async function runStaffAction<Name extends keyof DatabaseFunctions>(
  backend: AppSupabaseClient,
  name: Name,
  args: { [Key in keyof DatabaseFunctions[Name]["Args"]]?: DatabaseFunctions[Name]["Args"][Key] | null },
): Promise<StaffActionResult<DatabaseFunctions[Name]["Returns"]> | UserError> {
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined && value !== null));
  const { data, error, status } = await backend.rpc(name, given as never);
  return error ? toUserError({ ...error, status }) : { result: data as DatabaseFunctions[Name]["Returns"] };
}

/** The answer of an act, for commands. Throws an error with the reason when it was refused. */
export function resultOrThrow<Answer>(outcome: StaffActionResult<Answer> | UserError): Answer {
  if ("reason" in outcome) throw new Error(outcome.reason);
  return outcome.result;
}

/** What can become of one of many shipments that are to move on. */
export const BULK_MOVE_OUTCOMES = ["moved", "missing", "closed", "changed", "unknown"] as const;
export type BulkMoveOutcome = (typeof BULK_MOVE_OUTCOMES)[number];

const BulkMoveResult = z.object({ id: z.string(), failure: z.enum(BULK_MOVE_OUTCOMES).nullable() });
/** What became of one of many shipments: `why` it did not move, null when it did. */
export type BulkMoveResult = z.infer<typeof BulkMoveResult>;

/** Moves many shipments on, up to 50, each by itself: one that cannot move stops no other. */
export async function moveShipments(
  backend: AppSupabaseClient,
  moves: { id: string; expected_version?: number }[],
  location: string | undefined,
  signed: Omit<StaffActionOptions, "expected_version">,
): Promise<StaffActionResult<BulkMoveResult[]> | UserError> {
  const moved = await runStaffAction(backend, "move_shipments", { moves, location, ...signed });
  if ("reason" in moved) return moved;
  const all = z.array(BulkMoveResult).safeParse(moved.result);
  return all.success ? { result: all.data } : userErrorFromThrown(all.error);
}

/** What became of shipments in a bulk move, as the address of its answer says: by id, why one did not move, or "moved". */
export function readBulkMoveOutcomes({ searchParams }: URL): Record<string, BulkMoveOutcome> {
  const of = (outcome: BulkMoveOutcome) => (searchParams.get(outcome) ?? "").split(",").filter(isUuid);
  return Object.fromEntries(
    BULK_MOVE_OUTCOMES.flatMap((outcome) => of(outcome).map((id) => [id, outcome])).slice(0, 50),
  );
}

/** The answer to a bulk move. */
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

/** Commands: the mails that could not be handed over and that nobody has dealt with, the oldest first. Throws. */
export async function listFailedEmails(company: AppSupabaseClient) {
  const { data, error, status } = await company
    .from("failed_emails")
    .select("id, failed_at, kind, sent_to")
    .is("resolved_at", null)
    .order("failed_at")
    .retry(false);
  if (error) throw new Error(toUserError({ ...error, status }).reason);
  return data;
}
