/** Reads and changes the session cookie of a browser, as an attacker can. */
import type { TestBrowser } from "./test-app.ts";

type Session = { access_token: string; refresh_token: string };

export const encodeSession = (value: unknown) => `base64-${Buffer.from(JSON.stringify(value)).toString("base64url")}`;

export function readSession(browser: TestBrowser): Session {
  const value = (browser.cookies.get("session") ?? "").replace(/^base64-/, "");
  return JSON.parse(Buffer.from(value, "base64url").toString("utf8")) as Session;
}

export function changeSession(browser: TestBrowser, fields: Record<string, unknown>): void {
  browser.cookies.set("session", encodeSession({ ...readSession(browser), ...fields }));
}
