import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { buffer } from "node:stream/consumers";
import { type Command, Option } from "commander";
import { z } from "zod";
import { allStaffActions } from "../../actions/all-staff-actions.server.ts";
import type { StaffAction, StaffActionTarget } from "../../actions/staff-action.server.ts";
import { maxFileBytes } from "../../lib/forms/file-size.ts";
import type { AppSupabaseClient } from "../../lib/supabase/client.server.ts";
import { normalizeClientId } from "../../models/client-id.server.ts";
import { findDocumentId } from "../../models/document.server.ts";
import { findShipmentId } from "../../models/shipment.server.ts";
import { findAccountId } from "../../models/staff.server.ts";
import { readEmailSender } from "./content.ts";
import { type GetActorName, getServiceRole } from "./context.ts";
import { actionLine, collapseBlanks, print, printAction } from "./output.ts";

const groupDescriptions: Readonly<Record<string, string>> = {
  shipment: "change and list shipments",
  document: "verify, open, add and remove documents' files, and request new files",
  charge: "save charges and mark charges as paid",
  "client-id": "issue, send and withdraw Client IDs",
  account: "manage client accounts",
  team: "manage team members",
  "failed-email": "list and dismiss emails that failed",
  announcement: "publish and remove the announcement for all clients",
};

export function getCommandGroup(program: Command, name: string): Command {
  const group = program.commands.find((command) => command.name() === name);
  return group ?? program.command(name).description(groupDescriptions[name] ?? "");
}

type TargetArguments = {
  help: Record<string, string>;
  find: (supabase: AppSupabaseClient, first: string, second: string) => string | Promise<string>;
};

const shipmentArgument = { shipment: "the shipment ID, or its first characters" };
export const documentArguments = {
  ...shipmentArgument,
  document: 'the name of the document, such as "Bill of Lading"',
};

const targets: Record<StaffActionTarget, TargetArguments> = {
  shipment: { help: shipmentArgument, find: findShipmentId },
  document: {
    help: documentArguments,
    find: async (backend, shipment, name) => findDocumentId(backend, await findShipmentId(backend, shipment), name),
  },
  account: { help: { email: "the email address of the account" }, find: findAccountId },
  clientId: {
    help: { "client-id": "the Client ID, such as 7K3Q-X9MD-2HTV-W5BC" },
    find: (_, id) => normalizeClientId(id),
  },
  failedEmail: { help: { id: "the ID of the email, from the output of `failed-email list`" }, find: (_, id) => id },
};

export function addActionCommands(program: Command, getActorName: GetActorName): void {
  for (const action of allStaffActions) addActionCommand(program, action, getActorName);
}

function addActionCommand(program: Command, action: StaffAction, getActorName: GetActorName): void {
  const [group = "", verb = ""] = action.name.split(" ");
  const target = action.target && targets[action.target];
  const { description, arguments: positional = {}, textFileField, defaults = {}, formatLines } = action.command;
  const options = { ...action.command.options };
  const choices = readChoices(action);
  const command = getCommandGroup(program, group).command(verb).description(description);
  const isRequired = (field: string) =>
    !(field in defaults) && !action.schema.shape[field].safeParse(undefined).success;
  const describe = (field: string, help = "") =>
    [help, choices[field] && listChoices(choices[field])].filter(Boolean).join(": ");

  for (const [name, help] of Object.entries(target?.help ?? {})) command.argument(`<${name}>`, help);
  for (const [field, help] of Object.entries(positional)) {
    const name = field === textFileField ? "file" : field;
    command.argument(isRequired(field) ? `<${name}>` : `[${name}]`, describe(field, help));
  }
  if ("reason" in action.schema.shape) options.reason ??= "the reason, for the activity log";
  for (const [field, help] of Object.entries(options))
    command.addOption(
      new Option(
        `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} <${field}>`,
        describe(field, help),
      )
        .default(defaults[field])
        .makeOptionMandatory(isRequired(field)),
    );
  command.option("--json", "print the result as JSON").action(async () => {
    const named = command.args.slice(0, Object.keys(target?.help ?? {}).length);
    const typed = Object.fromEntries(
      Object.keys(positional).map((field, index) => [field, command.args[named.length + index]]),
    );
    if (textFileField) typed[textFileField] = await readTextFile(typed[textFileField] ?? "");
    const { json, ...given } = command.opts<{ json?: boolean }>();
    const texts = { ...defaults, ...typed, ...given };
    const fields = readFields(action, choices, await withFile(texts, action.command.fileField));
    const backend = getServiceRole();
    const [first = "", second = ""] = named;
    const id = target ? await target.find(backend, first, second) : "";
    const call = {
      supabase: backend,
      serviceRole: () => backend,
      emailSender: readEmailSender,
      options: { actor_name: getActorName() },
    };
    const outcome = await action.run(call, id, fields);
    if ("reason" in outcome)
      throw new Error(
        outcome.fieldErrors?.confirmed ? `${outcome.reason} To continue, add "--confirm yes".` : outcome.reason,
      );
    const isLogged = action.target === "shipment" || action.target === "document" || action.target === "account";
    printAction(getActorName(), { action: action.name, ...(isLogged && { [`${action.target}_id`]: id }) });
    const message = action.toast(outcome.result, fields);
    print(json, outcome.result ?? null, formatLines?.(outcome.result) ?? [actionLine(named, message)]);
    if (outcome.sent === false)
      throw new Error(
        "The change is saved. The email was not sent. To list the emails that failed, run `npm run staff -- failed-email list`.",
      );
  });
}

