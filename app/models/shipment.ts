/** Shipments: the ten stages and what a client sees of them. Goes to the browser: no schema, no library. */
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
export const pageSize = 20;

/** What happens at a stage and who acts: the client, the company, or nobody any more. */
export type Step = { who: "you" | "us" | "done"; text: string };

const steps: readonly Step[] = [
  { who: "you", text: "Upload the four documents below. We start on the file as soon as they are here." },
  { who: "us", text: "We check your documents against each other and tell you what is missing." },
  { who: "us", text: "We apply for the import declaration form (IDF) with the revenue authority." },
  { who: "us", text: "We lodge the customs declaration." },
  { who: "you", text: "Duties and fees are due. Customs goes on when they are paid." },
  { who: "us", text: "Your cargo is on its way. We follow it and note each move below." },
  { who: "us", text: "Customs inspects and releases the cargo. We are present." },
  { who: "us", text: "We load the cargo for delivery." },
  { who: "us", text: "We finish the extra services you ordered." },
  { who: "done", text: "This shipment is closed. Its documents and history stay here." },
];

/** What happens next at a stage, 1 to 10. */
export function nextStep(stage: number): Step {
  return steps[stage - 1] ?? { who: "us", text: "" };
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
