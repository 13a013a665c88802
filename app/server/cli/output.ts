/** What the staff commands print. No text of a client can forge a line, or send control characters to the terminal. */
import process from "node:process";
import { escapeInvisible } from "../../../supabase/contract/invisible-characters.ts";
import { eastAfricaTime as timeOnPages } from "../../lib/dates.ts";
import type { listAllShipments } from "../../models/all-shipments.server.ts";
import type { NewAuditEntry, StoredAuditEntry } from "../../models/audit-log.server.ts";
import type { listClientIds } from "../../models/client-id.server.ts";
import { lastStage } from "../../models/shipment.ts";
import type { listStaffMembers } from "../../models/staff.server.ts";
import type { listFailedEmails } from "../../models/staff-action.server.ts";

type CliClientId = Awaited<ReturnType<typeof listClientIds>>[number];
type CliStaffMember = Awaited<ReturnType<typeof listStaffMembers>>[number];
type CliFailedEmail = Awaited<ReturnType<typeof listFailedEmails>>[number];
type CliShipment = Awaited<ReturnType<typeof listAllShipments>>[number];

/** The time of a line: a terminal gets a plain blank where a page has one that does not break. */
const formatTerminalTime = (iso: string) => timeOnPages(iso).replace("\u00a0", " ");

/** Prints lines, or the value as JSON. */
export function print(json: boolean | undefined, value: unknown, lines: string[]): void {
  const all = json ? [JSON.stringify(value)] : lines;
  process.stdout.write(all.map((line) => `${escapeInvisible(line)}\n`).join(""));
}

/** One line about an act, on standard error, beside what the command prints. */
export function printAction(by: string, act: NewAuditEntry): void {
  const line = { time: new Date().toISOString(), level: "info", event: "staff act", by, ...act };
  process.stderr.write(`${escapeInvisible(JSON.stringify(line))}\n`);
}

/** A client ID as a line: whether it is unused, spent on an account, or spent without one. */
export function clientIdLine({ client_id, claimed_at, spent, issued_for }: CliClientId): string {
  const unclaimed = spent ? "spent, opened no account" : "unused";
  const state = claimed_at ? `used ${formatTerminalTime(claimed_at)}` : unclaimed;
  return `${client_id}  ${state}${issued_for ? `  for ${collapseBlanks(issued_for)}` : ""}`;
}

/** A colleague as a line: role, e-mail, name, and whether they have come. */
export function staffMemberLine({ email, name, role, has_logged_in }: CliStaffMember): string {
  return `${role.padEnd(5)}  ${collapseBlanks(email).padEnd(32)}  ${collapseBlanks(name)}${has_logged_in ? "" : ", invited"}`;
}

/** A mail as a line: id, when, what it was, to whom. */
export function failedEmailLine({ id, failed_at, kind, sent_to }: CliFailedEmail): string {
  return `${id}  ${formatTerminalTime(failed_at)}  ${kind.padEnd(12)}  ${collapseBlanks(sent_to)}`;
}

/** A shipment as a line: id, stage, number, name. */
export function shipmentLine({ id, stage, status, awb, name }: CliShipment): string {
  const number = collapseBlanks(awb ?? "N/A").padEnd(14);
  return `${id}  ${String(stage).padStart(2)}/${lastStage}  ${status.padEnd(21)}  ${number}  ${collapseBlanks(name)}`;
}

/** An act as a line: when, who, what, on what, what it changed, why. */
export function auditEntryLine(act: StoredAuditEntry): string {
  const on = (["shipment", "document", "account"] as const).flatMap((what) =>
    act[`${what}_id`] ? `${what} ${act[`${what}_id`]}` : [],
  );
  const change = [act.before, act.after].flatMap((state) => (state === null ? [] : JSON.stringify(state)));
  const parts = [
    formatTerminalTime(act.created_at),
    act.actor_name,
    act.action,
    ...on,
    change.join(" → "),
    act.reason ?? "",
  ];
  return parts.filter(Boolean).map(collapseBlanks).join("  ");
}

/** A text with each row of blanks made one: a long row would wrap in the terminal and look like a new line. */
export function collapseBlanks(text: string): string {
  return text.replace(/ {2,}/g, " ");
}

/** The first line of a message, without what comes from the inside of a library. */
export function firstLine(text: string): string {
  return escapeInvisible(text.trim().split("\n")[0] ?? "");
}
