/** Staff commands on shipments, their documents and charges: the model functions of the desk. */
import { writeFile } from "node:fs/promises";
import { type Command, Option } from "commander";
import { findShipmentId, listAllShipments } from "../../models/all-shipments.server.ts";
import { CHARGE_CURRENCIES, STORAGE_LOCATIONS, type StorageLocation } from "../../models/desk-labels.ts";
import { findDocumentId, verifyDocument } from "../../models/document.server.ts";
import { openFileForStaff } from "../../models/document-file.server.ts";
import { getLastFreeDay } from "../../models/free-storage.ts";
import { textLimits } from "../../models/limits.ts";
import { extendShipmentRetention } from "../../models/retention.server.ts";
import { formatMoney, lastStage, PAYMENTS } from "../../models/shipment.ts";
import {
  type CargoArrival,
  correctStage,
  moveShipment,
  rejectDocument,
  resultOrThrow,
  saveArrival,
  saveShipmentNumbers,
  sendNote,
  setCharge,
  setChargePaid,
  unverifyDocument,
} from "../../models/staff-action.server.ts";
import { createTextParser, parseAmount, parseDay, parseStage } from "./arguments.ts";
import { readStorageTariff } from "./content.ts";
import { type GetActorName, getServiceRole } from "./context.ts";
import { print, printAction, shipmentLine } from "./output.ts";

const idHelp = "the shipment's id or a beginning that only it has";
const reasonOption = ["--reason <why>", "why, for the log and, of what is sent back, for the client"] as const;

export function addShipmentCommands(staff: Command, by: GetActorName): void {
  /** Finds the shipment, acts on it, and prints what was done. */
  const on = async (id: string, act: string, job: (found: string) => Promise<string>) => {
    const backend = getServiceRole();
    const found = await findShipmentId(backend, id);
    const line = await job(found);
    printAction(by(), { action: act, shipment_id: found });
    print(false, null, [line]);
  };

  const shipment = staff.command("shipment").description("shipments of all clients");
  shipment
    .command("list")
    .description("all shipments, newest first")
    .option("--json", "an array")
    .action(async ({ json }: { json?: boolean }) => {
      const all = await listAllShipments(getServiceRole());
      print(json, all, all.map(shipmentLine));
    });
  shipment
    .command("advance")
    .description("move a shipment to its next stage, with its tracking event, whether or not documents are missing")
    .argument("<id>", idHelp)
    .option("--location <text>", "where this happened, up to 120 characters", createTextParser(textLimits.location))
    .option("--note <text>", "a note to the client", createTextParser(textLimits.note))
    .option("--json", "the shipment")
    .action(async (id: string, { json, ...move }: { location?: string; note?: string; json?: boolean }) => {
      const backend = getServiceRole();
      const found = await findShipmentId(backend, id);
      const moved = resultOrThrow(
        await moveShipment(backend, found, { ...move, despiteMissing: true }, { actor_name: by() }),
      );
      if ("missing" in moved) throw new Error(`Documents are missing: ${moved.missing.join(", ")}.`);
      printAction(by(), { action: "shipment advance", shipment_id: found, after: { stage: moved.stage } });
      print(json, { id: found, ...moved }, [`${found} is at stage ${moved.stage}/${lastStage}: ${moved.status}`]);
    });
  shipment
    .command("correct")
    .description("put a shipment at the stage it is really at; a closed one is opened again so")
    .argument("<id>", idHelp)
    .requiredOption("--stage <number>", "1 to 10", parseStage)
    .requiredOption(...reasonOption, createTextParser(textLimits.reason))
    .action((id: string, to: { stage: number; reason: string }) =>
      on(id, "shipment correct", async (found) => {
        const { stage, status } = resultOrThrow(
          await correctStage(getServiceRole(), found, to, { actor_name: by() }),
        ) as {
          stage: number;
          status: string;
        };
        return `${found} is at stage ${stage}/${lastStage}: ${status}`;
      }),
    );
  shipment
    .command("set-numbers")
    .description("write the number of the air waybill or bill of lading; one that stands is changed with a reason")
    .argument("<id>", idHelp)
    .argument("[number]", "up to 64 characters; none takes it off", createTextParser(textLimits.awb))
    .option(...reasonOption, createTextParser(textLimits.reason))
    .action((id: string, awb: string | undefined, { reason }: { reason?: string }) =>
      on(id, "shipment set-numbers", async (found) => {
        resultOrThrow(
          await saveShipmentNumbers(getServiceRole(), found, { awb: awb ?? "", reason }, { actor_name: by() }),
        );
        return awb ? `${found} has AWB/BL ${awb}` : `${found} has no AWB/BL`;
      }),
    );
  shipment
    .command("arrived")
    .description("write where, when and in what the cargo arrived: free storage is counted from it")
    .argument("<id>", idHelp)
    .addOption(new Option("--place <place>", "where").choices(Object.keys(STORAGE_LOCATIONS)).makeOptionMandatory())
    .requiredOption("--day <day>", "such as 2026-05-10", parseDay)
    .addOption(new Option("--size <feet>", "20 or 40").choices(["20", "40"]).makeOptionMandatory())
    .action((id: string, given: { place: StorageLocation; day: string; size: "20" | "40" }) =>
      on(id, "shipment arrived", async (found) => {
        const size = given.size === "20" ? 20 : 40;
        const arrival: CargoArrival = {
          ...given,
          size,
          free_storage_ends_on: getLastFreeDay(given.day, readStorageTariff()),
        };
        resultOrThrow(await saveArrival(getServiceRole(), found, arrival, { actor_name: by() }));
        return `${found} arrived at ${STORAGE_LOCATIONS[given.place]} on ${given.day}`;
      }),
    );
  shipment
    .command("keep")
    .description("keep a shipment longer than seven years, for a dispute or because a law asks for it")
    .argument("<id>", idHelp)
    .argument("<day>", "the last day, such as 2040-12-31", parseDay)
    .action((id: string, until: string) =>
      on(id, "shipment keep", async (found) => {
        resultOrThrow(await extendShipmentRetention(getServiceRole(), found, until, by()));
        return `${found} is kept until ${until}`;
      }),
    );
  staff
    .command("note")
    .description("tell the client something, in the history of the shipment")
    .argument("<shipment>", idHelp)
    .argument("<text>", "up to 1000 characters", createTextParser(textLimits.note))
    .action((id: string, text: string) =>
      on(id, "shipment note", async (found) => {
        resultOrThrow(await sendNote(getServiceRole(), found, text, { actor_name: by() }));
        return `The client of ${found} can read it`;
      }),
    );

  addDocumentCommands(staff, on, by);
  addChargeCommands(staff, on, by);
}

