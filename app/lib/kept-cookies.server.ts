/**
 * Browsers that keep no cookies: there a right login leads back to the login. Who comes from it without any cookie goes
 * there with a cookie and a word in the address: a word that arrives alone tells.
 */
import { redirect } from "react-router";
import { hasMark, setCookie } from "./cookies.server.ts";
import { isOurs } from "./gate.server.ts";

const cookie = "kept";
const word = "cookies";
/** How long the cookie is good for, in seconds: the way to the login on a slow line. */
const age = 60;

/** See Other, to the login at `path`, which finds out whether the browser keeps cookies where that is in doubt. */
export function toLogin(request: Request, path: string, headers = new Headers()): Response {
  if (request.headers.has("Cookie") || !comesFromLogin(request)) return redirect(path, { status: 303, headers });
  headers.append("Set-Cookie", trial());
  return redirect(`${path}${path.includes("?") ? "&" : "?"}${word}`, { status: 303, headers });
}

/** Nothing on the login leads to a client's page but a right login; a browser may ask for that page once more, though. */
function comesFromLogin(request: Request): boolean {
  const referer = request.headers.get("Referer") ?? "";
  if (!URL.canParse(referer)) return false;
  const { origin, pathname } = new URL(referer);
  return isOurs(origin) && pathname === "/login";
}

/** A Set-Cookie that is there in the next request of a browser that keeps cookies. */
export function trial(): string {
  return setCookie(cookie, "1", age);
}

/** Whether the login is to say that the browser keeps no cookies. Throws the way to the plain login when it does. */
export function keepsNoCookies(request: Request, url: URL): boolean {
  if (!url.searchParams.has(word)) return false;
  if (!hasMark(request, cookie)) return true;
  if (request.method === "POST") return false;
  const rest = new URLSearchParams(url.searchParams);
  rest.delete(word);
  throw redirect(`${url.pathname}${rest.size > 0 ? `?${rest}` : ""}`, 303);
}
