/** A link that gets no answer: the copy of its page where there is one, or the page itself once there is a connection. */
import { createPath } from "react-router";
import { losses, router } from "../lost-connection";

/** How long an answer may take before a copy is shown, in milliseconds; the worker waits as long. */
const patience = 5000;
/** How long to wait before asking whether the site answers again, in milliseconds: at first, and at most. */
const [first, most] = [5000, 5 * 60_000];

let counted = losses;
let wanted: string | null = null;
let lost: string | null = null;
let waiting = new AbortController();

/** Follows what the router does, as long as the document lives. */
export function goOn(): void {
  router.subscribe(({ navigation, location }) => {
    const { state, formMethod } = navigation;
    if (losses > counted) {
      counted = losses;
      lost = wanted;
    }
    if (state === "idle") {
      if (lost) void open(lost);
      lost = wanted = null;
      return;
    }
    const path = createPath({ ...navigation.location, hash: "" });
    if (path === wanted || lost) return;
    waiting.abort();
    const isLink = state === "loading" && !formMethod && path !== createPath({ ...location, hash: "" });
    wanted = isLink ? path : null;
    if (isLink) void openLate(path);
  });
  // Who writes meanwhile stays.
  document.addEventListener("input", () => waiting.abort());
}

/** The copy of a page whose answer takes too long. */
async function openLate(path: string): Promise<void> {
  await pause(patience);
  if (wanted === path && !lost) await openKept(path);
}

/** Opens a page that got no answer: its copy, or itself once the site answers. */
async function open(path: string): Promise<void> {
  waiting.abort();
  waiting = new AbortController();
  const { signal } = waiting;
  if (await openKept(path)) return;
  for (let length = first; !signal.aborted; length = Math.min(2 * length, most)) {
    await pause(length, signal);
    if (!signal.aborted && (await isThere())) break;
  }
  if (!signal.aborted) void router.navigate(path);
}

/** Goes to the copy of a page as to a document, which the worker then answers; false when there is none. */
async function openKept(path: string): Promise<boolean> {
  const worker = navigator.serviceWorker?.controller;
  const copy = worker && (await caches.match(path, { ignoreVary: true }).catch(() => null));
  if (!worker || !copy) return false;
  worker.postMessage(path);
  location.assign(path);
  return true;
}

/** Waits, or until the browser says that there is a connection. */
function pause(length: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const go = () => resolve();
    setTimeout(go, length);
    addEventListener("online", go, { once: true, signal });
    signal?.addEventListener("abort", go);
  });
}

async function isThere(): Promise<boolean> {
  const answer = await fetch("/healthz", { cache: "no-store" }).catch(() => null);
  return answer !== null && answer.status < 500;
}
