import { expect } from "vitest";
import { newProtectedClient, newSessionWithoutCode } from "./second-factor-suite.ts";
import { noStorePattern, type ParsedPage, password, type TestApp, type TestBrowser } from "./test-app.ts";

export const wrongPassword = "not the password";
export const newUnknownEmail = () => `nobody-${Math.random().toString(36).slice(2)}@client.example`;
export const getStatus = async (response: Promise<Response>) => (await response).status;

export const logIn = (browser: TestBrowser, email: string, typed = wrongPassword) =>
  browser.post("/login", { email, password: typed });

/** Executes `send` several times in sequence. Checks that each response has the status `status`. */
export async function repeat(times: number, send: () => Promise<Response>, status: number): Promise<void> {
  for (let attempt = 1; attempt <= times; attempt += 1)
    expect([attempt, await getStatus(send())]).toEqual([attempt, status]);
}

/**
 * Checks that `page` has status 429, an error that matches `message`, and a Retry-After of about `seconds`. Checks for
 * the toast `title`, or for no toast if `title` is null.
 */
export function expectRateLimited(page: ParsedPage, title: string | null, message: RegExp, seconds: number): void {
  expect(page.status).toBe(429);
  expect(page.title).toMatch(/^Error: /);
  const retryAfter = Number(page.headers.get("Retry-After"));
  // Accepts a shorter wait than the whole period, because the previous attempts took some time.
  expect(retryAfter).toBeGreaterThan(Math.max(seconds * 0.8, seconds - 45));
  expect(retryAfter).toBeLessThanOrEqual(seconds);
  const toast = { title, description: expect.stringMatching(message), variant: "destructive" };
  expect(page.toasts).toEqual(title === null ? [] : [toast]);
  expect(page.problems[0]?.text).toMatch(message);
  expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
}

/**
 * Sends 12 wrong passwords (LOGINS_PER_ACCOUNT) from new browsers, which locks the account for unknown browsers.
 */
export async function lockAccount(app: TestApp, email: string): Promise<void> {
  await Promise.all(Array.from({ length: 12 }, () => logIn(app.browser(), email)));
  expect(await getStatus(logIn(app.browser(), email, password))).toBe(429);
}

/** Creates a client with a second factor and two browsers: `owner` is logged in, `half` has not sent the code. */
export async function newClientWithoutCode(app: TestApp, name: string) {
  const { browser: owner, ...client } = await newProtectedClient(app, name);
  return { ...client, owner, half: await newSessionWithoutCode(app, client.email) };
}
