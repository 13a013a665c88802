/** The texts of account emails. Emails are plain text without files, amounts and bank details. */
import type { Mailbox } from "../../supabase/contract/email-delivery.ts";
import { toOneLine } from "../lib/forms/text-fields.ts";

export type EmailSender = { name: string; email: string; phone: string; origin: string };

export type EmailContent = { subject: string; text: string };

export type RecipientName = string | null;

/** A change is uncertain if Supabase Auth did not respond in time. */
type Certainty = "certain" | "uncertain";

export const toMailbox = ({ name, email: address }: EmailSender): Mailbox => ({ name, address });

export function staffInvitationEmail(sender: EmailSender, name: RecipientName, token: string): EmailContent {
  return createEmail(sender, name, `Your team account at ${sender.name}`, [
    "You now have an account for the desk: pages on our website that only team members can open. Create your password within seven days:",
    createPasswordUrl(sender, token),
    "",
    "After you create your password, log in and set up two-factor authentication with an app on your phone.",
  ]);
}

export function passwordLinkEmail(sender: EmailSender, name: RecipientName, token: string): EmailContent {
  return createEmail(sender, name, "Set a new password", [
    "You asked us for a new password. Choose the new password within one hour:",
    createPasswordUrl(sender, token),
    "",
    "If you did not ask for a new password, ignore this email. Your password stays the same.",
  ]);
}

export function secondFactorRemovedEmail(sender: EmailSender, name: RecipientName): EmailContent {
  return createEmail(sender, name, "Two-factor authentication is off", [
    "We removed two-factor authentication from your account. All devices have been signed out.",
    `Log in and set up two-factor authentication again: ${createLoginUrl(sender)}`,
    "",
    `If you did not request the removal, call us now: ${sender.phone}`,
  ]);
}

export function passwordChangedEmail(sender: EmailSender, name: RecipientName, certainty: Certainty = "certain") {
  const warning = ["", `If you did not change the password, call us now: ${sender.phone}`];
  return certainty === "certain"
    ? createEmail(sender, name, "Your password was changed", [
        "The password of your account was changed. All other devices have been signed out.",
        `Log in with the new password: ${createLoginUrl(sender)}`,
        ...warning,
      ])
    : createEmail(sender, name, "Your password may have been changed", [
        "The password of your account may have been changed. We are not sure, because our system did not respond in time.",
        "Log in with the new password. If the new password fails, use the old password.",
        `Log in: ${createLoginUrl(sender)}`,
        ...warning,
      ]);
}

/** The greeting has no name, because the address may belong to a stranger. */
export function emailChangeConfirmationEmail(sender: EmailSender, token: string): EmailContent {
  return createEmail(sender, null, "Confirm your new email address", [
    "We received a request to use this email address for an account.",
    "If you sent the request, open this link within 24 hours. On the page, enter your password, and a code if you use an authenticator app:",
    `${sender.origin}/auth/email?token=${token}`,
    "",
    "If you did not send the request, ignore this email. The request expires after 24 hours.",
  ]);
}

export function emailTakenEmail(sender: EmailSender): EmailContent {
  return createEmail(sender, null, "This email address already has an account", [
    "We received a request to use this email address for another account on our website. Nothing was changed.",
    `If you sent the request, use this email address to log in to the existing account: ${createLoginUrl(sender)}`,
    "",
    "If you did not send the request, ignore this email.",
  ]);
}

export function emailChangeRequestedEmail(sender: EmailSender, name: RecipientName): EmailContent {
  return createEmail(sender, name, "Someone asked to change your email address", [
    "Someone who is logged in to your account asked to change your email address.",
    "We will change your email address when the owner of the new address confirms the change.",
    "",
    "If you did not send the request, change your password now to sign out all other devices:",
    `${sender.origin}/portal/account`,
    `Then call us: ${sender.phone}`,
  ]);
}

export function emailChangedEmail(sender: EmailSender, name: RecipientName, certainty: Certainty = "certain") {
  const warning = ["", `If you did not change the address, call us now: ${sender.phone}`];
  return certainty === "certain"
    ? createEmail(sender, name, "Your email address was changed", [
        "The email address of your account was changed. We now send emails to your new address only.",
        `Log in with the new address: ${createLoginUrl(sender)}`,
        ...warning,
      ])
    : createEmail(sender, name, "Your email address may have been changed", [
        "The email address of your account may have been changed. We are not sure, because our system did not respond in time.",
        "Log in with the new address. If the new address fails, use the old address.",
        `Log in: ${createLoginUrl(sender)}`,
        ...warning,
      ]);
}

export function erasureRejectedEmail(sender: EmailSender, name: RecipientName, reason: string): EmailContent {
  return createEmail(sender, name, "We cannot erase your account yet", [
    "We cannot erase your account yet.",
    `Reason: ${formatTypedText(reason)}`,
    "",
    `You can send a new erasure request at any time: ${sender.origin}/portal/account`,
  ]);
}

export function accountErasedEmail(sender: EmailSender, name: RecipientName): EmailContent {
  return createEmail(sender, name, "Your account has been erased", [
    "We have deleted your account, your shipments and their files.",
    "This is our last email to you.",
  ]);
}

export function clientInvitationEmail(sender: EmailSender, name: RecipientName, clientId: string): EmailContent {
  return createEmail(sender, name, `Your Client ID from ${sender.name}`, [
    "Here is your Client ID. You can use the Client ID once, to create your account:",
    clientId,
    "",
    "With an account, you can follow your shipments and send us documents.",
    `Sign up: ${sender.origin}/signup?clientId=${clientId}`,
  ]);
}

const createPasswordUrl = ({ origin }: EmailSender, token: string) => `${origin}/auth/password?token=${token}`;
const createLoginUrl = ({ origin }: EmailSender) => `${origin}/login`;

/** Adds a greeting and our footer to the text. The templates in supabase/templates have the same footer. */
export function createEmail(
  { name, phone, origin }: EmailSender,
  recipientName: RecipientName,
  subject: string,
  body: string[],
  footer: string[] = [],
): EmailContent {
  const greeting = recipientName ? `Hello ${toOneLine(recipientName)},` : "Hello,";
  const identityCheck = `We never send bank details by email. Check that this email is from us: ${origin}/additional-info#identity-check`;
  const lines = [greeting, "", ...body, "", name, phone, identityCheck, ...footer];
  return { subject, text: `${lines.join("\n")}\n` };
}

/** Returns a team member's text as one line without links, because we promise that our emails link only to our site. */
export function formatTypedText(text: string): string {
  return toOneLine(text).replace(/(?:\bhttps?:\/\/|\bwww\.)[^\s”]+/gi, "[link]");
}
