/** Client IDs: invitations such as 7K3Q-X9MD-2HTV-W5BC. */
import { z } from "zod";

/**
 * A client ID as people type it, in the form the database keeps: capitals, groups of four with dashes, and the digits
 * that Crockford's base 32 means by O, I and L. Anything that is not one comes back trimmed and in capitals.
 */
export function normalizeClientId(typed: string): string {
  const plain = typed.toUpperCase().replace(/[\s-]/g, "").replace(/O/g, "0").replace(/[IL]/g, "1");
  return /^[0-9A-HJKMNP-TV-Z]{16}$/.test(plain) ? (plain.match(/.{4}/g) ?? []).join("-") : typed.trim().toUpperCase();
}

/** A client ID in a form of the desk: one that its page listed. */
export const UnusedClientId = z.string().min(12).max(64);

/** Shown when there is none; no call is made then (section 5 of the specification). */
export const clientIdRequired = "A valid Client ID provided by the company is required.";

/** The same words for an unknown and a used client ID; the database hook says them too. */
export const clientIdInvalid = "This Client ID is not known or has been used. Ask the company for a new one.";
