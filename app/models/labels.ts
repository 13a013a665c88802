/** The words for the values of each enumeration. Words that only team members read are in desk-labels.ts: clients do not load it. */

/** Who has to act next on a shipment, in the words for the client. */
export const waitingOnLabels = { client: "Your move", company: "With us", nobody: "Closed" } as const;
export type WaitingOn = keyof typeof waitingOnLabels;
export const WAITING_ON = ["client", "company", "nobody"] as const satisfies WaitingOn[];

/** The state of a document, in the words for the client. */
export const documentStateLabels = {
  missing: "Not uploaded",
  uploaded: "Uploaded, we check it next",
  verified: "Verified",
} as const;
export type DocumentState = keyof typeof documentStateLabels;

export const STAFF_ROLES = ["clerk", "lead"] as const;
