/** Accounts: what sign-up and login ask for. */
import { z } from "zod";
import { clientIdRequired } from "./client-id.ts";
import { emailAddress, personName } from "./contact.ts";
import { oneLine } from "./text.ts";

const bytes = (text: string) => new TextEncoder().encode(text).length;

/** Said of a confirmation link that was cut off. */
const incomplete = "This link is not complete. Open it from the message again.";

/** The least characters of a client's password. */
export const clientPassword = 6;

/** A password to be chosen: so many characters at least, and 72 bytes at most, as auth's hash reads no more. */
export const newPassword = (least: number) =>
  z
    .string("Choose a password.")
    .min(least, `Choose a password of at least ${least} characters.`)
    .refine((password) => bytes(password) <= 72, "Choose a shorter password: at most 72 characters.");

export const SignUp = z.object({
  clientId: oneLine(clientIdRequired).min(1, clientIdRequired).max(64, "Use at most 64 characters for the Client ID."),
  fullName: personName,
  email: emailAddress,
  password: newPassword(clientPassword),
});

export const Login = z.object({
  email: emailAddress,
  password: z
    .string("Enter your password.")
    .refine((password) => bytes(password) <= 72, "This password is too long to be yours: at most 72 characters."),
});

/** The client ID in the link of an invitation. */
export const clientIdInLink = z.string().regex(/^[0-9A-Za-z-]{12,64}$/);

/** The token in a confirmation link. */
export const confirmationToken = z.string(incomplete).regex(/^[\w.-]{16,256}$/, incomplete);

/** What the page behind a confirmation link sends. */
export const Confirmation = z.object({ token: confirmationToken, ...Login.shape });
