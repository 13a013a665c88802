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

const actorName = oneLine("").overwrite(collapseBlanks).min(1, "Enter a name.").max(120, "Use at most 120 characters.");

const program = new Command("npm run --silent staff --")
  .description("The actions of the desk, and maintenance of the server.")
  .option("--by <name>", "your name, for the activity log", createParser(actorName), getOsUser())
  .showSuggestionAfterError()
  .configureHelp({ showGlobalOptions: true, sortSubcommands: true })
  .configureOutput({ outputError: (text, write) => write(`${firstLine(text)}\n`) });

const getActorName = () => program.opts<{ by: string }>().by;

addReadingCommands(program, getActorName);
addActionCommands(program, getActorName);

program
  .command("retention")
  .description("list data whose retention period has ended: shipments, files, accounts and audit entries")
  .option("--delete", "delete it")
  .option("--json", "an object")
  .action(async ({ json, delete: deletes }: OutputOptions & { delete?: boolean }) => {
    const backend = getServiceRole();
    const expired = { ...(await listBeyondRetention(backend)), acts: await countExpiredAuditEntries(backend) };
    const lines = [
      ...expired.shipments.map(
        ({ id, retention_ends_on, name }) => `shipment ${id}, kept until ${retention_ends_on}: ${collapseBlanks(name)}`,
      ),
      ...[...expired.shipments.flatMap(({ files }) => files), ...expired.files].map((name) => `file ${name}`),
      ...(expired.parts.length > 0 ? [`${expired.parts.length} parts of uploads that did not end`] : []),
      ...expired.accounts.map(({ email, last_seen_at }) => `account ${email}, last seen ${last_seen_at.slice(0, 10)}`),
      ...(expired.acts > 0 ? [`${expired.acts} lines of the log`] : []),
    ];
    if (deletes) {
      await deleteBeyondRetention(backend, createDeletionReporter(backend, getActorName(), "retention"));
      const acts = await deleteExpiredAuditEntries(backend);
      await deleteExpiredLinks(backend);
      if (acts > 0) await recordDeletion(backend, getActorName(), { action: "retention", after: { acts } });
    }
    print(
      json,
      expired,
      lines.length > 0 ? [...lines, deletes ? "Deleted." : "--delete deletes it."] : ["Nothing is past its time."],
    );
  });

program
  .command("log")
  .description("the activity log, newest first")
  .option("--since <day>", "only from this day on, such as 2026-11-20", createParser(dayField))
  .option("--json", "an array")
  .action(async ({ since, json }: OutputOptions & { since?: string }) => {
    const all = [];
    for await (const acts of listAuditEntries(getServiceRole(), since && `${since}T00:00:00+03:00`)) {
      if (json) all.push(...acts);
      else print(false, null, acts.map(auditEntryLine));
    }
    if (json) print(true, all, []);
  });

program
  .command("demo-code")
  .description("the current code of the second factor of the demo's lead")
  .action(async () => {
    const { getDemoTotp } = await import("./start/demo-lead.ts");
    print(false, null, [getDemoTotp(requireEmbeddedSettings())]);
  });

program
  .command("backup")
  .description("copy the stopped site's database, files and keys into one new file")
  .argument("<file>", "such as backup.tar.gz; it holds keys and clients' documents")
  .action(async (file: string) => {
    const { createBackup: backUp } = await import("./cli/backup.ts");
    const bytes = await backUp(requireEmbeddedSettings(), file);
    printAction(getActorName(), { action: "backup", after: { file, bytes } });
    print(false, null, [`${file} holds everything as it is now (${Math.ceil(bytes / 1024)} KiB): keep it secret`]);
  });
program
  .command("restore")
  .description("restore a backup into an empty DATA_DIR and, with DATABASE_URL, an empty database")
  .argument("<file>", "the backup")
  .action(async (file: string) => {
    const { restoreBackup: restore } = await import("./cli/backup.ts");
    const settings = requireEmbeddedSettings();
    await restore(settings, file);
    printAction(getActorName(), { action: "restore", after: { file } });
    print(false, null, [`${settings.dataDir} is as it was when ${file} was made: start the site`]);
  });

program.parseAsync().catch((error: Error) => {
  console.error(firstLine(error.message));
  process.exit(1);
});
