/** Mails that the site itself sends: short, plain text, with a link. Auth sends the confirmation of a sign-up. */
import { randomUUID } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import nodemailer from "nodemailer";
import MailComposer from "nodemailer/lib/mail-composer/index.js";
import { readSettings, type Settings } from "../lib/http/env.server.ts";

export type Email = {
  from: { name: string; address: string };
  to: string;
  subject: string;
  text: string;
  html: string;
};
/** A mail of the site's; those of auth have an HTML part too. */
export type PlainEmail = Omit<Email, "from" | "html"> & { from: string; headers?: Record<string, string> };

/** Hands one mail over; rejects when that failed. */
export type DeliverEmail<Kind = Email> = (mail: Kind) => Promise<void>;

/** Writes each mail to `folder` as `<UTC time>-<random>.eml`, readable by any mail program. */
export function createOutboxDelivery(folder: string): DeliverEmail<Email | PlainEmail> {
  return async (mail) => {
    const message = await new MailComposer(mail).compile().build();
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const name = `${new Date().toISOString().replaceAll(":", "-")}-${randomUUID().slice(0, 8)}.eml`;
    const file = path.join(folder, name);
    await writeFile(`${file}.part`, message, { mode: 0o600 });
    await rename(`${file}.part`, file);
  };
}

/** Sends each mail through the server at `url`, such as smtps://user:password@mail.example:465. */
export function createSmtpDelivery(url: string): DeliverEmail<Email | PlainEmail> {
  const deadlines = { connectionTimeout: 4000, greetingTimeout: 4000, socketTimeout: 4000 };
  const transport = nodemailer.createTransport({ url, ...deadlines } as object);
  return async (mail) => {
    await transport.sendMail(mail);
  };
}

/** How mails leave: the server of SMTP_URL, or the folder `outbox` of DATA_DIR. */
export function createEmailDelivery({
  smtpUrl,
  dataDir,
}: Pick<Settings, "smtpUrl" | "dataDir">): DeliverEmail<Email | PlainEmail> {
  return smtpUrl ? createSmtpDelivery(smtpUrl) : createOutboxDelivery(path.join(dataDir, "outbox"));
}

/** Sends one mail of the company's; rejects when it could not be handed over. */
export async function sendEmail(mail: Omit<PlainEmail, "from">, sender: string): Promise<void> {
  const settings = readSettings();
  await createEmailDelivery(settings)({ ...mail, from: settings.emailFrom ?? sender });
}
