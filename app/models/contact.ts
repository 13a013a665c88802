import { z } from "zod";
import { codeLine, oneLine } from "../lib/forms/text-fields.ts";
import { maxLength } from "./limits.ts";

export const personName = oneLine("Enter your full name.")
  .min(1, "Enter your full name.")
  .max(...maxLength("personName", " for your name"));

const emailInvalid = "Enter an email address such as name@example.com.";

export const emailAddress = codeLine("Enter your email.")
  .overwrite(toAsciiDomain)
  .max(...maxLength("email", " for the email"))
  .pipe(z.string(emailInvalid).refine(isEmailAddress, emailInvalid));

function isEmailAddress(text: string): boolean {
  return z.regexes.html5Email.test(text) && /\.(?!\d+$)[^.]+$/.test(text);
}

/** Returns the address with its domain in ASCII (Punycode), which email servers require. */
function toAsciiDomain(address: string): string {
  const [, mailbox, domain] = /^([^@]*@)([\p{L}\p{M}\p{N}.-]+)$/u.exec(address) ?? [];
  const url = `https://${domain}`;
  return domain && URL.canParse(url) ? mailbox + new URL(url).hostname : address;
}
