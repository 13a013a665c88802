import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import PostalMime from "postal-mime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Mail, outbox, smtp } from "../../app/lib/mail.server.ts";
import { templateMailer } from "./mail.ts";

const projectRoot = path.resolve(import.meta.dirname, "../..");
const template = readFileSync(path.join(projectRoot, "supabase/templates/confirmation.html"), "utf8");
const mail: Mail = {
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

test("a mail in the outbox is one file that a mail program reads as it was written", async () => {
  await outbox(folder)(mail);
  const [parsed, ...others] = await parsedMails();
  expect(others).toEqual([]);
  expect(parsed).toMatchObject({
    from: { name: mail.from.name, address: mail.from.address },
    to: [{ address: mail.to }],
    subject: mail.subject,
  });
  expect(parsed?.html?.trim()).toBe(mail.html);
  expect(parsed?.text?.trim()).toBe(mail.text);
  expect(Date.parse(parsed?.date ?? "")).not.toBeNaN();
  expect(parsed?.messageId).toBeTruthy();
});

test("names, subjects and texts of every script and length arrive unbroken", async () => {
  const name = 'شركة "مزيغو" للتخليص الجمركي';
  const subject = "أكّد عنوانك — 确认您的地址 🚢 ".repeat(6).trim();
  const text = `مرحبا، "كريم" & <أمينة>\n${"ndefu ".repeat(400)}`.trim();
  await outbox(folder)({
    ...mail,
    from: { name, address: mail.from.address },
    subject,
    text,
    html: `<p>${subject}</p>`,
  });
  const [parsed] = await parsedMails();
  expect(parsed?.from?.name).toBe(name);
  expect(parsed?.subject).toBe(subject);
  expect(parsed?.text?.replaceAll("\r\n", "\n").trim()).toBe(text);
  expect(parsed?.html?.trim()).toBe(`<p>${subject}</p>`);
});

test("a hundred mails at once are a hundred files, each whole, with no draft left", async () => {
  const send = outbox(folder);
  const addresses = Array.from({ length: 100 }, (_, index) => `client-${index}@client.example`);
  await Promise.all(addresses.map((to) => send({ ...mail, to })));
  expect(readdirSync(folder).filter((name) => !name.endsWith(".eml"))).toEqual([]);
  const mails = await parsedMails();
  expect(mails.flatMap(({ to }) => to?.map(({ address }) => address)).sort()).toEqual([...addresses].sort());
});

test("the outbox lists mails in the order of their sending", async () => {
  const send = outbox(folder);
  for (const to of ["first@client.example", "second@client.example"]) {
    await send({ ...mail, to });
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect((await parsedMails()).map(({ to }) => to?.[0]?.address)).toEqual([
    "first@client.example",
    "second@client.example",
  ]);
});

test("nobody else on the machine can read the outbox", async () => {
  await outbox(folder)(mail);
  expect(statSync(folder).mode & 0o077).toBe(0);
  for (const name of readdirSync(folder)) expect(statSync(path.join(folder, name)).mode & 0o077).toBe(0);
});

test.each([
  "victim@client.example\r\nBcc: spy@client.example",
  "victim@client.example\nBcc: spy@client.example",
  "victim@client.example\r\n\r\n<h1>other text</h1>",
])("the address %j adds no header and no text to the mail", async (to) => {
  await outbox(folder)({ ...mail, to });
  const [parsed] = await parsedMails();
  expect(parsed?.bcc ?? []).toEqual([]);
  expect(parsed?.headers.map(({ key }) => key)).not.toContain("bcc");
  expect(parsed?.html?.trim()).toBe(mail.html);
  expect(parsed?.text?.trim()).toBe(mail.text);
});

test("a mail that cannot be written rejects", async () => {
  const file = path.join(root, "a-file");
  writeFileSync(file, "");
  await expect(outbox(path.join(file, "outbox"))(mail)).rejects.toThrow();
});

test("a mail server that is not there rejects", async () => {
  await expect(smtp("smtp://127.0.0.1:1")(mail)).rejects.toThrow();
});

test("the confirmation mail names the address and links to the site with the token, in HTML and in text", async () => {
  const sent = await confirmationFor("client@client.example", "0a1b2c3d");
  expect(sent).toMatchObject({ from: mail.from, to: "client@client.example", subject: mail.subject });
  const link = "https://portal.example/auth/confirm?token_hash=0a1b2c3d&type=signup";
  expect(sent.html).toContain(`href="${link}"`);
  expect(sent.html).toContain("client@client.example");
  expect(sent.text).toContain(link);
  expect(sent.text).toContain("client@client.example");
  expect(sent.text).not.toMatch(/<\/?\w+>/);
  expect(sent.html + sent.text).not.toContain("{{");
});

test("the confirmation mail reads the same after its way through the outbox", async () => {
  const sent = await confirmationFor("client@client.example", "0a1b2c3d".repeat(8));
  await outbox(folder)(sent);
  const [parsed] = await parsedMails();
  expect(parsed?.html?.trim()).toBe(sent.html.trim());
  expect(parsed?.text).toContain(`token_hash=${"0a1b2c3d".repeat(8)}&type=signup`);
});

test("quotes, angle brackets and ampersands in an address are text in the mail's HTML, not markup", async () => {
  const address = `o'hara&"<b>x</b><script>alert(1)</script>"@client.example`;
  const sent = await confirmationFor(address, "0a1b2c3d");
  expect(sent.html).not.toMatch(/<b>|<script|"<|o'hara/);
  expect(sent.html).toContain("o&#39;hara&#38;&#34;&#60;b&#62;");
  expect(sent.text).toContain(address);
});

test("Arabic in an address is kept in the mail's HTML", async () => {
  const sent = await confirmationFor("أمينة@client.example", "0a1b2c3d");
  expect(sent.html).toContain("أمينة@client.example");
});

test("places of a template that nobody fills are empty, and dollar signs in values stay", async () => {
  const sent: Mail[] = [];
  const mailer = templateMailer({
    from: mail.from,
    siteUrl: "https://portal.example",
    subject: mail.subject,
    template: "<p>[{{ .Unknown }}][{{.Email}}][{{  .TokenHash  }}]</p>",
    deliver: async (one) => {
      sent.push(one);
    },
  });
  await mailer.sendConfirmation("$&$1@client.example", "$$", "");
  expect(sent[0]?.html).toBe("<p>[][$&#38;$1@client.example][$$]</p>");
});

test("a delivery that fails fails the sending", async () => {
  const mailer = mailerTo(async () => {
    throw new Error("the mail server is away");
  });
  await expect(mailer.sendConfirmation("client@client.example", "0a1b2c3d", "123456")).rejects.toThrow(
    "the mail server is away",
  );
});

test("mails that the product does not send are refused", async () => {
  const sent: Mail[] = [];
  const mailer = mailerTo(async (one) => {
    sent.push(one);
  });
  const to = "client@client.example";
  await expect(mailer.sendRecovery(to, "0a1b", "123456")).rejects.toThrow();
  await expect(mailer.sendMagicLink(to, "0a1b", "123456")).rejects.toThrow();
  await expect(mailer.sendEmailChange(to, "0a1b", "123456")).rejects.toThrow();
  await expect(mailer.sendReauthentication(to, "123456")).rejects.toThrow();
  expect(sent).toEqual([]);
});

function mailerTo(deliver: (mail: Mail) => Promise<void>) {
  return templateMailer({
    from: mail.from,
    siteUrl: "https://portal.example",
    subject: mail.subject,
    template,
    deliver,
  });
}

/** The mail that a sign-up with this address and token sends. */
async function confirmationFor(address: string, token: string): Promise<Mail> {
  const sent: Mail[] = [];
  await mailerTo(async (one) => {
    sent.push(one);
  }).sendConfirmation(address, token, "123456");
  const [first] = sent;
  if (!first) throw new Error("no mail was sent");
  return first;
}

/** The mails of the outbox, in the order of their names. */
function parsedMails() {
  const files = readdirSync(folder).filter((name) => name.endsWith(".eml"));
  return Promise.all(files.sort().map((name) => PostalMime.parse(readFileSync(path.join(folder, name)))));
}
