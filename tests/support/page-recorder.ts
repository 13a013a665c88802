/** Records announcements, email drafts and policy violations of a page, and delays scripts and forms. */
import type { Page, Route } from "@playwright/test";

declare global {
  interface Window {
    announcements: { region: Element; text: string }[];
    emailDrafts: string[];
    violations: string[];
  }
}

/** Records the announcements of live regions on every page that is opened after this call. */
export async function recordLiveRegions(page: Page): Promise<void> {
  await page.addInitScript(() => {
    window.announcements = [];
    document.addEventListener("DOMContentLoaded", () => {
      new MutationObserver((changes) => {
        for (const { target, addedNodes } of changes) {
          for (const node of [target, ...addedNodes]) {
            const element = node instanceof Element ? node : node.parentElement;
            const live = element?.closest("[aria-live], [role=status], [role=alert]");
            const text = live?.textContent?.replace(/\s+/g, " ").trim();
            const last = window.announcements.findLast(({ region }) => region === live);
            if (live && text && last?.text !== text) window.announcements.push({ region: live, text });
          }
        }
      }).observe(document, { childList: true, characterData: true, subtree: true });
    });
  });
}

export function readLiveRegions(page: Page): Promise<string[]> {
  return page.evaluate(() => window.announcements.map(({ text }) => text));
}

/** Records the email drafts that script opens on every page after this call. Does not open the drafts. */
export async function interceptEmailDrafts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    window.emailDrafts = [];
    HTMLAnchorElement.prototype.click = function () {
      window.emailDrafts.push(this.href);
    };
  });
}

export async function readEmailDrafts(page: Page) {
  const opened = await page.evaluate(() => window.emailDrafts);
  return opened.map((href) => {
    const { pathname, searchParams } = new URL(href);
    return { to: pathname, subject: searchParams.get("subject") ?? "", body: searchParams.get("body") ?? "" };
  });
}

/** Records violations of the content security policy on every page that is opened after this call. */
export async function recordCspViolations(page: Page): Promise<void> {
  await page.addInitScript(() => {
    window.violations = [];
    document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
      window.violations.push(`${violatedDirective}: ${blockedURI}`),
    );
  });
}

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
