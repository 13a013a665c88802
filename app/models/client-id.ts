import { z } from "zod";

/** Returns a Client ID such as 7K3Q-X9MD-2HTV-W5BC, reading O, I and L as digits (Crockford's base 32). */
export function normalizeClientId(input: string): string {
  const plain = input.toUpperCase().replace(/[\s-]/g, "").replace(/O/g, "0").replace(/[IL]/g, "1");
  return /^[0-9A-HJKMNP-TV-Z]{16}$/.test(plain) ? (plain.match(/.{4}/g) ?? []).join("-") : input.trim().toUpperCase();
}

export const UnusedClientId = z.string().min(12).max(64);

/** Section 5 of the specification. */
export const clientIdRequired = "A valid Client ID provided by the company is required.";

/** The message for unknown and for used Client IDs. The database's hook uses it too. */
export const clientIdInvalid = "This Client ID is not known or has been used. Ask the company for a new one.";
