/** The service worker, at /worker.js: shows the offline copy of a page that gets no response (components/offline makes it). */
import * as offlinePages from "../components/offline/offline-pages.ts";

type FetchEvent = Event & {
  request: Request;
  resultingClientId: string;
  respondWith: (response: Promise<Response>) => void;
  waitUntil: (work: Promise<unknown>) => void;
};
type ServiceWorkerScope = {
  skipWaiting: () => Promise<void>;
  clients: { claim: () => Promise<void>; get: (id: string) => Promise<Pick<MessagePort, "postMessage"> | undefined> };
  registration: ServiceWorkerRegistration;
};
const { clients, registration, skipWaiting } = self as unknown as ServiceWorkerScope;

/** Defined by the build: its id, the script of an offline copy, and the hash of that script. */
declare const __BUILD__: string;
declare const __RETRY__: string;
declare const __RETRY_HASH__: string;

/** In milliseconds, after which the offline copy is shown. */
const responseTimeout = 5000;

/** Responses that came after their offline copy was shown, for the next request of the page. */
const lateResponses = new Map<string, Promise<Response>>();
/** Counts deletions: the next person must not get a response that was requested before one. */
let deletionCount = 0;
/** While true, open pages still get responses, and nothing is written. */
let isUnregistering = false;
let pendingDeletion: Promise<unknown> = Promise.resolve();
/** The address for which a page has already waited: its copy is shown without another wait. */
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
    else if (offlinePages.endsAccountCache(pathname))
      waitUntil.call(event, deleteCachedPages(offlinePages.cacheNames.own));
  } else if (request.method !== "GET") return;
  else if (request.mode === "navigate") {
    if (!offlinePages.bypassesWorker(pathname))
      respondWith.call(event, respondToNavigation(event as FetchEvent, pathname, search));
  } else if (search === offlinePages.cachedFileQuery)
    respondWith.call(
      event,
      findCopy(pathname + search).then((file) => file ?? Response.error()),
    );
});

/** Deletes the caches of other cache formats. */
async function activateWorker(): Promise<void> {
  for (const name of await caches.keys()) if (!name.startsWith(offlinePages.cacheNames.form)) await caches.delete(name);
  await clients.claim();
}

/** Deletes the caches with a prefix, and all late responses. */
function deleteCachedPages(prefix: string): Promise<void> {
  deletionCount += 1;
  lateResponses.clear();
  const done = offlinePages.deleteCaches(prefix);
  pendingDeletion = Promise.allSettled([pendingDeletion, done]);
  return done;
}

async function unregisterWorker(): Promise<void> {
  isUnregistering = true;
  await deleteCachedPages("");
  await registration.unregister();
}

/** Returns the unexpired copy of an address, the account's first. */
async function findCopy(address: string): Promise<Response | undefined> {
  for (const cacheName of (await caches.keys()).sort()) {
    // `caches.open` would create a cache again that is being deleted.
    const copy = await caches.match(address, { ignoreVary: true, cacheName });
    if (copy && !offlinePages.isExpired(copy)) return copy;
  }
  return undefined;
}

/** Returns the text of a copy once the deletions in progress are complete. */
async function readCopyText(address: string): Promise<string | undefined> {
  await pendingDeletion;
  return (await findCopy(address).catch(() => undefined))?.text();
}

/** Returns the response of the network, or an offline copy if none comes in time. */
async function respondToNavigation(event: FetchEvent, pathname: string, search: string): Promise<Response> {
  const address = pathname + search;
  const startCount = deletionCount;
  const wait = urgentPath === address ? 0 : responseTimeout;
  urgentPath = null;
  // No navigation preload: if it fails, Firefox shows its own error page, whatever the worker returns.
  const fresh = fetch(event.request);
  const response = Promise.race([lateResponses.get(address) ?? fresh, fresh]);
  lateResponses.delete(address);
  const timeout = new Promise<null>((resolve) => setTimeout(resolve, wait, null));
  const network = response.catch(() => null);
  // A browser that rejects storage has only the network.
  const copy = findCopy(address).catch(() => undefined);
  const arrived = (await Promise.race([network, timeout])) ?? ((await copy) ? null : await network);
  if (arrived) {
    if (arrived.ok && offlinePages.isAuthPage(pathname))
      event.waitUntil(deleteCachedPages(offlinePages.cacheNames.own));
    event.waitUntil(runDailyCheck());
    return arrived;
  }
  const found = await readCopyText(address);
  const page = found ?? (await readCopyText(offlinePages.fallbackPagePath));
  if (page === undefined) return response;
  event.waitUntil(notifyWhenFetched(event, address, response, startCount));
  if (found !== undefined) return createCopyResponse(found, 200);
  const list = await listCachedPages();
  // A function, because names may contain replacement patterns such as `$&`.
  return createCopyResponse(
    page.replace("<!--pages-->", () => list),
    503,
  );
}

