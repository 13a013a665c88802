/** The text of shipment updates. Only the reasons and notes, which team members type, can contain amounts. */
import { z } from "zod";
import { calendarDate } from "../lib/dates.ts";
import { type Arrival, asksForFreeDays, describeStorageForEmail, STORAGE_LOCATIONS } from "./arrival.server.ts";
import { createEmail, type EmailSender, formatTypedText, type RecipientName } from "./emails.ts";
import { getPaymentName, lastStage, type NextAction, STAGES, shortId } from "./shipment.ts";

/** The kinds of news in shipment updates, most urgent first. */
export const UPDATE_KINDS = [
  "withdrawn",
  "restored",
  "rejected",
  "charge",
  "storage",
  "stage",
  "note",
  "arrived",
  "verified",
  "paid",
  "opened",
] as const;

/**
 * Depending on `kind`, `detail` is a stage number, document name, payment item, last day of free storage, place and day
 * of an arrival, or number of opened shipments. `note` is the team member's text to the client. `previous_stage` is the
 * stage before a move. `opened` has the shipments that we opened together.
 */
export const ShipmentUpdate = z.object({
  kind: z.enum(UPDATE_KINDS),
  detail: z.string(),
  reason: z.string().nullable(),
  note: z.string().nullable(),
  previous_stage: z.number().nullable(),
  opened: z.array(z.object({ id: z.string(), name: z.string(), awb: z.string().nullable() })).nullable(),
});
type ShipmentUpdate = z.infer<typeof ShipmentUpdate>;

export type ShipmentEmail = {
  shipment_id: string;
  name: string;
  full_name: RecipientName;
  stage: number;
  status: string;
  nextAction: NextAction;
  numbers: [label: string, number: string][];
  arrival: Arrival | null;
  events: ShipmentUpdate[];
};

const maxNewsLines = 3;
const maxBodyLines = 10;
const maxNoteCharacters = 500;

export function shipmentUpdateEmail(sender: EmailSender, shipment: ShipmentEmail, unsubscribeUrl: string) {
  const { name, shipment_id: id } = shipment;
  const updates = mergeStageUpdates(shipment.events).sort(
    (first, second) => getUpdateWeight(first) - getUpdateWeight(second),
  );
  const [first] = updates;
  const otherCount = countOtherShipments(first);
  const numbers = otherCount > 0 ? [] : formatNumbers(id, shipment.numbers);
  const news = [...formatNews(shipment, updates), ...numbers, ""];
  const allShipments = `See your shipments: ${sender.origin}/portal`;
  const nextStep =
    first?.kind === "withdrawn"
      ? ["If you still need this shipment, call us.", allShipments]
      : otherCount > 0
        ? ["Upload the documents of each shipment.", allShipments]
        : [formatNextAction(shipment, updates), `See the shipment: ${sender.origin}/portal/${id}`];
  const notes = formatNotes(shipment.events, maxBodyLines - news.length - nextStep.length);
  const body = [...news, ...notes, ...nextStep];
  const others = otherCount > 0 ? ` and ${otherCount} more` : "";
  const subject = `${name}${others}: ${first ? createSubject(first) : shipment.status}`;
  return createEmail(sender, shipment.full_name, subject, body, [
    `Unsubscribe from shipment emails: ${unsubscribeUrl}`,
  ]);
}

/** Merges all stage updates into the last stage update, which gets the `previous_stage` of the first stage update. */
function mergeStageUpdates(updates: ShipmentUpdate[]): ShipmentUpdate[] {
  const isStage = ({ kind }: ShipmentUpdate) => kind === "stage";
  const [first, last] = [updates.find(isStage), updates.findLast(isStage)];
  return updates
    .filter((update) => !isStage(update) || update === last)
    .map((update) => (update === last ? { ...update, previous_stage: first?.previous_stage ?? null } : update));
}

const getUpdateWeight = ({ kind }: ShipmentUpdate) => UPDATE_KINDS.indexOf(kind);

const countOtherShipments = (update: ShipmentUpdate | undefined) => Math.max((update?.opened?.length ?? 0) - 1, 0);

/** Returns the news in a few words, such as "New file needed: Packing List". */
export function createSubject({ kind, detail, previous_stage }: ShipmentUpdate): string {
  if (kind === "stage")
    return isMovedBack(detail, previous_stage) ? `Moved back to ${formatStage(detail)}` : formatStage(detail);
  if (kind === "withdrawn") return "Shipment withdrawn";
  if (kind === "restored") return "Shipment restored";
  if (kind === "rejected") return `New file needed: ${detail}`;
  if (kind === "charge") return `Payment due: ${getPaymentName(detail)}`;
  if (kind === "storage") return `Free storage ends on ${calendarDate(detail)}`;
  if (kind === "arrived") return `Arrived at ${parseArrival(detail).place}`;
  if (kind === "verified") return "All documents verified";
  if (kind === "paid") return `Payment confirmed: ${getPaymentName(detail)}`;
  if (kind === "opened") return detail === "1" ? "Shipment opened" : "Shipments opened";
  return "Note from us";
}

