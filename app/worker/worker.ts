/**
 * The service worker, at /worker.js: where a page gets no answer, the copy that the browser kept of it. Copies are made by the
 * pages themselves (components/no-line), ready to be shown.
 */
import * as kept from "../lib/kept-pages.ts";

type FetchEvent = Event & {
  request: Request;
  resultingClientId: string;
  respondWith: (answer: Promise<Response>) => void;
  waitUntil: (work: Promise<unknown>) => void;
};
type Worker = {
  skipWaiting: () => Promise<void>;
  clients: { claim: () => Promise<void>; get: (id: string) => Promise<Pick<MessagePort, "postMessage"> | undefined> };
  registration: ServiceWorkerRegistration;
};
const { clients, registration, skipWaiting } = self as unknown as Worker;

/** Put in by the build: what a build is known by, the script of a kept page, and its hash. */
declare const __BUILD__: string;
declare const __AGAIN__: string;
declare const __HASH__: string;

/** How long a page may be silent before its copy is shown, in milliseconds. */
const patience = 5000;

/** Answers that were too late for their page: the next request for it gets them. */
const late = new Map<string, Promise<Response>>();
/** How often what was kept was forgotten: an answer that was asked for before is no late one of who comes after. */
let forgets = 0;
/** Whether this worker is the last one: pages that it still has get their answers, and nothing is written. */
let isEnding = false;
/** Resolves once what is being forgotten is gone. */
let forgetting: Promise<unknown> = Promise.resolve();
/** The page that a page waited for in vain already: its copy is shown at once if the line fails again. */
let hurried: unknown;

self.addEventListener("install", () => skipWaiting.call(self));
self.addEventListener("activate", (event) => (event as FetchEvent).waitUntil(begin()));
self.addEventListener("message", ({ data, ports }) => {
  hurried = data;
  ports[0]?.postMessage("");
});
self.addEventListener("fetch", (event) => {
  const { request, respondWith, waitUntil } = event as FetchEvent;
  const { origin, pathname, search } = new URL(request.url);
  if (origin !== location.origin) return;
  if (request.method === "POST") {
    if (pathname === "/resources/lite") waitUntil.call(event, end());
    else if (kept.endsAccount(pathname)) waitUntil.call(event, forget(kept.caches.own));
  } else if (request.method !== "GET") return;
  else if (request.mode === "navigate") {
    if (!kept.passesBy(pathname)) respondWith.call(event, answer(event as FetchEvent, pathname, search));
  } else if (search === kept.keptFile)
    respondWith.call(
      event,
      find(pathname + search).then((file) => file ?? Response.error()),
    );
});

/** A worker that has taken over: nothing of another form is left. */
async function begin(): Promise<void> {
  for (const name of await caches.keys()) if (!name.startsWith(kept.caches.form)) await caches.delete(name);
  await clients.claim();
}

/** Forgets what was kept, and answers that came late or are still to come. */
function forget(beginning: string): Promise<void> {
  forgets += 1;
  late.clear();
  const done = kept.forget(beginning);
  forgetting = Promise.allSettled([forgetting, done]);
  return done;
}

/** Nothing is kept any more, and no worker is left. */
async function end(): Promise<void> {
  isEnding = true;
  await forget("");
  await registration.unregister();
}

/** What was kept for an address, of the account first; nothing that is too old. */
async function find(address: string): Promise<Response | undefined> {
  for (const cacheName of (await caches.keys()).sort()) {
    // Not by opening it: that would make one again that is being deleted.
    const copy = await caches.match(address, { ignoreVary: true, cacheName });
    if (copy && !kept.isOld(copy)) return copy;
  }
  return undefined;
}

/** The text of what is kept for an address now, whatever was found there before something was forgotten. */
async function textOf(address: string): Promise<string | undefined> {
  await forgetting;
  return (await find(address).catch(() => undefined))?.text();
}

