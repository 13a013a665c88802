/** Shipments: the ten stages and what a client sees of them. Goes to the browser: no schema, no library. */
import { calendarDate } from "../lib/dates.ts";
import type { WaitingOn } from "./labels.ts";
import { paymentToast } from "./not-yet.ts";

/** The stages in order; stage n is STAGES[n - 1]. The database has the same list (private.stage_name). */
export const STAGES = [
  "Client Onboarding",
  "Document Verification",
  "IDF Application",
  "Customs Declaration",
  "Payment Clearance",
  "Cargo Tracking",
  "Inspection & Release",
  "Loading Services",
  "Additional Services",
  "Shipment Closed",
] as const;

export const lastStage = STAGES.length;

/** Shipments on one page of the list. */
export const shipmentsPerPage = 20;

/** Who acts next, the client, the company, or nobody any more; and what happens. */
export type NextAction = { waitingOn: WaitingOn; text: string };

/** What tells whose move a shipment is; days YYYY-MM-DD. */
export type ShipmentState = {
  stage: number;
  documents: { name: string; uploaded: boolean; rejected_at: string | null }[];
  charges: { item: string; due_on: string | null; paid_at: string | null }[];
};

/**
 * Whose move a shipment is, and what happens next: the client's while a document is missing or was sent back, or a charge is
 * due; else what happens at its stage. `here` is that stage. The database has the same rule (private.shipment_waiting_on).
 */
export function nextAction(
  { stage, documents, charges }: ShipmentState,
  here: NextAction & { ours?: string },
): NextAction {
  if (stage === lastStage) return here;
  const awaited = documents.filter(({ uploaded }) => !uploaded);
  const due = charges.filter(({ paid_at }) => paid_at === null);
  if (awaited.length + due.length === 0)
    return here.waitingOn === "company" ? here : { waitingOn: "company", text: here.ours ?? here.text };
  // All of them at the first stage: its own words.
  if (stage === 1 && awaited.length === 4 && due.length === 0 && awaited.every((one) => !one.rejected_at)) return here;
  const text = [
    ...formatDocumentSentence(
      "Send us another file for the",
      awaited.filter((one) => one.rejected_at),
    ),
    ...formatDocumentSentence(
      "Upload the",
      awaited.filter((one) => !one.rejected_at),
    ),
    ...due.map(({ item, due_on }) => {
      const name = PAYMENTS.find(({ id }) => id === item)?.name ?? item;
      return due_on ? `Pay the ${name} by ${calendarDate(due_on)}.` : `Pay the ${name}.`;
    }),
  ].join(" ");
  return { waitingOn: "client", text };
}

function formatDocumentSentence(words: string, documents: { name: string }[]): string[] {
  if (documents.length === 0) return [];
  return [`${words} ${new Intl.ListFormat("en").format(documents.map(({ name }) => name))}.`];
}

/** The first 8 characters of the id, as the company says it on the phone. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}

/** The three payments of a shipment, with the title of the toast that their button shows. */
export const PAYMENTS = [
  { id: "idf-fee", name: "IDF Fee", action: "Action: Pay IDF Fee" },
  { id: "duties", name: "Duties & Taxes", action: "Action: Pay Duties" },
  { id: "agent-fee", name: "Agent Fee", action: "Action: Pay Agent Fee" },
] as const;

/** A sum of money as everybody reads it: "KES 18,000.00". */
export function formatMoney(currency: string, amount: number): string {
  return `${currency} ${amount.toLocaleString("en-KE", { minimumFractionDigits: 2 })}`;
}

/** What the company charges for one item of a shipment. */
export type Charge = {
  item: string;
  amount: number;
  currency: string;
  due_on: string | null;
  note: string | null;
  paid_at: string | null;
};

/** What a client is charged for one item: "KES 18,000.00, due 4 May 2026. Invoice 1042.", or that it is paid. */
export function formatCharge({ amount, currency, due_on, note, paid_at }: Omit<Charge, "item">): string {
  const state = paid_at ? ", Paid" : due_on ? `, due ${calendarDate(due_on)}` : "";
  return [`${formatMoney(currency, amount)}${state}.`, note].filter(Boolean).join(" ");
}

/**
 * The payments of a shipment: `words` of what is charged, the toast of a button where it is not paid. `how` is said to a
 * client with something to pay, before the number of the company.
 */
export function listPayments({ stage, charges }: { stage: number; charges: Charge[] }) {
  const toPay = stage < lastStage && charges.some(({ paid_at }) => paid_at === null);
  return {
    items: PAYMENTS.map((payment) => {
      const charge = charges.find(({ item }) => item === payment.id);
      const toast = charge?.paid_at ? null : paymentToast(payment);
      return { id: payment.id, name: payment.name, words: charge && formatCharge(charge), toast };
    }),
    how: toPay ? "Pay as our signed invoice says. In doubt, call" : null,
  };
}
