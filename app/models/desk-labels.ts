/** The words for the values of each enumeration at the desk. */

import type { DocumentState, STAFF_ROLES, WaitingOn } from "./labels.ts";

export const deskWaitingOnLabels = {
  client: "Client's move",
  company: "Our move",
  nobody: "Closed",
} as const satisfies Record<WaitingOn, string>;

export const deskDocumentStateLabels = {
  missing: "Not uploaded",
  uploaded: "To check",
  verified: "Verified",
} as const satisfies Record<DocumentState, string>;

/** The port and the inland container depots where cargo arrives. */
export const STORAGE_LOCATIONS = { mombasa: "Mombasa port", nairobi: "Nairobi ICD", naivasha: "Naivasha ICD" } as const;
export type StorageLocation = keyof typeof STORAGE_LOCATIONS;

/** Currencies of charges, by their ISO 4217 codes. */
export const CHARGE_CURRENCIES = ["KES", "USD", "EUR", "GBP"] as const;

export const staffRoleLabels = {
  clerk: "Clerk: the day's work",
  lead: "Lead: invites and removes colleagues too",
} as const satisfies Record<(typeof STAFF_ROLES)[number], string>;
