/** Mails of the company: what they say. Plain text, with no amount, no file and no address but ours. */
import { calendarDate } from "../lib/dates.ts";
import type { WaitingOn } from "./labels.ts";
import { lastStage, PAYMENTS, STAGES } from "./shipment.ts";

/** Who writes: as content/data/company.yaml has it, and the address of the site. */
export type EmailSender = { name: string; email: string; phone: string; origin: string };

export type EmailContent = { subject: string; text: string };

/** The head office's sender line. */
export function formatSender({ name, email }: EmailSender): string {
  return `${name} <${email}>`;
}

/** To a new colleague: the link that sets the first password, good for seven days. */
export function staffInvitationEmail(head: EmailSender, name: string, token: string): EmailContent {
  return {
    subject: `Your account at the desk of ${head.name}`,
    text: formatEmailText(head, [
      `${name}, you have an account at our desk now. Choose its password on this page, within seven days:`,
      createPasswordUrl(head, token),
      "After that the desk asks you to set up an authenticator on your phone, and opens.",
    ]),
  };
}

/** To somebody who is locked out: the link that sets a new password, good for one hour. */
export function passwordLinkEmail(head: EmailSender, token: string): EmailContent {
  return {
    subject: "Set a new password",
    text: formatEmailText(head, [
      "You asked us for a new password. Choose it on this page, within one hour:",
      createPasswordUrl(head, token),
      "If you did not ask, leave the link unopened: your password stays as it is. Call us if it happens again.",
    ]),
  };
}

/** To the owner of an account whose second factors the company took off. */
export function secondFactorRemovedEmail(head: EmailSender): EmailContent {
  return {
    subject: "Two-factor authentication is off",
    text: formatEmailText(head, [
      "We took the authenticator off your account a moment ago, and every device is signed out of it.",
      "The account opens with its password alone now. Log in and set up another authenticator under 2FA.",
      "If you did not ask for this, call us at once.",
    ]),
  };
}

/** To the owner of an account whose password was changed, or "perhaps" when auth did not answer. */
export function passwordChangedEmail(head: EmailSender, isSure: "surely" | "perhaps" = "surely"): EmailContent {
  const isIt = isSure === "surely" ? "was" : "was perhaps";
  return {
    subject: `Your password ${isIt} changed`,
    text: formatEmailText(head, [
      `The password of your account ${isIt} changed a moment ago. Every other device is signed out then.`,
      "If that was not you, call us at once.",
    ]),
  };
}

/** To the new address of an account: the link that confirms it, good for a day. */
export function emailChangeConfirmationEmail(head: EmailSender, token: string): EmailContent {
  return {
    subject: "Confirm your new e-mail address",
    text: formatEmailText(head, [
      "Somebody with an account at our portal wants to use this address from now on. Confirm it on this page, within a day; it asks for the account's password:",
      `${head.origin}/auth/email?token=${token}`,
      "If that was not you, do nothing: nothing changes.",
    ]),
  };
}

/** To an address that has an account, when another account asked to use it. */
export function emailTakenEmail(head: EmailSender): EmailContent {
  return {
    subject: "Your e-mail address at our portal",
    text: formatEmailText(head, [
      "Somebody asked to use this address for another account at our portal. It has an account already, so nothing was changed.",
      "If that was you, log in with this address.",
    ]),
  };
}

/** To the present address of an account: another one was asked for. */
export function emailChangeRequestedEmail(head: EmailSender): EmailContent {
  return {
    subject: "Somebody asked to change your e-mail address",
    text: formatEmailText(head, [
      "Somebody who is logged in to your account asked to use another e-mail address for it. We have written to that address; until it is confirmed nothing changes.",
      "If that was not you, change your password at once, which signs every other device out, and call us.",
    ]),
  };
}

/** To the address that an account had until now, or "perhaps" has still when auth did not answer. */
export function emailChangedEmail(head: EmailSender, isSure: "surely" | "perhaps" = "surely"): EmailContent {
  const isIt = isSure === "surely" ? "was" : "was perhaps";
  return {
    subject: `Your e-mail address ${isIt} changed`,
    text: formatEmailText(head, [
      `The e-mail address of your account ${isIt} changed a moment ago. Log in with the new one; this address gets no more mail about it then.`,
      "If that was not you, call us at once.",
    ]),
  };
}

/** To a client whose account is not erased yet, though they asked for it. */
export function erasureRejectedEmail(head: EmailSender, reason: string): EmailContent {
  return {
    subject: "Your request to erase your account",
    text: formatEmailText(head, [
      "You asked us to erase your account. We cannot do that yet:",
      reason,
      `You can ask again at any time: ${head.origin}/portal/account`,
    ]),
  };
}

