import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import PostalMime, { type Email } from "postal-mime";

/** The files that were read: a mail does not change once it has its name, and a long run has thousands. */
const emailCache = new Map<string, { file: Buffer; text: string }>();

/**
 * The mails to an address: in MAILS_DIR those of a hosted auth (tests/hosted), then those in the outbox of a data directory;
 * in each, oldest first.
 */
export async function readEmailsTo(dataDir: string, address: string): Promise<Email[]> {
  const folders = [process.env.MAILS_DIR ?? "", path.join(dataDir, "outbox")].filter((each) => existsSync(each));
  const texts = folders.flatMap((folder) => {
    const files = readdirSync(folder).filter((name) => name.endsWith(".eml"));
    return files.sort().map((name) => readEmailFile(path.join(folder, name)));
  });
  const wanted = address.toLowerCase();
  // Most of a long run's mails are to others, and need not be parsed.
  const near = texts.filter(({ text }) => text.includes(wanted));
  const mails = await Promise.all(near.map(({ file }) => PostalMime.parse(file)));
  return mails.filter((mail) => mail.to?.some((to) => to.address?.toLowerCase() === wanted));
}

/** A mail, and its text in lower case. */
function readEmailFile(name: string) {
  const before = emailCache.get(name);
  if (before) return before;
  const file = readFileSync(name);
  const mail = { file, text: file.toString("latin1").toLowerCase() };
  emailCache.set(name, mail);
  return mail;
}

/** The confirmation link in the newest mail to an address. Throws when there is none. */
export async function getConfirmationLink(dataDir: string, address: string): Promise<string> {
  // Hosted auth sends HTML alone, and its mails come before all of the site's own.
  const links = (await readEmailsTo(dataDir, address)).map(
    ({ text, html }) => /https?:\/\/[^\s"]+\/auth\/confirm\?[^\s\]"]+/.exec(text ?? html ?? "")?.[0],
  );
  const link = links.filter(Boolean).at(-1);
  if (!link) throw new Error(`No confirmation mail to ${address}`);
  return link;
}
