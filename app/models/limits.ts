/** The maximum length of each typed text, in characters. A test compares these limits with the database. */
export const textLimits = {
  announcement: 200,
  awb: 64,
  chargeNote: 300,
  clientId: 64,
  email: 254,
  fileNote: 500,
  issuedFor: 120,
  location: 120,
  note: 1000,
  personName: 100,
  phone: 32,
  reason: 500,
  shipmentName: 120,
} as const;

/** Returns the arguments for Zod's `max`. The error message ends with `subject`, such as " for the name". */
export function maxLength(text: keyof typeof textLimits, subject = ""): [number, string] {
  return [textLimits[text], `Use at most ${textLimits[text].toLocaleString("en")} characters${subject}.`];
}
