/** What a page does for when the connection is lost. Imported when the browser is idle. */

import type { SiteData } from "../site/site-data";
import { renderedState, router } from "./connection-lost";
import { startNavigationFallback } from "./navigation-fallback";
import { updateOfflineCache } from "./offline-cache";

/** How long a page has to stand before it is kept, in milliseconds: what follows its arrival is over then. */
const settleDelay = 1500;

let isStarted = false;
let saveTimer: ReturnType<typeof setTimeout> | undefined;

/** Begins, once in a document. */
export function startOffline(): void {
  // A page that is only an error has no router.
  if (isStarted || !import.meta.env.PROD || !router) return;
  isStarted = true;
  startNavigationFallback();
  router.subscribe(scheduleSave);
  // A page of the browser's memory is as it was left: it may have another theme and another stage by now.
  addEventListener("pageshow", ({ persisted }) => persisted && navigator.onLine && router.revalidate());
  scheduleSave();
}

function scheduleSave(): void {
  clearTimeout(saveTimer);
  saveTimer = setTimeout(savePage, settleDelay);
}

function savePage(): void {
  // What stands under this address is the page before it yet; of an error nothing is copied.
  if (renderedState !== router.state && !router.state.errors) {
    scheduleSave();
    return;
  }
  const { navigation, revalidation, errors, actionData, loaderData } = router.state;
  const site = loaderData.root as SiteData | undefined;
  if (navigation.state !== "idle" || revalidation !== "idle" || !site || site.lite) return;
  const loaded = Object.values(loaderData) as { accountId?: string; toast?: object | null }[];
  const accountId = loaded.find((data) => data?.accountId)?.accountId ?? "";
  // A page in trouble says so in a toast of its own; that of the root is about what went before.
  const isWhole = !errors && !actionData && !loaded.some((data) => data !== (site as object) && data?.toast);
  updateOfflineCache({ site, accountId, isWhole }).catch(() => {});
}
