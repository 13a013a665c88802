/** What the staff commands print. No text of a client can forge a line, or send control characters to the terminal. */
import process from "node:process";
import { eastAfricaTime as timeOnPages } from "../../lib/dates.ts";
import { visible } from "../../lib/visible.ts";
import type { Act, LoggedAct } from "../../models/act.server.ts";
import type { listAllShipments } from "../../models/all-shipments.server.ts";
import type { listClientIds } from "../../models/client-id.server.ts";
import type { listColleagues } from "../../models/colleague.server.ts";
import type { listUndelivered } from "../../models/desk-act.server.ts";
import { lastStage } from "../../models/shipment.ts";

type ListedClientId = Awaited<ReturnType<typeof listClientIds>>[number];
type ListedColleague = Awaited<ReturnType<typeof listColleagues>>[number];
type ListedMail = Awaited<ReturnType<typeof listUndelivered>>[number];
type ListedShipment = Awaited<ReturnType<typeof listAllShipments>>[number];

/** The time of a line: a terminal gets a plain blank where a page has one that does not break. */
const eastAfricaTime = (iso: string) => timeOnPages(iso).replace("\u00a0", " ");

/** Prints lines, or the value as JSON. */
export function print(json: boolean | undefined, value: unknown, lines: string[]): void {
  const all = json ? [JSON.stringify(value)] : lines;
  process.stdout.write(all.map((line) => `${visible(line)}\n`).join(""));
}

/** One line about an act, on standard error, beside what the command prints. */
export function note(by: string, act: Act): void {
  const line = { time: new Date().toISOString(), level: "info", event: "staff act", by, ...act };
  process.stderr.write(`${visible(JSON.stringify(line))}\n`);
}

/** A client ID as a line: whether it is unused, spent on an account, or spent without one. */
export function clientIdLine({ client_id, claimed_at, spent, issued_for }: ListedClientId): string {
  const unclaimed = spent ? "spent, opened no account" : "unused";
  const state = claimed_at ? `used ${eastAfricaTime(claimed_at)}` : unclaimed;
  return `${client_id}  ${state}${issued_for ? `  for ${oneBlank(issued_for)}` : ""}`;
}

/** A colleague as a line: role, e-mail, name, and whether they have come. */
export function colleagueLine({ email, name, role, has_come }: ListedColleague): string {
  return `${role.padEnd(5)}  ${oneBlank(email).padEnd(32)}  ${oneBlank(name)}${has_come ? "" : ", invited"}`;
}

/** A mail as a line: id, when, what it was, to whom. */
export function mailLine({ id, at, kind, sent_to }: ListedMail): string {
  return `${id}  ${eastAfricaTime(at)}  ${kind.padEnd(12)}  ${oneBlank(sent_to)}`;
}

/** A shipment as a line: id, stage, number, name. */
export function shipmentLine({ id, stage, status, awb, name }: ListedShipment): string {
  const number = oneBlank(awb ?? "N/A").padEnd(14);
  return `${id}  ${String(stage).padStart(2)}/${lastStage}  ${status.padEnd(21)}  ${number}  ${oneBlank(name)}`;
}

/** An act as a line: when, who, what, on what, what it changed, why. */
export function logLine(act: LoggedAct): string {
  const on = (["shipment", "document", "account"] as const).flatMap((what) =>
    act[what] ? `${what} ${act[what]}` : [],
  );
  const change = [act.before, act.after].flatMap((state) => (state === null ? [] : JSON.stringify(state)));
  const parts = [eastAfricaTime(act.at), act.by_name, act.act, ...on, change.join(" → "), act.reason ?? ""];
  return parts.filter(Boolean).map(oneBlank).join("  ");
}

/** A text with each row of blanks made one: a long row would wrap in the terminal and look like a new line. */
export function oneBlank(text: string): string {
  return text.replace(/ {2,}/g, " ");
}

/** The first line of a message, without what comes from the inside of a library. */
export function firstLine(text: string): string {
  return visible(text.trim().split("\n")[0] ?? "");
}
