import { type APIRequestContext, test as base, expect, type Page, type WorkerInfo } from "@playwright/test";
import type { AppSupabaseClient } from "../../app/lib/supabase/client.server.ts";
import { Authenticator } from "./authenticator.ts";
import { getConfirmationLink } from "./outbox.ts";
import { createServiceRoleClient, newClientId } from "./service-role.ts";

export { expect };

export type SiteOptions = {
  /** The data directory of the site under test. */
  dataDir: string;
  /** Whether the test breaks the line on purpose. */
  breaksConnection: boolean;
  /** Errors that a test brings about on purpose, such as a lost connection. */
  expectedErrors: RegExp | null;
  /** Whether pages move from the start, as for a visitor who has not paused them. */
  motionEnabled: boolean;
};

export type ClientCredentials = { email: string; fullName: string; password: string };

/** Statuses of answers that tests expect; the browser logs each as an error. */
const expectedStatusPattern = /status of (400|404|413|503)/;
const networkErrorPattern = /net::ERR_/;

/** Somebody of the company, with the session in which they gave the code of their second factor. */
export type StaffSession = { email: string; name: string; session: string };

type TestFixtures = {
  serviceRole: AppSupabaseClient;
  newClient: ClientCredentials;
  loggedInClient: ClientCredentials;
  loggedInLead: StaffSession;
};

export const test = base.extend<SiteOptions & TestFixtures, { client: ClientCredentials; lead: StaffSession }>({
  dataDir: ["", { option: true }],
  breaksConnection: [false, { option: true }],
  expectedErrors: [null, { option: true }],
  motionEnabled: [false, { option: true }],

  // The 50 animated streaks take half a processor without a graphics card: only the tests of motion run with them. What
  // a page keeps counts from then on. A `storageState` would open and close a page for this before every test.
  context: async ({ context, motionEnabled: mayMove, javaScriptEnabled }, use) => {
    if (javaScriptEnabled && !mayMove) {
      await context.addInitScript(() => {
        // A page of no site, as a tab has at first, keeps nothing.
        if (location.protocol === "http:" && localStorage.getItem("motion") === null) {
          localStorage.setItem("motion", "paused");
        }
      });
    }
    await use(context);
  },

  // Errors on the console, uncaught ones, and refused content fail the test they happen in.
  page: async ({ page, breaksConnection: lineBreaks, expectedErrors }, use) => {
    const errors: string[] = [];
    page.on("console", (message) => {
      const { url } = message.location();
      const text = message.text();
      const isExpected =
        expectedStatusPattern.test(text) ||
        (lineBreaks && networkErrorPattern.test(text)) ||
        expectedErrors?.test(text);
      if (message.type() === "error" && !isExpected) errors.push(`${url}: ${text}`);
    });
    page.on("pageerror", (error) => errors.push(error.message));
    await use(page);
    expect(errors, "errors on the console").toEqual([]);
  },

  /** The company's handle on the backend of the site under test. */
  serviceRole: async ({ dataDir }, use) => use(createServiceRoleClient(dataDir)),

  /**
   * A client who has signed up and confirmed; the journey of the portal does so by hand. One serves all tests of a
   * worker, which leave the account as it was and count on none of its shipments but those they make.
   */
  client: [
    async ({ playwright }, use, worker) => {
      const site = await playwright.request.newContext({ baseURL: worker.project.use.baseURL });
      await use(await newConfirmedClient(site, worker));
      await site.dispose();
    },
    { scope: "worker" },
  ],

  /** A client of one test's own, without a shipment, for what changes the account or begins with nothing. */
  newClient: async ({ request }, use, info) => use(await newConfirmedClient(request, info)),

  /** A lead of the company; one serves all tests of a worker. */
  lead: [
    async ({ playwright }, use, worker) => {
      const site = await playwright.request.newContext({ baseURL: worker.project.use.baseURL });
      await use(await newLeadSession(site, worker));
      await site.dispose();
    },
    { scope: "worker" },
  ],

  /** The lead, signed in on a page that is still to be opened. */
  loggedInLead: async ({ page, lead, baseURL }, use) => {
    await page.context().addCookies([{ name: "session", value: lead.session, url: baseURL ?? "" }]);
    await use(lead);
  },

  /** The client, signed in on a page that is still to be opened, past the toast and the reminder that follow a login. */
  loggedInClient: async ({ page, client }, use) => {
    await logInWithoutPage(page, client);
    await use(client);
  },
});

