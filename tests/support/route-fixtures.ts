/** Creates clients, team members and shipments for route tests, and reads their emails. */
import process from "node:process";
import { expect } from "vitest";
import type { AppSupabaseClient } from "../../app/lib/supabase/client.server.ts";
import type { EmailSender } from "../../app/models/emails.ts";
import { findAccountId, inviteStaffMember } from "../../app/models/staff.server.ts";
import { Authenticator } from "./authenticator.ts";
import { readEmailsTo } from "./outbox.ts";
import {
  createPdf,
  getFieldValue,
  getText,
  origin,
  type ParsedPage,
  parsePage,
  type TestApp,
  type TestBrowser,
} from "./test-app.ts";

export const staffPassword = "a good password of a team member";

/** The sender of emails that a test sends by calling app/models directly, without a request to the site. */
export const emailSender: EmailSender = {
  name: "The company of the tests",
  email: "office@company.example",
  phone: "+254 700 000 001",
  origin,
};

export const newEmailAddress = (name: string, domain = "company.example") =>
  `${name.toLowerCase().replace(/[^a-z]+/g, "-")}-${Math.random().toString(36).slice(2, 8)}@${domain}`;

/**
 * Returns the newest email to an email address, and the number of emails to this address. Throws if there is no email.
 */
export async function getLatestEmailTo(address: string): Promise<{ subject: string; text: string; count: number }> {
  const emails = await readEmailsTo(process.env.DATA_DIR ?? "", address);
  const latest = emails.at(-1);
  if (!latest) throw new Error(`No email to ${address}`);
  return { subject: latest.subject ?? "", text: latest.text ?? "", count: emails.length };
}

export const countEmailsTo = async (address: string) =>
  (await readEmailsTo(process.env.DATA_DIR ?? "", address)).length;

/** Returns the path of the first password or sign-up link in the newest email to an email address. */
export async function getLatestLinkTo(address: string): Promise<string> {
  const { text } = await getLatestEmailTo(address);
  const link = /https?:\/\/[^\s]+\/(?:auth\/password|signup)\?[^\s]+/.exec(text)?.[0];
  if (!link) throw new Error(`No link in the email to ${address}`);
  const { pathname, search } = new URL(link);
  return pathname + search;
}

/** Starts to set up a second factor. Returns the page with the secret, and an authenticator that has the secret. */
export async function startFactorSetup(browser: TestBrowser, path: string, button = "Set up 2FA", name = "") {
  const page = await parsePage(await browser.submit(await browser.open(path), button, { name }));
  const link = page.all("a").find((each) => each.getAttribute("href")?.startsWith("otpauth:"));
  return { page, authenticator: Authenticator.fromUri(link?.getAttribute("href") ?? "") };
}

/** Sets up a second factor, which lifts the browser's session to AAL2. */
export async function setUpSecondFactor(
  browser: TestBrowser,
  path: "/desk/2fa" | "/portal/2fa",
): Promise<Authenticator> {
  const { page, authenticator } = await startFactorSetup(browser, path);
  const done = await browser.submit(page, "Enable 2FA", { code: await authenticator.freshCode() });
  if (done.status !== 303) throw new Error(`The second factor was rejected: ${done.status}`);
  browser.cookies.delete("flash");
  return authenticator;
}

/** Returns a team member without a second factor, and a browser that has logged in with the password. */
export async function newStaffMemberWithoutFactor(app: TestApp, role: "clerk" | "lead", name: string) {
  const email = newEmailAddress(name);
  const invitation = await inviteStaffMember(
    app.company,
    app.company,
    emailSender,
    { name, email, role },
    { actor_name: "The command" },
  );
  if ("reason" in invitation || !invitation.sent) throw new Error(`${name} was not invited`);
  const id = await findAccountId(app.company, email);
  const browser = app.browser();
  const page = await browser.open(await getLatestLinkTo(email));
  const set = await browser.submit(page, "Set password", { password: staffPassword });
  if (set.status !== 303) throw new Error(`The password of ${name} was not set: ${set.status}`);
  await browser.logIn(email, staffPassword);
  return { id, name, email, browser };
}

/** Returns a team member with a second factor, and a browser that has entered the code. */
export async function newStaffMember(app: TestApp, role: "clerk" | "lead", name: string) {
  const member = await newStaffMemberWithoutFactor(app, role, name);
  return { ...member, authenticator: await setUpSecondFactor(member.browser, "/desk/2fa") };
}

/** Returns another browser with a copy of the cookies, as if the same person opened a second window. */
export function copyBrowser(app: Pick<TestApp, "browser">, browser: TestBrowser): TestBrowser {
  const copy = app.browser();
  for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
  return copy;
}

export type LoggedInClient = Awaited<ReturnType<typeof newClient>>;

/** Returns a new client with the account's ID and a logged-in browser. */
export async function newClient(app: TestApp, name: string) {
  const browser = app.browser();
  const email = await browser.signUpAndLogIn(name);
  return { browser, email, id: await findAccountId(app.company, email), name };
}

/**
 * Creates a shipment for `client` and uploads a file for each of `documents`. Returns the shipment's ID, and its URL
 * paths in the portal and on the desk.
 */
