import { createHash } from "node:crypto";
import { isChunkLike, parseCookieHeader, serializeCookieHeader } from "@supabase/ssr";
import { env } from "./env.server.ts";

export type RequestCookie = { name: string; value: string };

/** On https, the prefix `__Host-` binds a cookie to this host, so that other subdomains cannot set the cookie. */
export function cookieName(name: string): string {
  return env().origin.startsWith("https:") ? `__Host-${name}` : name;
}

export function cookieAttributes() {
  return { path: "/", httpOnly: true, sameSite: "lax", secure: env().origin.startsWith("https:") } as const;
}

export function parseCookies(header: string | null | undefined): RequestCookie[] {
  return parseCookieHeader(header ?? "").map(({ name, value = "" }) => ({ name, value }));
}

export function readCookies(request: Request): RequestCookie[] {
  return parseCookies(request.headers.get("Cookie"));
}

const findCookie = (cookies: RequestCookie[], name: string) =>
  cookies.find((cookie) => cookie.name === cookieName(name))?.value;

export function readCookie(request: Request, name: string): string | undefined {
  return findCookie(readCookies(request), name);
}

export function hasFlagCookie(request: Request, name: string): boolean {
  return readCookie(request, name) === "1";
}

/** `maxAge` is in seconds. A cookie without `maxAge` ends with the browser session. */
export function serializeCookie(name: string, value: string, maxAge?: number): string {
  return serializeCookieHeader(cookieName(name), value, { ...cookieAttributes(), maxAge });
}

/** Returns a cookie that browser scripts can read. `value` must not contain personal data. */
export function serializeReadableCookie(name: string, value: string, maxAge?: number): string {
  return serializeCookieHeader(cookieName(name), value, { ...cookieAttributes(), httpOnly: false, maxAge });
}

/** The cookie `desk`, which gives no access, makes public pages link to the desk in a team member's browser. */
export const deskCookieName = "desk";

export function sessionCookieName(): string {
  return cookieName("session");
}

export const accountCookieName = "account";

export const signedOutAccount = "0";

export function hashAccountId(id: string): string {
  return createHash("sha256").update(id).digest("base64url").slice(0, 11);
}

/** @supabase/ssr splits a long session into the cookies session.0, session.1 and so on. */
export function isSessionCookie({ name }: RequestCookie): boolean {
  return isChunkLike(name, sessionCookieName());
}

export function readSignedInState(cookies: RequestCookie[]): boolean | "staff" {
  if (!cookies.some(isSessionCookie)) return false;
  return findCookie(cookies, deskCookieName) === "1" ? "staff" : true;
}

export function hasSessionCookie(request: Request): boolean {
  return readCookies(request).some(isSessionCookie);
}
