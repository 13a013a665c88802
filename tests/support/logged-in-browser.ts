import { getConfirmationLink } from "./outbox.ts";
import { newClientId } from "./service-role.ts";
import type { createSiteSandbox } from "./site-sandbox.ts";
import { createPdf, password, type TestBrowser } from "./test-app.ts";

type SiteSandbox = Awaited<ReturnType<typeof createSiteSandbox>>;

/** A client who signed up at a running site, confirmed and logged in; the password is that of all tests. */
export async function newLoggedInBrowser(place: SiteSandbox, email: string): Promise<TestBrowser> {
  const clientId = await newClientId(place.dataDir);
  const browser = place.browser();
  const form = { clientId, fullName: "Achieng Otieno", email, password };
  await browser.submit(await browser.open("/signup"), "Create Account", form);
  const { pathname, search } = new URL(await getConfirmationLink(place.dataDir, email));
  await browser.submit(await browser.open(pathname + search), "Confirm this address", { email, password });
  const entered = await browser.post("/login", { email, password });
  if (entered.headers.get("Location") !== "/portal") throw new Error(`${email} could not log in: ${entered.status}`);
  return browser;
}

/** Opens a shipment with a packing list of so many bytes as a client does. Returns its address. */
export async function newShipment(browser: TestBrowser, name: string, size: number): Promise<string> {
  const made = await browser.post("/portal/new", { name, idempotencyKey: crypto.randomUUID() });
  const address = made.headers.get("Location") ?? "";
  const stored = await browser.submit(await browser.open(address), "Upload the Packing List", {
    file: createPdf("list.pdf", size),
  });
  if (stored.status !== 303) throw new Error(`The packing list was not taken: ${stored.status}`);
  return address;
}
