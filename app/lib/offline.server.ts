/** Whether the browser keeps pages for when there is no connection: it does, unless somebody switches it off there. */
import { cookieOf, setReadableCookie } from "./cookies.server.ts";

const cookie = "offline";

/** Whether pages may be kept in the browser that asks. */
export function keepsPages(request: Request): boolean {
  return cookieOf(request, cookie) !== "off";
}

/** A Set-Cookie that keeps the choice against it for a year, or ends it. lib/kept-pages.ts reads it in the browser. */
export function pagesCookie(keep: boolean): string {
  return keep ? setReadableCookie(cookie, "", 0) : setReadableCookie(cookie, "off", 365 * 24 * 60 * 60);
}
