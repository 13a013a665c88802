/** A browser that rejects cookies does not send the test cookie after a correct login. */
import { redirect } from "react-router";
import { hasFlagCookie, serializeCookie } from "../http/cookies.server.ts";
import { isOwnOrigin } from "../http/request-guard.server.ts";

const testCookieName = "test";
const testParam = "cookies";
const testCookieSeconds = 60;

export function redirectToLogin(request: Request, path: string, headers = new Headers()): Response {
  if (request.headers.has("Cookie") || !comesFromLogin(request)) return redirect(path, { status: 303, headers });
  headers.append("Set-Cookie", testCookie());
  return redirect(`${path}${path.includes("?") ? "&" : "?"}${testParam}`, { status: 303, headers });
}

function comesFromLogin(request: Request): boolean {
  const referer = request.headers.get("Referer") ?? "";
  if (!URL.canParse(referer)) return false;
  const { origin, pathname } = new URL(referer);
  return isOwnOrigin(origin) && pathname === "/login";
}

export function testCookie(): string {
  return serializeCookie(testCookieName, "1", testCookieSeconds);
}

/**
 * True if the URL has the parameter `cookies` but the request has no test cookie. If the request has the test cookie,
 * throws a redirect that removes the parameter.
 */
export function hasCookiesDisabled(request: Request, url: URL): boolean {
  if (!url.searchParams.has(testParam)) return false;
  if (!hasFlagCookie(request, testCookieName)) return true;
  if (request.method === "POST") return false;
  const searchParams = new URLSearchParams(url.searchParams);
  searchParams.delete(testParam);
  throw redirect(`${url.pathname}${searchParams.size > 0 ? `?${searchParams}` : ""}`, 303);
}
