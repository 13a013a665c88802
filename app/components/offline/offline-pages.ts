/**
 * Which pages the browser stores as offline copies, and when it deletes them. Pages store the copies (offline-cache.ts), and the
 * service worker shows them (app/worker).
 */
import { authAreas, offlinePages, secretLinkAreas } from "../../site-map.ts";

/** The largest number of stored pages. The browser deletes the oldest visits first. */
export const maxPages = { portal: 20, public: 40 } as const;

export const dayMs = 24 * 60 * 60 * 1000;
/** 30 days in milliseconds: as long as a session lasts without a visit. */
const maxAgeMs = 30 * dayMs;

/** The age of a copy in milliseconds. */
export const getAge = (copy: Response) => Date.now() - Number(copy.headers.get("time"));

/** True if a copy is too old to show. A page expires a day before a file, as its styles may be a day older than the page. */
export const isExpired = (copy: Response) => getAge(copy) >= maxAgeMs - (copy.headers.has("name") ? dayMs : 0);

/**
 * Names of the caches. `own` begins the name of a signed-in person's cache, and a hash of the account follows. `open` has the pages
 * stored while nobody was signed in. Each has the styles and drawings of its pages too. `worker` has the time of the service
 * worker's last daily check. The number is the version of the format: a service worker deletes caches of other versions.
 */
export const cacheNames = {
  form: "kept1-",
  own: "kept1-account-",
  open: "kept1-open",
  worker: "kept1-worker",
} as const;

/** The cached address of the page that says that there is no offline copy of the requested page. */
export const fallbackPagePath = "/worker.js?no-page";

/** The query of a file of an offline copy. The service worker answers it only from the cache. */
export const cachedFileQuery = "?kept";

const portalPages = /^\/portal(\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$/;
/** The filter of the shipment list, as the portal writes it. */
const listFilter = /^(\?(q|stage|waiting|page)=[^&]*(&(q|stage|waiting|page)=[^&]*)*)?$/;

/**
 * The kind of offline copy of a page, or null if the browser must not store it. Only listed pages are stored: never a secret, a share
 * link, a page of the desk, or text that a person typed into a public page's address.
 */
export function getOfflineKind(pathname: string, search: string): keyof typeof maxPages | null {
  if (isOfflinePage(pathname)) return search === "" ? "public" : null;
  return portalPages.test(pathname) && listFilter.test(search) ? "portal" : null;
}

function isOfflinePage(pathname: string): boolean {
  return offlinePages.some(({ path }) => new RegExp(`^${path.replace(":slug", "[a-z0-9-]+")}$`).test(pathname));
}

/** The first segment of a path, without a file extension. */
const getArea = (pathname: string) => `${pathname.split(/[/.]/)[1]}`;

/** True if the cookies that script can read allow offline copies: no shared computer, and not turned off. */
export function isOfflineAllowed(cookies: string): boolean {
  return !/(^|; )(__Host-)?(shared=1|offline=off)(;|$)/.test(cookies);
}

/** True for forms that change who can log in here or how. They delete the offline copies of the account, whatever the response. */
export function endsAccountCache(pathname: string): boolean {
  return isAuthPage(pathname) || pathname.startsWith("/auth/") || /^\/portal\/(sign-out|account|2fa)/.test(pathname);
}

/** True for pages that only a signed-out person can see. */
export function isAuthPage(pathname: string): boolean {
  return authAreas.includes(getArea(pathname));
}

/**
 * True for addresses that the service worker does not answer: files, pages opened by a secret link, and the desk. A file's request
 * says if another site sent it, and a service worker's own request does not.
 */
export function bypassesWorker(pathname: string): boolean {
  return ["desk", ...secretLinkAreas].includes(getArea(pathname)) || /\/documents\/|\.[a-z0-9]+$/.test(pathname);
}

/** Deletes the caches whose names begin with `beginning`, page by page: browsers leave the files of a whole deleted cache on disk. */
export async function deleteCaches(beginning: string): Promise<void> {
  const { caches: storage } = self;
  for (const name of await storage.keys()) {
    if (!name.startsWith(beginning)) continue;
    const cache = await storage.open(name);
    for (const request of await cache.keys()) await cache.delete(request);
    await storage.delete(name);
  }
}

/** Deletes the expired copies in every cache. */
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
