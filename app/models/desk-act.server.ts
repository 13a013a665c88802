/** Acts of the company on shipments, documents and what all clients read: by a colleague at the desk, or by a command. */
import { z } from "zod";
import type { Database } from "../lib/database.ts";
import { type Refusal, refusalOf, refusalOfThrown } from "../lib/refusal.server.ts";
import type { Backend } from "../lib/supabase.server.ts";
import type { Place } from "./desk.ts";
import { isUuid } from "./shipment.server.ts";

type Functions = Database["public"]["Functions"];

/**
 * What a form or a command says of itself. `seen`: the version it was opened at, refused with 409 when somebody changed the
 * thing since. `request`: the form's own id, so that sending it twice makes one act. `by_name`: who runs the command; a
 * colleague's name is known.
 */
export type Signed = { seen?: number; request?: string; by_name?: string };

/** An act that was done, with what its function answers. */
export type Done<Answer> = { answer: Answer };

/** Calls the function of an act, which judges, does and logs it in one transaction. Null arguments are left out. */
export async function act<Name extends keyof Functions>(
  backend: Backend,
  name: Name,
  args: Record<string, unknown>,
): Promise<Done<Functions[Name]["Returns"]> | Refusal> {
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined && value !== null));
  const { data, error, status } = await backend.rpc(name, given as never);
  return error ? refusalOf({ ...error, status }) : { answer: data as Functions[Name]["Returns"] };
}

/** The answer of an act, for commands. Throws an error with the reason when it was refused. */
export function orThrow<Answer>(outcome: Done<Answer> | Refusal): Answer {
  if ("reason" in outcome) throw new Error(outcome.reason);
  return outcome.answer;
}

/** Where a shipment is after an act, or the documents whose absence stops it. */
export type Moved = { stage: number; status: string } | { missing: string[] };

/**
 * Moves a shipment to its next stage, with its event. While documents are missing it answers with their names and does
 * nothing, unless `despiteMissing`.
 */
export async function moveShipment(
  backend: Backend,
  id: string,
  move: { location?: string; note?: string; despiteMissing?: boolean },
  signed: Signed,
): Promise<Done<Moved> | Refusal> {
  const { location, note, despiteMissing } = move;
  const args = { shipment_id: id, location, note, despite_missing: despiteMissing ?? false, ...signed };
  return (await act(backend, "move_shipment", args)) as Done<Moved> | Refusal;
}

/** What can become of one of many shipments that are to move on. */
export const OUTCOMES = ["moved", "missing", "closed", "changed", "unknown"] as const;
export type Outcome = (typeof OUTCOMES)[number];

const MovedOne = z.object({ id: z.string(), why: z.enum(OUTCOMES).nullable() });
/** What became of one of many shipments: `why` it did not move, null when it did. */
export type MovedOne = z.infer<typeof MovedOne>;

/** Moves many shipments on, up to 50, each by itself: one that cannot move stops no other. */
export async function moveShipments(
  backend: Backend,
  moves: { id: string; seen?: number }[],
  location: string | undefined,
  signed: Omit<Signed, "seen">,
): Promise<Done<MovedOne[]> | Refusal> {
  const moved = await act(backend, "move_shipments", { moves, location, ...signed });
  if ("reason" in moved) return moved;
  const all = z.array(MovedOne).safeParse(moved.answer);
  return all.success ? { answer: all.data } : refusalOfThrown(all.error);
}

/** What became of shipments in a bulk move, as the address of its answer says: by id, why one did not move, or "moved". */
export function movedOf({ searchParams }: URL): Record<string, Outcome> {
  const of = (outcome: Outcome) => (searchParams.get(outcome) ?? "").split(",").filter(isUuid);
  return Object.fromEntries(OUTCOMES.flatMap((outcome) => of(outcome).map((id) => [id, outcome])).slice(0, 50));
}

/** The answer to a bulk move. */
export const MovedPage = z.object({
  shipments: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      client: z.string(),
      stage: z.number(),
      status: z.string(),
      missing: z.array(z.string()),
    }),
  ),
});

/** Puts a shipment at the stage it is really at, 1 to 10. */
export function correctStage(backend: Backend, id: string, to: { stage: number; reason: string }, signed: Signed) {
  return act(backend, "correct_stage", { shipment_id: id, ...to, ...signed });
}

/** Writes the AWB/BL number; "" takes it off. One that stands is changed with a reason. */
export function saveAwb(backend: Backend, id: string, to: { awb: string; reason?: string }, signed: Signed) {
  return act(backend, "save_awb", { shipment_id: id, ...to, ...signed });
}

/** Where and when cargo arrived, and in what; `free_until` is the last day of free storage. Days are YYYY-MM-DD. */
export type Arrival = { place: Place; day: string; size: 20 | 40; free_until: string };

/** Writes where, when and in what the cargo arrived, and the last day of free storage. */
export function saveArrival(backend: Backend, id: string, arrival: Arrival, signed: Signed) {
  return act(backend, "save_arrival", { shipment_id: id, ...arrival, ...signed });
}

/** Tells the client something, in the history of the shipment. */
export function sendNote(backend: Backend, id: string, note: string, { seen: _, ...signed }: Signed) {
  return act(backend, "send_note", { shipment_id: id, note, ...signed });
}

export type Charge = { item: string; amount: number; currency: string; due_on?: string; note?: string };

/** Sets what the client is to pay for one item. `signed.seen` is the version of the charge, -1 when there was none. */
export function setCharge(backend: Backend, id: string, charge: Charge, signed: Signed) {
  return act(backend, "set_charge", { shipment_id: id, ...charge, ...signed });
}

/** Notes that a charge was paid, or, with a reason, that it was not. */
export function markCharge(
  backend: Backend,
  id: string,
  mark: { item: string; paid: boolean; reason?: string },
  signed: Signed,
) {
  return act(backend, "mark_charge", { shipment_id: id, ...mark, ...signed });
}

/** Takes the verification of a document back. */
export function unverifyDocument(backend: Backend, document: string, reason: string, signed: Signed) {
  return act(backend, "unverify_document", { document_id: document, reason, ...signed });
}

/** Sends a document back: its client is asked for another file and told why. */
export function sendBackDocument(backend: Backend, document: string, reason: string, signed: Signed) {
  return act(backend, "send_back_document", { document_id: document, reason, ...signed });
}

/** Says something to all clients, instead of what was said before. */
export function announce(backend: Backend, text: string, { seen: _, ...signed }: Signed) {
  return act(backend, "announce", { text, ...signed });
}

/** Ends what is said to all clients. */
export function endAnnouncement(backend: Backend, by_name?: string) {
  return act(backend, "end_announcement", { by_name });
}

/** Commands: the mails that could not be handed over and that nobody has dealt with, the oldest first. Throws. */
export async function listUndelivered(company: Backend) {
  const { data, error, status } = await company
    .from("undelivered_mails")
    .select("id, at, kind, sent_to")
    .is("dealt_with_at", null)
    .order("at")
    .retry(false);
  if (error) throw new Error(refusalOf({ ...error, status }).reason);
  return data;
}

/** Takes a mail that could not be handed over off the list. */
export function dismissUndelivered(backend: Backend, mail: string, by_name?: string) {
  return act(backend, "dismiss_undelivered", { mail, by_name });
}
