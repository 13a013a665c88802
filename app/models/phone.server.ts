/** Reads telephone numbers as people write them in East Africa. The stored form is E.164, such as +254722123456. */
import { type PhoneNumber, parsePhoneNumberFromString } from "libphonenumber-js/min";
import { z } from "zod";
import type { IntentError } from "../lib/forms/intent-form.server.ts";
import { codeLine } from "../lib/forms/text-fields.ts";
import { maxLength } from "./limits.ts";
import { defaultPhoneCountry, otherCountry, PHONE_COUNTRIES, PHONE_COUNTRY_LABELS } from "./phone.ts";

export const PhoneFields = z.object({
  phone: codeLine("")
    .max(...maxLength("phone", " for the telephone number"))
    .optional(),
  country: z.enum(Object.keys(PHONE_COUNTRY_LABELS), "Choose the country.").default(defaultPhoneCountry),
});

/** A stored telephone number, which pages show in the form +254 722 123456. */
export const PhoneRecord = z
  .string()
  .nullable()
  .transform((phone) => phone && formatPhone(phone));

export function formatPhone(phone: string): string {
  return parsePhoneNumberFromString(phone)?.formatInternational() ?? phone;
}

/** Returns null for an empty field. A number that does not begin with a country code is a number of `country`. */
export function parsePhone({
  phone = "",
  country,
}: z.infer<typeof PhoneFields>): { phone: string | null } | IntentError {
  if (phone === "") return { phone: null };
  const digits = toDigits(phone);
  const number = [...readCandidates(digits, country)].find(isPossible)?.number;
  if (number) return { phone: number };
  const reason = describeProblem(phone, digits, country);
  return { reason, status: 400, fieldErrors: { phone: [reason] } };
}

/** Returns the digits of a number, after + if the number is in international form. Letters remain in the result. */
function toDigits(phone: string): string {
  return phone
    .replace(/^(?:tel|phone|mobile|whatsapp)\b/i, "")
    .replace(/(?![+*#])[\p{Z}\p{P}\p{S}]/gu, "")
    .replace(/^\+?00+/, "+")
    .replace(/^\+0/, "0");
}

function* readCandidates(digits: string, country: string): Generator<PhoneNumber | undefined> {
  if (!/^\+?\d{4,17}$/.test(digits)) return;
  const local = PHONE_COUNTRIES.find(({ code }) => code === country);
  if (!digits.startsWith("+") && local) {
    yield parsePhoneNumberFromString(digits, local.code);
    yield parsePhoneNumberFromString(digits.replace(/^0/, ""), local.code);
  }
  const international = digits.startsWith("+") ? digits : `+${digits}`;
  const owner = findCountry(international);
  if (!owner && !digits.startsWith("+")) return;
  yield parsePhoneNumberFromString(international);
  // In a country without a zero before national numbers, the library rejects a number such as +257 (0) 79 12 34 56.
  if (owner) yield parsePhoneNumberFromString(international.replace(`${owner.callingCode}0`, owner.callingCode));
}

const findCountry = (number: string) => PHONE_COUNTRIES.find(({ callingCode }) => number.startsWith(callingCode));

/** For other countries, checks only the length, because the library may not know their newest numbers. */
function isPossible(number: PhoneNumber | undefined): boolean {
  if (!number) return false;
  return findCountry(number.number) ? number.isValid() : number.isPossible();
}

function describeProblem(phone: string, digits: string, country: string): string {
  if (/\d{6}\D+\d{6}|\d{18}/.test(phone.replace(/[\s().-]/g, ""))) return "Enter only one telephone number.";
  const isInternational = digits.startsWith("+");
  const named = isInternational ? findCountry(digits) : PHONE_COUNTRIES.find(({ code }) => code === country);
  if (named) {
    const example = isInternational
      ? `${named.callingCode} ${named.example.replace(/^0/, "")}`
      : `${named.example}, or choose another country`;
    return `This is not a telephone number of ${named.name}. Enter a number such as ${example}.`;
  }
  if (country === otherCountry && !isInternational)
    return "Begin the number with + and the country code, such as +44 20 7946 0018.";
  return "This is not a telephone number. Enter a number such as +44 20 7946 0018.";
}
