/**
 * The service worker, at /worker.js: where a page gets no answer, the copy that the browser kept of it. Copies are made by the
 * pages themselves (components/no-line), ready to be shown.
 */
import * as kept from "../components/offline/offline-pages.ts";

type FetchEvent = Event & {
  request: Request;
  resultingClientId: string;
  respondWith: (answer: Promise<Response>) => void;
  waitUntil: (work: Promise<unknown>) => void;
};
type ServiceWorkerScope = {
  skipWaiting: () => Promise<void>;
  clients: { claim: () => Promise<void>; get: (id: string) => Promise<Pick<MessagePort, "postMessage"> | undefined> };
  registration: ServiceWorkerRegistration;
};
const { clients, registration, skipWaiting } = self as unknown as ServiceWorkerScope;

/** Put in by the build: what a build is known by, the script of a kept page, and its hash. */
declare const __BUILD__: string;
declare const __AGAIN__: string;
declare const __HASH__: string;

/** How long a page may be silent before its copy is shown, in milliseconds. */
const responseTimeout = 5000;

/** Answers that were too late for their page: the next request for it gets them. */
const lateResponses = new Map<string, Promise<Response>>();
/** How often what was kept was forgotten: an answer that was asked for before is no late one of who comes after. */
let deletionCount = 0;
/** Whether this worker is the last one: pages that it still has get their answers, and nothing is written. */
let isUnregistering = false;
/** Resolves once what is being forgotten is gone. */
let pendingDeletion: Promise<unknown> = Promise.resolve();
/** The page that a page waited for in vain already: its copy is shown at once if the line fails again. */
let urgentPath: unknown;

self.addEventListener("install", () => skipWaiting.call(self));
self.addEventListener("activate", (event) => (event as FetchEvent).waitUntil(activateWorker()));
self.addEventListener("message", ({ data, ports }) => {
  urgentPath = data;
  ports[0]?.postMessage("");
});
self.addEventListener("fetch", (event) => {
  const { request, respondWith, waitUntil } = event as FetchEvent;
  const { origin, pathname, search } = new URL(request.url);
  if (origin !== location.origin) return;
  if (request.method === "POST") {
    if (pathname === "/actions/lite") waitUntil.call(event, unregisterWorker());
    else if (kept.endsAccountCache(pathname)) waitUntil.call(event, deleteCachedPages(kept.cacheNames.own));
  } else if (request.method !== "GET") return;
  else if (request.mode === "navigate") {
    if (!kept.bypassesWorker(pathname))
      respondWith.call(event, respondToNavigation(event as FetchEvent, pathname, search));
  } else if (search === kept.cachedFileQuery)
    respondWith.call(
      event,
      findCopy(pathname + search).then((file) => file ?? Response.error()),
    );
});

/** A worker that has taken over: nothing of another form is left. */
async function activateWorker(): Promise<void> {
  for (const name of await caches.keys()) if (!name.startsWith(kept.cacheNames.form)) await caches.delete(name);
  await clients.claim();
}

/** Forgets what was kept, and answers that came late or are still to come. */
function deleteCachedPages(beginning: string): Promise<void> {
  deletionCount += 1;
  lateResponses.clear();
  const done = kept.deleteCaches(beginning);
  pendingDeletion = Promise.allSettled([pendingDeletion, done]);
  return done;
}

/** Nothing is kept any more, and no worker is left. */
async function unregisterWorker(): Promise<void> {
  isUnregistering = true;
  await deleteCachedPages("");
  await registration.unregister();
}

/** What was kept for an address, of the account first; nothing that is too old. */
async function findCopy(address: string): Promise<Response | undefined> {
  for (const cacheName of (await caches.keys()).sort()) {
    // Not by opening it: that would make one again that is being deleted.
    const copy = await caches.match(address, { ignoreVary: true, cacheName });
    if (copy && !kept.isExpired(copy)) return copy;
  }
  return undefined;
}

/** The text of what is kept for an address now, whatever was found there before something was forgotten. */
async function readCopyText(address: string): Promise<string | undefined> {
  await pendingDeletion;
  return (await findCopy(address).catch(() => undefined))?.text();
}

