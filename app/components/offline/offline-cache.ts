import { onSignOut } from "~/lib/browser/sign-out";
import type { SiteData } from "../site/site-data";
import { createOfflineCopy, createOfflineFallback, type OfflineCopy } from "./offline-copy";
import {
  cachedFileQuery,
  dayMs,
  deleteCaches,
  fallbackPagePath,
  getAge,
  getOfflineKind,
  isExpired,
  isOfflineAllowed,
  maxPages,
  cacheNames as names,
} from "./offline-pages";

const maxFiles = 60;

/** Counts sign-outs. A cache write stops if the count has changed since the write started. */
let signOutCount = 0;
/** True from a sign-out until a page without a session is shown. Meanwhile, no page is cached. */
let isSigningOut = false;
const handleSignOut = () => {
  signOutCount += 1;
  void deleteCaches(names.own).catch(() => {});
};
onSignOut(handleSignOut);
document.addEventListener(
  "submit",
  ({ target }) => {
    if ((target as Element).getAttribute("action") !== "/portal/sign-out") return;
    isSigningOut = true;
    handleSignOut();
  },
  true,
);

export type CurrentPage = { site: SiteData; accountId: string; isWhole: boolean };

/** Rejects if the browser blocks storage. */
export async function updateOfflineCache({ site, accountId, isWhole }: CurrentPage): Promise<void> {
  if (!("serviceWorker" in navigator) || !("caches" in window)) return;
  if (!isOfflineAllowed(document.cookie)) return disableOffline();
  const { pathname, search } = location;
  if (pathname.startsWith("/desk")) return;
  // Copies the document before the first await, because the page may change during an await.
  const kind = isWhole && getOfflineKind(pathname, search);
  const copy = kind && (kind === "public" || accountId) ? createOfflineCopy(document, new Date()) : null;
  const withoutPage = createOfflineFallback(document, site.company.offices[0]?.phone);
  // `caches.keys` rejects if storage is blocked. The function then stops and registers no service worker.
  if (site.signedIn) await caches.keys();
  else await deleteCaches(names.own);
  isSigningOut &&= !!site.signedIn;
  if (isSigningOut) return;
  const countAtStart = signOutCount;
  await navigator.serviceWorker.register("/worker.js", { updateViaCache: "all" });
  await navigator.serviceWorker.ready;
  const name = site.signedIn ? await getAccountCacheName(accountId) : names.open;
  if (!name || countAtStart !== signOutCount) return;
  const cache = await caches.open(name);
  await writeCopy(cache, fallbackPagePath, withoutPage);
  if (copy) {
    await writeCopy(cache, pathname + search, copy);
    await pruneCache(cache);
  }
  if (countAtStart !== signOutCount) await deleteCaches(names.own);
}

/** Deletes the caches of other accounts. For privacy, a cache's name contains only a hash of the account ID. */
async function getAccountCacheName(accountId: string): Promise<string | null> {
  const accountCaches = (await caches.keys()).filter((name) => name.startsWith(names.own));
  // The loader data of public pages has no account ID, so public pages use the existing cache.
  if (!accountId) return accountCaches[0] ?? null;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(accountId));
  const ownCache =
    names.own + [...new Uint8Array(digest, 0, 8)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  for (const name of accountCaches) if (name !== ownCache) await deleteCaches(name);
  return ownCache;
}

async function disableOffline(): Promise<void> {
  await deleteCaches("");
  await (await navigator.serviceWorker.getRegistration())?.unregister();
}

async function writeCopy(cache: Cache, address: string, { html, name, files }: OfflineCopy): Promise<void> {
  await cacheFiles(cache, files);
  const headers = { "Content-Type": "text/html; charset=utf-8", time: `${Date.now()}`, name: encodeURIComponent(name) };
  // `put` moves the page to the end of `Cache.keys`. Pages at the start are deleted first. If `put` fails, the old copy
  // stays.
  await cache.put(address, new Response(html, { headers }));
}

/** Fetches a cached file again after a day, so that no file expires before the pages that need the file. */
async function cacheFiles(cache: Cache, files: string[]): Promise<void> {
  for (const file of files) {
    const before = await cache.match(file + cachedFileQuery);
    if (before && getAge(before) < dayMs) continue;
    const response = await fetch(file, { cache: "force-cache" });
    const type = response.headers.get("Content-Type") ?? "";
    if (response.ok) {
      const headers = { "Content-Type": type, time: `${Date.now()}` };
      await cache.put(file + cachedFileQuery, new Response(await response.blob(), { headers }));
    }
  }
  const all = (await cache.keys()).filter(({ url }) => url.endsWith(cachedFileQuery));
  const unused = all.filter(({ url }) => !files.includes(url.slice(location.origin.length, -cachedFileQuery.length)));
  for (const old of unused.slice(0, Math.max(0, all.length - maxFiles))) await cache.delete(old);
}

async function pruneCache(cache: Cache): Promise<void> {
  const pagesLeft: Record<keyof typeof maxPages, number> = { ...maxPages };
  for (const request of [...(await cache.keys())].reverse()) {
    const { pathname, search } = new URL(request.url);
    const kind = getOfflineKind(pathname, search);
    if (!kind) continue;
    pagesLeft[kind] -= 1;
    const copy = await cache.match(request);
    if (pagesLeft[kind] < 0 || !copy || isExpired(copy)) await cache.delete(request);
  }
}
