/** What a page does for when the connection is lost. Imported when the browser is idle. */
import { drawn, router } from "../lost-connection";
import type { SiteData } from "../site-data";
import { goOn } from "./go-on";
import { keep } from "./keep";

/** How long a page has to stand before it is kept, in milliseconds: what follows its arrival is over then. */
const settled = 1500;

let isBegun = false;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Begins, once in a document. */
export function begin(): void {
  // A page that is only an error has no router.
  if (isBegun || !import.meta.env.PROD || !router) return;
  isBegun = true;
  goOn();
  router.subscribe(keepSoon);
  // A page of the browser's memory is as it was left: it may have another theme and another stage by now.
  addEventListener("pageshow", ({ persisted }) => persisted && navigator.onLine && router.revalidate());
  keepSoon();
}

function keepSoon(): void {
  clearTimeout(timer);
  timer = setTimeout(keepNow, settled);
}

function keepNow(): void {
  // What stands under this address is the page before it yet; of an error nothing is copied.
  if (drawn !== router.state && !router.state.errors) {
    keepSoon();
    return;
  }
  const { navigation, revalidation, errors, actionData, loaderData } = router.state;
  const site = loaderData.root as SiteData | undefined;
  if (navigation.state !== "idle" || revalidation !== "idle" || !site || site.lite) return;
  const loaded = Object.values(loaderData) as { person?: string; toast?: object | null }[];
  const person = loaded.find((data) => data?.person)?.person ?? "";
  // A page in trouble says so in a toast of its own; that of the root is about what went before.
  const isWhole = !errors && !actionData && !loaded.some((data) => data !== (site as object) && data?.toast);
  keep({ site, person, isWhole }).catch(() => {});
}
