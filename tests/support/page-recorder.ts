/** Watches what a page does, and holds back answers that it waits for. */
import type { Page, Route } from "@playwright/test";

declare global {
  interface Window {
    heard: { region: Element; words: string }[];
    mails: string[];
    violations: string[];
  }
}

/** Begins to write down what live regions say once a page has been parsed; before its first visit. */
export async function recordLiveRegions(page: Page): Promise<void> {
  await page.addInitScript(() => {
    window.heard = [];
    document.addEventListener("DOMContentLoaded", () => {
      new MutationObserver((changes) => {
        for (const { target, addedNodes } of changes) {
          for (const node of [target, ...addedNodes]) {
            const element = node instanceof Element ? node : node.parentElement;
            const live = element?.closest("[aria-live], [role=status], [role=alert]");
            const words = live?.textContent?.replace(/\s+/g, " ").trim();
            const last = window.heard.findLast(({ region }) => region === live);
            if (live && words && last?.words !== words) window.heard.push({ region: live, words });
          }
        }
      }).observe(document, { childList: true, characterData: true, subtree: true });
    });
  });
}

/** What live regions said, in order. */
export function readLiveRegions(page: Page): Promise<string[]> {
  return page.evaluate(() => window.heard.map(({ words }) => words));
}

/** Begins to write down which mails are opened by script, and opens none; before the first visit. */
export async function interceptEmailDrafts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    window.mails = [];
    HTMLAnchorElement.prototype.click = function () {
      window.mails.push(this.href);
    };
  });
}

/** The mails that were opened: to whom, about what, and the words. */
export async function readEmailDrafts(page: Page) {
  const opened = await page.evaluate(() => window.mails);
  return opened.map((href) => {
    const { pathname, searchParams } = new URL(href);
    return { to: pathname, subject: searchParams.get("subject") ?? "", body: searchParams.get("body") ?? "" };
  });
}

/** Begins to write down what the content security policy refuses; before the first visit. */
export async function recordCspViolations(page: Page): Promise<void> {
  await page.addInitScript(() => {
    window.violations = [];
    document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
      window.violations.push(`${violatedDirective}: ${blockedURI}`),
    );
  });
}

/** Holds back every script, or those of a name. Returns how to let them through, those that follow too. */
export async function holdScripts(page: Page, name = "*"): Promise<() => Promise<void>> {
  return holdRequests(page, `**/assets/${name}.js`, () => true);
}

/** Holds back the answers to forms that script sends. Returns how to let them through, and how many were sent. */
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
    // A page that was left has no use for its answers.
    await Promise.all(held.splice(0).map((route) => route.continue().catch(() => {})));
  };
}
