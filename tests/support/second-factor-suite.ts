import { newClient, setUpSecondFactor } from "./route-fixtures.ts";
import { password, type TestApp, type TestBrowser } from "./test-app.ts";

/** Creates a client with a second factor, and a browser with a session that has passed the second factor. */
export async function newProtectedClient(app: TestApp, name: string) {
  const client = await newClient(app, name);
  return { ...client, authenticator: await setUpSecondFactor(client.browser, "/portal/2fa") };
}

/** Logs in as the client with the password, but not with the code, in a new browser. Returns the browser. */
export async function newSessionWithoutCode(app: TestApp, email: string): Promise<TestBrowser> {
  const browser = app.browser();
  const response = await browser.post("/login", { email, password });
  if (response.headers.get("Location") !== "/login/verify")
    throw new Error(`The login of ${email} does not ask for a code.`);
  return browser;
}