/** The answer of the network; where there is none, or none in time, what was kept. */
async function respondToNavigation(event: FetchEvent, pathname: string, search: string): Promise<Response> {
  const address = pathname + search;
  const begun = deletionCount;
  const wait = urgentPath === address ? 0 : responseTimeout;
  urgentPath = null;
  // No navigation preload: where one fails, Firefox shows its own error page, whatever is answered here.
  const fresh = fetch(event.request);
  const asked = Promise.race([lateResponses.get(address) ?? fresh, fresh]);
  lateResponses.delete(address);
  const silence = new Promise<null>((resolve) => setTimeout(resolve, wait, null));
  const network = asked.catch(() => null);
  // Where storage is refused there is the network alone.
  const copy = findCopy(address).catch(() => undefined);
  const come = (await Promise.race([network, silence])) ?? ((await copy) ? null : await network);
  if (come) {
    if (come.ok && kept.isAuthPage(pathname)) event.waitUntil(deleteCachedPages(kept.cacheNames.own));
    event.waitUntil(runDailyCheck());
    return come;
  }
  const found = await readCopyText(address);
  const page = found ?? (await readCopyText(kept.fallbackPagePath));
  if (page === undefined) return asked;
  event.waitUntil(notifyWhenFetched(event, address, asked, begun));
  if (found !== undefined) return createCopyResponse(found, 200);
  const list = await listCachedPages();
  // A function, as names may have what a replacement reads as a pattern.
  return createCopyResponse(
    page.replace("<!--pages-->", () => list),
    503,
  );
}

/** Tells a kept page when the answer that it stands for came after all: it loads again, and gets that one. */
async function notifyWhenFetched(
  { resultingClientId }: FetchEvent,
  address: string,
  asked: Promise<Response>,
  begun: number,
): Promise<void> {
  const whole = asked.then(bufferResponse);
  const drop = () => lateResponses.get(address) === whole && lateResponses.delete(address);
  if (begun === deletionCount) lateResponses.set(address, whole);
  try {
    await whole;
    setTimeout(drop, 30_000);
    (await clients.get(resultingClientId))?.postMessage("");
  } catch {
    drop();
  }
}

/** An answer with its body in memory: that of the network ends with the event that asked for it. A redirect has none. */
async function bufferResponse(answer: Response): Promise<Response> {
  return answer.type === "opaqueredirect" ? answer : new Response(await answer.blob(), answer);
}

/** Links to the pages that are kept, the newest first. */
async function listCachedPages(): Promise<string> {
  const found = new Map<string, { name: string; time: number }>();
  for (const name of (await caches.keys()).sort()) {
    const cache = await caches.open(name);
    const copies = await cache.matchAll();
    for (const [at, { url }] of (await cache.keys()).entries()) {
      const { pathname, search } = new URL(url);
      const copy = copies[at];
      const title = copy?.headers.get("name");
      if (copy && title && !kept.isExpired(copy) && !found.has(pathname + search))
        found.set(pathname + search, { name: decodeURIComponent(title), time: kept.getAge(copy) });
    }
  }
  return [...found]
    .sort(([, one], [, other]) => one.time - other.time)
    .map(([address, { name }]) => `<li><a href="${address.replaceAll("&", "&amp;")}">${name}</a></li>`)
    .join("");
}

/** A kept page as it is shown: its time with the day when that is not today's, and with the script that ends it. */
function createCopyResponse(html: string, status: number): Response {
  const text = html.replace(/<!--(\d\S+)\|(.*?)\|(.*?)-->/, (_, made, time, day) =>
    getDayNumber(Date.parse(made)) === getDayNumber(Date.now()) ? time : day,
  );
  return new Response(`${text}<script>${__AGAIN__}</script>`, {
    status,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Cache-Control": "no-store",
      "Referrer-Policy": "strict-origin-when-cross-origin",
      "X-Content-Type-Options": "nosniff",
      "Content-Security-Policy": `default-src 'none'; script-src '${__HASH__}'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'`,
    },
  });
}

/** The number of the day in East Africa (UTC+3) at a moment in milliseconds. */
const getDayNumber = (time: number) => Math.floor((time + 3 * 3_600_000) / kept.dayMs);

/** Once a day: what is too old is deleted, and where the site has no worker any more, this one ends. */
async function runDailyCheck(): Promise<void> {
  if (isUnregistering) return;
  const cache = await caches.open(kept.cacheNames.worker);
  const last = await cache.match("/worker.js");
  if (last && kept.getAge(last) < kept.dayMs) return;
  await kept.deleteExpiredCopies();
  const { status } = await fetch("/worker.js", { cache: "no-cache" });
  if (status === 404 || status === 410) await unregisterWorker();
  else if (!isUnregistering)
    await cache.put("/worker.js", new Response(__BUILD__, { headers: { time: `${Date.now()}` } }));
}
