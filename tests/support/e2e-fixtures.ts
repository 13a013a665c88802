import {
  type APIRequestContext,
  test as base,
  expect,
  type Page,
  type PlaywrightWorkerArgs,
  type WorkerInfo,
} from "@playwright/test";
import type { AppSupabaseClient } from "../../app/lib/supabase/client.server.ts";
import { Authenticator } from "./authenticator.ts";
import { labels } from "./labels.ts";
import { getConfirmationLink } from "./outbox.ts";
import { createServiceRoleClient, newClientId } from "./service-role.ts";

export { expect };

export type SiteOptions = {
  dataDir: string;
  /** True if the test causes lost connections on purpose. */
  breaksConnection: boolean;
  /** Matches the console errors that the test causes on purpose. */
  expectedErrors: RegExp | null;
  /** True if the test needs animations. Other tests pause all animations. */
  motionEnabled: boolean;
};

export type ClientCredentials = { email: string; fullName: string; password: string };

/** Matches the statuses of rejected requests and missing pages in the browser's console errors. */
const expectedStatusPattern = /status of (400|404|413|431|503)/;
const networkErrorPattern = /net::ERR_/;

/** A team member, and the cookie of a session that has passed the second factor. */
export type StaffSession = { email: string; name: string; session: string };

type TestFixtures = {
  serviceRole: AppSupabaseClient;
  newClient: ClientCredentials;
  loggedInClient: ClientCredentials;
  loggedInLead: StaffSession;
};

type Playwright = PlaywrightWorkerArgs["playwright"];
type WorkerFixtures = { client: ClientCredentials; secondClient: ClientCredentials; lead: StaffSession };

export const test = base.extend<SiteOptions & TestFixtures, WorkerFixtures>({
  dataDir: ["", { option: true }],
  breaksConnection: [false, { option: true }],
  expectedErrors: [null, { option: true }],
  motionEnabled: [false, { option: true }],

  // Without a graphics card, the 50 animated streaks use half a processor, so only tests of motion draw the streaks. An
  // init script pauses the animations, because `storageState` would open an extra page before each test.
  context: async ({ context, motionEnabled: mayMove, javaScriptEnabled }, use) => {
    if (javaScriptEnabled && !mayMove) {
      await context.addInitScript(() => {
        // The empty page of a new tab has no local storage.
        if (location.protocol === "http:" && localStorage.getItem("motion") === null) {
          localStorage.setItem("motion", "paused");
        }
      });
    }
    await use(context);
  },

  // A test fails after console errors, uncaught errors and CSP violations.
  page: async ({ page, breaksConnection, expectedErrors }, use) => {
    const errors: string[] = [];
    page.on("console", (message) => {
      const { url } = message.location();
      const text = message.text();
      const isExpected =
        expectedStatusPattern.test(text) ||
        (breaksConnection && networkErrorPattern.test(text)) ||
        expectedErrors?.test(text);
      if (message.type() === "error" && !isExpected) errors.push(`${url}: ${text}`);
    });
    page.on("pageerror", (error) => errors.push(error.message));
    await use(page);
    expect(errors, "errors on the browser's console").toEqual([]);
  },

  serviceRole: async ({ dataDir }, use) => use(createServiceRoleClient(dataDir)),

  /**
   * A confirmed client for all tests of a Playwright worker. Tests must not change this account, and must use unique
   * names for shipments that they find by name.
   */
  client: [
    async ({ playwright }, use, worker) => use(await newConfirmedClient(playwright, worker)),
    { scope: "worker" },
  ],

  /** Another confirmed client for all tests of a Playwright worker. */
  secondClient: [
    async ({ playwright }, use, worker) => use(await newConfirmedClient(playwright, worker)),
    { scope: "worker" },
  ],

  /** A confirmed client without shipments for a single test, which may change the account. */
  newClient: async ({ playwright }, use, info) => use(await newConfirmedClient(playwright, info)),

  /** A lead for all tests of a Playwright worker. */
  lead: [async ({ playwright }, use, worker) => use(await newLeadSession(playwright, worker)), { scope: "worker" }],

  /** Logs the lead in before the page opens. */
  loggedInLead: async ({ page, lead, baseURL }, use) => {
    await page.context().addCookies([{ name: "session", value: lead.session, url: baseURL ?? "" }]);
    await use(lead);
  },

  /** Logs the client in before the page opens. The toast and the 2FA reminder after a login do not appear. */
  loggedInClient: async ({ page, client }, use) => {
    await logInWithoutPage(page, client);
    await use(client);
  },
});

/** Creates a confirmed client without opening a page. */
async function newConfirmedClient(
  playwright: Playwright,
  { project, workerIndex }: WorkerInfo,
): Promise<ClientCredentials> {
  const { baseURL, dataDir } = project.use as SiteOptions & { baseURL: string };
  const site = await playwright.request.newContext({ baseURL });
  const client = {
    email: `client-${workerIndex}-${crypto.randomUUID()}@client.example`,
    fullName: "Achieng Otieno",
    password: "harbour at dusk",
  };
  await postForm(site, "/signup", { ...client, clientId: await newClientId(dataDir) });
  const link = new URL(await getConfirmationLink(dataDir, client.email));
  const { email, password } = client;
  await postForm(site, "/auth/confirm", { token: link.searchParams.get("token_hash") ?? "", email, password });
  await site.dispose();
  return client;
}

