/** Mails of the company: what they say. Plain text, with no amount, no file and no address but ours. */
import { calendarDate } from "../lib/dates.ts";
import type { Turn } from "./desk.ts";
import { lastStage, PAYMENTS, STAGES } from "./shipment.ts";

/** Who writes: as content/data/company.yaml has it, and the address of the site. */
export type Letterhead = { name: string; email: string; phone: string; origin: string };

export type Letter = { subject: string; text: string };

/** The head office's sender line. */
export function senderOf({ name, email }: Letterhead): string {
  return `${name} <${email}>`;
}

/** To a new colleague: the link that sets the first password, good for seven days. */
export function colleagueInvitation(head: Letterhead, name: string, token: string): Letter {
  return {
    subject: `Your account at the desk of ${head.name}`,
    text: letter(head, [
      `${name}, you have an account at our desk now. Choose its password on this page, within seven days:`,
      passwordLink(head, token),
      "After that the desk asks you to set up an authenticator on your phone, and opens.",
    ]),
  };
}

/** To somebody who is locked out: the link that sets a new password, good for one hour. */
export function newPasswordLetter(head: Letterhead, token: string): Letter {
  return {
    subject: "Set a new password",
    text: letter(head, [
      "You asked us for a new password. Choose it on this page, within one hour:",
      passwordLink(head, token),
      "If you did not ask, leave the link unopened: your password stays as it is. Call us if it happens again.",
    ]),
  };
}

/** To the owner of an account whose second factors the company took off. */
export function factorsRemoved(head: Letterhead): Letter {
  return {
    subject: "Two-factor authentication is off",
    text: letter(head, [
      "We took the authenticator off your account a moment ago, and every device is signed out of it.",
      "The account opens with its password alone now. Log in and set up another authenticator under 2FA.",
      "If you did not ask for this, call us at once.",
    ]),
  };
}

/** To the owner of an account whose password was changed, or "perhaps" when auth did not answer. */
export function passwordChanged(head: Letterhead, isSure: "surely" | "perhaps" = "surely"): Letter {
  const isIt = isSure === "surely" ? "was" : "was perhaps";
  return {
    subject: `Your password ${isIt} changed`,
    text: letter(head, [
      `The password of your account ${isIt} changed a moment ago. Every other device is signed out then.`,
      "If that was not you, call us at once.",
    ]),
  };
}

/** To the new address of an account: the link that confirms it, good for a day. */
export function newAddressLetter(head: Letterhead, token: string): Letter {
  return {
    subject: "Confirm your new e-mail address",
    text: letter(head, [
      "Somebody with an account at our portal wants to use this address from now on. Confirm it on this page, within a day; it asks for the account's password:",
      `${head.origin}/auth/email?token=${token}`,
      "If that was not you, do nothing: nothing changes.",
    ]),
  };
}

/** To an address that has an account, when another account asked to use it. */
export function addressTaken(head: Letterhead): Letter {
  return {
    subject: "Your e-mail address at our portal",
    text: letter(head, [
      "Somebody asked to use this address for another account at our portal. It has an account already, so nothing was changed.",
      "If that was you, log in with this address.",
    ]),
  };
}

/** To the present address of an account: another one was asked for. */
export function addressChangeAsked(head: Letterhead): Letter {
  return {
    subject: "Somebody asked to change your e-mail address",
    text: letter(head, [
      "Somebody who is logged in to your account asked to use another e-mail address for it. We have written to that address; until it is confirmed nothing changes.",
      "If that was not you, change your password at once, which signs every other device out, and call us.",
    ]),
  };
}

/** To the address that an account had until now, or "perhaps" has still when auth did not answer. */
export function addressChanged(head: Letterhead, isSure: "surely" | "perhaps" = "surely"): Letter {
  const isIt = isSure === "surely" ? "was" : "was perhaps";
  return {
    subject: `Your e-mail address ${isIt} changed`,
    text: letter(head, [
      `The e-mail address of your account ${isIt} changed a moment ago. Log in with the new one; this address gets no more mail about it then.`,
      "If that was not you, call us at once.",
    ]),
  };
}

/** To a client whose account is not erased yet, though they asked for it. */
export function erasureRefused(head: Letterhead, reason: string): Letter {
  return {
    subject: "Your request to erase your account",
    text: letter(head, [
      "You asked us to erase your account. We cannot do that yet:",
      reason,
      `You can ask again at any time: ${head.origin}/portal/account`,
    ]),
  };
}

