/** Keeps the pages that a person has seen, for when there is no connection: no request but for the worker itself. */

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

/** How many styles and drawings are kept. */
const maxFiles = 60;

/** Counts sign-outs: what was begun before one is not written after it. */
let signOutCount = 0;
/** Whether somebody pressed Sign out here and is still signed in: a sign-out that got no answer. */
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

/** What a page knows of itself and of who sees it. */
export type CurrentPage = { site: SiteData; accountId: string; isWhole: boolean };

/**
 * Keeps the page in view, and registers the worker that shows it; where pages are not to be kept, ends both. Rejects where the
 * browser refuses storage or has no more.
 */
export async function updateOfflineCache({ site, accountId, isWhole }: CurrentPage): Promise<void> {
  if (!("serviceWorker" in navigator) || !("caches" in window)) return;
  if (!isOfflineAllowed(document.cookie)) return disableOffline();
  const { pathname, search } = location;
  if (pathname.startsWith("/desk")) return;
  // Before anything is waited for: the person may go on meanwhile.
  const kind = isWhole && getOfflineKind(pathname, search);
  const copy = kind && (kind === "public" || accountId) ? createOfflineCopy(document, new Date()) : null;
  const withoutPage = createOfflineFallback(document, site.company.offices[0]?.phone);
  // Rejects where storage is refused: no worker is registered there.
  if (site.signedIn) await caches.keys();
  else await deleteCaches(names.own);
  isSigningOut &&= site.signedIn;
  if (isSigningOut) return;
  const begun = signOutCount;
  await navigator.serviceWorker.register("/worker.js", { updateViaCache: "none" });
  await navigator.serviceWorker.ready;
  const name = site.signedIn ? await getAccountCacheName(accountId) : names.open;
  if (!name || begun !== signOutCount) return;
  const cache = await caches.open(name);
  await writeCopy(cache, fallbackPagePath, withoutPage);
  if (copy) {
    await writeCopy(cache, pathname + search, copy);
    await pruneCache(cache);
  }
  if (begun !== signOutCount) await deleteCaches(names.own);
}

/** The name of the cache of an account: a mark of it that tells nothing of it. Those of all others are deleted. */
async function getAccountCacheName(accountId: string): Promise<string | null> {
  const known = (await caches.keys()).filter((name) => name.startsWith(names.own));
  // A public page does not know whose session it is.
  if (!accountId) return known[0] ?? null;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(accountId));
  const own = names.own + [...new Uint8Array(digest, 0, 8)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  for (const name of known) if (name !== own) await deleteCaches(name);
  return own;
}

/** Nothing is kept, and no worker is left. */
async function disableOffline(): Promise<void> {
  await deleteCaches("");
  await (await navigator.serviceWorker.getRegistration())?.unregister();
}

async function writeCopy(cache: Cache, address: string, { html, name, files }: OfflineCopy): Promise<void> {
  await cacheFiles(cache, files);
  const headers = { "Content-Type": "text/html; charset=utf-8", time: `${Date.now()}`, name: encodeURIComponent(name) };
  // In the order of the last visit, as what is put again comes last; where there is no more room, the copy before stays.
  await cache.put(address, new Response(html, { headers }));
}

/**
 * Takes files that the page has loaded from the browser's own cache; again when they were kept over a day ago, so that they are
 * never older than the pages that need them, nor a drawing that has changed. Beyond the cap those of this page stay.
 */
async function cacheFiles(cache: Cache, files: string[]): Promise<void> {
  for (const file of files) {
    const before = await cache.match(file + cachedFileQuery);
    if (before && getAge(before) < dayMs) continue;
    const answer = await fetch(file, { cache: "force-cache" });
    const type = answer.headers.get("Content-Type") ?? "";
    if (answer.ok) {
      const headers = { "Content-Type": type, time: `${Date.now()}` };
      await cache.put(file + cachedFileQuery, new Response(await answer.blob(), { headers }));
    }
  }
  const all = (await cache.keys()).filter(({ url }) => url.endsWith(cachedFileQuery));
  const unused = all.filter(({ url }) => !files.includes(url.slice(location.origin.length, -cachedFileQuery.length)));
  for (const old of unused.slice(0, Math.max(0, all.length - maxFiles))) await cache.delete(old);
}

/** Deletes what is too old and too much of a cache. */
async function pruneCache(cache: Cache): Promise<void> {
  const left: Record<keyof typeof maxPages, number> = { ...maxPages };
  for (const request of [...(await cache.keys())].reverse()) {
    const { pathname, search } = new URL(request.url);
    const kind = getOfflineKind(pathname, search);
    if (!kind) continue;
    left[kind] -= 1;
    const copy = await cache.match(request);
    if (left[kind] < 0 || !copy || isExpired(copy)) await cache.delete(request);
  }
}