/** The answer of the network; where there is none, or none in time, what was kept. */
async function answer(event: FetchEvent, pathname: string, search: string): Promise<Response> {
  const address = pathname + search;
  const begun = forgets;
  const wait = hurried === address ? 0 : patience;
  hurried = null;
  // No navigation preload: where one fails, Firefox shows its own error page, whatever is answered here.
  const fresh = fetch(event.request);
  const asked = Promise.race([late.get(address) ?? fresh, fresh]);
  late.delete(address);
  const silence = new Promise<null>((resolve) => setTimeout(resolve, wait, null));
  const network = asked.catch(() => null);
  // Where storage is refused there is the network alone.
  const copy = find(address).catch(() => undefined);
  const come = (await Promise.race([network, silence])) ?? ((await copy) ? null : await network);
  if (come) {
    if (come.ok && kept.isDoor(pathname)) event.waitUntil(forget(kept.caches.own));
    event.waitUntil(check());
    return come;
  }
  const found = await textOf(address);
  const page = found ?? (await textOf(kept.noPage));
  if (page === undefined) return asked;
  event.waitUntil(tellLater(event, address, asked, begun));
  if (found !== undefined) return shown(found, 200);
  const list = await listed();
  // A function, as names may have what a replacement reads as a pattern.
  return shown(
    page.replace("<!--pages-->", () => list),
    503,
  );
}

/** Tells a kept page when the answer that it stands for came after all: it loads again, and gets that one. */
async function tellLater(
  { resultingClientId }: FetchEvent,
  address: string,
  asked: Promise<Response>,
  begun: number,
): Promise<void> {
  const whole = asked.then(wholeOf);
  const drop = () => late.get(address) === whole && late.delete(address);
  if (begun === forgets) late.set(address, whole);
  try {
    await whole;
    setTimeout(drop, 30_000);
    (await clients.get(resultingClientId))?.postMessage("");
  } catch {
    drop();
  }
}

/** An answer with its body in memory: that of the network ends with the event that asked for it. A redirect has none. */
async function wholeOf(answer: Response): Promise<Response> {
  return answer.type === "opaqueredirect" ? answer : new Response(await answer.blob(), answer);
}

/** Links to the pages that are kept, the newest first. */
async function listed(): Promise<string> {
  const found = new Map<string, { name: string; time: number }>();
  for (const name of (await caches.keys()).sort()) {
    const cache = await caches.open(name);
    const copies = await cache.matchAll();
    for (const [at, { url }] of (await cache.keys()).entries()) {
      const { pathname, search } = new URL(url);
      const copy = copies[at];
      const title = copy?.headers.get("name");
      if (copy && title && !kept.isOld(copy) && !found.has(pathname + search))
        found.set(pathname + search, { name: decodeURIComponent(title), time: kept.ageOf(copy) });
    }
  }
  return [...found]
    .sort(([, one], [, other]) => one.time - other.time)
    .map(([address, { name }]) => `<li><a href="${address.replaceAll("&", "&amp;")}">${name}</a></li>`)
    .join("");
}

/** A kept page as it is shown: its time with the day when that is not today's, and with the script that ends it. */
function shown(html: string, status: number): Response {
  const text = html.replace(/<!--(\d\S+)\|(.*?)\|(.*?)-->/, (_, made, time, day) =>
    dayOf(Date.parse(made)) === dayOf(Date.now()) ? time : day,
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
const dayOf = (time: number) => Math.floor((time + 3 * 3_600_000) / kept.day);

/** Once a day: what is too old is deleted, and where the site has no worker any more, this one ends. */
async function check(): Promise<void> {
  if (isEnding) return;
  const cache = await caches.open(kept.caches.worker);
  const last = await cache.match("/worker.js");
  if (last && kept.ageOf(last) < kept.day) return;
  await kept.forgetOld();
  const { status } = await fetch("/worker.js", { cache: "no-cache" });
  if (status === 404 || status === 410) await end();
  else if (!isEnding) await cache.put("/worker.js", new Response(__BUILD__, { headers: { time: `${Date.now()}` } }));
}
