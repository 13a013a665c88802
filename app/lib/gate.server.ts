/** The first look at a request: nothing that another site sends may change anything here. */
import { data, type MiddlewareFunction } from "react-router";
import { env } from "./env.server.ts";

const loopback = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Refuses forms that come from another site: 403. Methods no page answers: 405. Bodies that are not forms: 415.
 * `Sec-Fetch-Site` and `Origin` are set by the browser; a page cannot forge them.
 */
export const gateMiddleware: MiddlewareFunction<Response> = async ({ request }, next) => {
  const { method, headers } = request;
  if (method === "GET" || method === "HEAD") return next();
  if (method !== "POST")
    throw data("This address answers GET and POST.", { status: 405, headers: { Allow: "GET, HEAD, POST" } });

  const site = headers.get("Sec-Fetch-Site");
  const origin = headers.get("Origin");
  if (site === "cross-site" || site === "same-site" || (origin !== null && !isOurs(origin))) {
    throw data("This form was sent from another site.", { status: 403 });
  }
  const type = (headers.get("Content-Type") ?? "").split(";")[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded" && type !== "multipart/form-data") {
    throw data("Only forms can be sent here.", { status: 415 });
  }
  return next();
};

/** Whether an origin is APP_ORIGIN. The names of the own machine stand for one another. */
export function isOurs(origin: string): boolean {
  const ours = new URL(env().origin);
  if (origin === ours.origin) return true;
  if (!loopback.has(ours.hostname) || !URL.canParse(origin)) return false;
  const theirs = new URL(origin);
  return loopback.has(theirs.hostname) && theirs.port === ours.port && theirs.protocol === ours.protocol;
}
