import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { LRUCache } from "lru-cache";
import {
  cookieName,
  deskCookieName,
  parseCookies,
  readSignedInState,
  sessionCookieName,
} from "../../lib/http/cookies.server.ts";
import { ipAddressHeader } from "../../lib/http/ip-address.server.ts";
import { isLite, isLiteByHeaders } from "../../lib/http/lite.server.ts";
import { requestIdHeader } from "../../lib/http/log.server.ts";
import { readTheme } from "../../lib/http/theme.server.ts";
import { accountAreas, authAreas, publicPages, quoteParam, secretLinkAreas } from "../../site-map.ts";
import { bestBrotli, type CachedResponse, encodePage, quickBrotli } from "./cached-response.ts";

const maxCacheBytes = 48 * 1024 * 1024;
/** Visitors can invent URLs with parameter values or other spellings. The pages of these URLs have a separate cache. */
const maxVariantBytes = 4 * 1024 * 1024;
const maxUrlLength = 512;
const personalAreas = [...accountAreas, ...authAreas, ...secretLinkAreas];
const personalPaths = new RegExp(`^/+(${personalAreas.join("|")})\\b`, "i");
/** Matches the cookie settings page, and each URL with percent-encoding, which may be a spelling of that page's URL. */
const cookieSettingsPath = /cookie-settings|%/i;

/** With this parameter, React Router names the routes whose loaders run in a data request. */
const routesParam = "_routes";
const paramsByPath = new Map(
  publicPages.map(({ page, cachedParams = [], uncachedParams = [] }) => [page.path, { cachedParams, uncachedParams }]),
);
const noParams = { cachedParams: [] as readonly string[], uncachedParams: [] as readonly string[] };

export const varyHeader = "Cookie, Save-Data, ECT, Sec-Fetch-Site";

type RenderResult = CachedResponse | (() => Response) | null;

/** True if the response to this request contains nothing personal and no free text from a parameter. */
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

/** Removes unknown parameters from a public page's URL, because such parameters could fill the cache. */
export function getPageUrl({ method, url = "" }: IncomingMessage): string {
  const isRead = method === "GET" || method === "HEAD";
  return isRead && url.includes("?") && !isPersonal(url) ? removeUnknownParams(url).address : url;
}

function isPersonal(url: string): boolean {
  return personalPaths.test(decodeUrl(url.split("?", 1)[0] ?? ""));
}

function removeUnknownParams(url: string): { address: string; isCacheable: boolean } {
  const end = url.indexOf("?");
  if (end < 0) return { address: url, isCacheable: true };
  const path = url.slice(0, end);
  const { cachedParams, uncachedParams } = paramsByPath.get(path) ?? paramsByPath.get(normalisePath(path)) ?? noParams;
  const freeParams = path.endsWith(".data") ? [...uncachedParams, routesParam] : uncachedParams;
  const sentParams = new URLSearchParams(url.slice(end));
  const allowedParams = new URLSearchParams();
  // Pages use only the first value of a parameter.
  for (const name of [...cachedParams, ...freeParams])
    if (sentParams.has(name)) allowedParams.append(name, sentParams.get(name) ?? "");
  // Links of the site have the parameter `quote` last and without a value.
  const search = [allowedParams.toString(), sentParams.has(quoteParam) ? quoteParam : ""].filter(Boolean).join("&");
  return {
    address: search ? `${path}?${search}` : path,
    isCacheable: !freeParams.some((name) => sentParams.has(name)),
  };
}

/** Returns a path as the site's links spell it, without `.data`. The router accepts other spellings of the path. */
function normalisePath(path: string): string {
  const page = decodeUrl(path)
    .toLowerCase()
    .replace(/\/{2,}/g, "/")
    .replace(/(\/_)?\.data$/, "");
  return page.length > 1 ? page.replace(/\/$/, "") : page;
}

function decodeUrl(url: string): string {
  try {
    return decodeURI(url);
  } catch {
    return url;
  }
}