/** Notifies an offline copy that the response of its page has come: the copy reloads and gets it. */
async function notifyWhenFetched(
  { resultingClientId }: FetchEvent,
  address: string,
  response: Promise<Response>,
  startCount: number,
): Promise<void> {
  const buffered = response.then(bufferResponse);
  const forget = () => lateResponses.get(address) === buffered && lateResponses.delete(address);
  if (startCount === deletionCount) lateResponses.set(address, buffered);
  try {
    await buffered;
    setTimeout(forget, 30_000);
    (await clients.get(resultingClientId))?.postMessage("");
  } catch {
    forget();
  }
}

/** Returns the response with its body in memory: a network body ends with its event. A redirect has none. */
async function bufferResponse(response: Response): Promise<Response> {
  return response.type === "opaqueredirect" ? response : new Response(await response.blob(), response);
}

/** Returns the HTML of links to all offline copies, the newest first. */
async function listCachedPages(): Promise<string> {
  const found = new Map<string, { name: string; time: number }>();
  for (const name of (await caches.keys()).sort()) {
    const cache = await caches.open(name);
    const copies = await cache.matchAll();
    for (const [index, { url }] of (await cache.keys()).entries()) {
      const { pathname, search } = new URL(url);
      const copy = copies[index];
      const title = copy?.headers.get("name");
      if (copy && title && !offlinePages.isExpired(copy) && !found.has(pathname + search))
        found.set(pathname + search, { name: decodeURIComponent(title), time: offlinePages.getAge(copy) });
    }
  }
  return [...found]
    .sort(([, one], [, other]) => one.time - other.time)
    .map(([address, { name }]) => `<li><a href="${address.replaceAll("&", "&amp;")}">${name}</a></li>`)
    .join("");
}

/** Returns an offline copy as a response, with its time, its date unless that is today, and the retry script. */
function createCopyResponse(html: string, status: number): Response {
  const text = html.replace(/<!--(\d\S+)\|(.*?)\|(.*?)-->/, (_, copiedAt, time, dateAndTime) =>
    getDayNumber(Date.parse(copiedAt)) === getDayNumber(Date.now()) ? time : dateAndTime,
  );
  return new Response(`${text}<script>${__RETRY__}</script>`, {
    status,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Cache-Control": "no-store",
      "Referrer-Policy": "strict-origin-when-cross-origin",
      "X-Content-Type-Options": "nosniff",
      "Content-Security-Policy": `default-src 'none'; script-src '${__RETRY_HASH__}'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'`,
    },
  });
}

/** Returns days since 1970 in East Africa Time, UTC+3. */
const getDayNumber = (time: number) => Math.floor((time + 3 * 3_600_000) / offlinePages.dayMs);

/** Once a day, deletes expired copies, and unregisters the worker if the site has none any more. */
async function runDailyCheck(): Promise<void> {
  if (isUnregistering) return;
  const cache = await caches.open(offlinePages.cacheNames.worker);
  const lastCheck = await cache.match("/worker.js");
  if (lastCheck && offlinePages.getAge(lastCheck) < offlinePages.dayMs) return;
  await offlinePages.deleteExpiredCopies();
  const { status } = await fetch("/worker.js", { cache: "no-cache" });
  if (status === 404 || status === 410) await unregisterWorker();
  else if (!isUnregistering)
    await cache.put("/worker.js", new Response(__BUILD__, { headers: { time: `${Date.now()}` } }));
}
