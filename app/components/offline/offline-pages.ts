/** The pages (offline-cache.ts) and the service worker (app/worker) share these rules for offline copies. */
import { authAreas, offlinePages, secretLinkAreas } from "../../site-map.ts";

/** If a cache contains more pages than `maxPages`, the least recently visited pages are deleted. */
export const maxPages = { portal: 20, public: 40 } as const;

export const dayMs = 24 * 60 * 60 * 1000;
/** 30 days, because a session ends after 30 days without a visit. */
const maxAgeMs = 30 * dayMs;

/** Returns the age of a copy in milliseconds. */
export const getAge = (copy: Response) => Date.now() - Number(copy.headers.get("time"));

/**
 * Pages expire a day before files, because a page's stylesheet may have been cached a day before the page. Only pages
 * have a `name` header.
 */
export const isExpired = (copy: Response) => getAge(copy) >= maxAgeMs - (copy.headers.has("name") ? dayMs : 0);

export const fallbackPagePath = "/worker.js?no-page";

/** The service worker responds to URLs with the query `?offline` only from the cache. */
export const cachedFileQuery = "?offline";

const portalPages = /^\/portal(\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$/;
const listFilter = /^(\?(q|stage|waiting|page)=[^&]*(&(q|stage|waiting|page)=[^&]*)*)?$/;

/** Returns null for pages that must not be cached, such as the desk and pages with a secret in the URL. */
export function getOfflineKind(pathname: string, search: string): keyof typeof maxPages | null {
  const isPublic = offlinePages.some(({ path }) =>
    new RegExp(`^${path.replace(":slug", "[a-z0-9-]+")}$`).test(pathname),
  );
  if (isPublic) return search === "" ? "public" : null;
  return portalPages.test(pathname) && listFilter.test(search) ? "portal" : null;
}

const getArea = (pathname: string) => `${pathname.split(/[/.]/)[1]}`;

/** False on a shared computer, or if the user has turned off offline copies. `cookies` is `document.cookie`. */
export function isOfflineAllowed(cookies: string): boolean {
  return !/(^|; )(__Host-)?(shared=1|offline=off)(;|$)/.test(cookies);
}

/** Forms on these paths log in, sign out or change the account, so the service worker deletes the account's caches. */
export function endsAccountCache(pathname: string): boolean {
  return isAuthPage(pathname) || pathname.startsWith("/auth/") || /^\/portal\/(sign-out|account|2fa)/.test(pathname);
}

export function isAuthPage(pathname: string): boolean {
  return authAreas.includes(getArea(pathname));
}

/** True for paths that the service worker ignores, because its own fetch would change the header `Sec-Fetch-Site`. */
export function bypassesWorker(pathname: string): boolean {
  return ["desk", ...secretLinkAreas].includes(getArea(pathname)) || /\/documents\/|\.[a-z0-9]+$/.test(pathname);
}

export async function deleteExpiredCopies(): Promise<void> {
  const { caches: storage } = self;
  for (const name of await storage.keys()) {
    const cache = await storage.open(name);
    for (const request of await cache.keys()) {
      const copy = await cache.match(request);
      if (copy && isExpired(copy)) await cache.delete(request);
    }
  }
}
