/** Delays the requests by which a page loads scripts or sends forms. */
import type { Page, Route } from "@playwright/test";

/**
 * Delays the requests for all scripts, or for the scripts whose file name matches `name`. The returned function
 * releases the delayed requests and ends the delay.
 */
export async function holdScripts(page: Page, name = "*"): Promise<() => Promise<void>> {
  return holdRequests(page, `**/assets/${name}.js`, () => true);
}

/**
 * Delays the requests by which JavaScript sends forms. The returned `release` lets the delayed requests continue.
 * `sent` returns the number of delayed requests.
 */
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
    // `continue` fails if the browser has left the page of the request. This error does not matter.
    await Promise.all(held.splice(0).map((route) => route.continue().catch(() => {})));
  };
}
