/** Which pages have offline copies, and when these end. Shared by pages (components/offline) and the service worker. */

/** The last visited pages of each kind have copies. */
export const maxPages = { portal: 20, public: 40 } as const;

export const dayMs = 24 * 60 * 60 * 1000;
/** In milliseconds. A session without a visit also lasts 30 days. */
const maxAgeMs = 30 * dayMs;

/** Returns the age of a copy in milliseconds. */
export const getAge = (copy: Response) => Date.now() - Number(copy.headers.get("time"));

/**
 * True if a copy has reached its maximum age. Pages expire a day before files, because a page's stylesheet may be a day
 * older.
 */
export const isExpired = (copy: Response) => getAge(copy) >= maxAgeMs - (copy.headers.has("name") ? dayMs : 0);

/**
 * Names of the caches. `form` has the number of the cache format: the worker deletes all other formats. `own` is followed
 * by a hash of the account, `open` is for signed-out visitors. `worker` has the time of the last daily check.
 */
export const cacheNames = {
  form: "kept1-",
  own: "kept1-account-",
  open: "kept1-open",
  worker: "kept1-worker",
} as const;

/** The address, in the caches, of the page that is shown for pages without a copy. */
export const fallbackPagePath = "/worker.js?no-page";

/** The query of the files of offline copies. The worker serves them from the cache only. */
export const cachedFileQuery = "?kept";

const publicPages =
  /^\/(services|about|contact|careers|privacy|terms|legal|additional-info|cookie-settings|resources\/(cost|faq|feeds|blog(\/[a-z0-9-]+)?))?$/;
const portalPages = /^\/portal(\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$/;
/** The filter that the portal writes. The query of a public page may contain typed text. */
const listFilter = /^(\?(q|stage|waiting|page)=[^&]*(&(q|stage|waiting|page)=[^&]*)*)?$/;

/** Returns the kind of a page with offline copies; null for secrets, share links, pages of forms and the desk. */
export function getOfflineKind(pathname: string, search: string): keyof typeof maxPages | null {
  if (publicPages.test(pathname)) return search === "" ? "public" : null;
  return portalPages.test(pathname) && listFilter.test(search) ? "portal" : null;
}

/** True unless a cookie marks a shared computer or switches offline copies off. */
export function isOfflineAllowed(cookies: string): boolean {
  return !/(^|; )(__Host-)?(shared=1|offline=off)(;|$)/.test(cookies);
}

/** True for forms that change who is signed in or how. They delete the account's copies, whatever the response is. */
export function endsAccountCache(pathname: string): boolean {
  return /^\/(login|signup|auth\/|portal\/(sign-out|account|2fa))/.test(pathname);
}

/** True for pages that only signed-out visitors see. */
export function isAuthPage(pathname: string): boolean {
  return /^\/(login|signup)/.test(pathname);
}

/**
 * True for files, share links, links in emails and the desk, which the worker ignores. A request by the worker would not
 * show the server whether another site requested the file.
 */
export function bypassesWorker(pathname: string): boolean {
  return /^\/(desk|s|auth|unsubscribe)(\/|$)|\/documents\/|\.[a-z0-9]+$/.test(pathname);
}

/**
 * Deletes the caches with a prefix, entry by entry. Browsers leave the files of a cache that is deleted as a whole on the
 * disk for a while.
 */
export async function deleteCaches(prefix: string): Promise<void> {
  const { caches: storage } = self;
  for (const name of await storage.keys()) {
    if (!name.startsWith(prefix)) continue;
    const cache = await storage.open(name);
    for (const request of await cache.keys()) await cache.delete(request);
    await storage.delete(name);
  }
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
