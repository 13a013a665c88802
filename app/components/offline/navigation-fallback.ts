import { createPath } from "react-router";
import type { Toast } from "~/lib/http/toast";
import { showToast } from "../ui/toast-state";
import { cancelNavigation, lostRequestCount, router } from "./connection-lost";

/** `responseTimeout` in app/worker/worker.ts must be the same number of milliseconds. */
const responseTimeout = 5000;
const workerReplyTimeout = 250;
const [minRetryDelay, maxRetryDelay] = [5000, 5 * 60_000];

let handledLossCount = lostRequestCount;
let requestedPath: string | null = null;
let linkPath: string | null = null;
let lostPath: string | null = null;
let responseTimer: ReturnType<typeof setTimeout> | undefined;
let retryController = new AbortController();

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
  // Typing cancels a pending navigation, so that the typed text is not lost.
  document.addEventListener("input", () => {
    retryController.abort();
    if (!linkPath) return;
    clearTimeout(responseTimer);
    linkPath = null;
    void cancelNavigation();
  });
}

async function handleResponseTimeout(path: string): Promise<void> {
  const link = linkPath;
  const isCurrent = () => requestedPath === path && linkPath === link;
  if ((link && (await openOfflineCopy(path, isCurrent))) || !isCurrent()) return;
  showToast(getSlowResponseToast());
}

function getSlowResponseToast(): Toast {
  const nextStep = linkPath ? "The next page is still loading." : "Our server has not responded yet. Please wait.";
  return {
    title: "Slow connection",
    description: nextStep,
    variant: "destructive",
    action: linkPath ? { label: "Stay on this page", to: "#main" } : undefined,
    lastsForNavigation: true,
  };
}

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

/** Returns false if the page has no offline copy or the navigation has ended. */
async function openOfflineCopy(path: string, isCurrent: () => boolean): Promise<boolean> {
  const worker = navigator.serviceWorker?.controller;
  const copy = worker && (await caches.match(path, { ignoreVary: true }).catch(() => null));
  if (!worker || !copy || !isCurrent()) return false;
  const { port1, port2 } = new MessageChannel();
  const workerReply = new Promise((resolve) => {
    port1.onmessage = resolve;
    setTimeout(resolve, workerReplyTimeout);
  });
  worker.postMessage(path, [port2]);
  // A service worker that knows `path` opens the offline copy without waiting for the network.
  await workerReply;
  if (!isCurrent()) {
    worker.postMessage(null);
    return false;
  }
  location.assign(path);
  return true;
}

function waitForRetry(length: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const go = () => resolve();
    setTimeout(go, length);
    addEventListener("online", go, { once: true, signal });
    signal?.addEventListener("abort", go);
  });
}

async function isSiteReachable(): Promise<boolean> {
  const response = await fetch("/healthz", { cache: "no-store" }).catch(() => null);
  return response !== null && response.status < 500;
}
