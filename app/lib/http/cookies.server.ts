/** Our cookies: their names and attributes, and the one way each is read and set. */
import { isChunkLike, parseCookieHeader, serializeCookieHeader } from "@supabase/ssr";
import { env } from "./env.server.ts";

export type RequestCookie = { name: string; value: string };

/** The name of a cookie of ours; on https bound to this host by its prefix, so that no neighbour can set it. */
export function cookieName(name: string): string {
  return env().origin.startsWith("https:") ? `__Host-${name}` : name;
}

/** Attributes that our cookies share; `Secure` follows the scheme of APP_ORIGIN. */
export function cookieAttributes() {
  return { path: "/", httpOnly: true, sameSite: "lax", secure: env().origin.startsWith("https:") } as const;
}

/** The cookies in a `Cookie` header, their values decoded. */
export function parseCookies(header: string | null | undefined): RequestCookie[] {
  return parseCookieHeader(header ?? "").map(({ name, value = "" }) => ({ name, value }));
}

/** The cookies of a request. */
export function readCookies(request: Request): RequestCookie[] {
  return parseCookies(request.headers.get("Cookie"));
}

/** The value of a cookie of ours; undefined when it is not there. */
export function readCookie(request: Request, name: string): string | undefined {
  return readCookies(request).find((cookie) => cookie.name === cookieName(name))?.value;
}

/** Whether a flag cookie is set. */
export function hasFlagCookie(request: Request, name: string): boolean {
  return readCookie(request, name) === "1";
}

/** A Set-Cookie of ours. `maxAge` is in seconds; without it the cookie ends with the browser session, with 0 at once. */
export function serializeCookie(name: string, value: string, maxAge?: number): string {
  return serializeCookieHeader(cookieName(name), value, { ...cookieAttributes(), maxAge });
}

/** The same for a choice that script follows too, and that tells nothing of the person. */
export function serializeReadableCookie(name: string, value: string, maxAge?: number): string {
  return serializeCookieHeader(cookieName(name), value, { ...cookieAttributes(), httpOnly: false, maxAge });
}

/** The name of the session cookie. */
export function sessionCookieName(): string {
  return cookieName("session");
}

/** Whether a cookie belongs to the session: a long one is cut into session.0, session.1 and so on. */
export function isSessionCookie({ name }: RequestCookie): boolean {
  return isChunkLike(name, sessionCookieName());
}

/** Whether the browser sends a session cookie, valid or not. */
export function hasSessionCookie(request: Request): boolean {
  return readCookies(request).some(isSessionCookie);
}
