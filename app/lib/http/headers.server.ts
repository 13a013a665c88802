import type { MiddlewareFunction } from "react-router";
import { dayInEastAfrica } from "../dates.ts";
import { env } from "./env.server.ts";

export function securityHeaders(): Record<string, string> {
  const headers: Record<string, string> = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    // With `no-referrer`, browsers would send forms with `Origin: null`, which the origin check rejects.
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()",
  };
  if (env().origin.startsWith("https:"))
    headers["Strict-Transport-Security"] = `max-age=63072000${env().hasHttpsSubdomains ? "; includeSubDomains" : ""}`;
  return headers;
}

/** Build files get only three security headers, because browsers ignore the others and each page loads many files. */
const assetHeaderNames = ["X-Content-Type-Options", "Cross-Origin-Resource-Policy", "Strict-Transport-Security"];

export const assetHeaders = () =>
  Object.fromEntries(Object.entries(securityHeaders()).filter(([name]) => assetHeaderNames.includes(name)));

export function isDataRequest(request: Request): boolean {
  return new URL(request.url).pathname.endsWith(".data");
}

/** The app sends the page's nonce in this header. The web server uses the nonce as the cache key of the page. */
export const renderedHeader = "X-Rendered-As";

export function contentSecurityPolicy(nonce: string, showsFiles = false): string {
  return [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    "style-src 'self'",
    "img-src 'self' data:",
    ...(showsFiles ? ["object-src 'self'", "frame-src 'self'"] : []),
    "connect-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; ");
}

export function getDailyHeaders(): Record<string, string> {
  const midnight = new Date(`${dayInEastAfrica(new Date())}T24:00:00+03:00`);
  return { "Cache-Control": "no-cache", Expires: midnight.toUTCString() };
}

export const noStoreMiddleware: MiddlewareFunction<Response> = async (_args, next) => {
  const response = await next();
  response.headers.set("Cache-Control", "private, no-store");
  return response;
};
