import { getConfirmationLink } from "./outbox.ts";
import { newClientId } from "./service-role.ts";
import type { createSiteSandbox } from "./site-sandbox.ts";
import { createPdf, password, type TestBrowser } from "./test-app.ts";

type SiteSandbox = Awaited<ReturnType<typeof createSiteSandbox>>;

/**
 * Signs a client up with the tests' password and confirms the email address, which also logs the client in. Returns the
 * client's browser.
 */
export async function newLoggedInBrowser(place: SiteSandbox, email: string): Promise<TestBrowser> {
  const clientId = await newClientId(place.dataDir);
  const browser = place.browser();
  const form = { clientId, fullName: "Achieng Otieno", email, password };
  await browser.submit(await browser.open("/signup"), "Create Account", form);
  const { pathname, search } = new URL(await getConfirmationLink(place.dataDir, email));
  const page = await browser.open(pathname + search);
  const login = await browser.submit(page, "Confirm and log in", { email, password });
  if (login.headers.get("Location") !== "/portal") throw new Error(`${email} could not log in: ${login.status}`);
  return browser;
}

/**
 * Creates a shipment with a packing list of `size` bytes for the client of `browser`. Returns the shipment's URL path.
 */
export async function newShipment(browser: TestBrowser, name: string, size: number): Promise<string> {
  const created = await browser.post("/portal/new", { name, idempotencyKey: crypto.randomUUID() });
  const address = created.headers.get("Location") ?? "";
  const stored = await browser.submit(await browser.open(address), "Upload the Packing List", {
    file: createPdf("list.pdf", size),
  });
  if (stored.status !== 303) throw new Error(`The packing list was not uploaded: ${stored.status}`);
  return address;
}
