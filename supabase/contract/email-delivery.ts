import { randomUUID } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import nodemailer from "nodemailer";
import MailComposer from "nodemailer/lib/mail-composer/index.js";

/** `from` is a name with an email address, such as Mizigo <desk@mizigo.example>. */
export type Email = { from: string; to: string; subject: string; text: string; headers?: Record<string, string> };

export type DeliverEmail = (email: Email) => Promise<void>;

/** The header (RFC 3834) prevents automatic replies, such as absence notes. */
const addHeaders = (email: Email): Email => ({
  ...email,
  headers: { ...email.headers, "Auto-Submitted": "auto-generated" },
});

/** Writes each email to `folder` as `<UTC time>-<random>.eml`, a format that email apps open. */
export function createOutboxDelivery(folder: string): DeliverEmail {
  return async (email) => {
    const message = await new MailComposer(addHeaders(email)).compile().build();
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const name = `${new Date().toISOString().replaceAll(":", "-")}-${randomUUID().slice(0, 8)}.eml`;
    const file = path.join(folder, name);
    await writeFile(`${file}.part`, message, { mode: 0o600 });
    await rename(`${file}.part`, file);
  };
}

export function createSmtpDelivery(url: string): DeliverEmail {
  const deadlines = { connectionTimeout: 4000, greetingTimeout: 4000, socketTimeout: 4000 };
  const transport = nodemailer.createTransport({ url, ...deadlines } as object);
  return async (email) => {
    await transport.sendMail(addHeaders(email));
  };
}

export type EmailDeliverySettings = { smtpUrl: string | null; dataDir: string };

export function createEmailDelivery({ smtpUrl, dataDir }: EmailDeliverySettings): DeliverEmail {
  return smtpUrl ? createSmtpDelivery(smtpUrl) : createOutboxDelivery(path.join(dataDir, "outbox"));
}
