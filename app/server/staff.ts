/** npm run staff: the commands of the company's staff, which call the backend's API with the secret key. */
import process from "node:process";
import { Command } from "commander";
import { countPastActs, deletePastActs, listActs } from "../models/act.server.ts";
import { deletePastRetention, forgetPastLinks, pastRetention } from "../models/retention.server.ts";
import { outliveReaders } from "./lifetime.ts";
import { day, thisUser, upTo } from "./staff/arguments.ts";
import { company, deletion, done, embeddedPlace } from "./staff/context.ts";
import { addPeopleCommands } from "./staff/people.ts";
import { firstLine, logLine, note, oneBlank, print } from "./staff/printed.ts";
import { addShipmentCommands } from "./staff/shipments.ts";

type Output = { json?: boolean };

outliveReaders();
// Only this user may read the files that backup and restore write.
process.umask(0o077);

const staff = new Command("npm run --silent staff --")
  .description("The company's work from a terminal: all that the desk does, and what only the server can.")
  .option("--by <name>", "who does it, for the log", upTo(120), thisUser())
  .showSuggestionAfterError()
  .configureHelp({ showGlobalOptions: true })
  .configureOutput({ outputError: (text, write) => write(`${firstLine(text)}\n`) });

const by = () => staff.opts<{ by: string }>().by;

addPeopleCommands(staff, by);
addShipmentCommands(staff, by);

staff
  .command("retention")
  .description("list what the privacy policy says to delete by now: shipments, their files, unused accounts, the log")
  .option("--delete", "delete it")
  .option("--json", "what was found, as an object")
  .action(async ({ json, delete: deletes }: Output & { delete?: boolean }) => {
    const backend = company();
    const past = { ...(await pastRetention(backend)), acts: await countPastActs(backend) };
    const lines = [
      ...past.shipments.map((one) => `shipment ${one.id}, kept until ${one.retain_until}: ${oneBlank(one.name)}`),
      ...[...past.shipments.flatMap(({ files }) => files), ...past.files].map((name) => `file ${name}`),
      ...(past.parts.length > 0 ? [`${past.parts.length} parts of uploads that did not end`] : []),
      ...past.accounts.map((one) => `account ${one.email}, last seen ${one.last_seen.slice(0, 10)}`),
      ...(past.acts > 0 ? [`${past.acts} lines of the log`] : []),
    ];
    if (deletes) {
      await deletePastRetention(backend, deletion(backend, by(), "retention"));
      const acts = await deletePastActs(backend);
      await forgetPastLinks(backend);
      if (acts > 0) await done(backend, by(), { act: "retention", after: { acts } });
    }
    print(
      json,
      past,
      lines.length > 0 ? [...lines, deletes ? "Deleted." : "--delete deletes it."] : ["Nothing is past its time."],
    );
  });

staff
  .command("log")
  .description("what the company did, who did it and to what, newest first")
  .option("--since <day>", "from the beginning of a day on, such as 2026-11-20", day)
  .option("--json", "an array")
  .action(async ({ since, json }: Output & { since?: string }) => {
    const all = [];
    for await (const acts of listActs(company(), since && `${since}T00:00:00+03:00`)) {
      if (json) all.push(...acts);
      else print(false, null, acts.map(logLine));
    }
    if (json) print(true, all, []);
  });

staff
  .command("demo-code")
  .description("the code of the moment for the demo's lead; of nobody else")
  .action(async () => {
    const { demoCode } = await import("./staff/demo-code.ts");
    print(false, null, [await demoCode(embeddedPlace())]);
  });

staff
  .command("backup")
  .description("copy the stopped site's database, files and keys into one new file")
  .argument("<file>", "such as backup.tar.gz; it holds keys and clients' papers")
  .action(async (file: string) => {
    const { backUp } = await import("./staff/backup.ts");
    const bytes = await backUp(embeddedPlace(), file);
    note(by(), { act: "backup", after: { file, bytes } });
    print(false, null, [`${file} holds everything as it is now (${Math.ceil(bytes / 1024)} KiB): keep it secret`]);
  });
staff
  .command("restore")
  .description("put a backup where there is no data yet: an empty DATA_DIR and, with DATABASE_URL, an empty database")
  .argument("<file>", "what backup wrote")
  .action(async (file: string) => {
    const { restore } = await import("./staff/backup.ts");
    const place = embeddedPlace();
    await restore(place, file);
    note(by(), { act: "restore", after: { file } });
    print(false, null, [`${place.dataDir} is as it was when ${file} was made: start the site`]);
  });

staff.parseAsync().catch((error: Error) => {
  console.error(firstLine(error.message));
  process.exit(1);
});
