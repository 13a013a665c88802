/** Mails of the company: what they say. Plain text, with no amount, no file and no address but ours. */

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
      "You did not ask? Then leave the link unopened: your password stays as it is. Call us if it happens again.",
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
      "You did not ask for this? Call us at once.",
    ]),
  };
}

/** To the owner of an account whose password was changed. */
export function passwordChanged(head: Letterhead): Letter {
  return {
    subject: "Your password was changed",
    text: letter(head, [
      "The password of your account was changed a moment ago, and every device is signed out of it.",
      "It was not you? Call us at once.",
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

const passwordLink = ({ origin }: Letterhead, token: string) => `${origin}/auth/password?token=${token}`;

function letter({ name, phone, origin }: Letterhead, paragraphs: string[]): string {
  const foot = `${name}\n${phone}\nIs this really us? Our addresses and numbers stand on ${origin}/contact`;
  return `${[...paragraphs, foot].join("\n\n")}\n`;
}
