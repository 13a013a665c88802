/** Labels that only team members read. This file is separate so that clients' browsers do not load the labels. */
import type { DocumentState } from "./document.ts";
import type { WaitingOn } from "./shipment.ts";

export const deskWaitingOnLabels = {
  client: "Waiting for client",
  company: "With us",
  nobody: "Closed",
} as const satisfies Record<WaitingOn, string>;

export const deskDocumentStateLabels = {
  missing: "Not uploaded",
  uploaded: "To check",
  verified: "Verified",
} as const satisfies Record<DocumentState, string>;

/** Storage tariffs distinguish goods imported for use in Kenya from goods in transit. */
export const CARGO_KINDS = {
  "container-20": "20 ft container, import to Kenya",
  "container-40": "40 ft container, import to Kenya",
  "transit-20": "20 ft container, transit",
  "transit-40": "40 ft container, transit",
  vehicle: "Vehicle",
  loose: "Loose cargo",
  air: "Air freight",
} as const;
export type CargoKind = keyof typeof CARGO_KINDS;

export const REJECTION_REASONS = [
  "A page is unreadable",
  "A page is missing",
  "This is another document",
  "The document is for another shipment",
  "The document is not signed or stamped",
] as const;

export const FILE_SOURCES = { whatsapp: "WhatsApp", email: "Email", paper: "Paper" } as const;
export type FileSource = keyof typeof FILE_SOURCES;

export const fileSourcePhrases = {
  whatsapp: "from WhatsApp",
  email: "from email",
  paper: "from paper",
} as const satisfies Record<FileSource, string>;

export const CHARGE_CURRENCIES = ["KES", "USD", "EUR", "GBP"] as const;

export const STAFF_ROLES = ["clerk", "lead"] as const;

export const staffRoleLabels = {
  clerk: "Clerk: works on shipments",
  lead: "Lead: also manages the team",
} as const satisfies Record<(typeof STAFF_ROLES)[number], string>;

/** The labels of the filter for the team member who handles a shipment. */
export const handlerLabels = { mine: "Mine", nobody: "Nobody's" } as const;
