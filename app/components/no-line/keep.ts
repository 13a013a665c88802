/** Keeps the pages that a person has seen, for when there is no connection: no request but for the worker itself. */

import { ageOf, caps, day, forget, isOld, keptAs, keptFile, mayKeep, caches as names, noPage } from "~/lib/kept-pages";
import { atSignOut } from "~/lib/signed-out";
import type { SiteData } from "../site-data";
import { type Copy, copyOf, noPageOf } from "./copy";

/** How many styles and drawings are kept. */
const mostFiles = 60;

/** Counts sign-outs: what was begun before one is not written after it. */
let signOuts = 0;
/** Whether somebody pressed Sign out here and is still signed in: a sign-out that got no answer. */
let isLeaving = false;
const leave = () => {
  signOuts += 1;
  void forget(names.own).catch(() => {});
};
atSignOut(leave);
document.addEventListener(
  "submit",
  ({ target }) => {
    if ((target as Element).getAttribute("action") !== "/portal/sign-out") return;
    isLeaving = true;
    leave();
  },
  true,
);

/** What a page knows of itself and of who sees it. */
export type Seen = { site: SiteData; person: string; isWhole: boolean };

/**
 * Keeps the page in view, and registers the worker that shows it; where pages are not to be kept, ends both. Rejects where the
 * browser refuses storage or has no more.
 */
export async function keep({ site, person, isWhole }: Seen): Promise<void> {
  if (!("serviceWorker" in navigator) || !("caches" in window)) return;
  if (!mayKeep(document.cookie)) return end();
  const { pathname, search } = location;
  if (pathname.startsWith("/desk")) return;
  // Before anything is waited for: the person may go on meanwhile.
  const kind = isWhole && keptAs(pathname, search);
  const copy = kind && (kind === "public" || person) ? copyOf(document, new Date()) : null;
  const withoutPage = noPageOf(document, site.company.offices[0]?.phone);
  // Rejects where storage is refused: no worker is registered there.
  if (site.signedIn) await caches.keys();
  else await forget(names.own);
  isLeaving &&= site.signedIn;
  if (isLeaving) return;
  const begun = signOuts;
  await navigator.serviceWorker.register("/worker.js", { updateViaCache: "none" });
  await navigator.serviceWorker.ready;
  const name = site.signedIn ? await ownCache(person) : names.open;
  if (!name || begun !== signOuts) return;
  const cache = await caches.open(name);
  await write(cache, noPage, withoutPage);
  if (copy) {
    await write(cache, pathname + search, copy);
    await shorten(cache);
  }
  if (begun !== signOuts) await forget(names.own);
}

/** The name of the cache of an account: a mark of it that tells nothing of it. Those of all others are deleted. */
async function ownCache(person: string): Promise<string | null> {
  const known = (await caches.keys()).filter((name) => name.startsWith(names.own));
  // A public page does not know whose session it is.
  if (!person) return known[0] ?? null;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(person));
  const own = names.own + [...new Uint8Array(digest, 0, 8)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  for (const name of known) if (name !== own) await forget(name);
  return own;
}

/** Nothing is kept, and no worker is left. */
async function end(): Promise<void> {
  await forget("");
  await (await navigator.serviceWorker.getRegistration())?.unregister();
}

async function write(cache: Cache, address: string, { html, name, files }: Copy): Promise<void> {
  await keepFiles(cache, files);
  const headers = { "Content-Type": "text/html; charset=utf-8", time: `${Date.now()}`, name: encodeURIComponent(name) };
  // In the order of the last visit, as what is put again comes last; where there is no more room, the copy before stays.
  await cache.put(address, new Response(html, { headers }));
}

/**
 * Takes files that the page has loaded from the browser's own cache; again when they were kept over a day ago, so that they are
 * never older than the pages that need them, nor a drawing that has changed. Beyond the cap those of this page stay.
 */
async function keepFiles(cache: Cache, files: string[]): Promise<void> {
  for (const file of files) {
    const before = await cache.match(file + keptFile);
    if (before && ageOf(before) < day) continue;
    const answer = await fetch(file, { cache: "force-cache" });
    const type = answer.headers.get("Content-Type") ?? "";
    if (answer.ok) {
      const headers = { "Content-Type": type, time: `${Date.now()}` };
      await cache.put(file + keptFile, new Response(await answer.blob(), { headers }));
    }
  }
  const all = (await cache.keys()).filter(({ url }) => url.endsWith(keptFile));
  const unused = all.filter(({ url }) => !files.includes(url.slice(location.origin.length, -keptFile.length)));
  for (const old of unused.slice(0, Math.max(0, all.length - mostFiles))) await cache.delete(old);
}

/** Deletes what is too old and too much of a cache. */
async function shorten(cache: Cache): Promise<void> {
  const left: Record<keyof typeof caps, number> = { ...caps };
  for (const request of [...(await cache.keys())].reverse()) {
    const { pathname, search } = new URL(request.url);
    const kind = keptAs(pathname, search);
    if (!kind) continue;
    left[kind] -= 1;
    const copy = await cache.match(request);
    if (left[kind] < 0 || !copy || isOld(copy)) await cache.delete(request);
  }
}