/** Signs up and confirms without a page. */
async function newConfirmedClient(
  site: APIRequestContext,
  { project, workerIndex }: WorkerInfo,
): Promise<ClientCredentials> {
  const { dataDir } = project.use as SiteOptions;
  const client = {
    email: `client-${workerIndex}-${Date.now()}@client.example`,
    fullName: "Achieng Otieno",
    password: "harbour at dusk",
  };
  await postForm(site, "/signup", { ...client, clientId: await newClientId(dataDir) });
  const link = new URL(await getConfirmationLink(dataDir, client.email));
  const { email, password } = client;
  await postForm(site, "/auth/confirm", { token: link.searchParams.get("token_hash") ?? "", email, password });
  return client;
}

/** Makes a lead, signs them in and sets their second factor up, without a page. */
async function newLeadSession(site: APIRequestContext, { project, workerIndex }: WorkerInfo): Promise<StaffSession> {
  const company = createServiceRoleClient((project.use as SiteOptions).dataDir);
  const who = {
    email: `lead-${workerIndex}-${Date.now()}@company.example`,
    name: `Wanjiru ${workerIndex}`,
    role: "lead",
  };
  const invited = await company.rpc("invite_staff_member", who);
  if (invited.error) throw new Error(invited.error.message);
  const { invite_id: invitation } = invited.data as { invite_id: string };
  const password = "a password of the desk";
  const user_metadata = { full_name: who.name, staff_invite_id: invitation };
  const made = await company.auth.admin.createUser({ email: who.email, password, email_confirm: true, user_metadata });
  if (made.error) throw made.error;
  await postForm(site, "/login", { email: who.email, password });
  const setUp = await (await site.post("/desk/2fa", { form: { begin: "" } })).text();
  const fieldOf = (name: string) => new RegExp(`name="${name}" value="([^"]+)"`).exec(setUp)?.[1] ?? "";
  const [factorId, secret] = [fieldOf("factorId"), fieldOf("secret")];
  await postForm(site, "/desk/2fa", { factorId, secret, code: await new Authenticator(secret).freshCode() });
  const { cookies } = await site.storageState();
  return { ...who, session: cookies.find(({ name }) => name === "session")?.value ?? "" };
}

/** Sends a form as a browser does, without a page. Returns where it leads; throws when it is refused. */
async function postForm(site: APIRequestContext, path: string, form: Record<string, string>): Promise<string> {
  const answer = await site.post(path, { form, maxRedirects: 0 });
  if (answer.status() !== 303) throw new Error(`${path}: ${answer.status()}`);
  return answer.headers().location ?? "";
}

/** Signs in without a page, past the toast that says so and the reminder to set up 2FA. */
export async function logInWithoutPage(
  page: Page,
  { email, password }: Pick<ClientCredentials, "email" | "password">,
): Promise<void> {
  await postForm(page.request, "/login", { email, password });
  const context = page.context();
  const session = (await context.cookies()).find(({ name }) => name === "session");
  if (!session) throw new Error(`${email} is not signed in`);
  await context.clearCookies({ name: "flash" });
  await context.addCookies([{ ...session, name: "reminded", value: "1", expires: -1 }]);
}

/** Waits until the page is hydrated and toasts can be shown. */
export async function waitForHydration(page: Page): Promise<void> {
  await expect(page.getByRole("region", { name: "Notifications (F8)" })).toBeAttached();
}

/** The toasts of a page with these words: a banner without script, at most one with it. */
export function toast(page: Page, words?: string | RegExp) {
  return page.locator("[data-toast]", { hasText: words });
}

export async function signUp(page: Page, client: ClientCredentials, clientId: string): Promise<void> {
  await page.goto("/signup");
  await page.getByLabel("Client ID").fill(clientId);
  await page.getByLabel("Full Name").fill(client.fullName);
  await page.getByLabel("Email").fill(client.email);
  await page.getByLabel("Password", { exact: true }).fill(client.password);
  await page.getByRole("button", { name: "Create Account" }).click();
  await expect(toast(page, "Account Created!")).toBeVisible();
}

export async function logIn(page: Page, client: Pick<ClientCredentials, "email" | "password">): Promise<void> {
  await page.goto("/login");
  await page.getByLabel("Email").fill(client.email);
  await page.getByLabel("Password", { exact: true }).fill(client.password);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  await expect(toast(page, "Login Successful")).toBeVisible();
}

/** Opens a shipment without a page, past the toast that says so; the journeys of the portal fill in its form. */
export async function newShipment(page: Page, name: string): Promise<string> {
  const path = await postForm(page.request, "/portal/new", { name, idempotencyKey: crypto.randomUUID() });
  await page.context().clearCookies({ name: "flash" });
  return path.split("/")[2] ?? "";
}

/** Opens a shipment and shows it. */
export async function createAndOpenShipment(page: Page, name: string): Promise<string> {
  const id = await newShipment(page, name);
  await page.goto(`/portal/${id}`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(name);
  return id;
}
