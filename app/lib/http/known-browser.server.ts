/** Browsers that have logged in before. Their attempts have their own rate limits. */
import { createHmac, randomBytes } from "node:crypto";
import { readCookie, serializeCookie } from "./cookies.server.ts";
import { env } from "./env.server.ts";

/** A random id, and a mark for each account to which the browser has logged in. */
export type KnownBrowser = { id: string; marks: string[] };

const knownBrowserCookieName = "known";
const maxKnownAccounts = 5;
/** One year, in seconds. */
const knownBrowserMaxAge = 365 * 24 * 60 * 60;

export function readKnownBrowser(request: Request): KnownBrowser {
  const [id = "", ...marks] = (readCookie(request, knownBrowserCookieName) ?? "").split(".");
  return { id, marks };
}

/** Returns a keyed hash of browser and account. It cannot be forged and does not reveal the account. */
export function createAccountMark(id: string, email: string): string {
  return createKeyedHash(["known browser", id, email.toLowerCase()]);
}

/** Returns a Set-Cookie for a complete login. From then on this browser has its own limits for the account. */
export function knownBrowserCookie(request: Request, email: string): string {
  const known = readKnownBrowser(request);
  const id = /^[\w-]{22}$/.test(known.id) ? known.id : randomBytes(16).toString("base64url");
  const mark = createAccountMark(id, email);
  const others = known.marks.filter((other) => other !== mark && /^[\w-]{43}$/.test(other));
  const value = [id, mark, ...others.slice(0, maxKnownAccounts - 1)].join(".");
  return serializeCookie(knownBrowserCookieName, value, knownBrowserMaxAge);
}

/** Returns a keyed hash, which does not reveal its parts. */
export function createKeyedHash(parts: string[]): string {
  return createHmac("sha256", env().sessionSecret).update(JSON.stringify(parts)).digest("base64url");
}
