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

export const STORAGE_LOCATIONS = { mombasa: "Mombasa port", nairobi: "Nairobi ICD", naivasha: "Naivasha ICD" } as const;
export type StorageLocation = keyof typeof STORAGE_LOCATIONS;

export const CONTAINER_SIZES = { 20: "20 ft", 40: "40 ft" } as const;

export const CHARGE_CURRENCIES = ["KES", "USD", "EUR", "GBP"] as const;

export const STAFF_ROLES = ["clerk", "lead"] as const;

export const staffRoleLabels = {
  clerk: "Clerk: works on shipments",
  lead: "Lead: also manages the team",
} as const satisfies Record<(typeof STAFF_ROLES)[number], string>;
