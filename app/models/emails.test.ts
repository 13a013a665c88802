import { describe, expect, test } from "vitest";
import * as emails from "./emails.ts";

const sender = {
  name: "The company",
  email: "office@company.example",
  phone: "+254 700 000 001",
  origin: "http://site.example",
};
const token = "0a1b2c3d";

/** The account emails whose greeting can contain the recipient's name. */
const namedEmails: [string, (name: string | null) => emails.EmailContent][] = [
  ["team invitation", (name) => emails.staffInvitationEmail(sender, name, token)],
  ["password link", (name) => emails.passwordLinkEmail(sender, name, token)],
  ["removed second factor", (name) => emails.secondFactorRemovedEmail(sender, name)],
  ["changed password", (name) => emails.passwordChangedEmail(sender, name)],
  ["uncertain password", (name) => emails.passwordChangedEmail(sender, name, "uncertain")],
  ["requested change of address", (name) => emails.emailChangeRequestedEmail(sender, name)],
  ["changed address", (name) => emails.emailChangedEmail(sender, name)],
  ["uncertain address", (name) => emails.emailChangedEmail(sender, name, "uncertain")],
  ["rejected erasure", (name) => emails.erasureRejectedEmail(sender, name, `The law\n\n${"word ".repeat(99)}`)],
  ["erased account", (name) => emails.accountErasedEmail(sender, name)],
  ["client invitation", (name) => emails.clientInvitationEmail(sender, name, "7K3Q-X9MD-2HTV-W5BC")],
];
const namelessEmails: typeof namedEmails = [
  ["confirmation of a new address", () => emails.emailChangeConfirmationEmail(sender, token)],
  ["taken address", () => emails.emailTakenEmail(sender)],
];

describe.each([...namedEmails, ...namelessEmails])("Account email: %s", (kind, create) => {
  test(`The email "${kind}" has at most 12 lines and one link before the footer.`, () => {
    const { text } = create("Grace");
    const lines = text.split("\n");
    const footerStart = lines.lastIndexOf(sender.name);
    expect(footerStart - 1).toBeLessThanOrEqual(12);
    expect(lines.slice(footerStart)).toEqual([
      ...["The company", "+254 700 000 001"],
      "We never send bank details by email. Check that this email is from us: http://site.example/additional-info#identity-check",
      "",
    ]);
    expect(lines.slice(0, footerStart).filter((line) => line.includes("http")).length).toBeLessThanOrEqual(1);
    expect(text).not.toMatch(/e-mail|\bmails?\b|undefined|null/);
  });

  test(`The email "${kind}" starts with "Hello," if the recipient's name is unknown.`, () => {
    expect(create(null).text).toMatch(/^Hello,\n\n\S/);
  });
});

test.each(namedEmails)('The email "%s" starts with "Hello" and the recipient\'s name.', (_kind, create) => {
  expect(create("Grace Wanjiru").text).toMatch(/^Hello Grace Wanjiru,\n\n\S/);
});

test("Line breaks and invisible characters are removed from the recipient's name in a greeting.", () => {
  const { text } = emails.passwordLinkEmail(sender, "Grace\r\n\r\nThe company\u202e\u2028", token);
  expect(text).toMatch(/^Hello Grace The company,\n\nYou asked/);
});

test.each([
  ["password", emails.passwordChangedEmail, "password"],
  ["address", emails.emailChangedEmail, "email address"],
] as const)(
  'An email about a changed %s says "may have been changed" only if the change is uncertain.',
  (what, create, name) => {
    const [certain, uncertain] = [create(sender, "Grace"), create(sender, "Grace", "uncertain")];
    expect([certain.subject, uncertain.subject]).toEqual([
      `Your ${name} was changed`,
      `Your ${name} may have been changed`,
    ]);
    expect(certain.text).toContain(`The ${name} of your account was changed.`);
    expect(uncertain.text).toContain(`The ${name} of your account may have been changed.`);
    expect(certain.text).not.toContain("may have");
    expect(certain.text).toContain(`\nLog in with the new ${what}: http`);
    expect(uncertain.text).toContain(
      `\nLog in with the new ${what}. If the new ${what} fails, use the old ${what}.\nLog in: http`,
    );
    for (const { text } of [certain, uncertain]) expect(text).toContain("call us now: +254 700 000 001");
  },
);
