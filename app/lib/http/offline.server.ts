import { readCookie, serializeReadableCookie } from "./cookies.server.ts";

const offlineCookieName = "offline";

export function isOfflineEnabled(request: Request): boolean {
  return readCookie(request, offlineCookieName) !== "off";
}

export function offlineCookie(isEnabled: boolean): string {
  return serializeReadableCookie(offlineCookieName, isEnabled ? "" : "off", isEnabled ? 0 : 365 * 24 * 60 * 60);
}