/** To a client who asked for it: the account is gone. */
export function accountErasedEmail(head: EmailSender): EmailContent {
  return {
    subject: "Your account is erased",
    text: formatEmailText(head, [
      "As you asked, we have deleted your account, your shipments and their files. This is our last mail to you.",
    ]),
  };
}

/** To a new client: their client ID, with a sign-up page that has it filled in. */
export function clientInvitationEmail(head: EmailSender, clientId: string): EmailContent {
  return {
    subject: `Your client ID at ${head.name}`,
    text: formatEmailText(head, [
      "You can follow your shipments and send us their documents on our site. Your client ID opens one account:",
      clientId,
      "Sign up with it here:",
      `${head.origin}/signup?clientId=${clientId}`,
    ]),
  };
}

/** What happened to a shipment: `detail` is the stage number, the document, the item that is charged, or the last free day. */
type ShipmentUpdate = {
  kind: "stage" | "rejected" | "note" | "charge" | "storage";
  detail: string;
  reason: string | null;
};

/** What a notice tells of a shipment, and how it stands now. */
export type ShipmentEmail = {
  shipment_id: string;
  name: string;
  stage: number;
  status: string;
  waiting_on: WaitingOn;
  numbers: [label: string, number: string][];
  events: ShipmentUpdate[];
};

/** To a client: what happened to a shipment of theirs, whose move it is, one link, and how to stop such mails. */
export function shipmentUpdateEmail(head: EmailSender, told: ShipmentEmail, stop: string): EmailContent {
  const { name, waiting_on: turn } = told;
  const happened = mergeStageUpdates(told.events).sort((one, other) => getUpdateWeight(one) - getUpdateWeight(other));
  const [first] = happened;
  return {
    subject: `${name}: ${first ? createSubject(first, told) : told.status}`,
    text: formatEmailText(head, [
      [name, ...told.numbers.map(([label, number]) => `${label}: ${number}`)].join("\n"),
      // Of several notes it is said once that there are some.
      ...new Set(happened.map(describeUpdate)),
      `It is at stage ${told.stage} of ${lastStage} now: ${told.status}. ${waitingOnSentences[turn]}`,
      `${head.origin}/portal/${told.shipment_id}`,
      `No more of these mails: ${stop}`,
    ]),
  };
}

/** Of several stages the last one, and whether it was put right: a shipment that went back had gone too far. */
function mergeStageUpdates(happened: ShipmentUpdate[]): ShipmentUpdate[] {
  const stages = happened.filter(({ kind }) => kind === "stage").map(({ detail }) => Number(detail));
  const isCorrected = stages.some((stage, index) => stage < (stages[index - 1] ?? 0));
  const last = happened.findLast(({ kind }) => kind === "stage");
  return happened
    .filter((one) => one.kind !== "stage" || one === last)
    .map((one) => (one === last && isCorrected ? { ...one, reason: "corrected" } : one));
}

/** The order of what a mail tells: the least weight first, which asks most of the client, and is its subject. */
const getUpdateWeight = ({ kind }: ShipmentUpdate) => ["rejected", "charge", "storage", "stage", "note"].indexOf(kind);

const waitingOnSentences: Record<WaitingOn, string> = {
  client: "It is your move: the page says what we wait for.",
  company: "It is with us.",
  nobody: "It is closed.",
};

function createSubject({ kind, detail: what }: ShipmentUpdate, { status, stage }: ShipmentEmail): string {
  if (kind === "stage") return `${status} (${stage} of ${lastStage})`;
  if (kind === "rejected") return `${what} sent back`;
  if (kind === "charge") return `${getPaymentName(what)} to pay`;
  if (kind === "storage") return `free storage until ${calendarDate(what)}`;
  return "a note from us";
}

function describeUpdate({ kind, detail: what, reason }: ShipmentUpdate): string {
  if (kind === "stage") {
    const status = STAGES[Number(what) - 1];
    return reason ? `We corrected its stage: it is ${status}.` : `It moved to ${status}.`;
  }
  if (kind === "rejected")
    return `We sent the ${what} back: ${(reason ?? "the page says why").replace(/[.!?\s]+$/, "")}. Send us another file.`;
  if (kind === "charge")
    return `There is something to pay: ${getPaymentName(what)}. The page says how much, and until when.`;
  if (kind === "storage") return `Its free storage ends on ${calendarDate(what)}. Each day after it costs money.`;
  return "We wrote you a note. It stands in the history of the page.";
}

const getPaymentName = (id: string) => PAYMENTS.find((payment) => payment.id === id)?.name ?? id;

const createPasswordUrl = ({ origin }: EmailSender, token: string) => `${origin}/auth/password?token=${token}`;

function formatEmailText({ name, phone, origin }: EmailSender, paragraphs: string[]): string {
  const foot = `${name}\n${phone}\nWe never send bank details by mail. Is this really us? ${origin}/additional-info#identity-check`;
  return `${[...paragraphs, foot].join("\n\n")}\n`;
}
