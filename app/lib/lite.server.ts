/** Lighter pages: no script, no decoration. For who asks for them, and for lines that say they are slow. */
import { cookieOf, setCookie } from "./cookies.server.ts";

const cookie = "lite";
const slow = new Set(["2g", "slow-2g"]);

/** Whether a request is to get a lighter page: the person's own choice, else `Save-Data`, else the line's own word. */
export function isLite(request: Request): boolean {
  const chosen = cookieOf(request, cookie);
  if (chosen === "0" || chosen === "1") return chosen === "1";
  const { headers } = request;
  return headers.get("Save-Data")?.toLowerCase() === "on" || slow.has(headers.get("ECT")?.toLowerCase() ?? "");
}

/** A Set-Cookie that keeps the choice for a year. */
export function liteCookie(lite: boolean): string {
  return setCookie(cookie, lite ? "1" : "0", 365 * 24 * 60 * 60);
}
