import { writeFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import type { Command } from "commander";
import type { AppSupabaseClient } from "../../lib/supabase/client.server.ts";
import { listClientIds } from "../../models/client-id.server.ts";
import { findDocumentId } from "../../models/document.server.ts";
import { openFileForStaff } from "../../models/document-file.server.ts";
import { listFailedEmails } from "../../models/email-delivery.server.ts";
import { readReport, readReportPeriod } from "../../models/report.server.ts";
import { findShipmentId, listAllShipments } from "../../models/shipment.server.ts";
import { listStaffMembers } from "../../models/staff.server.ts";
import { documentArguments, getCommandGroup } from "./commands.ts";
import { type GetActorName, getServiceRole } from "./context.ts";
import {
  clientIdLine,
  failedEmailLine,
  print,
  printAction,
  reportLines,
  shipmentLine,
  staffMemberLine,
} from "./output.ts";

export function addReadingCommands(program: Command, getActorName: GetActorName): void {
  const addList = <Row>(
    group: string,
    description: string,
    list: (supabase: AppSupabaseClient) => Promise<Row[]>,
    formatLine: (row: Row) => string,
  ) => {
    const command = getCommandGroup(program, group).command("list").description(description);
    command.option("--json", "print a JSON array").action(async ({ json }: { json?: boolean }) => {
      const rows = await list(getServiceRole());
      print(json, rows, rows.map(formatLine));
    });
  };
  addList("shipment", "list all shipments, newest first", listAllShipments, shipmentLine);
  addList("client-id", "list all Client IDs, newest first", listClientIds, clientIdLine);
  addList("team", "list the team members", listStaffMembers, staffMemberLine);
  addList("failed-email", "list the emails that failed, oldest first", listFailedEmails, failedEmailLine);

  program
    .command("report")
    .description("print how long shipments stay at each stage, and count opened, closed and late shipments")
    .option("--from <month>", "the first month, such as 2026-01 (by default, 11 months before the last month)")
    .option("--to <month>", "the last month, such as 2026-12 (by default, this month)")
    .option("--json", "print a JSON object")
    .action(async ({ from, to, json }: { from?: string; to?: string; json?: boolean }) => {
      const period = readReportPeriod({ from, to });
      for (const [name, errors] of Object.entries(period.errors)) throw new Error(`${name}: ${errors.join(" ")}`);
      const report = await readReport(getServiceRole(), period);
      print(json, report, reportLines(period, report));
    });

  const open = getCommandGroup(program, "document").command("open");
  open.description("save a copy of a document's file");
  for (const [name, help] of Object.entries(documentArguments)) open.argument(`<${name}>`, help);
  open
    .argument("<file>", "the file to write, such as invoice.pdf")
    .action(async (prefix: string, name: string, file: string) => {
      const backend = getServiceRole();
      const shipment = await findShipmentId(backend, prefix);
      const id = await findDocumentId(backend, shipment, name);
      const opened = await openFileForStaff(backend, backend, { id, shipment }, getActorName());
      if ("reason" in opened) throw new Error(opened.reason);
      await writeFile(file, await buffer(opened.content), { flag: "wx", mode: 0o600 });
      printAction(getActorName(), { action: "document open", shipment_id: shipment, document_id: id });
      print(false, null, [`${name} of shipment ${shipment} saved as ${file}`]);
    });
}