/** Creates a lead with a second factor and logs in without opening a page. */
async function newLeadSession(playwright: Playwright, { project, workerIndex }: WorkerInfo): Promise<StaffSession> {
  const { baseURL, dataDir } = project.use as SiteOptions & { baseURL: string };
  const site = await playwright.request.newContext({ baseURL });
  const company = createServiceRoleClient(dataDir);
  const lead = {
    email: `lead-${workerIndex}-${Date.now()}@company.example`,
    name: `Wanjiru ${workerIndex}`,
    role: "lead",
  };
  const invited = await company.rpc("invite_staff_member", lead);
  if (invited.error) throw new Error(invited.error.message);
  const { invite_id: invitation } = invited.data as { invite_id: string };
  const password = "a password of the desk";
  const user_metadata = { full_name: lead.name, staff_invite_id: invitation };
  const created = await company.auth.admin.createUser({
    email: lead.email,
    password,
    email_confirm: true,
    user_metadata,
  });
  if (created.error) throw created.error;
  await postForm(site, "/login", { email: lead.email, password });
  const setUp = await (await site.post("/desk/2fa", { form: { begin: "" } })).text();
  const readField = (name: string) => new RegExp(`name="${name}" value="([^"]+)"`).exec(setUp)?.[1] ?? "";
  const [factorId, secret] = [readField("factorId"), readField("secret")];
  await postForm(site, "/desk/2fa", { factorId, secret, code: await new Authenticator(secret).freshCode() });
  const { cookies } = await site.storageState();
  await site.dispose();
  return { ...lead, session: cookies.find(({ name }) => name === "session")?.value ?? "" };
}

/** Sends a form without opening a page. Returns the URL of the redirect. Throws if the site rejects the form. */
export async function postForm(site: APIRequestContext, path: string, form: Record<string, string>): Promise<string> {
  const response = await site.post(path, { form, maxRedirects: 0 });
  if (response.status() !== 303) throw new Error(`${path}: ${response.status()}`);
  return response.headers().location ?? "";
}

/** Logs in without opening a page. The toast and the 2FA reminder after a login do not appear. */
export async function logInWithoutPage(page: Page, { email, password }: LoginCredentials): Promise<void> {
  await postForm(page.request, "/login", { email, password });
  const context = page.context();
  const session = (await context.cookies()).find(({ name }) => name === "session");
  if (!session) throw new Error(`${email} is not signed in`);
  await context.clearCookies({ name: "flash" });
  await context.addCookies([{ ...session, name: "reminded", value: "1", expires: -1 }]);
}

/** Waits until the page is hydrated and can show toasts. */
export async function waitForHydration(page: Page): Promise<void> {
  await expect(page.getByRole("region", { name: labels.notifications })).toBeAttached();
}

export async function openHydrated(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await waitForHydration(page);
}

/** Finds the toast with `text`. Without JavaScript, the toast is a banner. */
export function toast(page: Page, text?: string | RegExp) {
  return page.locator("[data-toast]", { hasText: text });
}

export const heading = (page: Page) => page.getByRole("heading", { level: 1 });
export const mainLink = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true });
export const quoteLink = (page: Page) => page.getByRole("contentinfo").getByRole("link", { name: "Get a Quote" });
export const quoteDialog = (page: Page) => page.getByRole("dialog", { name: "Get a Quote" });
export const prepareButton = (page: Page) => page.getByRole("button", { name: labels.prepareEmail });

type LoginCredentials = Pick<ClientCredentials, "email" | "password">;

/** Fills in and sends the login form of the open page. */
export async function fillLogin(page: Page, { email, password }: LoginCredentials): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: labels.logIn, exact: true }).click();
}

export async function logIn(page: Page, client: LoginCredentials): Promise<void> {
  await page.goto("/login");
  await fillLogin(page, client);
  await expect(toast(page, "Login Successful")).toBeVisible();
}

/** Creates a shipment with a request outside the page. Returns the shipment's ID. The toast does not appear. */
export async function newShipment(page: Page, name: string): Promise<string> {
  const path = await postForm(page.request, "/portal/new", { name, idempotencyKey: crypto.randomUUID() });
  await page.context().clearCookies({ name: "flash" });
  return path.split("/")[2] ?? "";
}

/** Inserts a shipment at stage 1 into the database. Returns the shipment's ID and the ID of the client's account. */
export async function insertShipment(company: AppSupabaseClient, { email }: { email: string }, name: string) {
  const account = (await company.rpc("find_account_id", { email })).data ?? "";
  const row = { user_id: account, name, status: "", stage: 1 };
  const { data } = await company.from("shipments").insert(row).select("id").single();
  return { id: data?.id ?? "", account };
}

export async function createAndOpenShipment(page: Page, name: string): Promise<string> {
  const id = await newShipment(page, name);
  await page.goto(`/portal/${id}`);
  await expect(heading(page)).toHaveText(name);
  return id;
}
