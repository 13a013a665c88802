/** Whether the browser keeps pages for when there is no connection: it does, unless somebody switches it off there. */
import { readCookie, serializeReadableCookie } from "./cookies.server.ts";

const offlineCookieName = "offline";

/** Whether pages may be kept in the browser that asks. */
export function isOfflineEnabled(request: Request): boolean {
  return readCookie(request, offlineCookieName) !== "off";
}

/** A Set-Cookie that keeps the choice against it for a year, or ends it. components/offline/offline-pages.ts reads it in the browser. */
export function offlineCookie(keep: boolean): string {
  return keep
    ? serializeReadableCookie(offlineCookieName, "", 0)
    : serializeReadableCookie(offlineCookieName, "off", 365 * 24 * 60 * 60);
}
