/** Fields that the public forms share, with one validation for all. */
import { z } from "zod";
import { oneLine } from "../lib/forms/text-fields.ts";

export const personName = oneLine("Enter your full name.")
  .min(1, "Enter your full name.")
  .max(100, "Use at most 100 characters for your name.");

export const emailAddress = z
  .string("Enter your e-mail address.")
  .trim()
  .max(254, "Use at most 254 characters for the e-mail address.")
  .pipe(z.email("Enter an e-mail address in the form name@example.com."));
