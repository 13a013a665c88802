import { test as base, expect, type Page } from "@playwright/test";
import type { Backend } from "../../app/lib/supabase.server.ts";
import { companyOf, newClientId } from "./company.ts";
import { confirmationLink } from "./outbox.ts";

export { expect };

export type SiteOptions = {
  /** The data directory of the site under test. */
  dataDir: string;
  /** Whether the test breaks the line on purpose. */
  lineBreaks: boolean;
  /** Errors that a test brings about on purpose, such as a lost connection. */
  expectedErrors: RegExp | null;
};

export type Client = { email: string; fullName: string; password: string };

/** Answers that a page shows on purpose; the browser logs each as an error of its own. */
const expectedStatus = /status of (400|404|413|503)/;
const brokenLine = /net::ERR_/;

export const test = base.extend<SiteOptions & { company: Backend; client: Client; signedIn: Client }>({
  dataDir: ["", { option: true }],
  lineBreaks: [false, { option: true }],
  expectedErrors: [null, { option: true }],

  // Errors on the console, uncaught ones, and refused content fail the test they happen in.
  page: async ({ page, lineBreaks, expectedErrors }, use) => {
    const errors: string[] = [];
    page.on("console", (message) => {
      const { url } = message.location();
      const text = message.text();
      const isExpected =
        expectedStatus.test(text) || (lineBreaks && brokenLine.test(text)) || expectedErrors?.test(text);
      if (message.type() === "error" && !isExpected) errors.push(`${url}: ${text}`);
    });
    page.on("pageerror", (error) => errors.push(error.message));
    await use(page);
    expect(errors, "errors on the console").toEqual([]);
  },

  /** The company's handle on the backend of the site under test. */
  company: async ({ dataDir }, use) => use(companyOf(dataDir)),

  /** A client who has signed up and confirmed; the journey of the portal does so by hand. */
  client: async ({ page, dataDir }, use, { workerIndex }) => {
    const client = {
      email: `client-${workerIndex}-${Date.now()}@client.example`,
      fullName: "Achieng Otieno",
      password: "harbour at dusk",
    };
    await post(page, "/signup", { ...client, clientId: await newClientId(dataDir) });
    const link = new URL(await confirmationLink(dataDir, client.email));
    const { email, password } = client;
    await post(page, "/auth/confirm", { token: link.searchParams.get("token_hash") ?? "", email, password });
    await page.context().clearCookies({ name: "flash" });
    await use(client);
  },

  /** The same, logged in and on the portal. */
  signedIn: async ({ page, client: { email, password, ...client } }, use) => {
    await post(page, "/login", { email, password });
    await page.goto("/portal");
    await expect(toast(page, "Login Successful")).toBeVisible();
    await use({ email, password, ...client });
  },
});

/** Sends a form as a browser does, without a page. Throws when it is refused. */
async function post(page: Page, path: string, form: Record<string, string>): Promise<void> {
  const answer = await page.request.post(path, { form, maxRedirects: 0 });
  if (answer.status() !== 303) throw new Error(`${path}: ${answer.status()}`);
}

/** Waits until script has everything: the page is hydrated and toasts can be shown. */
export async function scriptReady(page: Page): Promise<void> {
  await expect(page.getByRole("region", { name: "Notifications (F8)" })).toBeAttached();
}

/** The toasts of a page with these words: a banner without script, at most one with it. */
export function toast(page: Page, words?: string | RegExp) {
  return page.locator("[data-toast]", { hasText: words });
}

export async function signUp(page: Page, client: Client, clientId: string): Promise<void> {
  await page.goto("/signup");
  await page.getByLabel("Client ID").fill(clientId);
  await page.getByLabel("Full Name").fill(client.fullName);
  await page.getByLabel("Email").fill(client.email);
  await page.getByLabel("Password", { exact: true }).fill(client.password);
  await page.getByRole("button", { name: "Create Account" }).click();
  await expect(toast(page, "Account Created!")).toBeVisible();
}

export async function logIn(page: Page, client: Pick<Client, "email" | "password">): Promise<void> {
  await page.goto("/login");
  await page.getByLabel("Email").fill(client.email);
  await page.getByLabel("Password", { exact: true }).fill(client.password);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  await expect(toast(page, "Login Successful")).toBeVisible();
}

export async function createShipment(page: Page, name: string): Promise<string> {
  await page.goto("/portal/new");
  await page.getByLabel("Name of the shipment").fill(name);
  await page.getByRole("button", { name: "Create Shipment" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(name);
  return new URL(page.url()).pathname.split("/")[2] ?? "";
}
