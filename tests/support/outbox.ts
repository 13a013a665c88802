import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import PostalMime, { type Email } from "postal-mime";

/** The content of email files by path. A file in the outbox does not change after it gets its final name. */
const emailCache = new Map<string, { file: Buffer; text: string }>();

/**
 * Returns the emails to `address`. Emails of a hosted Supabase Auth in EMAILS_DIR (tests/hosted) come before emails in
 * the outbox of `dataDir`. The emails of each folder are in order, oldest first.
 */
export async function readEmailsTo(dataDir: string, address: string): Promise<Email[]> {
  const folders = [process.env.EMAILS_DIR ?? "", path.join(dataDir, "outbox")].filter((folder) => existsSync(folder));
  const texts = folders.flatMap((folder) => {
    const files = readdirSync(folder).filter((name) => name.endsWith(".eml"));
    return files.sort().map((name) => readEmailFile(path.join(folder, name)));
  });
  const lowerCaseAddress = address.toLowerCase();
  // Skips files without the email address, because parsing all emails of a long test run takes long.
  const candidates = texts.filter(({ text }) => text.includes(lowerCaseAddress));
  const emails = await Promise.all(candidates.map(({ file }) => PostalMime.parse(file)));
  return emails.filter(({ to }) => to?.some((recipient) => recipient.address?.toLowerCase() === lowerCaseAddress));
}

function readEmailFile(name: string) {
  const cached = emailCache.get(name);
  if (cached) return cached;
  const file = readFileSync(name);
  const email = { file, text: file.toString("latin1").toLowerCase() };
  emailCache.set(name, email);
  return email;
}

/**
 * Returns the confirmation link in the newest email to an email address. Throws if no email contains a confirmation
 * link.
 */
export async function getConfirmationLink(dataDir: string, address: string): Promise<string> {
  // Emails of a hosted Supabase Auth contain only HTML, and the list contains them before all emails of the site.
  const links = (await readEmailsTo(dataDir, address)).map(
    ({ text, html }) => /https?:\/\/[^\s"]+\/auth\/confirm\?[^\s\]"]+/.exec(text ?? html ?? "")?.[0],
  );
  const link = links.filter(Boolean).at(-1);
  if (!link) throw new Error(`No confirmation email to ${address}`);
  return link;
}
