/**
 * A link that gets no answer: the copy of its page where there is one, or the page itself once there is a connection. Of an
 * answer that is late the person hears, and may stay.
 */
import { createPath } from "react-router";
import type { Toast } from "~/lib/flash";
import { showToast } from "../flash";
import { losses, router, stay } from "../lost-connection";

/** How long an answer may take before a copy is shown, or said that none came yet, in milliseconds; the worker waits as long. */
const patience = 5000;
/** How long the worker may take to hear that a copy is wanted, in milliseconds. */
const prompt = 250;
/** How long to wait before asking whether the site answers again, in milliseconds: at first, and at most. */
const [first, most] = [5000, 5 * 60_000];

let counted = losses;
let asked: string | null = null;
let wanted: string | null = null;
let lost: string | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
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
      clearTimeout(timer);
      if (lost) void open(lost);
      lost = wanted = asked = null;
      return;
    }
    const path = createPath({ ...navigation.location, hash: "" });
    if (path === asked || lost) return;
    asked = path;
    waiting.abort();
    clearTimeout(timer);
    const isLink = state === "loading" && !formMethod && path !== createPath({ ...location, hash: "" });
    wanted = isLink ? path : null;
    timer = setTimeout(late, patience, path);
  });
  // Who writes meanwhile stays.
  document.addEventListener("input", () => {
    waiting.abort();
    if (!wanted) return;
    clearTimeout(timer);
    wanted = null;
    void stay();
  });
}

/** What takes too long: the copy of a page, or that no answer has come yet. */
async function late(path: string): Promise<void> {
  const link = wanted;
  const isAsked = () => asked === path && wanted === link;
  if ((link && (await openKept(path, isAsked))) || !isAsked()) return;
  showToast(notYet());
}

/** Said of a link, which is still followed and may be left, and of a form. */
function notYet(): Toast {
  const what = wanted ? "The next page opens as soon as it comes" : "This page stays as it is until an answer comes";
  return {
    title: "No answer yet",
    description: `The line is slow or gone. ${what}.`,
    variant: "destructive",
    action: wanted ? { label: "Stay on this page", to: "#main" } : undefined,
    isOfNavigation: true,
  };
}

/** Opens a page that got no answer: its copy, or itself once the site answers. */
async function open(path: string): Promise<void> {
  waiting.abort();
  waiting = new AbortController();
  const { signal } = waiting;
  if (await openKept(path, () => !signal.aborted)) return;
  for (let length = first; !signal.aborted; length = Math.min(2 * length, most)) {
    await pause(length, signal);
    if (!signal.aborted && (await isThere())) break;
  }
  if (!signal.aborted) void router.navigate(path);
}

/**
 * Goes to the copy of a page as to a document, which the worker then answers; false when there is none, or when the page has
 * come, or nobody asks for it any more, in the meantime.
 */
async function openKept(path: string, isAsked: () => boolean): Promise<boolean> {
  const worker = navigator.serviceWorker?.controller;
  const copy = worker && (await caches.match(path, { ignoreVary: true }).catch(() => null));
  if (!worker || !copy || !isAsked()) return false;
  const { port1, port2 } = new MessageChannel();
  const heard = new Promise((resolve) => {
    port1.onmessage = resolve;
    setTimeout(resolve, prompt);
  });
  worker.postMessage(path, [port2]);
  // Before the worker has heard of it, it would wait for the page once more.
  await heard;
  if (!isAsked()) {
    worker.postMessage(null);
    return false;
  }
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
