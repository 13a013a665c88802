/** Colleagues of the company for route tests, each made as the company makes them, and what they see at the desk. */
import http from "node:http";
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
  type getTestApp,
  getText,
  origin,
  type ParsedPage,
  parsePage,
  type TestBrowser,
} from "./test-app.ts";

type TestApp = Awaited<ReturnType<typeof getTestApp>>;

/** The password of every colleague of the tests. */
export const staffPassword = "a good password of a colleague";

/** Who writes the mails that a test sends past the site. */
export const emailSender: EmailSender = {
  name: "The company of the tests",
  email: "office@company.example",
  phone: "+254 700 000 001",
  origin,
};

/** A new address, by a name. */
export const newEmailAddress = (name: string, domain = "company.example") =>
  `${name.toLowerCase().replace(/[^a-z]+/g, "-")}-${Math.random().toString(36).slice(2, 8)}@${domain}`;

/** The newest mail to an address, read. Throws when there is none. */
export async function getLatestEmailTo(address: string): Promise<{ subject: string; text: string; count: number }> {
  const mails = await readEmailsTo(process.env.DATA_DIR ?? "", address);
  const mail = mails.at(-1);
  if (!mail) throw new Error(`No mail to ${address}`);
  return { subject: mail.subject ?? "", text: mail.text ?? "", count: mails.length };
}

/** How many mails went to an address. */
export const countEmailsTo = async (address: string) =>
  (await readEmailsTo(process.env.DATA_DIR ?? "", address)).length;

/** The path of the first link into the site in the newest mail to an address. */
export async function getLatestLinkTo(address: string): Promise<string> {
  const { text } = await getLatestEmailTo(address);
  const link = /https?:\/\/[^\s]+\/(?:auth\/password|signup)\?[^\s]+/.exec(text)?.[0];
  if (!link) throw new Error(`No link in the mail to ${address}`);
  const { pathname, search } = new URL(link);
  return pathname + search;
}

/** Begins a second factor on a page of them: the page with its secret, and an authenticator that knows it. */
export async function startFactorSetup(browser: TestBrowser, path: string, button = "Set up 2FA") {
  const page = await parsePage(await browser.submit(await browser.open(path), button));
  const link = page.all("a").find((one) => one.getAttribute("href")?.startsWith("otpauth:"));
  return { page, authenticator: Authenticator.fromUri(link?.getAttribute("href") ?? "") };
}

/** Sets a second factor up, which gives the browser's session its code. */
export async function setUpSecondFactor(
  browser: TestBrowser,
  path: "/desk/2fa" | "/portal/2fa",
): Promise<Authenticator> {
  const { page, authenticator } = await startFactorSetup(browser, path);
  const done = await browser.submit(page, "Enable 2FA", { code: await authenticator.freshCode() });
  if (done.status !== 303) throw new Error(`The second factor was not taken: ${done.status}`);
  browser.cookies.delete("flash");
  return authenticator;
}

/** A colleague who has set the password of the invitation and nothing more, and a browser that has logged in. */
export async function newStaffMemberWithoutFactor(app: TestApp, role: "clerk" | "lead", name: string) {
  const email = newEmailAddress(name);
  const told = await inviteStaffMember(
    app.company,
    app.company,
    emailSender,
    { name, email, role },
    { actor_name: "The command" },
  );
  if ("reason" in told || !told.sent) throw new Error(`${name} was not invited`);
  const id = await findAccountId(app.company, email);
  const browser = app.browser();
  const page = await browser.open(await getLatestLinkTo(email));
  const set = await browser.submit(page, "Set password", { password: staffPassword });
  if (set.status !== 303) throw new Error(`The password of ${name} was not set: ${set.status}`);
  await browser.logIn(email, staffPassword);
  return { id, name, email, browser };
}

/** A colleague at the desk: invited, with a password, a second factor, and a browser that has given its code. */
export async function newStaffMember(app: TestApp, role: "clerk" | "lead", name: string) {
  const colleague = await newStaffMemberWithoutFactor(app, role, name);
  return { ...colleague, authenticator: await setUpSecondFactor(colleague.browser, "/desk/2fa") };
}

/** Another browser with a copy of this one's cookies, as a second window of the same person. */
export function copyBrowser(app: Pick<TestApp, "browser">, browser: TestBrowser): TestBrowser {
  const copy = app.browser();
  for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
  return copy;
}

export type LoggedInClient = Awaited<ReturnType<typeof newClient>>;

/** A new client in a browser that is logged in, with the account's id. */
export async function newClient(app: TestApp, name: string) {
  const browser = app.browser();
  const email = await browser.signUpAndLogIn(name);
  return { browser, email, id: await findAccountId(app.company, email), name };
}

