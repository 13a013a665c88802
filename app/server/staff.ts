/** npm run staff: the commands of the company's staff, which call the backend's API with the secret key. */
import process from "node:process";
import { Command } from "commander";
import { readSettings, type Settings } from "../lib/env.server.ts";
import { type Backend, companyBackend } from "../lib/supabase.server.ts";
import { type Act, countPastActs, deletePastActs, listActs, recordAct } from "../models/act.server.ts";
import { issueClientIds, listClientIds } from "../models/client-id.server.ts";
import { verifyDocument } from "../models/document.server.ts";
import {
  deletePastRetention,
  eraseAccount,
  keepShipment,
  pastRetention,
  type Tell,
} from "../models/retention.server.ts";
import { resetSecondFactors } from "../models/second-factor.server.ts";
import { advanceShipment, findShipmentId, listAllShipments, setAwb } from "../models/shipment.server.ts";
import { lastStage } from "../models/shipment.ts";
import { runningAccess } from "./embedded.ts";
import { outliveReaders } from "./lifetime.ts";
import { day, thisUser, upTo, wholeNumber } from "./staff/arguments.ts";
import { clientIdLine, firstLine, logLine, note, oneBlank, print, shipmentLine } from "./staff/printed.ts";

type Output = { json?: boolean };

outliveReaders();
// Only this user may read the files that backup and restore write.
process.umask(0o077);

const staff = new Command("npm run --silent staff --")
  .description("Issues client IDs, moves shipments on and verifies documents.")
  .option("--by <name>", "who does it, for the log", upTo(120), thisUser())
  .showSuggestionAfterError()
  .configureHelp({ showGlobalOptions: true })
  .configureOutput({ outputError: (text, write) => write(`${firstLine(text)}\n`) });

const by = () => staff.opts<{ by: string }>().by;

const clientId = staff.command("client-id").description("invitations");
clientId
  .command("new")
  .description("issue client IDs")
  .option("--count <number>", "how many, 1 to 1000", wholeNumber, 1)
  .option("--json", 'an array of {"client_id"}')
  .action(async ({ count, json }: Output & { count: number }) => {
    const backend = company();
    const issued = await issueClientIds(backend, count);
    await done(backend, { act: "client-id new", after: { count: issued.length } });
    print(
      json,
      issued.map((client_id) => ({ client_id })),
      issued,
    );
  });
clientId
  .command("list")
  .description("all client IDs, newest first")
  .option("--json", "an array")
  .action(async ({ json }: Output) => {
    const all = await listClientIds(company());
    print(json, all, all.map(clientIdLine));
  });

const shipment = staff.command("shipment").description("shipments of all clients");
shipment
  .command("list")
  .description("all shipments, newest first")
  .option("--json", "an array")
  .action(async ({ json }: Output) => {
    const all = await listAllShipments(company());
    print(json, all, all.map(shipmentLine));
  });
shipment
  .command("advance")
  .description("move a shipment to its next stage, with its tracking event")
  .argument("<id>", "the shipment's id or a beginning that only it has")
  .option("--location <text>", "where this happened, up to 120 characters", upTo(120))
  .option("--json", "the shipment")
  .action(async (id: string, { location, json }: Output & { location?: string }) => {
    const backend = company();
    const advanced = await advanceShipment(backend, await findShipmentId(backend, id), location ?? null);
    const { id: shipment, stage } = advanced;
    const change = { before: { stage: stage - 1 }, after: { stage, location } };
    await done(backend, { act: "shipment advance", shipment, ...change });
    print(json, advanced, [`${advanced.id} is at stage ${advanced.stage}/${lastStage}: ${advanced.status}`]);
  });
