/** npm run staff: the company's own work, through the backend's API with the secret key. */
import process from "node:process";
import { Command, InvalidArgumentError } from "commander";
import { readSettings, type Settings } from "../lib/env.server.ts";
import { type Backend, companyBackend } from "../lib/supabase.server.ts";
import { issueClientIds, listClientIds } from "../models/client-id.server.ts";
import { verifyDocument } from "../models/document.server.ts";
import { deletePastRetention, eraseAccount, keepShipment, pastRetention } from "../models/retention.server.ts";
import { resetSecondFactors } from "../models/second-factor.server.ts";
import { advanceShipment, findShipmentId, listAllShipments, setAwb } from "../models/shipment.server.ts";
import { lastStage } from "../models/shipment.ts";
import { backUp, restore } from "./backup.ts";
import { runningAccess } from "./embedded.ts";

type Output = { json?: boolean };

const staff = new Command("npm run --silent staff --")
  .description("Issues client IDs, moves shipments on and verifies documents.")
  .showSuggestionAfterError()
  .configureOutput({ outputError: (text, write) => write(`${text.trim().split("\n")[0]}\n`) });

const clientId = staff.command("client-id").description("invitations");
clientId
  .command("new")
  .description("issue client IDs")
  .option("--count <number>", "how many, 1 to 1000", wholeNumber, 1)
  .option("--json", 'an array of {"client_id"}')
  .action(async ({ count, json }: Output & { count: number }) => {
    const issued = await issueClientIds(company(), count);
    note("client-id new", { count: issued.length });
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
    print(
      json,
      all,
      all.map((one) => {
        const state = one.spent ? "spent, opened no account" : "unused";
        return `${one.client_id}  ${one.claimed_at ? `used ${one.claimed_at}` : state}`;
      }),
    );
  });

const shipment = staff.command("shipment").description("shipments of all clients");
shipment
  .command("list")
  .description("all shipments, newest first")
  .option("--json", "an array")
  .action(async ({ json }: Output) => {
    const all = await listAllShipments(company());
    const row = (one: (typeof all)[number]) =>
      `${one.id}  ${String(one.stage).padStart(2)}/${lastStage}  ${one.status.padEnd(21)}  ${(one.awb ?? "N/A").padEnd(14)}  ${one.name}`;
    print(json, all, all.map(row));
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
    note("shipment advance", { shipment: advanced.id, stage: advanced.stage });
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
    await setAwb(backend, found, awb);
    note("shipment set-awb", { shipment: found });
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
    await keepShipment(backend, found, until);
    note("shipment keep", { shipment: found, until });
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
    await verifyDocument(backend, found, name);
    note("document verify", { shipment: found, document: name });
    print(false, null, [`The ${name} of ${found} is verified`]);
  });

const account = staff.command("account").description("accounts of clients");
account
  .command("reset-2fa")
  .description("take a lost second factor off an account, once you know who asks")
  .argument("<e-mail>", "the account's e-mail address")
  .action(async (email: string) => {
    const removed = await resetSecondFactors(company(), email);
    note("account reset-2fa", { email, removed });
    print(false, null, [`${email} has no second factor any more (${removed} removed)`]);
  });

account
  .command("erase")
  .description("delete the account of a client who asks for it, unless shipments of theirs have to be kept")
  .argument("<e-mail>", "the account's e-mail address")
  .action(async (email: string) => {
    await eraseAccount(company(), email, (fields) => note("account erase", fields));
    print(false, null, [`${email} has no account any more`]);
  });

staff
  .command("retention")
  .description("list what the privacy policy says to delete by now: shipments, their files, unused accounts")
  .option("--delete", "delete it")
  .option("--json", "what was found, as an object")
  .action(async ({ json, delete: deletes }: Output & { delete?: boolean }) => {
    const backend = company();
    const past = await pastRetention(backend);
    const lines = [
      ...past.shipments.map((one) => `shipment ${one.id}, kept until ${one.retain_until}: ${one.name}`),
      ...[...past.shipments.flatMap(({ files }) => files), ...past.files].map((name) => `file ${name}`),
      ...past.accounts.map((one) => `account ${one.email}, last seen ${one.last_seen.slice(0, 10)}`),
    ];
    if (deletes) await deletePastRetention(backend, (fields) => note("retention", fields));
    print(
      json,
      past,
      lines.length > 0 ? [...lines, deletes ? "Deleted." : "--delete deletes it."] : ["Nothing is past its time."],
    );
  });

staff
  .command("backup")
  .description("copy the stopped site's database, files and keys into one new file")
  .argument("<file>", "such as backup.tar.gz; it holds keys and clients' papers")
  .action(async (file: string) => {
    const bytes = await backUp(embeddedPlace(), file);
    note("backup", { file, bytes });
    print(false, null, [`${file} holds everything as it is now (${Math.ceil(bytes / 1024)} KiB): keep it secret`]);
  });
staff
  .command("restore")
  .description("put a backup where there is no data yet: an empty DATA_DIR and, with DATABASE_URL, an empty database")
  .argument("<file>", "what backup wrote")
  .action(async (file: string) => {
    const place = embeddedPlace();
    await restore(place, file);
    note("restore", { file });
    print(false, null, [`${place.dataDir} is as it was when ${file} was made: start the site`]);
  });

staff.parseAsync().catch((error: Error) => {
  console.error(error.message.split("\n")[0]);
  process.exit(1);
});

/** The company's handle on the backend of the environment, or on the embedded one that runs on DATA_DIR. */
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

/** One line about an act, on standard error, beside what the command prints. */
function note(act: string, fields: Record<string, string | number>): void {
  const line = { time: new Date().toISOString(), level: "info", event: "staff act", act, ...fields };
  process.stderr.write(`${JSON.stringify(line)}\n`);
}

function print(json: boolean | undefined, value: unknown, lines: string[]): void {
  process.stdout.write(json ? `${JSON.stringify(value)}\n` : lines.map((line) => `${line}\n`).join(""));
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > 1000)
    throw new InvalidArgumentError("Give a number from 1 to 1000.");
  return number;
}

function day(text: string): string {
  const read = new Date(`${text}T00:00:00Z`);
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || Number.isNaN(read.getTime()) || !read.toISOString().startsWith(text))
    throw new InvalidArgumentError("Give a day such as 2040-12-31.");
  return text;
}

function upTo(length: number) {
  return (text: string): string => {
    const trimmed = text.trim();
    if (trimmed.length < 1 || trimmed.length > length)
      throw new InvalidArgumentError(`Give 1 to ${length} characters.`);
    return trimmed;
  };
}
