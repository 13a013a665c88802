import { newClient, setUpSecondFactor } from "./route-fixtures.ts";
import { password, type TestApp, type TestBrowser } from "./test-app.ts";

/** Returns a new client with a second factor, and a browser that has entered the code. */
export async function newProtectedClient(app: TestApp, name: string) {
  const client = await newClient(app, name);
  return { ...client, authenticator: await setUpSecondFactor(client.browser, "/portal/2fa") };
}

/** Returns a new browser of the client that has entered the password but not the code. */
export async function newSessionWithoutCode(app: TestApp, email: string): Promise<TestBrowser> {
  const browser = app.browser();
  const response = await browser.post("/login", { email, password });
  if (response.headers.get("Location") !== "/login/verify") throw new Error(`${email} needs no code`);
  return browser;
}
