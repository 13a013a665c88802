import process from "node:process";
import { Command } from "commander";
import { dayField } from "../actions/staff-action.server.ts";
import { oneLine } from "../lib/forms/text-fields.ts";
import { countExpiredAuditEntries, deleteExpiredAuditEntries, listAuditEntries } from "../models/audit-log.server.ts";
import { deleteBeyondRetention, deleteExpiredLinks, listBeyondRetention } from "../models/retention.server.ts";
import { addActionCommands } from "./cli/commands.ts";
import {
  createDeletionReporter,
  createParser,
  getOsUser,
  getServiceRole,
  recordDeletion,
  requireEmbeddedSettings,
} from "./cli/context.ts";
import { auditEntryLine, collapseBlanks, firstLine, print, printAction } from "./cli/output.ts";
import { addReadingCommands } from "./cli/reading.ts";
import { ignoreOutputErrors } from "./lifetime.ts";

type OutputOptions = { json?: boolean };

ignoreOutputErrors();
// Only the current user of the system may read the files that backup and restore write.
process.umask(0o077);

const actorName = oneLine("").min(1, "Enter a name.").max(120, "Use at most 120 characters.");

const program = new Command("npm run --silent staff --")
  .description("Run the staff actions of the desk, and maintain the server.")
  .option("--by <name>", "your name for the activity log", createParser(actorName), getOsUser())
  .showSuggestionAfterError()
  .configureHelp({ showGlobalOptions: true, sortSubcommands: true })
  .configureOutput({ outputError: (text, write) => write(`${text.trim().split("\n").map(firstLine).join(" ")}\n`) });

const getActorName = () => program.opts<{ by: string }>().by;

addReadingCommands(program, getActorName);
addActionCommands(program, getActorName);

program
  .command("retention")
  .description("list data whose retention period has ended: shipments, files, accounts and audit entries")
  .option("--delete", "delete the listed data")
  .option("--json", "print a JSON object")
  .action(async ({ json, delete: deletes }: OutputOptions & { delete?: boolean }) => {
    const backend = getServiceRole();
    const expired = { ...(await listBeyondRetention(backend)), audit_entries: await countExpiredAuditEntries(backend) };
    const lines = [
      ...expired.shipments.map(
        ({ id, retention_ends_on, name }) =>
          `shipment ${id}, retention ended ${retention_ends_on}: ${collapseBlanks(name)}`,
      ),
      ...[...expired.shipments.flatMap(({ files }) => files), ...expired.files].map((name) => `file ${name}`),
      ...(expired.parts.length > 0 ? [`${expired.parts.length} parts of unfinished uploads`] : []),
      ...expired.accounts.map(({ email, last_seen_at }) => `account ${email}, last used ${last_seen_at.slice(0, 10)}`),
      ...(expired.audit_entries > 0 ? [`${expired.audit_entries} entries of the activity log`] : []),
    ];
    if (deletes) {
      await deleteBeyondRetention(backend, createDeletionReporter(backend, getActorName(), "retention"));
      const deletedCount = await deleteExpiredAuditEntries(backend);
      await deleteExpiredLinks(backend);
      if (deletedCount > 0)
        await recordDeletion(backend, getActorName(), { action: "retention", after: { audit_entries: deletedCount } });
    }
    print(
      json,
      expired,
      lines.length > 0
        ? [
            ...lines,
            deletes ? "The listed data was deleted." : "To delete the listed data, run the command with --delete.",
          ]
        : ["No data to delete."],
    );
  });

program
  .command("log")
  .description("print the activity log, newest entries first")
  .option("--since <day>", "the first day to print, such as 2026-11-20", createParser(dayField))
  .option("--json", "print a JSON array")
  .action(async ({ since, json }: OutputOptions & { since?: string }) => {
    const all = [];
    for await (const entries of listAuditEntries(getServiceRole(), since && `${since}T00:00:00+03:00`)) {
      if (json) all.push(...entries);
      else print(false, null, entries.map(auditEntryLine));
    }
    if (json) print(true, all, []);
  });

program
  .command("demo-code")
  .description("print the current 2FA code of the demo lead")
  .action(async () => {
    const { getDemoTotp } = await import("./start/demo-lead.ts");
    print(false, null, [getDemoTotp(requireEmbeddedSettings())]);
  });

program
  .command("backup")
  .description("back up the database, files and keys into a new file; stop the site first")
  .argument("<file>", "the new file, such as backup.tar.gz; keep this file secret")
  .action(async (file: string) => {
    const { createBackup } = await import("./cli/backup.ts");
    const bytes = await createBackup(requireEmbeddedSettings(), file);
    printAction(getActorName(), { action: "backup", after: { file, bytes } });
    print(false, null, [
      `Backup written to ${file} (${Math.ceil(bytes / 1024)} KiB). Keep this file secret. The file contains keys and documents.`,
    ]);
  });
program
  .command("restore")
  .description("restore a backup into an empty DATA_DIR and, if DATABASE_URL is set, into an empty database")
  .argument("<file>", "the backup file")
  .action(async (file: string) => {
    const { restoreBackup } = await import("./cli/backup.ts");
    const settings = requireEmbeddedSettings();
    await restoreBackup(settings, file);
    printAction(getActorName(), { action: "restore", after: { file } });
    print(false, null, [`Backup ${file} restored to ${settings.dataDir}. Start the site now.`]);
  });

program.parseAsync().catch((error: Error) => {
  console.error(firstLine(error.message));
  process.exit(1);
});
