/** Acts of the company on shipments, documents and what all clients read: by a colleague at the desk, or by a command. */
import type { Database } from "../lib/database.ts";
import { type Refusal, refusalOf } from "../lib/refusal.server.ts";
import type { Backend } from "../lib/supabase.server.ts";
import type { Place } from "./desk.ts";

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

/** Puts a shipment at the stage it is really at, 1 to 10. */
export function correctStage(backend: Backend, id: string, to: { stage: number; reason: string }, signed: Signed) {
  return act(backend, "correct_stage", { shipment_id: id, ...to, ...signed });
}

/** Writes the AWB/BL number; "" takes it off. */
export function saveAwb(backend: Backend, id: string, awb: string, signed: Signed) {
  return act(backend, "save_awb", { shipment_id: id, awb, ...signed });
}

export type Arrival = { place: Place; day: string; size: 20 | 40 };

/**
 * Days without storage charge for domestic import containers at Mombasa and the inland depots, the day of arrival not
 * counted: Kenya Ports Authority, tariff of 15 September 2023.
 */
const freeDays = 4;

/** The last day of free storage, YYYY-MM-DD, for a container that arrived on a day. */
function freeUntil(arrived: string): string {
  const day = new Date(`${arrived}T00:00:00Z`);
  day.setUTCDate(day.getUTCDate() + freeDays);
  return day.toISOString().slice(0, 10);
}

/** Writes where, when (YYYY-MM-DD) and in what the cargo arrived, and with it the last day of free storage. */
export function saveArrival(backend: Backend, id: string, arrival: Arrival, signed: Signed) {
  return act(backend, "save_arrival", {
    shipment_id: id,
    ...arrival,
    free_until: freeUntil(arrival.day),
    ...signed,
  });
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

/** Takes a mail that could not be handed over off the list. */
export function dismissUndelivered(backend: Backend, mail: string, by_name?: string) {
  return act(backend, "dismiss_undelivered", { mail, by_name });
}