export async function newShipment(app: TestApp, client: LoggedInClient, name: string, documents: string[] = []) {
  const [id = ""] = await newShipments(app, client, [name]);
  const portal = `/portal/${id}`;
  for (const document of documents) await uploadDocument(client.browser, portal, document);
  return { id, portal, desk: `/desk/shipments/${id}` };
}

/** Creates a shipment for `client` with each of `names`. Returns the shipments' IDs. */
export async function newShipments(app: TestApp, client: { id: string }, names: string[]): Promise<string[]> {
  const rows = names.map((name) => ({ user_id: client.id, name }));
  const { data, error } = await app.company.from("shipments").insert(rows).select("id");
  if (error) throw error;
  return data.map(({ id }) => id);
}

export async function uploadDocument(
  client: TestBrowser,
  portal: string,
  document: string,
  file = createPdf(),
): Promise<void> {
  const answer = await client.submit(await client.open(portal), `Upload the ${document}`, { file });
  if (answer.status !== 303) throw new Error(`The upload of ${document} was rejected: ${answer.status}`);
  client.cookies.delete("flash");
}

export const allDocuments = ["Commercial Invoice", "Packing List", "Insurance Certificate", "Bill of Lading"];

export async function getDocument(serviceRole: AppSupabaseClient, shipment: string, name: string) {
  const { data, error } = await serviceRole
    .from("documents")
    .select("id, uploaded, verified, storage_path, rejection_reason")
    .eq("shipment_id", shipment)
    .eq("name", name)
    .single();
  if (error) throw error;
  return data;
}

/** Replaces the stored file at `path`. Only the secret key allows this change. */
export async function replaceStoredFile(serviceRole: AppSupabaseClient, path: string): Promise<void> {
  const options = { contentType: "application/pdf", upsert: true };
  const { error } = await serviceRole.storage.from("documents").upload(path, "%PDF-1.7 another file", options);
  if (error) throw error;
}

/** Returns the audit entries of a shipment without the client's actions, oldest first. */
export async function listShipmentAuditEntries(serviceRole: AppSupabaseClient, shipment: string) {
  const { data, error } = await serviceRole
    .from("audit_log")
    .select("action, actor_name, reason, before, after")
    .eq("shipment_id", shipment)
    .not("action", "like", "client %")
    .order("created_at")
    .order("id");
  if (error) throw error;
  return data;
}

/** Returns the value, hint and error of the field with the id `id`, and whether the field is marked as invalid. */
export function getField(page: ParsedPage, id: string) {
  const [field] = page.all(`[id="${id}"]`);
  if (!field) throw new Error(`No field ${id} on the page "${page.h1}" (${page.status})`);
  const descriptionIds = (field.getAttribute("aria-describedby") ?? "").split(" ").filter(Boolean);
  return {
    value: getFieldValue(field),
    descriptions: descriptionIds.map((each) => getText(page.all(`[id="${each}"]`)[0])),
    isMarked: field.getAttribute("aria-invalid") === "true",
  };
}

/** Returns the toasts of a page after a successful action. */
export const successToast = (title: string, description = "") => [{ title, description, variant: "default" }];

/** Checks that `page` shows a rejected form, with the status `status`, `message` in the error summary, and no toast. */
export function expectRejectedForm(page: ParsedPage, status: number, message: string): void {
  expect([page.status, page.title.startsWith("Error: ")]).toEqual([status, true]);
  expect(page.problems.map(({ text }) => text)).toContain(message);
  expect(page.toasts).toEqual([]);
}

/** Returns ids that a page uses more than once. With a duplicate id, a link or a label leads to the wrong element. */
export function listDuplicateIds(page: ParsedPage): string[] {
  const ids = page.all("[id]").map((element) => element.getAttribute("id") ?? "");
  return ids.filter((id, index) => ids.indexOf(id) !== index);
}

const longTextWords = (
  "the container vessel arrived late berth Kilindini port authority charges demurrage invoice consignee declared value " +
  "customs officer asked for original bill of lading stamped by shipping line release order KRA iTax portal payment slip " +
  "Kisumu Eldoret Nakuru Naivasha depot seal number broken weighbridge truck driver licence insurance certificate expired " +
  "pharmacy board permit KEBS inspection conformity photovoltaic panels inverters spare parts tractor fertiliser bags rice " +
  "wheat sugar machinery textile medical laboratory refrigerated pallets damaged water stain page unreadable scan again " +
  "please send signed copy before Friday bank guarantee exchange rate duty excise levy railway fee verification queue " +
  "office Mombasa Nairobi road county godown warehouse keeper overtime Sunday holiday agent telephone confirmed wrote"
).split(" ");

/** Returns text of about `length` characters that looks written by a person. Each `seed` gives a different text. */
export function createLongText(seed: number, length: number): string {
  let state = seed * 2654435761 + 1;
  let text = "";
  while (text.length < length) {
    state = (state * 1664525 + 1013904223) % 4294967296;
    text += ` ${longTextWords[Math.floor((state / 4294967296) * longTextWords.length)]}`;
  }
  return text.trim().slice(0, length).trim();
}
