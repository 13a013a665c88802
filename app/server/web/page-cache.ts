/** Public pages rendered once for all visitors and then served from memory, until their `Expires` if they have one. */
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { LRUCache } from "lru-cache";
import { cookieName, isSessionCookie, parseCookies, sessionCookieName } from "../../lib/http/cookies.server.ts";
import { ipAddressHeader } from "../../lib/http/ip-address.server.ts";
import { isLite, isLiteByHeaders } from "../../lib/http/lite.server.ts";
import { requestIdHeader } from "../../lib/http/log.server.ts";
import { readTheme } from "../../lib/http/theme.server.ts";
import { accountAreas, authAreas, publicPages, quoteParam, secretLinkAreas } from "../../site-map.ts";
import { bestBrotli, type CachedResponse, encodePage, quickBrotli } from "./cached-response.ts";

/** Bytes of all cached pages in all encodings. */
const maxCacheBytes = 48 * 1024 * 1024;
/** Characters of a cached address. Our own links are shorter. */
const maxUrlLength = 512;
const personalAreas = [...accountAreas, ...authAreas, ...secretLinkAreas];
const personalPaths = new RegExp(`^/+(${personalAreas.join("|")})\\b`, "i");
/** The page that shows the cookie settings. An escaped address can be this page too. */
const cookieSettingsPath = /cookie-settings|%/i;

/** The parameter with which React Router names the loaders to call in a data request. */
const routesParam = "_routes";
const paramsByPath = new Map(
  publicPages.map(({ page, cachedParams = [], uncachedParams = [] }) => [page.path, { cachedParams, uncachedParams }]),
);
const noParams: { cachedParams: readonly string[]; uncachedParams: readonly string[] } = {
  cachedParams: [],
  uncachedParams: [],
};

/** The request headers that change a page. */
export const varyHeader = "Cookie, Save-Data, ECT, Sec-Fetch-Site";

export type PageCache = {
  /** The cached page for a request without cookies, if there is one. */
  getCached: (request: IncomingMessage) => CachedResponse | undefined;
  /**
   * The cached page, rendered at the first request for it. An error is a Response and is not cached. `shared` is true if the
   * page was rendered for another request. Null if this request needs its own response. Rejects if rendering throws.
   */
  getOrRender: (request: IncomingMessage) => Promise<{ page: CachedResponse | Response; shared: boolean } | null>;
};

/** A page to cache, a function that copies an error, or null for a response to one request only. */
type RenderResult = CachedResponse | (() => Response) | null;

/** True if a request reads a page that shows nothing personal and has no parameter with free text. */
export function isAnonymous({ method, headers, url = "" }: IncomingMessage): boolean {
  if ((method !== "GET" && method !== "HEAD") || isPersonal(url)) return false;
  const { address, isCacheable } = removeUnknownParams(url);
  return (
    isCacheable &&
    address.length <= maxUrlLength &&
    !hasCookie(headers.cookie, "flash") &&
    !(cookieSettingsPath.test(address) && hasCookie(headers.cookie, "cookieSettings"))
  );
}

/**
 * The address of a page, with only the query parameters that the site map names for it, in the site map's order. Invented
 * parameters make no new page and never reach its HTML. The addresses of personal pages and of sent forms stay unchanged.
 */
export function getPageUrl({ method, url = "" }: IncomingMessage): string {
  const isRead = method === "GET" || method === "HEAD";
  return isRead && url.includes("?") && !isPersonal(url) ? removeUnknownParams(url).address : url;
}

function isPersonal(url: string): boolean {
  return personalPaths.test(decodeUrl(url.split("?", 1)[0] ?? ""));
}

/** `isCacheable` is false if a parameter with free text is left. */
function removeUnknownParams(url: string): { address: string; isCacheable: boolean } {
  const end = url.indexOf("?");
  if (end < 0) return { address: url, isCacheable: true };
  const path = url.slice(0, end);
  const { cachedParams, uncachedParams } = paramsByPath.get(path) ?? paramsByPath.get(normalisePath(path)) ?? noParams;
  const freeParams = path.endsWith(".data") ? [...uncachedParams, routesParam] : uncachedParams;
  const sent = new URLSearchParams(url.slice(end));
  const left = new URLSearchParams();
  // Pages read the first value of a parameter.
  for (const name of [...cachedParams, ...freeParams]) if (sent.has(name)) left.append(name, sent.get(name) ?? "");
  // Our links write this parameter last and without a value.
  const search = [left.toString(), sent.has(quoteParam) ? quoteParam : ""].filter(Boolean).join("&");
  return { address: search ? `${path}?${search}` : path, isCacheable: !freeParams.some((name) => sent.has(name)) };
}

/** The path of the page that the router finds under another spelling of it, or for a data request. */
function normalisePath(path: string): string {
  const page = decodeUrl(path)
    .toLowerCase()
    .replace(/\/{2,}/g, "/")
    .replace(/(\/_)?\.data$/, "");
  return page.length > 1 ? page.replace(/\/$/, "") : page;
}

/** An address without its escapes. Returns an address with invalid escapes unchanged. */
function decodeUrl(url: string): string {
  try {
    return decodeURI(url);
  } catch {
    return url;
  }
}

