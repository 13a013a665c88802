import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test, vi } from "vitest";
import { projectRoot } from "../contract/data-dir.ts";
import type { Email } from "../contract/email-delivery.ts";
import { createTemplateMailer } from "./mailer.ts";

const template = readFileSync(path.join(projectRoot, "supabase/templates/confirmation.html"), "utf8");
const sender: Email["from"] = { name: "Mizigo Clearing & Forwarding", address: "no-reply@mizigo.example" };
const subject = "Confirm your e-mail address";

test("The confirmation email contains the address and the link with the token, in HTML and in text.", async () => {
  const sent = await renderConfirmation("client@client.example", "0a1b2c3d");
  expect(sent).toMatchObject({ from: sender, to: "client@client.example", subject });
  const link = "https://portal.example/auth/confirm?token_hash=0a1b2c3d&type=signup";
  expect(sent.html).toContain(`href="${link}"`);
  expect(sent.html).toContain("client@client.example");
  expect(sent.text).toContain(link);
  expect(sent.text).toContain("client@client.example");
  expect(sent.text).not.toMatch(/<\/?\w+>/);
  expect(sent.html + sent.text).not.toContain("{{");
});

test("Quotes, angle brackets and ampersands in an address are escaped in the email's HTML.", async () => {
  const address = `o'hara&"<b>x</b><script>alert(1)</script>"@client.example`;
  const sent = await renderConfirmation(address, "0a1b2c3d");
  expect(sent.html).not.toMatch(/<b>|<script|"<|o'hara/);
  expect(sent.html).toContain("o&#39;hara&#38;&#34;&#60;b&#62;");
  expect(sent.text).toContain(address);
});

test("The email's HTML contains an Arabic address unchanged.", async () => {
  const sent = await renderConfirmation("أمينة@client.example", "0a1b2c3d");
  expect(sent.html).toContain("أمينة@client.example");
});

test("A template renders unknown names as empty text and dollar signs unchanged.", async () => {
  const sent = await renderConfirmation(
    "$&$1@client.example",
    "$$",
    "<p>[{{ .Unknown }}][{{.Email}}][{{  .TokenHash  }}]</p>",
  );
  expect(sent.html).toBe("<p>[][$&#38;$1@client.example][$$]</p>");
});

test("Sending throws when the delivery throws.", async () => {
  const mailer = createConfirmationMailer(async () => {
    throw new Error("the SMTP server is down");
  });
  await expect(mailer.sendConfirmation("client@client.example", "0a1b2c3d", "123456")).rejects.toThrow(
    "the SMTP server is down",
  );
});

test("The mailer rejects kinds of email that the product does not send.", async () => {
  const deliver = vi.fn();
  const mailer = createConfirmationMailer(deliver);
  const to = "client@client.example";
  await expect(mailer.sendRecovery(to, "0a1b", "123456")).rejects.toThrow();
  await expect(mailer.sendMagicLink(to, "0a1b", "123456")).rejects.toThrow();
  await expect(mailer.sendEmailChange(to, "0a1b", "123456")).rejects.toThrow();
  await expect(mailer.sendReauthentication(to, "123456")).rejects.toThrow();
  expect(deliver).not.toHaveBeenCalled();
});

function createConfirmationMailer(deliver: (email: Email) => Promise<void>, html = template) {
  return createTemplateMailer({ from: sender, siteUrl: "https://portal.example", subject, template: html, deliver });
}

/** Returns the email that a sign-up with this address and token sends. */
async function renderConfirmation(address: string, token: string, html = template): Promise<Email> {
  const deliver = vi.fn<(email: Email) => Promise<void>>();
  await createConfirmationMailer(deliver, html).sendConfirmation(address, token, "123456");
  const [email] = deliver.mock.lastCall ?? [];
  if (!email) throw new Error("no email was sent");
  return email;
}