/** Returns the text of a file. Spreadsheet programs save text in UTF-8, UTF-16 or the Windows character set. */
async function readTextFile(name: string): Promise<string> {
  const bytes = await (name === "-" ? buffer(process.stdin) : readFile(name));
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? "utf-16le" : isUtf8(bytes) ? "utf-8" : "windows-1252").decode(bytes);
}

type Choices = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Returns the values and labels of each field that has a fixed list of values. */
function readChoices({ schema, command: { labels = {} } }: StaffAction): Choices {
  const { properties = {} } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  const choices = Object.entries(properties).flatMap(([field, property]) => {
    const { enum: values, const: value } = property as { enum?: string[]; const?: string };
    const accepted = values ?? (value === undefined ? Object.keys(labels[field] ?? {}) : [value]);
    if (accepted.length === 0) return [];
    return [[field, Object.fromEntries(accepted.map((choice) => [choice, labels[field]?.[choice] ?? choice]))]];
  });
  return Object.fromEntries(choices);
}

/** Returns a list such as "20 (20 ft), 40 (40 ft)". */
function listChoices(choices: Readonly<Record<string, string>>): string {
  const items = Object.entries(choices);
  return items.map(([value, label]) => (value === label ? value : `${value} (${label})`)).join(", ");
}

/**
 * Returns the value that `typed` names by value or label. Throws an error that lists `choices` if `typed` is neither.
 */
function readChoice(field: string, typed: string, choices: Readonly<Record<string, string>>): string {
  const normalize = (text: string) => collapseBlanks(text.trim()).toLowerCase();
  const choice = Object.entries(choices).find((texts) => texts.map(normalize).includes(normalize(typed)));
  if (!choice) throw new Error(`${field}: Choose one of ${listChoices(choices)}.`);
  return choice[0];
}

/** Replaces the path in `fileField` by the file. Reads only one byte more than the maximum size of a file. */
async function withFile(typed: Record<string, string | undefined>, fileField: string | undefined) {
  const location = fileField && typed[fileField];
  if (!location) return typed;
  const content = await buffer(createReadStream(location, { end: maxFileBytes })).catch(() => {
    throw new Error(`${fileField}: The file ${location} does not exist or cannot be read.`);
  });
  return { ...typed, [fileField]: new File([new Uint8Array(content)], path.basename(location)) };
}

/** Validates the typed values with the schema of the desk's form. Throws the first error message. */
function readFields({ schema }: StaffAction, choices: Choices, typed: Record<string, string | File | undefined>) {
  const values = Object.entries(typed).flatMap(([field, value]) => {
    if (value === undefined) return [];
    const isChoice = choices[field] && typeof value === "string";
    return [[field, isChoice ? readChoice(field, value, choices[field] ?? {}) : value]];
  });
  const fields = schema.safeParse(Object.fromEntries(values));
  if (fields.success) return fields.data;
  const [issue] = fields.error.issues;
  throw new Error(`${issue?.path.join(".")}: ${issue?.message}`);
}
