/**
 * Detects browsers that keep no cookies, where a right login leads back to the login. A request that comes from it
 * without any cookie is redirected there with a cookie and a query parameter: cookies are off if only the latter comes.
 */
import { redirect } from "react-router";
import { hasMark, setCookie } from "./cookies.server.ts";
import { isOurs } from "./gate.server.ts";

const cookie = "kept";
const word = "cookies";
/** Max-Age of the cookie in seconds: enough for the redirect on a slow connection. */
const age = 60;

/** 303 to the login at `path`; tests for cookies there if the request suggests that the browser keeps none. */
export function toLogin(request: Request, path: string, headers = new Headers()): Response {
  if (request.headers.has("Cookie") || !comesFromLogin(request)) return redirect(path, { status: 303, headers });
  headers.append("Set-Cookie", trial());
  return redirect(`${path}${path.includes("?") ? "&" : "?"}${word}`, { status: 303, headers });
}

/** Only a successful login leads from the login to the portal; but a reload there sends the same Referer. */
function comesFromLogin(request: Request): boolean {
  const referer = request.headers.get("Referer") ?? "";
  if (!URL.canParse(referer)) return false;
  const { origin, pathname } = new URL(referer);
  return isOurs(origin) && pathname === "/login";
}

/** The Set-Cookie of the test. */
export function trial(): string {
  return setCookie(cookie, "1", age);
}

/** Whether the browser keeps no cookies, by the test. If it does keep them, throws a redirect without the parameter. */
export function keepsNoCookies(request: Request, url: URL): boolean {
  if (!url.searchParams.has(word)) return false;
  if (!hasMark(request, cookie)) return true;
  if (request.method === "POST") return false;
  const rest = new URLSearchParams(url.searchParams);
  rest.delete(word);
  throw redirect(`${url.pathname}${rest.size > 0 ? `?${rest}` : ""}`, 303);
}
