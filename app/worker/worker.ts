import { cacheNames, deleteCaches } from "../components/offline/cache-names.ts";
import * as offlinePages from "../components/offline/offline-pages.ts";

type FetchEvent = Event & {
  request: Request;
  resultingClientId: string;
  respondWith: (response: Promise<Response>) => void;
  waitUntil: (work: Promise<unknown>) => void;
};
type OpenPage = Pick<MessagePort, "postMessage"> & { url: string; navigate: (address: string) => Promise<unknown> };
type ServiceWorkerScope = {
  skipWaiting: () => Promise<void>;
  clients: {
    claim: () => Promise<void>;
    get: (id: string) => Promise<OpenPage | undefined>;
    matchAll: () => Promise<OpenPage[]>;
  };
  registration: ServiceWorkerRegistration;
};
const { clients, registration, skipWaiting } = self as unknown as ServiceWorkerScope;

declare const __BUILD__: string;
declare const __RETRY__: string;
declare const __RETRY_HASH__: string;

const responseTimeout = 5000;
const { own } = cacheNames;
const accountPages = /^\/(portal|desk)\b/;

/** Responses that arrive after the offline copy was shown. The next request for the same URL gets the response. */
const lateResponses = new Map<string, Promise<Response>>();
/** Counts cache deletions, so that `lateResponses` gets no response that was requested before a deletion. */
let deletionCount = 0;
let isUnregistering = false;
let awaitsLoginPage = false;
let pendingDeletion: Promise<unknown> = Promise.resolve();
/** The worker shows the copy of this path without delay, because the current page has already waited for a response. */
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
    else if (offlinePages.endsAccountCache(pathname)) {
      awaitsLoginPage = pathname.startsWith("/portal/sign-out");
      waitUntil.call(event, deleteCachedPages(own));
    }
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

async function activateWorker(): Promise<void> {
  for (const name of await caches.keys()) if (!name.startsWith(cacheNames.form)) await caches.delete(name);
  await recordCheck();
  await clients.claim();
}

async function recordCheck(): Promise<void> {
  const cache = await caches.open(cacheNames.worker);
  await cache.put("/worker.js", new Response(__BUILD__, { headers: { time: `${Date.now()}` } }));
}

function deleteCachedPages(prefix: string): Promise<void> {
  deletionCount += 1;
  lateResponses.clear();
  const done = deleteCaches(prefix);
  pendingDeletion = Promise.allSettled([pendingDeletion, done]);
  return done;
}

async function unregisterWorker(): Promise<void> {
  isUnregistering = true;
  await deleteCachedPages("");
  await registration.unregister();
}

async function findCopy(address: string): Promise<Response | undefined> {
  for (const cacheName of (await caches.keys()).sort()) {
    // Uses `caches.match`, because `caches.open` would recreate a cache that is being deleted.
    const copy = await caches.match(address, { ignoreVary: true, cacheName });
    if (copy && !offlinePages.isExpired(copy)) return copy;
  }
  return undefined;
}

async function readCopyText(address: string): Promise<string | undefined> {
  await pendingDeletion;
  return (await findCopy(address).catch(() => undefined))?.text();
}

async function respondToNavigation(event: FetchEvent, pathname: string, search: string): Promise<Response> {
  const address = pathname + search;
  const startCount = deletionCount;
  const wait = urgentPath === address ? 0 : responseTimeout;
  urgentPath = null;
  // Navigation preload is off. After a failed preload, Firefox shows its own error page, not the worker's response.
  const fresh = fetch(event.request);
  const response = Promise.race([lateResponses.get(address) ?? fresh, fresh]);
  lateResponses.delete(address);
  const timeout = new Promise<null>((resolve) => setTimeout(resolve, wait, null));
  const network = response.catch(() => null);
  const copy = findCopy(address).catch(() => undefined);
  const networkResponse = (await Promise.race([network, timeout])) ?? ((await copy) ? null : await network);
  if (networkResponse) {
    if (networkResponse.ok && offlinePages.isAuthPage(pathname)) {
      event.waitUntil(deleteCachedPages(own));
      if (awaitsLoginPage) event.waitUntil(closeAccountPages(event));
      awaitsLoginPage = false;
    }
    event.waitUntil(runDailyCheck());
    return networkResponse;
  }
  // Lists the accounts before reading a copy, because a deletion may follow at any time.
  const accounts = (await caches.keys().catch(() => []))
    .filter((name) => name.startsWith(own))
    .map((name) => name.slice(own.length));
  const copyText = await readCopyText(address);
  const page = copyText ?? (await readCopyText(offlinePages.fallbackPagePath));
  if (page === undefined) return response;
  event.waitUntil(notifyWhenFetched(event, address, response, startCount));
  if (copyText !== undefined) return createCopyResponse(copyText, 200, accounts);
  const list = await listCachedPages();
  return createCopyResponse(
    page.replace("<!--pages-->", () => list),
    503,
    accounts,
  );
}

