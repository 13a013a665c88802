import type { SiteData } from "../site/site-data";
import { renderedState, router } from "./connection-lost";
import { startNavigationFallback } from "./navigation-fallback";
import { updateOfflineCache } from "./offline-cache";

/** Milliseconds. */
const settleDelay = 1500;

let isStarted = false;
let saveTimer: ReturnType<typeof setTimeout> | undefined;

export function startOffline(): void {
  // A document that shows only an error has no router.
  if (isStarted || !import.meta.env.PROD || !router) return;
  isStarted = true;
  startNavigationFallback();
  router.subscribe(scheduleSave);
  // A page from the back/forward cache may show another theme or an old stage.
  addEventListener("pageshow", ({ persisted }) => persisted && navigator.onLine && router.revalidate());
  scheduleSave();
}

function scheduleSave(): void {
  clearTimeout(saveTimer);
  saveTimer = setTimeout(savePage, settleDelay);
}

function savePage(): void {
  // The URL has changed, but the previous page is still shown. Errors are not copied.
  if (renderedState !== router.state && !router.state.errors) {
    scheduleSave();
    return;
  }
  const { navigation, revalidation, errors, actionData, loaderData } = router.state;
  const site = loaderData.root as SiteData | undefined;
  if (navigation.state !== "idle" || revalidation !== "idle" || !site || site.lite) return;
  const loaded = Object.values(loaderData) as { accountId?: string; toast?: object | null }[];
  const accountId = loaded.find((data) => data?.accountId)?.accountId ?? "";
  // A page with an error shows its own toast. The root's toast is about an earlier action.
  const isWhole = !errors && !actionData && !loaded.some((data) => data !== (site as object) && data?.toast);
  updateOfflineCache({ site, accountId, isWhole }).catch(() => {});
}
