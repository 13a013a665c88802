import { newClientId } from "./company.ts";
import { confirmationLink } from "./outbox.ts";
import type { aPlace } from "./place.ts";
import { type Browser, password, pdf } from "./routes.ts";

type Place = Awaited<ReturnType<typeof aPlace>>;

/** A client who signed up at a running site, confirmed and logged in; the password is that of all tests. */
export async function newClient(place: Place, email: string): Promise<Browser> {
  const clientId = await newClientId(place.dataDir);
  const browser = place.browser();
  const form = { clientId, fullName: "Achieng Otieno", email, password };
  await browser.press(await browser.open("/signup"), "Create Account", form);
  const { pathname, search } = new URL(await confirmationLink(place.dataDir, email));
  await browser.press(await browser.open(pathname + search), "Confirm this address", { email, password });
  const entered = await browser.post("/login", { email, password });
  if (entered.headers.get("Location") !== "/portal") throw new Error(`${email} could not log in: ${entered.status}`);
  return browser;
}

/** Opens a shipment with a packing list of so many bytes as a client does. Returns its address. */
export async function newShipment(browser: Browser, name: string, size: number): Promise<string> {
  const made = await browser.post("/portal/new", { name, requestId: crypto.randomUUID() });
  const address = made.headers.get("Location") ?? "";
  const stored = await browser.press(await browser.open(address), "Upload the Packing List", {
    file: pdf("list.pdf", size),
  });
  if (stored.status !== 303) throw new Error(`The packing list was not taken: ${stored.status}`);
  return address;
}
