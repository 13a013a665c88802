import { z } from "zod";
import { codeLine, normalizePassword } from "../lib/forms/text-fields.ts";
import { clientIdRequired } from "../models/client-id.server.ts";
import { emailAddress, personName } from "../models/contact.ts";
import { maxLength } from "../models/limits.ts";

const hasHashableLength = (password: string) => new TextEncoder().encode(normalizePassword(password)).length <= 72;

const incompleteLinkText = "This link is incomplete. Open the link in our email again.";

export const minClientPasswordLength = 6;
export const minStaffPasswordLength = 12;

/** A password may have at most 72 bytes, because bcrypt ignores all further bytes. */
const passwordLimit =
  "A password can have at most 72 characters. Each accented letter, non-English letter or emoji counts as 2 or more characters.";

export const newPasswordSchema = (minLength: number) =>
  z
    .string("Choose a password.")
    .overwrite(normalizePassword)
    .min(minLength, `Choose a password of at least ${minLength} characters.`)
    .refine(hasHashableLength, `Choose a shorter password. ${passwordLimit}`);

export const SignUpFields = z.object({
  clientId: codeLine(clientIdRequired)
    .min(1, clientIdRequired)
    .max(...maxLength("clientId", " for the Client ID")),
  fullName: personName,
  email: emailAddress,
  password: newPasswordSchema(minClientPasswordLength),
});

export const LoginFields = z.object({
  email: emailAddress,
  password: z.string("Enter your password.").refine(hasHashableLength, `This password is too long. ${passwordLimit}`),
});

export const clientIdInLink = codeLine("").regex(/^[0-9A-Za-z-]{12,64}$/);

export const confirmationToken = z.string(incompleteLinkText).regex(/^[\w.-]{16,256}$/, incompleteLinkText);

export const ConfirmationFields = z.object({ token: confirmationToken, ...LoginFields.shape });
