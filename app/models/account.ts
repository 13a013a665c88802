/** Accounts: what sign-up and login ask for. */
import { z } from "zod";
import { clientIdRequired } from "./client-id.ts";
import { emailAddress, personName } from "./contact.ts";
import { oneLine } from "./text.ts";

const bytes = (text: string) => new TextEncoder().encode(text).length;

export const SignUp = z.object({
  clientId: oneLine(clientIdRequired).min(1, clientIdRequired).max(64, "Use at most 64 characters for the Client ID."),
  fullName: personName,
  email: emailAddress,
  password: z
    .string("Choose a password.")
    .min(6, "Choose a password of at least 6 characters.")
    .refine((password) => bytes(password) <= 72, "Choose a shorter password: at most 72 characters."),
});

export const Login = z.object({
  email: emailAddress,
  password: z
    .string("Enter your password.")
    .refine((password) => bytes(password) <= 72, "This password is too long to be yours: at most 72 characters."),
});

/** The token in a confirmation link. */
export const Confirmation = z.object({
  token: z.string("").regex(/^[\w.-]{16,256}$/, ""),
});
