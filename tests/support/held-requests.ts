/** Delays scripts and forms of a page. */
import type { Page, Route } from "@playwright/test";

/**
 * Delays all scripts, or all scripts with this name. The returned function releases the delayed and all later scripts.
 */
export async function holdScripts(page: Page, name = "*"): Promise<() => Promise<void>> {
  return holdRequests(page, `**/assets/${name}.js`, () => true);
}

/** Delays form submissions by script. `release` lets them continue. `sent` returns their number. */
export async function holdForms(page: Page) {
  let count = 0;
  const release = await holdRequests(page, "**/*.data*", (route) => {
    const isForm = route.request().method() === "POST";
    if (isForm) count += 1;
    return isForm;
  });
  return { release, sent: () => count };
}

async function holdRequests(page: Page, url: string, isHeld: (route: Route) => boolean): Promise<() => Promise<void>> {
  const held: Route[] = [];
  let open = false;
  await page.route(url, (route) => {
    if (isHeld(route) && !open) held.push(route);
    else return route.continue();
  });
  return async () => {
    open = true;
    // Ignores the error of `continue` for a request of a page that the browser has left.
    await Promise.all(held.splice(0).map((route) => route.continue().catch(() => {})));
  };
}
