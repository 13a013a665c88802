/** First checks of a request: no request from another site may change anything (CSRF). */
import { data, type MiddlewareFunction } from "react-router";
import { env } from "./env.server.ts";

const loopbackHosts = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Sets Cache-Control, X-Robots-Tag and Allow on every response: page, redirect, resource or refusal. Responses for one
 * person, other than 2xx, or to POST are neither cached nor indexed.
 */
export const responseHeadersMiddleware: MiddlewareFunction<Response> = async ({ request }, next) => {
  const response = await next();
  const { headers, status } = response;
  const changing = request.method !== "GET" && request.method !== "HEAD";
  const isPrivate = headers.has("Set-Cookie") || headers.get("Cache-Control")?.includes("no-store");
  if (changing || isPrivate || status >= 300) {
    headers.set("Cache-Control", "private, no-store");
    headers.set("X-Robots-Tag", "noindex");
  }
  if (status === 405) headers.set("Allow", "GET, HEAD, POST");
  return request.headers.get("Accept")?.includes("text/html") ? toPlainText(response) : response;
};

/** A resource route answers an error with a JSON string: a browser gets it as plain text. */
async function toPlainText(response: Response): Promise<Response> {
  const { headers, status } = response;
  if (status < 400 || !headers.get("Content-Type")?.startsWith("application/json")) return response;
  const said: unknown = await response.clone().json();
  if (typeof said !== "string") return response;
  headers.set("Content-Type", "text/plain; charset=utf-8");
  return new Response(`${said}\n`, { status, headers });
}

/** The one address that takes bytes without a form around them. A form of another site cannot send that type. */
const byteMediaType = "application/octet-stream";
const uploadChunkRoute = "/portal/:shipmentId/documents/resumable-upload";

/**
 * Refuses forms that come from another site: 403. Methods no page answers: 405. Bodies that are not forms: 415.
 * `Sec-Fetch-Site` and `Origin` are set by the browser; a page cannot forge them.
 */
export const requestGuardMiddleware: MiddlewareFunction<Response> = async ({ request, pattern }, next) => {
  const { method, headers } = request;
  if (method === "GET" || method === "HEAD") return next();
  if (method !== "POST") throw data("This address answers GET and POST.", { status: 405 });

  const site = headers.get("Sec-Fetch-Site");
  const origin = headers.get("Origin");
  if (site === "cross-site" || site === "same-site" || (origin !== null && !isOwnOrigin(origin))) {
    throw data("This form was sent from another site.", { status: 403 });
  }
  const type = (headers.get("Content-Type") ?? "").split(";")[0]?.trim().toLowerCase();
  const types = ["application/x-www-form-urlencoded", "multipart/form-data"];
  if (`/${pattern.replace(/^\//, "")}` === uploadChunkRoute) types.push(byteMediaType);
  if (!types.includes(type ?? "")) throw data("Only forms can be sent here.", { status: 415 });
  return next();
};

/** Whether an origin is APP_ORIGIN. The loopback names count as the same host. */
export function isOwnOrigin(origin: string): boolean {
  const ours = new URL(env().origin);
  if (origin === ours.origin) return true;
  if (!loopbackHosts.has(ours.hostname) || !URL.canParse(origin)) return false;
  const theirs = new URL(origin);
  return loopbackHosts.has(theirs.hostname) && theirs.port === ours.port && theirs.protocol === ours.protocol;
}
