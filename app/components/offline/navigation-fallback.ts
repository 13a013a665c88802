/**
 * A link that gets no answer: the copy of its page where there is one, or the page itself once there is a connection. Of an
 * answer that is late the person hears, and may stay.
 */
import { createPath } from "react-router";
import type { Toast } from "~/lib/http/toast";
import { showToast } from "../ui/toast-state";
import { cancelNavigation, lostRequestCount, router } from "./connection-lost";

/** How long an answer may take before a copy is shown, or said that none came yet, in milliseconds; the worker waits as long. */
const responseTimeout = 5000;
/** How long the worker may take to hear that a copy is wanted, in milliseconds. */
const workerReplyTimeout = 250;
/** How long to wait before asking whether the site answers again, in milliseconds: at first, and at most. */
const [minRetryDelay, maxRetryDelay] = [5000, 5 * 60_000];

let handledLossCount = lostRequestCount;
let requestedPath: string | null = null;
let linkPath: string | null = null;
let lostPath: string | null = null;
let responseTimer: ReturnType<typeof setTimeout> | undefined;
let retryController = new AbortController();

/** Follows what the router does, as long as the document lives. */
export function startNavigationFallback(): void {
  router.subscribe(({ navigation, location }) => {
    const { state, formMethod } = navigation;
    if (lostRequestCount > handledLossCount) {
      handledLossCount = lostRequestCount;
      lostPath = linkPath;
    }
    if (state === "idle") {
      clearTimeout(responseTimer);
      if (lostPath) void openUnreachablePage(lostPath);
      lostPath = linkPath = requestedPath = null;
      return;
    }
    const path = createPath({ ...navigation.location, hash: "" });
    if (path === requestedPath || lostPath) return;
    requestedPath = path;
    retryController.abort();
    clearTimeout(responseTimer);
    const isLink = state === "loading" && !formMethod && path !== createPath({ ...location, hash: "" });
    linkPath = isLink ? path : null;
    responseTimer = setTimeout(handleResponseTimeout, responseTimeout, path);
  });
  // Who writes meanwhile stays.
  document.addEventListener("input", () => {
    retryController.abort();
    if (!linkPath) return;
    clearTimeout(responseTimer);
    linkPath = null;
    void cancelNavigation();
  });
}

/** What takes too long: the copy of a page, or that no answer has come yet. */
async function handleResponseTimeout(path: string): Promise<void> {
  const link = linkPath;
  const isAsked = () => requestedPath === path && linkPath === link;
  if ((link && (await openOfflineCopy(path, isAsked))) || !isAsked()) return;
  showToast(getSlowResponseToast());
}

/** Said of a link, which is still followed and may be left, and of a form. */
function getSlowResponseToast(): Toast {
  const what = linkPath ? "The next page opens as soon as it comes" : "This page stays as it is until an answer comes";
  return {
    title: "No answer yet",
    description: `The line is slow or gone. ${what}.`,
    variant: "destructive",
    action: linkPath ? { label: "Stay on this page", to: "#main" } : undefined,
    lastsForNavigation: true,
  };
}

/** Opens a page that got no answer: its copy, or itself once the site answers. */
async function openUnreachablePage(path: string): Promise<void> {
  retryController.abort();
  retryController = new AbortController();
  const { signal } = retryController;
  if (await openOfflineCopy(path, () => !signal.aborted)) return;
  for (let length = minRetryDelay; !signal.aborted; length = Math.min(2 * length, maxRetryDelay)) {
    await waitForRetry(length, signal);
    if (!signal.aborted && (await isSiteReachable())) break;
  }
  if (!signal.aborted) void router.navigate(path);
}

/**
 * Goes to the copy of a page as to a document, which the worker then answers; false when there is none, or when the page has
 * come, or nobody asks for it any more, in the meantime.
 */
async function openOfflineCopy(path: string, isAsked: () => boolean): Promise<boolean> {
  const worker = navigator.serviceWorker?.controller;
  const copy = worker && (await caches.match(path, { ignoreVary: true }).catch(() => null));
  if (!worker || !copy || !isAsked()) return false;
  const { port1, port2 } = new MessageChannel();
  const heard = new Promise((resolve) => {
    port1.onmessage = resolve;
    setTimeout(resolve, workerReplyTimeout);
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
function waitForRetry(length: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const go = () => resolve();
    setTimeout(go, length);
    addEventListener("online", go, { once: true, signal });
    signal?.addEventListener("abort", go);
  });
}

async function isSiteReachable(): Promise<boolean> {
  const answer = await fetch("/healthz", { cache: "no-store" }).catch(() => null);
  return answer !== null && answer.status < 500;
}
