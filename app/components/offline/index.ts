import type { SiteData } from "../site/site-data";
import { renderedState, router } from "./connection-lost";
import { startNavigationFallback } from "./navigation-fallback";
import { updateOfflineCache } from "./offline-cache";

const settleDelayMs = 1500;

let isStarted = false;
let saveTimer: ReturnType<typeof setTimeout> | undefined;

export function startOffline(): void {
  // RootOutlet sets `router`. The error page of the root route does not render RootOutlet.
  if (isStarted || !import.meta.env.PROD || !router) return;
  isStarted = true;
  startNavigationFallback();
  router.subscribe(scheduleSave);
  // A page from the back/forward cache may show an outdated theme or shipment stage.
  addEventListener("pageshow", ({ persisted }) => persisted && navigator.onLine && router.revalidate());
  scheduleSave();
}

function scheduleSave(): void {
  clearTimeout(saveTimer);
  saveTimer = setTimeout(savePage, settleDelayMs);
}

function savePage(): void {
  // `router.state` can describe the next page while React still shows the previous page.
  if (renderedState !== router.state && !router.state.errors) {
    scheduleSave();
    return;
  }
  const { navigation, revalidation, errors, actionData, loaderData } = router.state;
  const site = loaderData.root as SiteData | undefined;
  if (navigation.state !== "idle" || revalidation !== "idle" || !site || site.lite) return;
  const loaded = Object.values(loaderData) as { accountHash?: string; toast?: object | null }[];
  const accountHash = loaded.find((data) => data?.accountHash)?.accountHash ?? "";
  // A toast from a page's loader means that a part of the page failed to load. A toast from the root loader reports an
  // earlier action.
  const isWhole = !errors && !actionData && !loaded.some((data) => data !== (site as object) && data?.toast);
  updateOfflineCache({ site, accountHash, isWhole }).catch(() => {});
}