/** Only the first line has the shipment's name. The lines mention a note only if the note is the first news. */
function formatNews(shipment: ShipmentEmail, updates: ShipmentUpdate[]): string[] {
  const [first] = updates;
  const news = updates.filter((update) => update.kind !== "note" || update === first);
  const lines = [...new Set(news.map((update) => describeUpdate(update, "", shipment)))];
  if (first) lines[0] = describeUpdate(first, ` “${shipment.name}”`, shipment);
  if (lines.length <= maxNewsLines) return lines;
  const shown = lines.slice(0, maxNewsLines - 1);
  return [...shown, `You can see ${lines.length - shown.length} more updates in the portal.`];
}

function describeUpdate(
  update: ShipmentUpdate,
  quotedName: string,
  shipment: Pick<ShipmentEmail, "stage" | "arrival">,
): string {
  const { kind, detail, reason, previous_stage } = update;
  if (kind === "stage")
    return isMovedBack(detail, previous_stage)
      ? `The shipment${quotedName} moved back to ${formatStage(detail)}.`
      : `The shipment${quotedName} moved to ${formatStage(detail)}.`;
  if (kind === "withdrawn") return `We withdrew the shipment${quotedName}. Reason: ${endSentence(reason ?? "")}`;
  if (kind === "restored") return `We restored the shipment${quotedName}. It is in your list again.`;
  if (kind === "rejected")
    return reason === null
      ? `We need a new file for the ${detail} of the shipment${quotedName}. You can see the reason in the portal.`
      : `We need a new file for the ${detail} of the shipment${quotedName}. Reason: ${endSentence(reason)}`;
  if (kind === "charge")
    return `A payment is due for the shipment${quotedName}: ${getPaymentName(detail)}. You can see the amount in the portal.`;
  if (kind === "storage") {
    const place = shipment.arrival && ` at ${STORAGE_LOCATIONS[shipment.arrival.storage_location]}`;
    return `Free storage${place ?? ""} for the shipment${quotedName} ends on ${calendarDate(detail)}. After that day, you pay for each day of storage.`;
  }
  if (kind === "arrived") {
    const { place, day } = parseArrival(detail);
    const arrival = `The cargo of the shipment${quotedName} arrived at ${place} on ${calendarDate(day)}.`;
    return [arrival, describeStorageForEmail(shipment)].filter(Boolean).join(" ");
  }
  if (kind === "verified") return `We verified all documents of the shipment${quotedName}.`;
  if (kind === "paid") return `We confirmed a payment for the shipment${quotedName}: ${getPaymentName(detail)}.`;
  if (kind === "opened")
    return countOtherShipments(update) > 0
      ? [`We opened ${update.opened?.length} shipments for you:`, ...listOpenedShipments(update)].join("\n")
      : `We opened the shipment${quotedName} for you.`;
  return `We added a note to the shipment${quotedName}.`;
}

function listOpenedShipments({ opened }: ShipmentUpdate): string[] {
  const describe = (name: string, id: string, awb: string | null) =>
    [`- “${name}”, shipment number: ${shortId(id)}`, awb && `AWB/BL: ${awb}`].filter(Boolean).join(", ");
  return (opened ?? []).map(({ id, name, awb }) => describe(name, id, awb));
}

function parseArrival(detail: string): { place: string; day: string } {
  const [location = "", day = ""] = detail.split(" ");
  return { place: STORAGE_LOCATIONS[location] ?? location, day };
}

function isMovedBack(stage: string, previousStage: number | null): boolean {
  return previousStage !== null && Number(stage) <= previousStage;
}

const formatStage = (stage: string) => `${STAGES[Number(stage) - 1]} (${stage} of ${lastStage})`;
const endSentence = (text: string) => formatTypedText(text).replace(/[^.!?…]$/u, "$&.");

function formatNumbers(id: string, numbers: ShipmentEmail["numbers"]): string[] {
  const [awb, ...others] = numbers.map(([label, number]) => `${label}: ${number}`);
  return [[`Shipment number: ${shortId(id)}`, awb].filter(Boolean).join(", "), others.join(", ")].filter(Boolean);
}

function formatNotes(updates: ShipmentUpdate[], maxLines: number): string[] {
  const notes = updates.flatMap(({ note }) => (note ? [formatTypedText(note)] : []));
  const lines = notes.map((note) => `Our note: “${truncate(note, maxNoteCharacters)}”`);
  if (lines.length <= maxLines) return lines;
  const newest = lines.slice(lines.length - maxLines + 1);
  return [...newest, `You can see ${lines.length - newest.length} earlier notes in the portal.`];
}

function truncate(text: string, length: number): string {
  const characters = [...text];
  return characters.length <= length
    ? text
    : `${characters
        .slice(0, length - 1)
        .join("")
        .trimEnd()}…`;
}

function formatNextAction(shipment: ShipmentEmail, updates: ShipmentUpdate[]): string {
  const { waitingOn, text, isDue } = shipment.nextAction;
  if (isDue) return `${text} You can see the amount on the shipment's page in the portal.`;
  // A note may ask the client for something, and after free storage the client pays for each day.
  const mayNeedClient =
    waitingOn === "client" ||
    updates.some(({ kind, note }) => kind === "storage" || note || (kind === "arrived" && asksForFreeDays(shipment)));
  return mayNeedClient ? text : `${text} You do not need to do anything.`;
}