async function closeAccountPages({ resultingClientId }: FetchEvent): Promise<void> {
  // Waits until the tab that signed out shows its next page. `matchAll` then omits the tab's account page.
  await clients.get(resultingClientId);
  for (const page of await clients.matchAll())
    if (accountPages.test(new URL(page.url).pathname)) page.navigate("/login").catch(() => {});
}

async function notifyWhenFetched(
  { resultingClientId }: FetchEvent,
  address: string,
  response: Promise<Response>,
  startCount: number,
): Promise<void> {
  const buffered = response.then(bufferResponse);
  const removeLateResponse = () => lateResponses.get(address) === buffered && lateResponses.delete(address);
  if (startCount === deletionCount) lateResponses.set(address, buffered);
  try {
    await buffered;
    setTimeout(removeLateResponse, 30_000);
    (await clients.get(resultingClientId))?.postMessage("");
  } catch {
    removeLateResponse();
  }
}

/** Reads the body into memory, because the browser cancels the body's stream when the fetch event ends. */
async function bufferResponse(response: Response): Promise<Response> {
  return response.type === "opaqueredirect" ? response : new Response(await response.blob(), response);
}

async function listCachedPages(): Promise<string> {
  const pages = new Map<string, { name: string; time: number }>();
  for (const name of (await caches.keys()).sort()) {
    const cache = await caches.open(name);
    const copies = await cache.matchAll();
    for (const [index, { url }] of (await cache.keys()).entries()) {
      const { pathname, search } = new URL(url);
      const copy = copies[index];
      const title = copy?.headers.get("name");
      if (copy && title && !offlinePages.isExpired(copy) && !pages.has(pathname + search))
        pages.set(pathname + search, { name: decodeURIComponent(title), time: offlinePages.getAge(copy) });
    }
  }
  return [...pages]
    .sort(([, first], [, second]) => first.time - second.time)
    .map(([address, { name }]) => `<li><a href="${address.replaceAll("&", "&amp;")}">${name}</a></li>`)
    .join("");
}

function createCopyResponse(html: string, status: number, accounts: string[]): Response {
  const script = `<script data-accounts="${accounts}">${__RETRY__}</script>`;
  const text = html.replace(/<!--(\d\S+)\|(.*?)\|(.*?)-->/, (_, copiedAt, time, dateAndTime) =>
    getDayNumber(Date.parse(copiedAt)) === getDayNumber(Date.now()) ? time : dateAndTime,
  );
  const page = text.replace("<head>", () => `<head>${script}`);
  return new Response(page, {
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

/** Returns the number of days since 1 January 1970, counted in East Africa Time (UTC+3). `time` is in milliseconds. */
const getDayNumber = (time: number) => Math.floor((time + 3 * 3_600_000) / offlinePages.dayMs);

/** Deletes expired copies, and unregisters the worker if the site no longer has the file worker.js. */
async function runDailyCheck(): Promise<void> {
  if (isUnregistering) return;
  const cache = await caches.open(cacheNames.worker);
  const lastCheck = await cache.match("/worker.js");
  if (lastCheck && offlinePages.getAge(lastCheck) < offlinePages.dayMs) return;
  await offlinePages.deleteExpiredCopies();
  const { status } = await fetch("/worker.js", { cache: "no-cache" });
  if (status === 404 || status === 410) await unregisterWorker();
  else if (!isUnregistering) await recordCheck();
}
