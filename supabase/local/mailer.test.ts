import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import PostalMime from "postal-mime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createOutboxDelivery, createSmtpDelivery, type Email } from "../../app/models/email-delivery.server.ts";
import { createTemplateMailer } from "./mailer.ts";

const projectRoot = path.resolve(import.meta.dirname, "../..");
const template = readFileSync(path.join(projectRoot, "supabase/templates/confirmation.html"), "utf8");
const exampleEmail: Email = {
  from: { name: "Mizigo Clearing & Forwarding", address: "no-reply@mizigo.example" },
  to: "client@client.example",
  subject: "Confirm your e-mail address",
  html: "<p>Karibu</p>",
  text: "Karibu",
};

let root: string;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), "outbox-"));
  folder = path.join(root, "outbox");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test("An email in the outbox is one file that an email program can read", async () => {
  await createOutboxDelivery(folder)(exampleEmail);
  const [parsed, ...otherEmails] = await readOutbox();
  expect(otherEmails).toEqual([]);
  expect(parsed).toMatchObject({
    from: { name: exampleEmail.from.name, address: exampleEmail.from.address },
    to: [{ address: exampleEmail.to }],
    subject: exampleEmail.subject,
  });
  expect(parsed?.html?.trim()).toBe(exampleEmail.html);
  expect(parsed?.text?.trim()).toBe(exampleEmail.text);
  expect(Date.parse(parsed?.date ?? "")).not.toBeNaN();
  expect(parsed?.messageId).toBeTruthy();
});

test("Email names, subjects and texts of every script and length arrive unchanged", async () => {
  const name = 'شركة "مزيغو" للتخليص الجمركي';
  const subject = "أكّد عنوانك — 确认您的地址 🚢 ".repeat(6).trim();
  const text = `مرحبا، "كريم" & <أمينة>\n${"ndefu ".repeat(400)}`.trim();
  await createOutboxDelivery(folder)({
    ...exampleEmail,
    from: { name, address: exampleEmail.from.address },
    subject,
    text,
    html: `<p>${subject}</p>`,
  });
  const [parsed] = await readOutbox();
  expect(parsed?.from?.name).toBe(name);
  expect(parsed?.subject).toBe(subject);
  expect(parsed?.text?.replaceAll("\r\n", "\n").trim()).toBe(text);
  expect(parsed?.html?.trim()).toBe(`<p>${subject}</p>`);
});

test("A hundred emails sent in parallel become a hundred complete files without drafts", async () => {
  const send = createOutboxDelivery(folder);
  const addresses = Array.from({ length: 100 }, (_, index) => `client-${index}@client.example`);
  await Promise.all(addresses.map((to) => send({ ...exampleEmail, to })));
  expect(readdirSync(folder).filter((name) => !name.endsWith(".eml"))).toEqual([]);
  const emails = await readOutbox();
  expect(emails.flatMap(({ to }) => to?.map(({ address }) => address)).sort()).toEqual([...addresses].sort());
});