/** To a client who asked for it: the account is gone. */
export function accountErased(head: Letterhead): Letter {
  return {
    subject: "Your account is erased",
    text: letter(head, [
      "As you asked, we have deleted your account, your shipments and their files. This is our last mail to you.",
    ]),
  };
}

/** To a new client: their client ID, with a sign-up page that has it filled in. */
export function clientInvitation(head: Letterhead, clientId: string): Letter {
  return {
    subject: `Your client ID at ${head.name}`,
    text: letter(head, [
      "You can follow your shipments and send us their documents on our site. Your client ID opens one account:",
      clientId,
      "Sign up with it here:",
      `${head.origin}/signup?clientId=${clientId}`,
    ]),
  };
}

/** What happened to a shipment: `what` is the status, the document, the item that is charged, or the last free day. */
type Happening = {
  kind: "stage" | "sent back" | "note" | "charge" | "storage";
  what: string;
  reason: string | null;
};

/** What a notice tells of a shipment, and how it stands now. */
export type Told = { shipment: string; name: string; stage: number; status: string; turn: Turn; happened: Happening[] };

/** To a client: what happened to a shipment of theirs, whose move it is, one link, and how to stop such mails. */
export function shipmentNotice(head: Letterhead, told: Told, stop: string): Letter {
  const { name, turn } = told;
  const happened = withoutStops(told.happened).sort((one, other) => weight(one) - weight(other));
  const [first] = happened;
  return {
    subject: `${name}: ${first ? subjectOf(first, told) : told.status}`,
    text: letter(head, [
      name,
      // Of several notes it is said once that there are some.
      ...new Set(happened.map(sentenceOf)),
      `It is at stage ${told.stage} of ${lastStage} now: ${told.status}. ${moves[turn]}`,
      `${head.origin}/portal/${told.shipment}`,
      `No more of these mails: ${stop}`,
    ]),
  };
}

/** Of several stages the last one, and whether it was put right: a shipment that went back had gone too far. */
function withoutStops(happened: Happening[]): Happening[] {
  const stages = happened
    .filter(({ kind }) => kind === "stage")
    .map(({ what }) => (STAGES as readonly string[]).indexOf(what));
  const isCorrected = stages.some((stage, index) => stage < (stages[index - 1] ?? 0));
  const last = happened.findLast(({ kind }) => kind === "stage");
  return happened
    .filter((one) => one.kind !== "stage" || one === last)
    .map((one) => (one === last && isCorrected ? { ...one, reason: "corrected" } : one));
}

/** The order of what a mail tells: the least weight first, which asks most of the client, and is its subject. */
const weight = ({ kind }: Happening) => ["sent back", "charge", "storage", "stage", "note"].indexOf(kind);

const moves: Record<Turn, string> = {
  client: "It is your move: the page says what we wait for.",
  company: "It is with us.",
  closed: "It is closed.",
};

function subjectOf({ kind, what }: Happening, { status, stage }: Told): string {
  if (kind === "stage") return `${status} (${stage} of ${lastStage})`;
  if (kind === "sent back") return `${what} sent back`;
  if (kind === "charge") return `${itemOf(what)} to pay`;
  if (kind === "storage") return `free storage until ${calendarDate(what)}`;
  return "a note from us";
}

function sentenceOf({ kind, what, reason }: Happening): string {
  if (kind === "stage") return reason ? `We corrected its stage: it is ${what}.` : `It moved to ${what}.`;
  if (kind === "sent back")
    return `We sent the ${what} back: ${(reason ?? "the page says why").replace(/[.!?\s]+$/, "")}. Send us another file.`;
  if (kind === "charge") return `There is something to pay: ${itemOf(what)}. The page says how much, and until when.`;
  if (kind === "storage") return `Its free storage ends on ${calendarDate(what)}. Each day after it costs money.`;
  return "We wrote you a note. It stands in the history of the page.";
}

const itemOf = (id: string) => PAYMENTS.find((payment) => payment.id === id)?.name ?? id;

const passwordLink = ({ origin }: Letterhead, token: string) => `${origin}/auth/password?token=${token}`;

function letter({ name, phone, origin }: Letterhead, paragraphs: string[]): string {
  const foot = `${name}\n${phone}\nWe never send bank details by mail. Is this really us? ${origin}/additional-info#really-us`;
  return `${[...paragraphs, foot].join("\n\n")}\n`;
}
