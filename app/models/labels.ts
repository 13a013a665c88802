/** The words for the values of each enumeration. A test compares the values with the checks of the database. Goes to the browser. */

/** Who has to act next on a shipment, in the words for the client. */
export const waitingOnLabels = { client: "Your move", company: "With us", nobody: "Closed" } as const;
/** The same in the words for team members. */
export const deskWaitingOnLabels = { client: "Client's move", company: "Our move", nobody: "Closed" } as const;
export type WaitingOn = keyof typeof waitingOnLabels;
export const WAITING_ON = ["client", "company", "nobody"] as const satisfies WaitingOn[];

/** The state of a document, in the words for the client. */
export const documentStateLabels = {
  missing: "Not uploaded",
  uploaded: "Uploaded, we check it next",
  verified: "Verified",
} as const;
/** The same in the words for team members. */
export const deskDocumentStateLabels = { missing: "Not uploaded", uploaded: "To check", verified: "Verified" } as const;
export type DocumentState = keyof typeof documentStateLabels;

/** The port and the inland container depots where cargo arrives. */
export const STORAGE_LOCATIONS = { mombasa: "Mombasa port", nairobi: "Nairobi ICD", naivasha: "Naivasha ICD" } as const;
export type StorageLocation = keyof typeof STORAGE_LOCATIONS;

/** Currencies of charges, by their ISO 4217 codes. */
export const CHARGE_CURRENCIES = ["KES", "USD", "EUR", "GBP"] as const;

export const staffRoleLabels = {
  clerk: "Clerk: the day's work",
  lead: "Lead: invites and removes colleagues too",
} as const;
export type StaffRole = keyof typeof staffRoleLabels;
export const STAFF_ROLES = ["clerk", "lead"] as const satisfies StaffRole[];
