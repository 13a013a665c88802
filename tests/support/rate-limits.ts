import { expect } from "vitest";
import { newProtectedClient, newSessionWithoutCode } from "./second-factor-suite.ts";
import { noStorePattern, type ParsedPage, password, type TestApp, type TestBrowser } from "./test-app.ts";

export const wrongPassword = "not the password";
export const newUnknownEmail = () => `nobody-${Math.random().toString(36).slice(2)}@client.example`;
export const getStatus = async (response: Promise<Response>) => (await response).status;

export const logIn = (browser: TestBrowser, email: string, typed = wrongPassword) =>
  browser.post("/login", { email, password: typed });

/** Makes the same request several times, one after another, and expects this status each time. */
export async function repeat(times: number, send: () => Promise<Response>, status: number): Promise<void> {
  for (let attempt = 1; attempt <= times; attempt += 1)
    expect([attempt, await getStatus(send())]).toEqual([attempt, status]);
}

/** Expects a form with status 429, the toast `title` or no toast, the message, and a Retry-After of about `seconds`. */
export function expectRateLimited(page: ParsedPage, title: string | null, message: RegExp, seconds: number): void {
  expect(page.status).toBe(429);
  expect(page.title).toMatch(/^Error: /);
  const retryAfter = Number(page.headers.get("Retry-After"));
  // The attempts take time, so the remaining wait is shorter than the whole period.
  expect(retryAfter).toBeGreaterThan(Math.max(seconds * 0.8, seconds - 45));
  expect(retryAfter).toBeLessThanOrEqual(seconds);
  const toast = { title, description: expect.stringMatching(message), variant: "destructive" };
  expect(page.toasts).toEqual(title === null ? [] : [toast]);
  expect(page.problems[0]?.text).toMatch(message);
  expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
}

/**
 * Tries wrong passwords from new browsers until the account is locked for unknown browsers. LOGINS_PER_ACCOUNT is 12.
 */
export async function lockAccount(app: TestApp, email: string): Promise<void> {
  await Promise.all(Array.from({ length: 12 }, () => logIn(app.browser(), email)));
  expect(await getStatus(logIn(app.browser(), email, password))).toBe(429);
}

/** Returns two browsers of a client with a second factor: `owner` is logged in, and `half` has not sent the code. */
export async function newClientWithoutCode(app: TestApp, name: string) {
  const { browser: owner, ...client } = await newProtectedClient(app, name);
  return { ...client, owner, half: await newSessionWithoutCode(app, client.email) };
}
