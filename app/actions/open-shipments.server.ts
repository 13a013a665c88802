/** Staff actions that open shipments for a client. */
import { z } from "zod";
import { ChangeShipmentFields } from "../models/shipment.server.ts";
import { numberHelp, toNumberArguments } from "../models/shipment-fields.server.ts";
import {
  findRepeatedNumbers,
  maxLinesCharacters,
  maxOpenedShipments,
  type OpenedShipment,
  openShipments,
  type RepeatedNumber,
  readShipmentLines,
  type ShipmentLine,
} from "../models/shipment-lines.server.ts";
import { defineStaffAction } from "./staff-action.server.ts";

const confirmation = z.literal("yes").optional();

type OpenResult = { opened: OpenedShipment[]; warnings: string[] };

function getOpenedPage({ opened: [first, second] }: OpenResult): string | undefined {
  return first && !second ? `/desk/shipments/${first.id}` : undefined;
}

const formatLines = ({ opened, warnings }: OpenResult) => [
  ...opened.map(({ id, name }) => `${id}  ${name}`),
  ...warnings,
];

export const open = defineStaffAction({
  name: "shipment open",
  label: "Shipment opened",
  target: "account",
  schema: ChangeShipmentFields.extend({ confirmRepeated: confirmation }),
  async run({ supabase, options }, account, { name, confirmRepeated, ...numbers }) {
    const shipment = { name, ...toNumberArguments(numbers) };
    const opening = await openShipments(supabase, account, [shipment], confirmRepeated !== undefined, options);
    if ("reason" in opening) return opening;
    const { result } = opening;
    if (!("repeated" in result)) return { result: { opened: result, warnings: [] } };
    const warnings = selectOnePerNumber(result.repeated).map((number) => describeRepeatedNumber(number));
    const reason = [...warnings, "Confirm that you want to open another shipment with this number."].join(" ");
    return { reason, status: 409, pageData: { mustConfirm: true } };
  },
  toast: () => "Shipment opened",
  redirectTo: getOpenedPage,
  command: {
    description: "open a shipment for a client, who gets an email",
    options: {
      name: "the name of the shipment",
      ...numberHelp,
      confirmRepeated: "required if another open shipment of the client has one of the numbers",
    },
    formatLines,
  },
});

const linesMissing = "Enter at least one line.";

const newWarningsText = "Other open shipments now have numbers of your lines. Check the lines again.";

export const openSeveral = defineStaffAction({
  name: "shipment open-several",
  label: "Shipment opened from a list",
  target: "account",
  schema: z.object({
    lines: z
      .string(linesMissing)
      .max(maxLinesCharacters, `Use at most ${maxLinesCharacters.toLocaleString("en")} characters.`),
    confirmed: confirmation,
    warningCount: z.coerce.number().optional(),
  }),
  async run({ supabase, options }, account, { lines: text, confirmed, warningCount = Infinity }) {
    const { lines, ...layout } = readShipmentLines(text);
    if (lines.length === 0) return createLinesError(linesMissing);
    if (lines.length > maxOpenedShipments)
      return createLinesError(
        `These are ${lines.length} lines. Open at most ${maxOpenedShipments} shipments at a time.`,
      );
    const valid = lines.flatMap(({ line, shipment }) => (shipment ? [{ line, shipment }] : []));
    const shipments = valid.map(({ shipment }) => shipment);
    const repeated = await findRepeatedNumbers(supabase, account, shipments);
    if ("reason" in repeated) return repeated;
    const getLine = (index: number) => valid[index - 1]?.line ?? index;
    const warnings = selectOnePerNumber(repeated).map((number): LineWarning => {
      const text = describeRepeatedNumber(number, getLine);
      return { line: getLine(number.index), text, shipment: number.shipment_id ?? undefined };
    });
    const review: ShipmentReview = { ...layout, lines: lines.map(({ shipment: _, ...line }) => line), warnings };
    const pageData = { review };
    if (valid.length < lines.length) return { ...createLinesError(describeWrongLines(lines)), pageData };
    // If `reason` is empty, the page shows the review and no error.
    if (!confirmed) return { reason: "", status: 200, pageData };
    const opening = await openShipments(supabase, account, shipments, warnings.length <= warningCount, options);
    if ("reason" in opening) return { ...opening, pageData };
    if ("repeated" in opening.result) return { reason: newWarningsText, status: 409, pageData };
    const opened = opening.result;
    return { result: { opened, warnings: warnings.map(({ line, text }) => `Line ${line}: ${text}`) } };
  },
  toast: ({ opened: { length } }) => (length === 1 ? "Shipment opened" : `${length} shipments opened`),
  redirectTo: getOpenedPage,
  command: {
    description: "open several shipments for a client, who gets one email",
    arguments: {
      lines: "a file with one shipment a line: name, AWB/BL, containers; - is the standard input",
    },
    textFileField: "lines",
    defaults: { confirmed: "yes" },
    formatLines,
  },
});

/** A warning about a number in a line. `shipment` is the ID of the open shipment that has the same number. */
type LineWarning = { line: number; text: string; shipment?: string };

/** What the page shows before the shipments are opened. */
export type ShipmentReview = {
  headingLine?: number;
  separator?: string;
  lines: Omit<ShipmentLine, "shipment">[];
  warnings: LineWarning[];
};

function createLinesError(reason: string) {
  return { reason, status: 400, fieldErrors: { lines: [reason] } };
}

const maxDescribedLines = 3;

function describeWrongLines(lines: ShipmentLine[]): string {
  const wrong = lines.filter(({ problems }) => problems.length > 0);
  const described = wrong
    .slice(0, maxDescribedLines)
    .map(({ line, problems }) => `Line ${line}: ${problems.join(" ")}`);
  const more = wrong.length - described.length;
  return [...described, more === 1 && "1 more line is wrong.", more > 1 && `${more} more lines are wrong.`]
    .filter(Boolean)
    .join(" ");
}

/** Returns one repeated number for each number of a line, because many open shipments can have the same number. */
function selectOnePerNumber(repeated: RepeatedNumber[]): RepeatedNumber[] {
  const entries = repeated.map((each) => [`${each.index} ${each.first_index} ${each.number}`, each] as const);
  return [...new Map(entries).values()];
}

function describeRepeatedNumber(
  { number, first_index, shipment_name }: RepeatedNumber,
  getLine = (index: number) => index,
): string {
  return first_index === null
    ? `The open shipment “${shipment_name}” already has the number ${number}.`
    : `The number ${number} is also in line ${getLine(first_index)}.`;
}