export function createPageCache(render: (request: Request) => Promise<Response>, origin: string) {
  const cached = createCache(maxCacheBytes);
  const cachedVariants = createCache(maxVariantBytes);
  const findCached = (key: string) => unlessExpired(cached.get(key) ?? cachedVariants.get(key));
  const pending = new Map<string, Promise<RenderResult>>();

  const renderOnce = async (key: string, request: Request): Promise<RenderResult> => {
    try {
      const rendered = await toRenderResult(await render(request), request);
      if (rendered && "bodies" in rendered) (isOwnSpelling(request.url) ? cached : cachedVariants).set(key, rendered);
      return rendered;
    } finally {
      pending.delete(key);
    }
  };

  return {
    getCached(request: IncomingMessage) {
      const { headers } = request;
      if (headers.cookie !== undefined) return undefined;
      // This fast lookup does not parse the URL, and finds only the usual spelling of a URL.
      const isSlow = isLiteByHeaders(undefined, toSingleValue(headers["save-data"]), toSingleValue(headers.ect));
      const isNext = headers["sec-fetch-site"] === "same-origin";
      return findCached(createPageKey(origin + getPageUrl(request), isSlow, false, false, isNext));
    },
    /** `shared` is false if this request caused the rendering. Returns null if the response is personal. */
    async getOrRender(incoming: IncomingMessage) {
      const { key, request } = await toAnonymousRequest(incoming, origin);
      const cachedPage = findCached(key);
      if (cachedPage) return { page: cachedPage, shared: true };
      const pendingRender = pending.get(key);
      const rendering = pendingRender ?? renderOnce(key, request);
      pending.set(key, rendering);
      const rendered = await rendering;
      return rendered && { page: "bodies" in rendered ? rendered : rendered(), shared: pendingRender !== undefined };
    },
  };
}

function createCache(maxSize: number): LRUCache<string, CachedResponse> {
  const sizeCalculation = ({ bodies }: CachedResponse) =>
    Object.values(bodies).reduce((sum, body) => sum + body.length, 1);
  return new LRUCache({ maxSize, sizeCalculation });
}

function unlessExpired(page: CachedResponse | undefined): CachedResponse | undefined {
  const { expires } = page?.headers ?? {};
  return expires === undefined || Date.now() < Date.parse(expires) ? page : undefined;
}

async function toAnonymousRequest(incoming: IncomingMessage, origin: string) {
  const headers = new Headers();
  for (const name of ["save-data", "ect", requestIdHeader.toLowerCase(), ipAddressHeader.toLowerCase()]) {
    const value = incoming.headers[name];
    if (typeof value === "string") headers.set(name, value);
  }
  const isNext = incoming.headers["sec-fetch-site"] === "same-origin";
  if (isNext) headers.set("Sec-Fetch-Site", "same-origin");
  const sentCookies = parseCookies(incoming.headers.cookie);
  const copiedNames = ["lite", "theme"].map(cookieName);
  const cookies = sentCookies
    .filter(({ name }) => copiedNames.includes(name))
    .map(({ name, value }) => `${name}=${encodeURIComponent(value)}`);
  // The page's navigation shows only whether a session exists, so the copied session cookie is empty.
  const signedIn = readSignedInState(sentCookies);
  if (signedIn) cookies.push(`${sessionCookieName()}=`);
  if (signedIn === "staff") cookies.push(`${cookieName(deskCookieName)}=1`);
  if (cookies.length > 0) headers.set("Cookie", cookies.join("; "));
  const request = new Request(origin + getPageUrl(incoming), { headers });
  const isLight = cookies.length > 0 && (await readTheme(request)) === "light";
  return { request, key: createPageKey(request.url, isLite(request), isLight, signedIn, isNext) };
}

function createPageKey(url: string, lite: boolean, light: boolean, signedIn: boolean | "staff", isNext: boolean) {
  return `${url} ${lite} ${light} ${signedIn} ${isNext}`;
}

const toSingleValue = (header: string | string[] | undefined) => (typeof header === "string" ? header : undefined);

function hasCookie(header: string | undefined, name: string): boolean {
  return header !== undefined && parseCookies(header).some((cookie) => cookie.name === cookieName(name));
}

/** True if the URL is spelled as in the site's links, with no query or only `?quote`. */
function isOwnSpelling(url: string): boolean {
  const { pathname, search } = new URL(url);
  return /^\/$|^(\/[a-z0-9-]+)+$/.test(pathname) && (search === "" || search === `?${quoteParam}`);
}

/** Returns null for a personal response, which other requests must not receive. */
async function toRenderResult(response: Response, request: Request): Promise<RenderResult> {
  const control = response.headers.get("Cache-Control") ?? "";
  const isError = response.status >= 400;
  if (response.headers.has("Set-Cookie") || (!isError && (response.status !== 200 || /no-store|private/.test(control))))
    return null;
  const body = Buffer.from(await response.arrayBuffer());
  // The request contained nothing personal, so all waiting requests can receive the same error.
  if (isError) return () => new Response(body, response);
  const headers = Object.fromEntries([...response.headers].map(([name, value]) => [name, value]));
  const cacheControl = control || "no-cache";
  return {
    headers: { ...headers, "cache-control": cacheControl, vary: varyHeader },
    etag: createHash("sha256").update(body).digest("base64url").slice(0, 22),
    // The best compression takes 0.1 s, too long for URLs that a visitor can invent.
    bodies: await encodePage(body, isOwnSpelling(request.url) ? bestBrotli : quickBrotli),
  };
}
