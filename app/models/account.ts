/** Accounts: what sign-up and login ask for. */
import { z } from "zod";
import { clientIdRequired } from "./client-id.ts";

const email = z
  .string("Enter your e-mail address.")
  .trim()
  .max(254, "Use at most 254 characters for the e-mail address.")
  .pipe(z.email("Enter an e-mail address in the form name@example.com."));

const bytes = (text: string) => new TextEncoder().encode(text).length;

export const SignUp = z.object({
  clientId: z
    .string(clientIdRequired)
    .trim()
    .min(1, clientIdRequired)
    .max(64, "Use at most 64 characters for the Client ID."),
  fullName: z
    .string("Enter your full name.")
    .trim()
    .min(1, "Enter your full name.")
    .max(100, "Use at most 100 characters for your name."),
  email,
  password: z
    .string("Choose a password.")
    .min(6, "Choose a password of at least 6 characters.")
    .refine((password) => bytes(password) <= 72, "Choose a shorter password: at most 72 characters."),
});

export const Login = z.object({
  email,
  password: z
    .string("Enter your password.")
    .refine((password) => bytes(password) <= 72, "This password is too long to be yours: at most 72 characters."),
});

/** The token in a confirmation link. */
export const Confirmation = z.object({
  token: z.string("").regex(/^[\w.-]{16,256}$/, ""),
});
