/** Pages that are the same for everybody, rendered once and then answered from memory; one with an `Expires` until then. */
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { LRUCache } from "lru-cache";
import { cookieName, isSessionCookie, parseCookies, sessionCookieName } from "../../lib/http/cookies.server.ts";
import { ipAddressHeader } from "../../lib/http/ip-address.server.ts";
import { isLite, isLiteByHeaders } from "../../lib/http/lite.server.ts";
import { requestIdHeader } from "../../lib/http/log.server.ts";
import { readTheme } from "../../lib/http/theme.server.ts";
import { bestBrotli, type CachedResponse, encodePage, quickBrotli } from "./cached-response.ts";

/** How many bytes of pages are kept, in every encoding together. */
const maxCacheBytes = 48 * 1024 * 1024;
/** Longer addresses, in characters, are not kept: no page of ours has one. */
const maxUrlLength = 512;
/** Addresses whose pages are for one person. */
const personalPaths = /^\/+(portal|desk|login|signup|auth|unsubscribe|s)\b/i;
/** The page that shows the cookie settings; an escaped address may be that page too. */
const cookieSettingsPath = /cookie-settings|%/i;

/** Pages that answer what is typed into their address: nobody else asks the same, and some answers change with the day. */
const queryDependentPaths = /^\/+(resources\/+cost|contact)(\.data)?\/*\?(?!quote$)/i;

/** The request headers by which a page may differ, besides its address. */
export const varyHeader = "Cookie, Save-Data, ECT, Sec-Fetch-Site";

export type PageCache = {
  /** The kept page for a request without cookies, if there is one. */
  getCached: (request: IncomingMessage) => CachedResponse | undefined;
  /**
   * The kept page for a request, rendered at the first request for it; a Response when it is an error, which is not
   * kept. `shared` when it was rendered for another request. Null when this request needs an answer of its own.
   * Rejects when rendering does.
   */
  getOrRender: (request: IncomingMessage) => Promise<{ page: CachedResponse | Response; shared: boolean } | null>;
};

/** A page to keep, a maker of copies of an error, or null for an answer to one request alone. */
type RenderResult = CachedResponse | (() => Response) | null;

/** Whether a request may get the page that everybody gets: it reads a page that shows nothing of this person's. */
export function isAnonymous({ method, headers, url = "" }: IncomingMessage): boolean {
  return (
    (method === "GET" || method === "HEAD") &&
    url.length <= maxUrlLength &&
    !personalPaths.test(decodeUrl(url)) &&
    !queryDependentPaths.test(decodeUrl(url)) &&
    !hasCookie(headers.cookie, "flash") &&
    !(cookieSettingsPath.test(url) && hasCookie(headers.cookie, "cookieSettings"))
  );
}

/** An address without its escapes; one that cannot be read as it is. */
function decodeUrl(url: string): string {
  try {
    return decodeURI(url);
  } catch {
    return url;
  }
}

/** Keeps what `render` answers to anonymous requests. However many ask for a page that is not kept yet, it is rendered once. */
export function createPageCache(render: (request: Request) => Promise<Response>, origin: string): PageCache {
  const kept = new LRUCache<string, CachedResponse>({
    maxSize: maxCacheBytes,
    sizeCalculation: ({ bodies }) => Object.values(bodies).reduce((sum, body) => sum + body.length, 1),
  });
  const underway = new Map<string, Promise<RenderResult>>();

  const renderOnce = async (key: string, request: Request): Promise<RenderResult> => {
    try {
      const rendered = await toRenderResult(await render(request), request);
      if (rendered && "bodies" in rendered) kept.set(key, rendered);
      return rendered;
    } finally {
      underway.delete(key);
    }
  };

  return {
    getCached({ url = "", headers }) {
      if (headers.cookie !== undefined) return undefined;
      // Pages are kept by the address that a URL parser makes of what was asked: one that it would change is not found.
      const isSlow = isLiteByHeaders(undefined, toSingleValue(headers["save-data"]), toSingleValue(headers.ect));
      const isNext = headers["sec-fetch-site"] === "same-origin";
      return unlessExpired(kept.get(createPageKey(origin + url, isSlow, false, false, isNext)));
    },
    async getOrRender(incoming) {
      const { key, request } = await toAnonymousRequest(incoming, origin);
      const known = unlessExpired(kept.get(key));
      if (known) return { page: known, shared: true };
      const running = underway.get(key);
      const rendering = running ?? renderOnce(key, request);
      underway.set(key, rendering);
      const rendered = await rendering;
      return rendered && { page: "bodies" in rendered ? rendered : rendered(), shared: running !== undefined };
    },
  };
}

