/**
 * What a browser keeps for when there is no connection: which pages, and what ends that. Read by the page that makes the
 * copies (components/no-line) and by the service worker that shows them (app/worker).
 */

/** How many pages of the portal are kept, the last ones, and how many public ones. */
export const maxPages = { portal: 20, public: 40 } as const;

export const dayMs = 24 * 60 * 60 * 1000;
/** For how long at most, in milliseconds: 30 days, as a session lasts without a visit. */
const maxAgeMs = 30 * dayMs;

/** How old what was kept is, in milliseconds. */
export const getAge = (copy: Response) => Date.now() - Number(copy.headers.get("time"));

/** Whether it is too old to be shown. A page ends a day before a file does: its styles may have been kept a day before it. */
export const isExpired = (copy: Response) => getAge(copy) >= maxAgeMs - (copy.headers.has("name") ? dayMs : 0);

/**
 * The caches. `own` begins the name of what was kept while somebody was signed in, a mark of the account follows; `open` is
 * what was kept while nobody was; each has the styles and drawings of its pages. `worker` says when the worker last looked
 * whether it is still wanted. The number is of the form of what is kept: a worker deletes every cache of another one.
 */
export const cacheNames = {
  form: "kept1-",
  own: "kept1-account-",
  open: "kept1-open",
  worker: "kept1-worker",
} as const;

/** The address, in the caches of pages, of the page that says that the one asked for was not kept. */
export const fallbackPagePath = "/worker.js?no-page";

/** What is asked for with this query is answered from the cache alone: the files of a kept page. */
export const cachedFileQuery = "?kept";

const publicPages =
  /^\/(services|about|contact|careers|privacy|terms|legal|additional-info|cookie-settings|resources\/(cost|faq|feeds|blog(\/[a-z0-9-]+)?))?$/;
const portalPages = /^\/portal(\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$/;
/** The filter of the list, as the portal writes it; what is typed into a public page's address is kept nowhere. */
const listFilter = /^(\?(q|stage|waiting|page)=[^&]*(&(q|stage|waiting|page)=[^&]*)*)?$/;

/**
 * Whether a page is kept, and as what. Only what is named here is: no secret, no shared link, no page of forms alone, nothing
 * of the desk.
 */
export function getOfflineKind(pathname: string, search: string): keyof typeof maxPages | null {
  if (publicPages.test(pathname)) return search === "" ? "public" : null;
  return portalPages.test(pathname) && listFilter.test(search) ? "portal" : null;
}

/** Whether pages may be kept, by the cookies that script can read: not on a shared computer, not where it is switched off. */
export function isOfflineAllowed(cookies: string): boolean {
  return !/(^|; )(__Host-)?(shared=1|offline=off)(;|$)/.test(cookies);
}

/**
 * Forms, as the browser or script sends them, that change who opens an account here or how: what was kept for it goes, whatever
 * they are answered.
 */
export function endsAccountCache(pathname: string): boolean {
  return /^\/(login|signup|auth\/|portal\/(sign-out|account|2fa))/.test(pathname);
}

/** Pages that only who is signed out gets to see. */
export function isAuthPage(pathname: string): boolean {
  return /^\/(login|signup)/.test(pathname);
}

/**
 * Addresses that pass by the worker. It asks in its own name: of a file, whose request says whether another site asks for it,
 * nobody could tell. Shared links, links from mails and the desk have no business with it.
 */
export function bypassesWorker(pathname: string): boolean {
  return /^\/(desk|s|auth|unsubscribe)(\/|$)|\/documents\/|\.[a-z0-9]+$/.test(pathname);
}

/**
 * Deletes the caches whose names begin so, page by page: of a cache that is deleted as a whole, browsers leave the files on the
 * disk for a while.
 */
export async function deleteCaches(beginning: string): Promise<void> {
  const { caches: storage } = self;
  for (const name of await storage.keys()) {
    if (!name.startsWith(beginning)) continue;
    const cache = await storage.open(name);
    for (const request of await cache.keys()) await cache.delete(request);
    await storage.delete(name);
  }
}

/** Deletes what is too old, in every cache. */
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
