import { createHmac, randomBytes } from "node:crypto";
import { readCookie, serializeCookie } from "./cookies.server.ts";
import { env } from "./env.server.ts";

export type KnownBrowser = { id: string; marks: string[] };

const knownBrowserCookieName = "known";
const maxKnownAccounts = 5;
const knownBrowserSeconds = 365 * 24 * 60 * 60;

export function readKnownBrowser(request: Request): KnownBrowser {
  const [id = "", ...marks] = (readCookie(request, knownBrowserCookieName) ?? "").split(".");
  return { id, marks };
}

export function createAccountMark(id: string, email: string): string {
  return createKeyedHash(["known browser", id, email.toLowerCase()]);
}

export function knownBrowserCookie(request: Request, email: string): string {
  const browser = readKnownBrowser(request);
  const id = /^[\w-]{22}$/.test(browser.id) ? browser.id : randomBytes(16).toString("base64url");
  const mark = createAccountMark(id, email);
  const otherMarks = browser.marks.filter((other) => other !== mark && /^[\w-]{43}$/.test(other));
  const value = [id, mark, ...otherMarks.slice(0, maxKnownAccounts - 1)].join(".");
  return serializeCookie(knownBrowserCookieName, value, knownBrowserSeconds);
}

export function createKeyedHash(parts: string[]): string {
  return createHmac("sha256", env().sessionSecret).update(JSON.stringify(parts)).digest("base64url");
}
