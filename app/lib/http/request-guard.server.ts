import { data, type MiddlewareFunction } from "react-router";
import { env } from "./env.server.ts";
import { isLoopbackHost } from "./ip-address.server.ts";
import { log } from "./log.server.ts";

/** Private responses, responses to POST, redirects and errors must not be cached or indexed. */
export const responseHeadersMiddleware: MiddlewareFunction<Response> = async ({ request }, next) => {
  const response = await next();
  const { headers, status } = response;
  const isChange = request.method !== "GET" && request.method !== "HEAD";
  const isPrivate = headers.has("Set-Cookie") || headers.get("Cache-Control")?.includes("no-store");
  if (isChange || isPrivate || status >= 300) {
    headers.set("Cache-Control", "private, no-store");
    headers.set("X-Robots-Tag", "noindex");
  }
  if (status === 405) headers.set("Allow", "GET, HEAD, POST");
  return request.headers.get("Accept")?.includes("text/html") ? toPlainText(response) : response;
};

async function toPlainText(response: Response): Promise<Response> {
  const { headers, status } = response;
  if (status < 400 || !headers.get("Content-Type")?.startsWith("application/json")) return response;
  const body: unknown = await response.clone().json();
  if (typeof body !== "string") return response;
  headers.set("Content-Type", "text/plain; charset=utf-8");
  return new Response(`${body}\n`, { status, headers });
}

/** A form of another site cannot send the media type application/octet-stream. */
const byteMediaType = "application/octet-stream";
const uploadChunkRoute = "/portal/:shipmentId/documents/resumable-upload";

/** Rejects forms of other sites (CSRF) by the headers `Sec-Fetch-Site` and `Origin`, which scripts cannot forge. */
export const requestGuardMiddleware: MiddlewareFunction<Response> = async ({ request, pattern }, next) => {
  const { method, headers } = request;
  if (method === "GET" || method === "HEAD") return next();
  if (method !== "POST") throw data("This URL accepts only GET and POST requests.", { status: 405 });

  const site = headers.get("Sec-Fetch-Site");
  const origin = headers.get("Origin");
  const isOwn = origin === null || isOwnOrigin(origin) || (origin === "null" && site === "same-origin");
  if (site === "cross-site" || site === "same-site" || !isOwn) {
    if (origin === "null" && !site) logHiddenOrigin();
    throw data(`This form was sent from another site. Open the page at ${env().origin}, then send the form again.`, {
      status: 403,
    });
  }
  const type = (headers.get("Content-Type") ?? "").split(";")[0]?.trim().toLowerCase();
  const types = ["application/x-www-form-urlencoded", "multipart/form-data"];
  if (`/${pattern.replace(/^\//, "")}` === uploadChunkRoute) types.push(byteMediaType);
  if (!types.includes(type ?? ""))
    throw data("This web address accepts only forms. Go back and send the form again.", { status: 415 });
  return next();
};

let isHiddenOriginLogged = false;
function logHiddenOrigin(): void {
  if (isHiddenOriginLogged) return;
  isHiddenOriginLogged = true;
  log("warn", "origin hidden", {
    message:
      "A form was rejected, because the Origin header of its request is null. A proxy that sets Referrer-Policy: " +
      "no-referrer can cause this rejection. Configure the proxy to forward the Referrer-Policy header of the site.",
  });
}

export function isOwnOrigin(origin: string): boolean {
  const ownUrl = new URL(env().origin);
  if (origin === ownUrl.origin) return true;
  if (!isLoopbackHost(ownUrl.hostname) || !URL.canParse(origin)) return false;
  const otherUrl = new URL(origin);
  return isLoopbackHost(otherUrl.hostname) && otherUrl.port === ownUrl.port && otherUrl.protocol === ownUrl.protocol;
}