/** A shipment of a client's, with files for some of its documents: its id, and its paths. */
export async function newShipment(app: TestApp, client: LoggedInClient, name: string, documents: string[] = []) {
  const [id = ""] = await newShipments(app, client, [name]);
  const portal = `/portal/${id}`;
  for (const document of documents) await uploadDocument(client.browser, portal, document);
  return { id, portal, desk: `/desk/shipments/${id}` };
}

/** Shipments of a client's with these names; their ids. */
export async function newShipments(app: TestApp, client: { id: string }, names: string[]): Promise<string[]> {
  const rows = names.map((name) => ({ user_id: client.id, name }));
  const { data, error } = await app.company.from("shipments").insert(rows).select("id");
  if (error) throw error;
  return data.map(({ id }) => id);
}

/** The client uploads a file for a document. */
export async function uploadDocument(
  client: TestBrowser,
  portal: string,
  document: string,
  file = createPdf(),
): Promise<void> {
  const answer = await client.submit(await client.open(portal), `Upload the ${document}`, { file });
  if (answer.status !== 303) throw new Error(`The ${document} was not taken: ${answer.status}`);
  client.cookies.delete("flash");
}

export const allDocuments = ["Commercial Invoice", "Packing List", "Insurance Certificate", "Bill of Lading"];

/** A document of a shipment as the backend has it, by its name. */
export async function getDocument(company: AppSupabaseClient, shipment: string, name: string) {
  const { data, error } = await company
    .from("documents")
    .select("id, uploaded, verified, storage_path, rejection_reason")
    .eq("shipment_id", shipment)
    .eq("name", name)
    .single();
  if (error) throw error;
  return data;
}

/** Puts another file in the place of a stored one, as who has the company's key could. */
export async function replaceStoredFile(company: AppSupabaseClient, path: string): Promise<void> {
  const options = { contentType: "application/pdf", upsert: true };
  const { error } = await company.storage.from("documents").upload(path, "%PDF-1.7 another file", options);
  if (error) throw error;
}

/** The acts of a shipment as the log has them, oldest first. */
export async function listShipmentAuditEntries(company: AppSupabaseClient, shipment: string) {
  const { data, error } = await company
    .from("audit_log")
    .select("action, actor_name, reason, before, after")
    .eq("shipment_id", shipment)
    .order("created_at")
    .order("id");
  if (error) throw error;
  return data;
}

/** The fields of a form's page by their ids: what they hold, and what is said beside them. */
export function getField(page: ParsedPage, id: string) {
  const [field] = page.all(`[id="${id}"]`);
  if (!field) throw new Error(`No field ${id} on the page "${page.h1}" (${page.status})`);
  const said = (field.getAttribute("aria-describedby") ?? "").split(" ").filter(Boolean);
  return {
    value: getFieldValue(field),
    said: said.map((one) => getText(page.all(`[id="${one}"]`)[0])),
    isMarked: field.getAttribute("aria-invalid") === "true",
  };
}

/** What a toast at the top of the page says when an act was done. */
export const successToast = (title: string) => [{ title, description: "", variant: "default" }];

/** Expects a page whose form was refused with this status and these words, said once above it with a way to its field. */
export function expectRejectedForm(page: ParsedPage, status: number, why: string): void {
  expect([page.status, page.title.startsWith("Error: ")]).toEqual([status, true]);
  expect(page.toasts.at(-1)).toEqual({ title: "Not done", description: why, variant: "destructive" });
  expect(page.problems.map(({ text }) => text)).toContain(why);
}

/** Ids that stand on a page more than once: a link or a label would lead to the wrong one. */
export function listDuplicateIds(page: ParsedPage): string[] {
  const ids = page.all("[id]").map((element) => element.getAttribute("id") ?? "");
  return ids.filter((id, index) => ids.indexOf(id) !== index);
}

/** Sends a request on a connection of its own. `bytes` counts everything that the connection received. */
export function measureResponse(port: number, path: string, browser: TestBrowser, encoding = "br") {
  const Cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const options = { port, path, headers: { "Accept-Encoding": encoding, Cookie }, agent: false };
  type Measured = { status: number; headers: http.IncomingHttpHeaders; bytes: number; bodyBytes: number };
  return new Promise<Measured>((resolve, reject) => {
    const request = http.get(options, (response) => {
      const { statusCode: status = 0, headers, socket } = response;
      let bodyBytes = 0;
      response.on("data", (chunk: Buffer) => {
        bodyBytes += chunk.length;
      });
      response.on("end", () => resolve({ status, headers, bytes: socket.bytesRead, bodyBytes }));
    });
    request.on("error", reject);
  });
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

/** Text as people type it, of about so many characters, and another one for each `seed`. */
export function createLongText(seed: number, length: number): string {
  let state = seed * 2654435761 + 1;
  let text = "";
  while (text.length < length) {
    state = (state * 1664525 + 1013904223) % 4294967296;
    text += ` ${longTextWords[Math.floor((state / 4294967296) * longTextWords.length)]}`;
  }
  return text.trim().slice(0, length).trim();
}