type RunOnShipment = (id: string, act: string, job: (found: string) => Promise<string>) => Promise<void>;

function addDocumentCommands(staff: Command, on: RunOnShipment, by: GetActorName): void {
  const document = staff.command("document").description("documents of all clients");
  const named = (name: string, description: string) =>
    document
      .command(name)
      .description(description)
      .argument("<shipment>", idHelp)
      .argument("<name>", 'such as "Bill of Lading"');
  named("verify", "mark an uploaded document as verified").action((id: string, name: string) =>
    on(id, "document verify", async (found) => {
      const one = await findDocumentId(getServiceRole(), found, name);
      const refused = await verifyDocument(getServiceRole(), getServiceRole(), one, { actor_name: by() });
      if (refused) throw new Error(refused.reason);
      return `The ${name} of ${found} is verified`;
    }),
  );
  named("unverify", "take the verification of a document back")
    .requiredOption(...reasonOption, createTextParser(textLimits.reason))
    .action((id: string, name: string, { reason }: { reason: string }) =>
      on(id, "document unverify", async (found) => {
        const one = await findDocumentId(getServiceRole(), found, name);
        resultOrThrow(await unverifyDocument(getServiceRole(), one, reason, { actor_name: by() }));
        return `The ${name} of ${found} is not verified any more`;
      }),
    );
  named("send-back", "ask the client for another file")
    .requiredOption(...reasonOption, createTextParser(textLimits.reason))
    .action((id: string, name: string, { reason }: { reason: string }) =>
      on(id, "document send-back", async (found) => {
        const one = await findDocumentId(getServiceRole(), found, name);
        resultOrThrow(await rejectDocument(getServiceRole(), one, reason, { actor_name: by() }));
        return `The ${name} of ${found} is sent back`;
      }),
    );
  named("open", "write the file of a document into a new file of yours")
    .argument("<file>", "such as invoice.pdf")
    .action((id: string, name: string, file: string) =>
      on(id, "document open", async (found) => {
        const opened = await openFileForStaff(
          getServiceRole(),
          getServiceRole(),
          { id: await findDocumentId(getServiceRole(), found, name), shipment: found },
          by(),
        );
        if ("reason" in opened) throw new Error(opened.reason);
        await writeFile(file, opened.content, { flag: "wx", mode: 0o600 });
        return `${file} is the ${name} of ${found}`;
      }),
    );
}

function addChargeCommands(staff: Command, on: RunOnShipment, by: GetActorName): void {
  const items = PAYMENTS.map(({ id }) => id);
  const charge = staff.command("charge").description("what clients are to pay");
  charge
    .command("set")
    .description("set or change what is to be paid for one item")
    .argument("<shipment>", idHelp)
    .argument("<item>", items.join(", "))
    .argument("<amount>", "such as 12500 or 12500.50", parseAmount)
    .addOption(new Option("--currency <currency>", "of the amount").choices([...CHARGE_CURRENCIES]).default("KES"))
    .option("--due <day>", "the last day to pay, such as 2026-05-31", parseDay)
    .option("--note <text>", "for the client", createTextParser(textLimits.chargeNote))
    .action((id: string, item: string, sum: number, more: { currency: string; due?: string; note?: string }) =>
      on(id, "charge set", async (found) => {
        const { currency, due: due_on, note } = more;
        resultOrThrow(
          await setCharge(getServiceRole(), found, { item, amount: sum, currency, due_on, note }, { actor_name: by() }),
        );
        return `${found}: ${item} is ${formatMoney(currency, sum)}`;
      }),
    );
  charge
    .command("paid")
    .description("note that an item was paid")
    .argument("<shipment>", idHelp)
    .argument("<item>", items.join(", "))
    .action((id: string, item: string) =>
      on(id, "charge paid", async (found) => {
        resultOrThrow(await setChargePaid(getServiceRole(), found, { item, paid: true }, { actor_name: by() }));
        return `${found}: ${item} is paid`;
      }),
    );
  charge
    .command("unpaid")
    .description("note that an item was not paid after all")
    .argument("<shipment>", idHelp)
    .argument("<item>", items.join(", "))
    .requiredOption(...reasonOption, createTextParser(textLimits.reason))
    .action((id: string, item: string, { reason }: { reason: string }) =>
      on(id, "charge unpaid", async (found) => {
        resultOrThrow(
          await setChargePaid(getServiceRole(), found, { item, paid: false, reason }, { actor_name: by() }),
        );
        return `${found}: ${item} is not paid`;
      }),
    );
}