test("The outbox lists emails in the order in which they were sent", async () => {
  const send = createOutboxDelivery(folder);
  for (const to of ["first@client.example", "second@client.example"]) {
    await send({ ...exampleEmail, to });
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect((await readOutbox()).map(({ to }) => to?.[0]?.address)).toEqual([
    "first@client.example",
    "second@client.example",
  ]);
});

test("Only the current user can read the outbox", async () => {
  await createOutboxDelivery(folder)(exampleEmail);
  expect(statSync(folder).mode & 0o077).toBe(0);
  for (const name of readdirSync(folder)) expect(statSync(path.join(folder, name)).mode & 0o077).toBe(0);
});

test.each([
  "victim@client.example\r\nBcc: spy@client.example",
  "victim@client.example\nBcc: spy@client.example",
  "victim@client.example\r\n\r\n<h1>other text</h1>",
])("The address %j adds no header and no text to an email", async (to) => {
  await createOutboxDelivery(folder)({ ...exampleEmail, to });
  const [parsed] = await readOutbox();
  expect(parsed?.bcc ?? []).toEqual([]);
  expect(parsed?.headers.map(({ key }) => key)).not.toContain("bcc");
  expect(parsed?.html?.trim()).toBe(exampleEmail.html);
  expect(parsed?.text?.trim()).toBe(exampleEmail.text);
});

test("Sending rejects if the email cannot be written to the outbox", async () => {
  const file = path.join(root, "a-file");
  writeFileSync(file, "");
  await expect(createOutboxDelivery(path.join(file, "outbox"))(exampleEmail)).rejects.toThrow();
});

test("Sending rejects if the mail server is unreachable", async () => {
  await expect(createSmtpDelivery("smtp://127.0.0.1:1")(exampleEmail)).rejects.toThrow();
});

test("The confirmation email contains the address and the link with the token, in HTML and in text", async () => {
  const sent = await renderConfirmation("client@client.example", "0a1b2c3d");
  expect(sent).toMatchObject({ from: exampleEmail.from, to: "client@client.example", subject: exampleEmail.subject });
  const link = "https://portal.example/auth/confirm?token_hash=0a1b2c3d&type=signup";
  expect(sent.html).toContain(`href="${link}"`);
  expect(sent.html).toContain("client@client.example");
  expect(sent.text).toContain(link);
  expect(sent.text).toContain("client@client.example");
  expect(sent.text).not.toMatch(/<\/?\w+>/);
  expect(sent.html + sent.text).not.toContain("{{");
});

test("The confirmation email is unchanged after the outbox", async () => {
  const sent = await renderConfirmation("client@client.example", "0a1b2c3d".repeat(8));
  await createOutboxDelivery(folder)(sent);
  const [parsed] = await readOutbox();
  expect(parsed?.html?.trim()).toBe(sent.html.trim());
  expect(parsed?.text).toContain(`token_hash=${"0a1b2c3d".repeat(8)}&type=signup`);
});

test("The HTML of an email escapes quotes, angle brackets and ampersands of an address", async () => {
  const address = `o'hara&"<b>x</b><script>alert(1)</script>"@client.example`;
  const sent = await renderConfirmation(address, "0a1b2c3d");
  expect(sent.html).not.toMatch(/<b>|<script|"<|o'hara/);
  expect(sent.html).toContain("o&#39;hara&#38;&#34;&#60;b&#62;");
  expect(sent.text).toContain(address);
});

test("The HTML of an email contains the Arabic letters of an address unchanged", async () => {
  const sent = await renderConfirmation("أمينة@client.example", "0a1b2c3d");
  expect(sent.html).toContain("أمينة@client.example");
});

test("An email template leaves unknown placeholders empty and keeps dollar signs in values", async () => {
  const sent: Email[] = [];
  const mailer = createTemplateMailer({
    from: exampleEmail.from,
    siteUrl: "https://portal.example",
    subject: exampleEmail.subject,
    template: "<p>[{{ .Unknown }}][{{.Email}}][{{  .TokenHash  }}]</p>",
    deliver: async (email) => {
      sent.push(email);
    },
  });
  await mailer.sendConfirmation("$&$1@client.example", "$$", "");
  expect(sent[0]?.html).toBe("<p>[][$&#38;$1@client.example][$$]</p>");
});

test("Sending a confirmation rejects if the delivery fails", async () => {
  const mailer = createConfirmationMailer(async () => {
    throw new Error("the mail server is away");
  });
  await expect(mailer.sendConfirmation("client@client.example", "0a1b2c3d", "123456")).rejects.toThrow(
    "the mail server is away",
  );
});

test("The mailer of the embedded backend rejects emails that the product does not send", async () => {
  const sent: Email[] = [];
  const mailer = createConfirmationMailer(async (email) => {
    sent.push(email);
  });
  const to = "client@client.example";
  await expect(mailer.sendRecovery(to, "0a1b", "123456")).rejects.toThrow();
  await expect(mailer.sendMagicLink(to, "0a1b", "123456")).rejects.toThrow();
  await expect(mailer.sendEmailChange(to, "0a1b", "123456")).rejects.toThrow();
  await expect(mailer.sendReauthentication(to, "123456")).rejects.toThrow();
  expect(sent).toEqual([]);
});

function createConfirmationMailer(deliver: (email: Email) => Promise<void>) {
  return createTemplateMailer({
    from: exampleEmail.from,
    siteUrl: "https://portal.example",
    subject: exampleEmail.subject,
    template,
    deliver,
  });
}

async function renderConfirmation(address: string, token: string): Promise<Email> {
  const sent: Email[] = [];
  await createConfirmationMailer(async (email) => {
    sent.push(email);
  }).sendConfirmation(address, token, "123456");
  const [first] = sent;
  if (!first) throw new Error("no email was sent");
  return first;
}

function readOutbox() {
  const files = readdirSync(folder).filter((name) => name.endsWith(".eml"));
  return Promise.all(files.sort().map((name) => PostalMime.parse(readFileSync(path.join(folder, name)))));
}
