import { readAccountCookie } from "~/lib/browser/account";
import type { SiteData } from "../site/site-data";
import { deleteCaches, cacheNames as names } from "./cache-names";
import { createOfflineCopy, createOfflineFallback, type OfflineCopy } from "./offline-copy";
import {
  cachedFileQuery,
  dayMs,
  fallbackPagePath,
  getAge,
  getOfflineKind,
  isExpired,
  isOfflineAllowed,
  maxPages,
} from "./offline-pages";

const maxFiles = 60;

/** The hash of the account that has signed out on this page, or "". Pages of this account are no longer cached. */
let signedOutAccount = "";
document.addEventListener(
  "submit",
  ({ target }) => {
    if ((target as Element).getAttribute("action") === "/portal/sign-out") signedOutAccount = readAccountCookie();
  },
  true,
);

/** `accountHash` is empty on pages without account data. */
export type CurrentPage = { site: SiteData; accountHash: string; isWhole: boolean };

/** Rejects if the browser blocks storage. */
export async function updateOfflineCache({ site, accountHash, isWhole }: CurrentPage): Promise<void> {
  if (!("serviceWorker" in navigator) || !("caches" in window)) return;
  if (!isOfflineAllowed(document.cookie)) return disableOffline();
  const { pathname, search } = location;
  const account = readAccountCookie();
  if (account !== signedOutAccount) signedOutAccount = "";
  const isCurrent = () => signedOutAccount === "" && readAccountCookie() === account;
  if (pathname.startsWith("/desk") || (accountHash && accountHash !== account) || !isCurrent()) return;
  // The offline copy is created before the first `await`, because the page may change during an `await`.
  const kind = isWhole && getOfflineKind(pathname, search);
  const copy = kind && (kind === "public" || accountHash) ? createOfflineCopy(document, new Date()) : null;
  const withoutPage = createOfflineFallback(document, site.company.offices[0]?.phone);
  // If the browser blocks storage, `caches.keys` rejects, so that no service worker is registered.
  for (const name of await caches.keys())
    if (name.startsWith(names.own) && name !== names.own + account) await deleteCaches(name);
  if (site.signedIn && ["", "0"].includes(account)) return;
  await navigator.serviceWorker.register("/worker.js", { updateViaCache: "all" });
  await navigator.serviceWorker.ready;
  if (!isCurrent()) return;
  const name = site.signedIn ? names.own + account : names.open;
  try {
    const cache = await caches.open(name);
    await writeCopy(cache, fallbackPagePath, withoutPage);
    if (copy) {
      await writeCopy(cache, pathname + search, copy);
      await pruneCache(cache);
    }
  } finally {
    if (site.signedIn && !isCurrent()) await deleteCaches(name);
  }
}

async function disableOffline(): Promise<void> {
  await deleteCaches("");
  await (await navigator.serviceWorker.getRegistration())?.unregister();
}

async function writeCopy(cache: Cache, address: string, { html, name, files }: OfflineCopy): Promise<void> {
  await cacheFiles(cache, files);
  const headers = { "Content-Type": "text/html; charset=utf-8", time: `${Date.now()}`, name: encodeURIComponent(name) };
  // `put` moves the page to the end of `cache.keys()`, so that pruneCache deletes the page last.
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
