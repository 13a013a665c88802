/** Emails are plain text without amounts, files and links to other sites. */
import { calendarDate } from "../lib/dates.ts";
import { lastStage, PAYMENTS, STAGES, type WaitingOn } from "./shipment.ts";

export type EmailSender = { name: string; email: string; phone: string; origin: string };

export type EmailContent = { subject: string; text: string };

export function formatSender({ name, email }: EmailSender): string {
  return `${name} <${email}>`;
}

export function staffInvitationEmail(sender: EmailSender, name: string, token: string): EmailContent {
  return {
    subject: `Your account at the desk of ${sender.name}`,
    text: formatEmailText(sender, [
      `${name}, you have an account at our desk now. Choose its password on this page, within seven days:`,
      createPasswordUrl(sender, token),
      "After that the desk asks you to set up an authenticator on your phone, and opens.",
    ]),
  };
}

export function passwordLinkEmail(sender: EmailSender, token: string): EmailContent {
  return {
    subject: "Set a new password",
    text: formatEmailText(sender, [
      "You asked us for a new password. Choose it on this page, within one hour:",
      createPasswordUrl(sender, token),
      "If you did not ask, leave the link unopened: your password stays as it is. Call us if it happens again.",
    ]),
  };
}

export function secondFactorRemovedEmail(sender: EmailSender): EmailContent {
  return {
    subject: "Two-factor authentication is off",
    text: formatEmailText(sender, [
      "We took the authenticator off your account a moment ago, and every device is signed out of it.",
      "The account opens with its password alone now. Log in and set up another authenticator under 2FA.",
      "If you did not ask for this, call us at once.",
    ]),
  };
}

/** `certainty` is "perhaps" if Supabase Auth did not respond to the change of the password. */
export function passwordChangedEmail(sender: EmailSender, certainty: "surely" | "perhaps" = "surely"): EmailContent {
  const verb = certainty === "surely" ? "was" : "was perhaps";
  return {
    subject: `Your password ${verb} changed`,
    text: formatEmailText(sender, [
      `The password of your account ${verb} changed a moment ago. Every other device is signed out then.`,
      "If that was not you, call us at once.",
    ]),
  };
}

export function emailChangeConfirmationEmail(sender: EmailSender, token: string): EmailContent {
  return {
    subject: "Confirm your new e-mail address",
    text: formatEmailText(sender, [
      "Somebody with an account at our portal wants to use this address from now on. Confirm it on this page, within a day; it asks for the account's password:",
      `${sender.origin}/auth/email?token=${token}`,
      "If that was not you, do nothing: nothing changes.",
    ]),
  };
}

export function emailTakenEmail(sender: EmailSender): EmailContent {
  return {
    subject: "Your e-mail address at our portal",
    text: formatEmailText(sender, [
      "Somebody asked to use this address for another account at our portal. It has an account already, so nothing was changed.",
      "If that was you, log in with this address.",
    ]),
  };
}

export function emailChangeRequestedEmail(sender: EmailSender): EmailContent {
  return {
    subject: "Somebody asked to change your e-mail address",
    text: formatEmailText(sender, [
      "Somebody who is logged in to your account asked to use another e-mail address for it. We have written to that address; until it is confirmed nothing changes.",
      "If that was not you, change your password at once, which signs every other device out, and call us.",
    ]),
  };
}

export function emailChangedEmail(sender: EmailSender, certainty: "surely" | "perhaps" = "surely"): EmailContent {
  const verb = certainty === "surely" ? "was" : "was perhaps";
  return {
    subject: `Your e-mail address ${verb} changed`,
    text: formatEmailText(sender, [
      `The e-mail address of your account ${verb} changed a moment ago. Log in with the new one; this address gets no more mail about it then.`,
      "If that was not you, call us at once.",
    ]),
  };
}

export function erasureRejectedEmail(sender: EmailSender, reason: string): EmailContent {
  return {
    subject: "Your request to erase your account",
    text: formatEmailText(sender, [
      "You asked us to erase your account. We cannot do that yet:",
      reason,
      `You can ask again at any time: ${sender.origin}/portal/account`,
    ]),
  };
}

export function accountErasedEmail(sender: EmailSender): EmailContent {
  return {
    subject: "Your account is erased",
    text: formatEmailText(sender, [
      "As you asked, we have deleted your account, your shipments and their files. This is our last mail to you.",
    ]),
  };
}

