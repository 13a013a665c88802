/**
 * Detects browsers that keep no cookies, where a right login leads back to the login. A request that comes from it
 * without any cookie is redirected there with a cookie and a query parameter: cookies are off if only the latter comes.
 */
import { redirect } from "react-router";
import { hasFlagCookie, serializeCookie } from "../http/cookies.server.ts";
import { isOwnOrigin } from "../http/request-guard.server.ts";

const testCookieName = "kept";
const testParam = "cookies";
/** Max-Age of the cookie in seconds: enough for the redirect on a slow connection. */
const testCookieMaxAge = 60;

/** 303 to the login at `path`; tests for cookies there if the request suggests that the browser keeps none. */
export function redirectToLogin(request: Request, path: string, headers = new Headers()): Response {
  if (request.headers.has("Cookie") || !comesFromLogin(request)) return redirect(path, { status: 303, headers });
  headers.append("Set-Cookie", testCookie());
  return redirect(`${path}${path.includes("?") ? "&" : "?"}${testParam}`, { status: 303, headers });
}

/** Only a successful login leads from the login to the portal; but a reload there sends the same Referer. */
function comesFromLogin(request: Request): boolean {
  const referer = request.headers.get("Referer") ?? "";
  if (!URL.canParse(referer)) return false;
  const { origin, pathname } = new URL(referer);
  return isOwnOrigin(origin) && pathname === "/login";
}

/** The Set-Cookie of the test. */
export function testCookie(): string {
  return serializeCookie(testCookieName, "1", testCookieMaxAge);
}

/** Whether the browser keeps no cookies, by the test. If it does keep them, throws a redirect without the parameter. */
export function hasCookiesDisabled(request: Request, url: URL): boolean {
  if (!url.searchParams.has(testParam)) return false;
  if (!hasFlagCookie(request, testCookieName)) return true;
  if (request.method === "POST") return false;
  const rest = new URLSearchParams(url.searchParams);
  rest.delete(testParam);
  throw redirect(`${url.pathname}${rest.size > 0 ? `?${rest}` : ""}`, 303);
}
