import { z } from "zod";
import { oneLine } from "../lib/forms/text-fields.ts";
import { maxLength } from "./limits.ts";

export const personName = oneLine("Enter your full name.")
  .min(1, "Enter your full name.")
  .max(...maxLength("personName", " for your name"));

export const emailAddress = z
  .string("Enter your email.")
  .trim()
  .max(...maxLength("email", " for the email"))
  .pipe(z.email("Enter an email such as name@example.com."));
