/** Browsers load this file, so the file imports no library. */
import { calendarDate } from "../lib/dates.ts";
import { paymentToast } from "./not-yet.ts";

/** Stage n is STAGES[n - 1]. The database has the same list (private.stage_name). */
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

/** Returns the last day of a retention period, or null if the day has passed (in UTC, like public.start_erasure). */
export const getRetentionEnd = (day: string | null) =>
  day && day >= new Date().toISOString().slice(0, 10) ? day : null;

export const shipmentsPerPage = 20;

export const waitingOnLabels = { client: "Waiting for you", company: "With us", nobody: "Closed" } as const;
export type WaitingOn = keyof typeof waitingOnLabels;
export const WAITING_ON = ["client", "company", "nobody"] as const satisfies WaitingOn[];

/** `isDue` is true if the shipment is closed with an amount due. */
export type NextAction = { waitingOn: WaitingOn; text: string; isDue?: true };

export type AmountDue = { currency: string; amount: number };

/** `missing` has the names of documents without a file. */
export type OpenItems = { missing: string[]; due: (AmountDue & { item: string })[] };

/** `due_on` is YYYY-MM-DD. Shipments for emails have no amounts. */
export type ShipmentState = {
  stage: number;
  documents: { name: string; uploaded: boolean; rejected_at: string | null }[];
  charges: ({ item: string; due_on: string | null; paid_at: string | null } & Partial<AmountDue>)[];
};

/**
 * The client acts next while a file is missing or a charge is unpaid. The database has the same rule
 * (private.shipment_waiting_on). `ours` replaces the stage's text if the company acts next.
 */
export function nextAction(
  { stage, documents, charges }: ShipmentState,
  { text, ours = text }: { text: string; ours?: string },
): NextAction {
  const payments = charges.filter(({ paid_at }) => paid_at === null).map(describePayment);
  if (stage === lastStage) {
    const amountsDue = describeAmountsDue(charges);
    return amountsDue
      ? { waitingOn: "nobody", text: [amountsDue, ...payments].join(" "), isDue: true }
      : { waitingOn: "nobody", text };
  }
  const awaited = documents.filter(({ uploaded }) => !uploaded);
  const rejected = awaited.filter(({ rejected_at }) => rejected_at);
  const missing = awaited.filter(({ rejected_at }) => !rejected_at);
  const steps = [
    ...(rejected.length > 0 ? [`Upload a new file for the ${formatNames(rejected)}.`] : []),
    ...(missing.length > 0 ? [`Upload the ${formatNames(missing)}.`] : []),
    ...payments,
  ];
  return steps.length > 0 ? { waitingOn: "client", text: steps.join(" ") } : { waitingOn: "company", text: ours };
}

const paymentClearanceStage = 5;

/**
 * Returns what a team member must confirm before a shipment gets the stage `newStage`. The database has the same rule
 * (private.open_items).
 */
export function getOpenItems(stage: number, { missing, due }: OpenItems, newStage: number): OpenItems {
  const passesPaymentClearance = stage <= paymentClearanceStage && newStage > paymentClearanceStage;
  return {
    missing: newStage === stage + 1 || newStage === lastStage ? missing : [],
    due: passesPaymentClearance || newStage === lastStage ? due : [],
  };
}

export function describeOpenItems({ missing, due }: OpenItems): string {
  const documents = missing.length > 0 && `These documents are missing: ${missing.join(", ")}.`;
  return [documents, due.length > 0 && formatAmountsDue(due)].filter(Boolean).join(" ");
}

/** The database has the same rule (public.withdraw_own_shipment). */
export function isWithdrawableByClient({ stage, documents, charges }: ShipmentState): boolean {
  const isUntouched = documents.every(({ uploaded, rejected_at }) => !uploaded && !rejected_at);
  return stage === 1 && isUntouched && charges.length === 0;
}

export const lastWithdrawableStage = 3;

function describePayment({ item, due_on }: ShipmentState["charges"][number]): string {
  const name = getPaymentName(item);
  return due_on ? `Pay the ${name} by ${calendarDate(due_on)}.` : `Pay the ${name}.`;
}

function formatNames(documents: { name: string }[]): string {
  return new Intl.ListFormat("en").format(documents.map(({ name }) => name));
}

/** Returns the first 8 characters, which are short enough to say on the phone. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}

export const PAYMENTS = [
  { id: "idf-fee", name: "IDF Fee", action: "Action: Pay IDF Fee" },
  { id: "duties", name: "Duties & Taxes", action: "Action: Pay Duties" },
  { id: "agent-fee", name: "Agent Fee", action: "Action: Pay Agent Fee" },
] as const;

export const getPaymentName = (item: string) => PAYMENTS.find(({ id }) => id === item)?.name ?? item;

export function formatMoney(currency: string, amount: number): string {
  return `${currency} ${amount.toLocaleString("en-KE", { minimumFractionDigits: 2 })}`;
}

/** Returns a text such as "KES 642,780.00" for the sum of the amounts in each currency. */
export function formatSums(amounts: Partial<AmountDue>[]): string[] {
  const cents = new Map<string, number>();
  for (const { currency, amount } of amounts)
    if (currency && amount) cents.set(currency, (cents.get(currency) ?? 0) + Math.round(amount * 100));
  return [...cents].map(([currency, sum]) => formatMoney(currency, sum / 100));
}

/** Returns text such as "KES 642,780.00 and USD 50.00 are still due.", with one sum for each currency. */
export function formatAmountsDue(amountsDue: Partial<AmountDue>[]): string {
  const sums = formatSums(amountsDue);
  if (sums.length === 0) return "A payment is still due.";
  const list = new Intl.ListFormat("en").format(sums);
  return sums.length > 1 ? `${list} are still due.` : `${list} is still due.`;
}

export function describeAmountsDue(charges: ({ paid_at: string | null } & Partial<AmountDue>)[]): string | null {
  const unpaid = charges.filter(({ paid_at }) => paid_at === null);
  return unpaid.length > 0 ? formatAmountsDue(unpaid) : null;
}

export const noChargeText = "Nothing to pay yet";
export const noHistoryText = "No tracking history yet.";

export type Charge = AmountDue & {
  item: string;
  due_on: string | null;
  note: string | null;
  paid_at: string | null;
};

/** Returns text such as "KES 18,000.00, due 4 May 2026. Invoice 1042.". */
export function formatCharge({ amount, currency, due_on, note, paid_at }: Omit<Charge, "item">): string {
  const state = paid_at ? ", paid" : due_on ? `, due ${calendarDate(due_on)}` : "";
  return [`${formatMoney(currency, amount)}${state}.`, note].filter(Boolean).join(" ");
}

/** Returns the payment buttons. `toast` is null for a paid charge. */
export function listPayments({ charges }: { charges: Charge[] }) {
  return {
    items: PAYMENTS.map((payment) => {
      const charge = charges.find(({ item }) => item === payment.id);
      const toast = charge?.paid_at ? null : paymentToast(payment);
      return { id: payment.id, name: payment.name, words: charge ? formatCharge(charge) : noChargeText, toast };
    }),
    hasUnpaid: charges.some(({ paid_at }) => paid_at === null),
  };
}
