/** Lighter pages: no script, no decoration. For who asks for them, and for lines that say they are slow. */
import { serializeCookieHeader } from "@supabase/ssr";
import { cookieAttributes, cookieName } from "./supabase.server.ts";

const cookie = "lite";
const slow = new Set(["2g", "slow-2g"]);

/** Whether a request is to get a lighter page: the person's own choice, else `Save-Data`, else the line's own word. */
export function isLite(request: Request): boolean {
  const chosen = new RegExp(`(?:^|;\\s*)${cookieName(cookie)}=([01])(?:;|$)`).exec(
    request.headers.get("Cookie") ?? "",
  )?.[1];
  if (chosen) return chosen === "1";
  const { headers } = request;
  return headers.get("Save-Data")?.toLowerCase() === "on" || slow.has(headers.get("ECT")?.toLowerCase() ?? "");
}

/** A Set-Cookie that keeps the choice for a year. */
export function liteCookie(lite: boolean): string {
  return serializeCookieHeader(cookieName(cookie), lite ? "1" : "0", {
    ...cookieAttributes(),
    maxAge: 365 * 24 * 60 * 60,
  });
}