export function clientInvitationEmail(sender: EmailSender, clientId: string): EmailContent {
  return {
    subject: `Your client ID at ${sender.name}`,
    text: formatEmailText(sender, [
      "You can follow your shipments and send us their documents on our site. Your client ID opens one account:",
      clientId,
      "Sign up with it here:",
      `${sender.origin}/signup?clientId=${clientId}`,
    ]),
  };
}

/** Depending on `kind`, `detail` is a stage number, a document's name, a payment item or the last day of free storage. */
type ShipmentUpdate = {
  kind: "stage" | "rejected" | "note" | "charge" | "storage";
  detail: string;
  reason: string | null;
};

export type ShipmentEmail = {
  shipment_id: string;
  name: string;
  stage: number;
  status: string;
  waiting_on: WaitingOn;
  numbers: [label: string, number: string][];
  events: ShipmentUpdate[];
};

export function shipmentUpdateEmail(
  sender: EmailSender,
  shipment: ShipmentEmail,
  unsubscribeUrl: string,
): EmailContent {
  const { name, waiting_on: waitingOn } = shipment;
  const updates = mergeStageUpdates(shipment.events).sort(
    (first, second) => getUpdateWeight(first) - getUpdateWeight(second),
  );
  const [first] = updates;
  return {
    subject: `${name}: ${first ? createSubject(first, shipment) : shipment.status}`,
    text: formatEmailText(sender, [
      [name, ...shipment.numbers.map(([label, number]) => `${label}: ${number}`)].join("\n"),
      ...new Set(updates.map(describeUpdate)),
      `It is at stage ${shipment.stage} of ${lastStage} now: ${shipment.status}. ${waitingOnSentences[waitingOn]}`,
      `${sender.origin}/portal/${shipment.shipment_id}`,
      `No more of these mails: ${unsubscribeUrl}`,
    ]),
  };
}

/** Removes all stage updates but the last. If the stage ever went back, the last update is called a correction. */
function mergeStageUpdates(updates: ShipmentUpdate[]): ShipmentUpdate[] {
  const stages = updates.filter(({ kind }) => kind === "stage").map(({ detail }) => Number(detail));
  const isCorrected = stages.some((stage, index) => stage < (stages[index - 1] ?? 0));
  const last = updates.findLast(({ kind }) => kind === "stage");
  return updates
    .filter((update) => update.kind !== "stage" || update === last)
    .map((update) => (update === last && isCorrected ? { ...update, reason: "corrected" } : update));
}

const getUpdateWeight = ({ kind }: ShipmentUpdate) => ["rejected", "charge", "storage", "stage", "note"].indexOf(kind);

const waitingOnSentences: Record<WaitingOn, string> = {
  client: "It is your move: the page says what we wait for.",
  company: "It is with us.",
  nobody: "It is closed.",
};

function createSubject({ kind, detail: detailText }: ShipmentUpdate, { status, stage }: ShipmentEmail): string {
  if (kind === "stage") return `${status} (${stage} of ${lastStage})`;
  if (kind === "rejected") return `${detailText} sent back`;
  if (kind === "charge") return `${getPaymentName(detailText)} to pay`;
  if (kind === "storage") return `free storage until ${calendarDate(detailText)}`;
  return "a note from us";
}

function describeUpdate({ kind, detail: detailText, reason }: ShipmentUpdate): string {
  if (kind === "stage") {
    const status = STAGES[Number(detailText) - 1];
    return reason ? `We corrected its stage: it is ${status}.` : `It moved to ${status}.`;
  }
  if (kind === "rejected")
    return `We sent the ${detailText} back: ${(reason ?? "the page says why").replace(/[.!?\s]+$/, "")}. Send us another file.`;
  if (kind === "charge")
    return `There is something to pay: ${getPaymentName(detailText)}. The page says how much, and until when.`;
  if (kind === "storage") return `Its free storage ends on ${calendarDate(detailText)}. Each day after it costs money.`;
  return "We wrote you a note. It stands in the history of the page.";
}

const getPaymentName = (id: string) => PAYMENTS.find((payment) => payment.id === id)?.name ?? id;

const createPasswordUrl = ({ origin }: EmailSender, token: string) => `${origin}/auth/password?token=${token}`;

function formatEmailText({ name, phone, origin }: EmailSender, paragraphs: string[]): string {
  const foot = `${name}\n${phone}\nWe never send bank details by mail. Is this really us? ${origin}/additional-info#identity-check`;
  return `${[...paragraphs, foot].join("\n\n")}\n`;
}
