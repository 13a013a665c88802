import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test, vi } from "vitest";
import { projectRoot } from "../contract/data-dir.ts";
import type { Email } from "../contract/email-delivery.ts";
import { createTemplateMailer } from "./mailer.ts";

const template = readFileSync(path.join(projectRoot, "supabase/templates/confirmation.html"), "utf8");
const sender = { name: "Mizigo Clearing & Forwarding", address: "no-reply@mizigo.example" };
const subject = "Confirm your email address";

test("The confirmation email is plain text with a greeting, the new email address, one line with the link, and our footer.", async () => {
  const sent = await renderConfirmation("client@client.example", "0a1b2c3d");
  expect(sent).toMatchObject({ from: sender, to: "client@client.example", subject });
  const lines = sent.text.split("\n");
  expect(lines.slice(0, 3)).toEqual(["Hello,", "", expect.stringContaining("client@client.example")]);
  const links = lines.flatMap((line) => line.match(/https?:\S+/g) ?? []);
  expect(links).toEqual([
    "https://portal.example/auth/confirm?token_hash=0a1b2c3d&type=signup",
    "https://portal.example/additional-info#identity-check",
  ]);
  const footer = lines.slice(lines.indexOf("Mizigo Clearing & Forwarding"));
  expect(lines.length - footer.length).toBeLessThanOrEqual(12);
  expect(footer[2]).toBe(`We never send bank details by email. Check that this email is from us: ${links[1]}`);
  expect(sent).not.toHaveProperty("html");
  expect(sent.text).not.toMatch(/<\/?\w+>|\{\{/);
});

test("The confirmation email contains every email address unchanged, even with special characters.", async () => {
  for (const address of [`o'hara&"<b>x</b><script>alert(1)</script>"@client.example`, "أمينة@client.example"])
    expect((await renderConfirmation(address, "0a1b2c3d")).text).toContain(address);
});

test("An email template renders an unknown variable as empty text, and a dollar sign unchanged.", async () => {
  const template = "<p>[{{ .Unknown }}][{{.Email}}][{{  .TokenHash  }}]</p>";
  const sent = await renderConfirmation("$&$1@client.example", "$$", template);
  expect(sent.text).toBe("[][$&$1@client.example][$$]\n");
});

test("The mailer throws if the delivery of an email throws.", async () => {
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

/** Returns the email that a sign-up with the email address `address` and the token `token` sends. */
async function renderConfirmation(address: string, token: string, html = template): Promise<Email> {
  const deliver = vi.fn<(email: Email) => Promise<void>>();
  await createConfirmationMailer(deliver, html).sendConfirmation(address, token, "123456");
  const [email] = deliver.mock.lastCall ?? [];
  if (!email) throw new Error("The mailer sent no email.");
  return email;
}