/** Caches what `render` returns for anonymous requests. Parallel requests for one page render it once. */
export function createPageCache(render: (request: Request) => Promise<Response>, origin: string): PageCache {
  const cached = new LRUCache<string, CachedResponse>({
    maxSize: maxCacheBytes,
    sizeCalculation: ({ bodies }) => Object.values(bodies).reduce((sum, body) => sum + body.length, 1),
  });
  const pending = new Map<string, Promise<RenderResult>>();

  const renderOnce = async (key: string, request: Request): Promise<RenderResult> => {
    try {
      const rendered = await toRenderResult(await render(request), request);
      if (rendered && "bodies" in rendered) cached.set(key, rendered);
      return rendered;
    } finally {
      pending.delete(key);
    }
  };

  return {
    getCached(request) {
      const { headers } = request;
      if (headers.cookie !== undefined) return undefined;
      // Keys hold addresses as a URL parser writes them. This lookup does not parse, so it finds no other spelling.
      const isSlow = isLiteByHeaders(undefined, toSingleValue(headers["save-data"]), toSingleValue(headers.ect));
      const isNext = headers["sec-fetch-site"] === "same-origin";
      return unlessExpired(cached.get(createPageKey(origin + getPageUrl(request), isSlow, false, false, isNext)));
    },
    async getOrRender(incoming) {
      const { key, request } = await toAnonymousRequest(incoming, origin);
      const known = unlessExpired(cached.get(key));
      if (known) return { page: known, shared: true };
      const running = pending.get(key);
      const rendering = running ?? renderOnce(key, request);
      pending.set(key, rendering);
      const rendered = await rendering;
      return rendered && { page: "bodies" in rendered ? rendered : rendered(), shared: running !== undefined };
    },
  };
}

/** The page, or undefined if its `Expires` has passed. */
function unlessExpired(page: CachedResponse | undefined): CachedResponse | undefined {
  const { expires } = page?.headers ?? {};
  return expires === undefined || Date.now() < Date.parse(expires) ? page : undefined;
}

/** The request reduced to the address, headers and cookies that pages depend on, and the cache key of its page. */
async function toAnonymousRequest(incoming: IncomingMessage, origin: string) {
  const headers = new Headers();
  for (const name of ["save-data", "ect", requestIdHeader.toLowerCase(), ipAddressHeader.toLowerCase()]) {
    const value = incoming.headers[name];
    if (typeof value === "string") headers.set(name, value);
  }
  // Pages use Sec-Fetch-Site only to see if the navigation comes from this site.
  const isNext = incoming.headers["sec-fetch-site"] === "same-origin";
  if (isNext) headers.set("Sec-Fetch-Site", "same-origin");
  const sent = parseCookies(incoming.headers.cookie);
  const copied = ["lite", "theme"].map(cookieName);
  const cookies = sent
    .filter(({ name }) => copied.includes(name))
    .map(({ name, value }) => `${name}=${encodeURIComponent(value)}`);
  // The navigation shows only if there is a session: the cookie's value is not copied.
  const signedIn = sent.some(isSessionCookie);
  if (signedIn) cookies.push(`${sessionCookieName()}=`);
  if (cookies.length > 0) headers.set("Cookie", cookies.join("; "));
  const request = new Request(origin + getPageUrl(incoming), { headers });
  const isLight = cookies.length > 0 && (await readTheme(request)) === "light";
  return { request, key: createPageKey(request.url, isLite(request), isLight, signedIn, isNext) };
}

/** The cache key of a page: its reduced address, and the other properties that change the page. */
function createPageKey(url: string, lite: boolean, light: boolean, signedIn: boolean, isNext: boolean): string {
  return `${url} ${lite} ${light} ${signedIn} ${isNext}`;
}

const toSingleValue = (header: string | string[] | undefined) => (typeof header === "string" ? header : undefined);

/** True if a `Cookie` header has a cookie of this site. */
function hasCookie(header: string | undefined, name: string): boolean {
  return header !== undefined && parseCookies(header).some((cookie) => cookie.name === cookieName(name));
}

/** The part of a response to cache or share. Null if the response is for one request only. */
async function toRenderResult(response: Response, request: Request): Promise<RenderResult> {
  const control = response.headers.get("Cache-Control") ?? "";
  const isError = response.status >= 400;
  if (response.headers.has("Set-Cookie") || (!isError && (response.status !== 200 || /no-store|private/.test(control))))
    return null;
  const body = Buffer.from(await response.arrayBuffer());
  // The request had nothing personal in it, so every waiting request can get the same error.
  if (isError) return () => new Response(body, response);
  const headers = Object.fromEntries([...response.headers].map(([name, value]) => [name, value]));
  const { pathname, search } = new URL(request.url);
  const isOwnSpelling = /^\/$|^(\/[a-z0-9-]+)+$/.test(pathname) && (search === "" || search === `?${quoteParam}`);
  // Browsers may store a page, but ask each time if it has changed.
  const cacheControl = control || "no-cache";
  return {
    headers: { ...headers, "cache-control": cacheControl, vary: varyHeader },
    etag: createHash("sha256").update(body).digest("base64url").slice(0, 22),
    // The best quality takes 0.1 s, too long for addresses that a visitor can invent.
    bodies: await encodePage(body, isOwnSpelling ? bestBrotli : quickBrotli),
  };
}
