/** Security headers; those that every answer of the site carries, and the content security policy of a page. */
import type { MiddlewareFunction } from "react-router";
import { env } from "./env.server.ts";

/** Headers for every response, files and errors included. */
export function securityHeaders(): Record<string, string> {
  const headers: Record<string, string> = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    // With no-referrer, browsers send `Origin: null` on form posts, and no form could be told from a forged one.
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()",
  };
  if (env().origin.startsWith("https:")) headers["Strict-Transport-Security"] = "max-age=63072000; includeSubDomains";
  return headers;
}

/** True if React Router requests only the data of a page, not its document. */
export function isDataRequest(request: Request): boolean {
  return new URL(request.url).pathname.endsWith(".data");
}

/** Names, for our server alone, a page that may be answered again as it was rendered; the value is its nonce. */
export const renderedHeader = "X-Rendered-As";

/** The policy of one page. Inline scripts need its nonce; there are no inline styles. */
export function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; ");
}

/** For pages that show or take what belongs to one person: no cache keeps them, the browser's included. */
export const noStoreMiddleware: MiddlewareFunction<Response> = async (_args, next) => {
  const response = await next();
  response.headers.set("Cache-Control", "private, no-store");
  return response;
};