shipment
  .command("set-awb")
  .description("write the number of the air waybill or bill of lading")
  .argument("<id>", "the shipment's id or a beginning that only it has")
  .argument("<number>", "up to 64 characters", upTo(64))
  .action(async (id: string, awb: string) => {
    const backend = company();
    const found = await findShipmentId(backend, id);
    const before = await setAwb(backend, found, awb);
    await done(backend, { act: "shipment set-awb", shipment: found, before: { awb: before }, after: { awb } });
    print(false, null, [`${found} has AWB/BL ${awb}`]);
  });
shipment
  .command("keep")
  .description("keep a shipment longer than seven years, for a dispute or because a law asks for it")
  .argument("<id>", "the shipment's id or a beginning that only it has")
  .argument("<day>", "the last day, such as 2040-12-31", day)
  .action(async (id: string, until: string) => {
    const backend = company();
    const found = await findShipmentId(backend, id);
    const before = await keepShipment(backend, found, until);
    const change = { before: { retain_until: before }, after: { retain_until: until } };
    await done(backend, { act: "shipment keep", shipment: found, ...change });
    print(false, null, [`${found} is kept until ${until}`]);
  });

staff
  .command("document")
  .description("documents of all clients")
  .command("verify")
  .description("mark an uploaded document as verified")
  .argument("<shipment>", "the shipment's id or a beginning that only it has")
  .argument("<name>", 'such as "Bill of Lading"')
  .action(async (id: string, name: string) => {
    const backend = company();
    const found = await findShipmentId(backend, id);
    const document = await verifyDocument(backend, found, name);
    await done(backend, { act: "document verify", shipment: found, document, after: { verified: true } });
    print(false, null, [`The ${name} of ${found} is verified`]);
  });

const account = staff.command("account").description("accounts of clients");
account
  .command("reset-2fa")
  .description("take a lost second factor off an account, once you know who asks")
  .argument("<e-mail>", "the account's e-mail address")
  .action(async (email: string) => {
    const backend = company();
    const { account, removed } = await resetSecondFactors(backend, email);
    await done(backend, { act: "account reset-2fa", account, after: { removed } });
    print(false, null, [`${email} has no second factor any more (${removed} removed)`]);
  });
account
  .command("erase")
  .description("delete the account of a client who asks for it, unless shipments of theirs have to be kept")
  .argument("<e-mail>", "the account's e-mail address")
  .action(async (email: string) => {
    const backend = company();
    await eraseAccount(backend, email, deletion(backend, "account erase"));
    print(false, null, [`${email} has no account any more`]);
  });

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
      ...past.accounts.map((one) => `account ${one.email}, last seen ${one.last_seen.slice(0, 10)}`),
      ...(past.acts > 0 ? [`${past.acts} lines of the log`] : []),
    ];
    if (deletes) {
      await deletePastRetention(backend, deletion(backend, "retention"));
      const acts = await deletePastActs(backend);
      if (acts > 0) await done(backend, { act: "retention", after: { acts } });
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

/** The company's handle on the backend of SUPABASE_URL, or on the embedded one that runs on DATA_DIR. */
function company(): Backend {
  const settings = readSettings();
  const access = settings.backend ?? runningAccess(settings.dataDir);
  if (!access) throw new Error(`No backend is running on ${settings.dataDir}: start the site with npm start first.`);
  return companyBackend(access);
}

/** Where the embedded backend keeps its data. Throws when the backend is a hosted one, which has backups of its own. */
function embeddedPlace(): Settings {
  const settings = readSettings();
  if (settings.backend) throw new Error("SUPABASE_URL is set: the backups of that backend are its host's.");
  return settings;
}

/** Prints an act on standard error and writes it into the log. */
async function done(backend: Backend, act: Act): Promise<void> {
  note(by(), act);
  try {
    await recordAct(backend, by(), act);
  } catch (error) {
    throw new Error(`This was done, but the log did not take it: ${(error as Error).message}`, { cause: error });
  }
}

/** A callback that logs each deletion under this act. */
function deletion(backend: Backend, act: string): Tell {
  return (fields) => done(backend, "files" in fields ? { act, after: fields } : { act, ...fields });
}