/** A kept page, unless the moment of its `Expires` has come: until then it says what is true. */
function unlessExpired(page: CachedResponse | undefined): CachedResponse | undefined {
  const { expires } = page?.headers ?? {};
  return expires === undefined || Date.now() < Date.parse(expires) ? page : undefined;
}

/**
 * The request reduced to what pages differ by, and the cache key of its page. Only cookies that a page depends on are
 * copied.
 */
async function toAnonymousRequest({ url = "/", headers }: IncomingMessage, origin: string) {
  const asked = new Headers();
  for (const name of ["save-data", "ect", requestIdHeader.toLowerCase(), ipAddressHeader.toLowerCase()]) {
    const value = headers[name];
    if (typeof value === "string") asked.set(name, value);
  }
  // Of Sec-Fetch-Site pages use only whether the navigation comes from this site.
  const isNext = headers["sec-fetch-site"] === "same-origin";
  if (isNext) asked.set("Sec-Fetch-Site", "same-origin");
  const brought = parseCookies(headers.cookie);
  const ours = ["lite", "theme"].map(cookieName);
  const cookies = brought
    .filter(({ name }) => ours.includes(name))
    .map(({ name, value }) => `${name}=${encodeURIComponent(value)}`);
  // The navigation shows only whether there is a session: the cookie's value is not copied.
  const signedIn = brought.some(isSessionCookie);
  if (signedIn) cookies.push(`${sessionCookieName()}=`);
  if (cookies.length > 0) asked.set("Cookie", cookies.join("; "));
  const request = new Request(origin + url, { headers: asked });
  const isLight = cookies.length > 0 && (await readTheme(request)) === "light";
  return { request, key: createPageKey(request.url, isLite(request), isLight, signedIn, isNext) };
}

/** The cache key of a page: its whole address, and what else it differs by. */
function createPageKey(url: string, lite: boolean, light: boolean, signedIn: boolean, isNext: boolean): string {
  return `${url} ${lite} ${light} ${signedIn} ${isNext}`;
}

const toSingleValue = (header: string | string[] | undefined) => (typeof header === "string" ? header : undefined);

/** Whether a cookie of ours is in a `Cookie` header. */
function hasCookie(header: string | undefined, name: string): boolean {
  return header !== undefined && parseCookies(header).some((cookie) => cookie.name === cookieName(name));
}

/** What to keep of an answer; null when it is for this request alone. */
async function toRenderResult(response: Response, request: Request): Promise<RenderResult> {
  const control = response.headers.get("Cache-Control") ?? "";
  const isError = response.status >= 400;
  if (response.headers.has("Set-Cookie") || (!isError && (response.status !== 200 || /no-store|private/.test(control))))
    return null;
  const body = Buffer.from(await response.arrayBuffer());
  // The request had nothing personal in it, so all who wait for this page may get the same error.
  if (isError) return () => new Response(body, response);
  const headers = Object.fromEntries([...response.headers].map(([name, value]) => [name, value]));
  const { pathname, search } = new URL(request.url);
  const isSpelledOurWay = /^\/$|^(\/[a-z0-9-]+)+$/.test(pathname) && (search === "" || search === "?quote");
  // Browsers may keep a page, but ask each time whether it has changed.
  const cacheControl = control || "no-cache";
  return {
    headers: { ...headers, "cache-control": cacheControl, vary: varyHeader },
    etag: createHash("sha256").update(body).digest("base64url").slice(0, 22),
    // The best quality takes 0.1 s: not for queries, capitals, slashes and escapes that anybody can make up.
    bodies: await encodePage(body, isSpelledOurWay ? bestBrotli : quickBrotli),
  };
}
