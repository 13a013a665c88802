import { randomUUID } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import nodemailer from "nodemailer";
import MailComposer from "nodemailer/lib/mail-composer/index.js";

export type Email = {
  from: { name: string; address: string };
  to: string;
  subject: string;
  text: string;
  html: string;
};
/** An email of the site. Emails of Supabase Auth also have an HTML part. */
export type PlainEmail = Omit<Email, "from" | "html"> & { from: string; headers?: Record<string, string> };

export type DeliverEmail<Kind = Email> = (email: Kind) => Promise<void>;

/** Writes each email to `folder` as `<UTC time>-<random>.eml`, a format that email apps open. */
export function createOutboxDelivery(folder: string): DeliverEmail<Email | PlainEmail> {
  return async (email) => {
    const message = await new MailComposer(email).compile().build();
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const name = `${new Date().toISOString().replaceAll(":", "-")}-${randomUUID().slice(0, 8)}.eml`;
    const file = path.join(folder, name);
    await writeFile(`${file}.part`, message, { mode: 0o600 });
    await rename(`${file}.part`, file);
  };
}

export function createSmtpDelivery(url: string): DeliverEmail<Email | PlainEmail> {
  const deadlines = { connectionTimeout: 4000, greetingTimeout: 4000, socketTimeout: 4000 };
  const transport = nodemailer.createTransport({ url, ...deadlines } as object);
  return async (email) => {
    await transport.sendMail(email);
  };
}

export type EmailDeliverySettings = { smtpUrl: string | null; dataDir: string };

export function createEmailDelivery({ smtpUrl, dataDir }: EmailDeliverySettings): DeliverEmail<Email | PlainEmail> {
  return smtpUrl ? createSmtpDelivery(smtpUrl) : createOutboxDelivery(path.join(dataDir, "outbox"));
}
