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

/** The page of the list that an address asks for with `?page=`, from 1; the first for anything else. */
export function pageAsked({ searchParams }: URL): number {
  const asked = Number(searchParams.get("page"));
  return Number.isInteger(asked) && asked > 0 && asked < 1e6 ? asked : 1;
}

/** What happens at a stage and who acts: the client, the company, or nobody any more. From content/data/stages.yaml. */
export type Step = { who: "you" | "us" | "done"; text: string };

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

/** Currencies of what clients are charged. The database has the same list. */
export const CURRENCIES = ["KES", "USD", "EUR", "GBP"] as const;
