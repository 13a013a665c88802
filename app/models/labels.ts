/** Labels that only team members read are in desk-labels.ts, because clients do not load that file. */
export const waitingOnLabels = { client: "Your move", company: "With us", nobody: "Closed" } as const;
export type WaitingOn = keyof typeof waitingOnLabels;
export const WAITING_ON = ["client", "company", "nobody"] as const satisfies WaitingOn[];

export const documentStateLabels = {
  missing: "Not uploaded",
  uploaded: "Uploaded, we check it next",
  verified: "Verified",
} as const;
export type DocumentState = keyof typeof documentStateLabels;

export const STAFF_ROLES = ["clerk", "lead"] as const;
