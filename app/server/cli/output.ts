/** Prints the output of staff commands. Escapes control characters, so that a client's text cannot forge a line. */
import process from "node:process";
import { escapeInvisible } from "../../../supabase/contract/invisible-characters.ts";
import { monthName, eastAfricaTime as timeOnPages } from "../../lib/dates.ts";
import type { NewAuditEntry, StoredAuditEntry } from "../../models/audit-log.server.ts";
import type { listClientIds } from "../../models/client-id.server.ts";
import type { listFailedEmails } from "../../models/email-delivery.server.ts";
import { formatPeriod, listStageRows, type Report, type ReportPeriod, sumMonths } from "../../models/report.server.ts";
import type { listAllShipments } from "../../models/shipment.server.ts";
import { lastStage } from "../../models/shipment.ts";
import { joinNumbers } from "../../models/shipment-fields.server.ts";
import type { listStaffMembers } from "../../models/staff.server.ts";

type CliClientId = Awaited<ReturnType<typeof listClientIds>>[number];
type CliStaffMember = Awaited<ReturnType<typeof listStaffMembers>>[number];
type CliFailedEmail = Awaited<ReturnType<typeof listFailedEmails>>[number];
type CliShipment = Awaited<ReturnType<typeof listAllShipments>>[number];

const formatTerminalTime = (iso: string) => timeOnPages(iso).replace("\u00a0", " ");

export function print(json: boolean | undefined, value: unknown, lines: string[]): void {
  const all = json ? [JSON.stringify(value)] : lines;
  process.stdout.write(all.map((line) => `${escapeInvisible(line)}\n`).join(""));
}

export function printAction(by: string, entry: NewAuditEntry): void {
  const line = { time: new Date().toISOString(), level: "info", event: "staff action", by, ...entry };
  process.stderr.write(`${escapeInvisible(JSON.stringify(line))}\n`);
}

/** Returns the message after the arguments that name the action's object, except arguments that the message contains. */
export function actionLine(named: string[], message: string): string {
  const isNew = (name: string) => !message.toLowerCase().includes(name.toLowerCase());
  return [...named.map(collapseBlanks).filter(isNew), message].join(": ");
}

export function clientIdLine({ client_id, claimed_at, isUsed, issued_for }: CliClientId): string {
  const unclaimed = isUsed ? "used, account deleted" : "unused";
  const state = claimed_at ? `used ${formatTerminalTime(claimed_at)}` : unclaimed;
  return `${client_id}  ${state}${issued_for ? `  for ${collapseBlanks(issued_for)}` : ""}`;
}

export function staffMemberLine({ email, name, role, has_logged_in }: CliStaffMember): string {
  return `${role.padEnd(5)}  ${collapseBlanks(email).padEnd(32)}  ${collapseBlanks(name)}${has_logged_in ? "" : ", invited"}`;
}

export function failedEmailLine({ id, failed_at, kind, sent_to }: CliFailedEmail): string {
  return `${id}  ${formatTerminalTime(failed_at)}  ${kind.padEnd(12)}  ${collapseBlanks(sent_to)}`;
}

export function shipmentLine(shipment: CliShipment): string {
  const { id, stage, status, name } = shipment;
  const number = collapseBlanks(joinNumbers(shipment) || "N/A").padEnd(14);
  return `${id}  ${String(stage).padStart(2)}/${lastStage}  ${status.padEnd(21)}  ${number}  ${collapseBlanks(name)}`;
}

export function reportLines(period: ReportPeriod, report: Report): string[] {
  const cells = (all: (string | number)[]) => all.map((cell) => String(cell).padStart(10)).join("");
  const { opened, closed, late } = sumMonths(report.months);
  return [
    `Days at each stage, ${formatPeriod(period)}: median and 90th percentile`,
    `${"".padEnd(24)}${cells(["visits", "median", "90%", "client", "90%", "with us", "90%"])}`,
    ...listStageRows(report).map(({ stage, visits, total, client, company }) => {
      const times = [total, client, company].flatMap(({ median, p90 }) => [median || "-", p90 || "-"]);
      return `${stage.padEnd(24)}${cells([visits, ...times])}`;
    }),
    "",
    `${"Shipments".padEnd(24)}${cells(["opened", "closed", "late"])}`,
    ...report.months.map((row) => `${monthName(row.month).padEnd(24)}${cells([row.opened, row.closed, row.late])}`),
    `${"Total".padEnd(24)}${cells([opened, closed, late])}`,
  ];
}

export function auditEntryLine(entry: StoredAuditEntry): string {
  const on = (["shipment", "document", "account"] as const).flatMap((what) =>
    entry[`${what}_id`] ? `${what} ${entry[`${what}_id`]}` : [],
  );
  const { created_at, actor_name, action, before, after, reason } = entry;
  const change = [before, after].flatMap((state) => (state === null ? [] : JSON.stringify(state)));
  const parts = [formatTerminalTime(created_at), actor_name, action, ...on, change.join(" → "), reason ?? ""];
  return parts.filter(Boolean).map(collapseBlanks).join("  ");
}

/** Many spaces in a client's text could push the rest of the text to the start of the next line. */
export function collapseBlanks(text: string): string {
  return text.replace(/ {2,}/g, " ");
}

export function firstLine(text: string): string {
  return escapeInvisible(text.trim().split("\n")[0] ?? "");
}
