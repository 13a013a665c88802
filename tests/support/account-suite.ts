import process from "node:process";
import { readEmailsTo } from "./outbox.ts";
import { type FormValues, origin, password, type TestApp, type TestBrowser } from "./test-app.ts";

export const accountPath = "/portal/account";

export const isLoggedIn = async (browser: TestBrowser) => (await browser.get("/portal")).status === 200;

export const submitOnAccount = async (browser: TestBrowser, button: string, typed: FormValues = {}) =>
  browser.submit(await browser.open(accountPath), button, typed);

export async function newLoggedInBrowser(app: TestApp, email: string): Promise<TestBrowser> {
  const browser = app.browser();
  await browser.logIn(email);
  return browser;
}

/** Logs in. Returns the path of the redirect after the login, or the status of a rejected login. */
export async function tryLogIn(app: TestApp, email: string, typed = password): Promise<string | number> {
  const response = await app.browser().post("/login", { email, password: typed });
  return response.headers.get("Location") ?? response.status;
}

/** Returns the texts of all emails to the address `email` with the subject `subject`, oldest first. */
export async function listEmailTexts(email: string, subject: string): Promise<string[]> {
  const emails = await readEmailsTo(process.env.DATA_DIR ?? "", email);
  return emails.filter((message) => message.subject === subject).map(({ text }) => text ?? "");
}

/**
 * Returns the path of the link in the newest email that asks to confirm a new email address. Throws if no such email
 * exists.
 */
export async function getEmailChangeLink(email: string): Promise<string> {
  const emails = await readEmailsTo(process.env.DATA_DIR ?? "", email);
  const links = emails.flatMap(({ text }) => /https?:\/\/\S+\/auth\/email\?\S+/.exec(text ?? "") ?? []);
  const link = links.at(-1);
  if (!link) throw new Error(`No email to ${email} contains a link to confirm the new address.`);
  return link.replace(origin, "");
}
