import { randomUUID } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import path from "node:path";
import nodemailer from "nodemailer";
import MailComposer from "nodemailer/lib/mail-composer/index.js";
import SMTPTransport from "nodemailer/lib/smtp-transport/index.js";

export type Mailbox = { name: string; address: string };

export type Email = { from: Mailbox; to: string; subject: string; text: string; headers?: Record<string, string> };

export type DeliverEmail = (email: Email) => Promise<void>;

/** Adds a header that prevents automatic replies, such as out-of-office replies (RFC 3834). */
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

/** The time limits for one reply of the SMTP server and for a whole email. A sign-up waits until its email is sent. */
const smtpSeconds = { silence: 4, email: 6 };

export function createSmtpDelivery(url: string, seconds = smtpSeconds): DeliverEmail {
  const silenceMs = seconds.silence * 1000;
  // `createTransport({ url, … })` would ignore all options except `url`.
  const smtp = new SMTPTransport({
    url,
    greetingTimeout: silenceMs,
    socketTimeout: silenceMs,
    // nodemailer has no time limit for a whole email. The signal therefore closes the socket after the limit.
    getSocket({ host, port, secure }, callback) {
      const signal = AbortSignal.timeout(seconds.email * 1000);
      const connection = connect({ host, port: Number(port ?? (secure ? 465 : 587)), signal });
      const fail = (error: Error) => callback(error, null);
      const silence = () => connection.destroy(new Error("The SMTP server does not respond."));
      connection.setTimeout(silenceMs, silence).once("error", fail);
      connection.once("connect", () => {
        connection.off("error", fail).off("timeout", silence);
        callback(null, { connection });
      });
    },
  });
  const transport = nodemailer.createTransport(smtp);
  return async (email) => {
    await transport.sendMail(addHeaders(email));
  };
}

export function createEmailDelivery({ smtpUrl, dataDir }: { smtpUrl: string | null; dataDir: string }): DeliverEmail {
  return smtpUrl ? createSmtpDelivery(smtpUrl) : createOutboxDelivery(path.join(dataDir, "outbox"));
}
