import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect, insertShipment, logInWithoutPage, test, waitForHydration } from "../support/e2e-fixtures.ts";
import { labels } from "../support/labels.ts";
import { findOverflow, findPrintProblems } from "../support/page-layout.ts";
import { authPages, publicPages } from "../support/public-pages.ts";

/** The paths of the quote form and of all public pages. The last path has no page and returns status 404. */
const publicPaths = ["/?quote", "/actions/quote", ...publicPages];
const portalPaths = [
  ...["/portal", "/portal/new", "/portal/2fa", "/portal/:id", "/portal/:id?quote"],
  ...["/portal/:id/change", "/portal/:id/share", "/portal/account"],
];

const deskPaths = [
  ...["/desk", "/desk/shipments", "/desk/shipments/:id", "/desk/shipments/:id/move", "/desk/shipments/:id/arrival"],
  ...["/desk/clients", "/desk/clients/:client", "/desk/clients/:client/shipments", "/desk/invitations"],
  ...["/desk/team", "/desk/log", "/desk/report", "/desk/2fa"],
];

/** A shipment name whose first word is longer than a line of the page. */
const longName = "Averyveryverylongnamewithoutasingleblankinitthatmustbebrokensomewhere of pharmaceuticals";

const pathGroups = {
  "the first public pages": publicPaths.slice(0, 6),
  "the next public pages": publicPaths.slice(6, 12),
  "the other public pages": publicPaths.slice(12),
  "the portal": portalPaths,
  "the login pages": [...authPages, "/auth/confirm", "/auth/email", "/actions/forgot-password"],
  "the desk": deskPaths,
};

/** Checks that a page hydrates without console output or CSP violations, with 80 to 135 KB of compressed script. */
async function expectHydrated(page: Page, path: string, messages: string[]): Promise<void> {
  await waitForHydration(page);
  // The script adds this button at the end of hydration. Pages of the desk have no moving parts.
  if (!path.startsWith("/desk"))
    await expect(page.locator("button", { hasText: labels.pauseMotion })).toBeVisible({ timeout: 15_000 });
  const { violations, bytes } = await page.evaluate(() => {
    const files = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
    const sizes = new Map(files.map(({ name, encodedBodySize }) => [name, name.endsWith(".js") ? encodedBodySize : 0]));
    return { violations: window.violations, bytes: [...sizes.values()].reduce((sum, size) => sum + size, 0) };
  });
  expect(violations, path).toEqual([]);
  if (path !== "/no-such-page") expect(messages, path).toEqual([]);
  expect(bytes, path).toBeGreaterThan(80_000);
  expect(bytes, path).toBeLessThanOrEqual(135_000);
}

declare global {
  interface Window {
    violations: string[];
    /** The axe-core API, which AxeBuilder adds to the page. */
    axe: { run: (options: object) => Promise<{ violations: { nodes: { html: string }[] }[] }> };
  }
}

/** Returns the violations of WCAG 2.2 AA in the dark and in the light theme. */
async function findAxeViolations(page: Page): Promise<string[]> {
  // Legacy mode is faster, because axe opens a second page only in the normal mode, and only for pages with frames.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] });
  const { violations: inDark } = await axe.withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]).analyze();
  // The themes differ only in colours, so in the light theme axe checks only the contrast. A direct call of axe-core
  // does not load half a megabyte of script again.
  const inLight = await page.evaluate(async () => {
    document.documentElement.className = "light";
    for (const each of document.getAnimations()) if (each instanceof CSSTransition) each.finish();
    const options = { resultTypes: ["violations"], runOnly: { type: "rule", values: ["color-contrast"] } };
    const { violations } = await window.axe.run(options);
    return violations.flatMap(({ nodes }) => nodes.map(({ html }) => `contrast in the light theme: ${html}`));
  });
  return [...inDark.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`)), ...inLight];
}

/**
 * Returns the layout problems of a page: a page wider than the window, click targets smaller than 44 px, or a header of
 * 80 px or more. The selector `links` matches the links that are click targets.
 */
const findLayoutProblems = (page: Page, links: string) =>
  page.evaluate((links) => {
    const problems: string[] = [];
    const { scrollWidth } = document.documentElement;
    if (scrollWidth > innerWidth) problems.push(`${scrollWidth} px wide`);
    const targets = `header :is(a, summary, button), main :is(${links}, summary, button, select)`;
    for (const each of document.querySelectorAll(targets)) {
      if (!each.checkVisibility()) continue;
      const box = each.getBoundingClientRect();
      const isOutside = each.closest("header") && box.right > innerWidth;
      if (box.width > 1 && box.right > 0 && (box.height < 44 || box.width < 44 || isOutside)) {
        problems.push(`${each.outerHTML.slice(0, 200)}: ${box.width} x ${box.height}`);
      }
    }
    const bar = document.querySelector("header")?.getBoundingClientRect().height ?? Number.NaN;
    if (!(bar < 80)) problems.push(`the header is ${bar} px high`);
    return problems;
  }, links);

/**
 * Checks that no element is wider than the window, even with letters of twice the size. Also checks that click targets
 * have at least 44 px.
 */
async function expectFits(page: Page, path: string): Promise<void> {
  // WCAG exempts links within a sentence from the minimum target size.
  const links = /^\/(portal|desk)/.test(path) ? "a:not(p a)" : "a";
  for (const width of [390, 375, 320]) {
    await page.setViewportSize({ width, height: 844 });
    expect(await findLayoutProblems(page, links), `${path} at ${width}`).toEqual([]);
  }
  // Sets a text size of 200 %, like a user stylesheet.
  await page.locator("html").evaluate((html) => {
    html.style.fontSize = "200%";
  });
  for (const width of [320, 640, 768, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await findOverflow(page), `${path} at ${width} with letters of twice the size`).toEqual([]);
  }
}

for (const [group, paths] of Object.entries(pathGroups)) {
  test(`All of ${group} fit small windows, large letters and paper. With script, they meet WCAG 2.2 AA within 135 KB.`, async ({
    page,
    client,
    lead,
    serviceRole: company,
    baseURL,
    javaScriptEnabled,
  }) => {
    test.slow();
    if (paths === portalPaths) await logInWithoutPage(page, client);
    if (paths === deskPaths)
      await page.context().addCookies([{ name: "session", value: lead.session, url: baseURL ?? "" }]);
    const { id, account } = await insertShipment(company, client, longName);
    const messages: string[] = [];
    page.on("console", (message) => {
      // Playwright blocks service workers in all tests except the tests of offline copies.
      if (message.text().startsWith("Service Worker registration blocked")) return;
      messages.push(`${message.type()}: ${message.text()} at ${message.location().url}`);
    });
    await page.addInitScript(() => {
      window.violations = [];
      document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
        window.violations.push(`${violatedDirective}: ${blockedURI}`),
      );
    });
    for (const path of paths) {
      await test.step(path, async () => {
        await page.goto(path.replace(":id", id).replace(":client", account));
        if (javaScriptEnabled) {
          await expectHydrated(page, path, messages);
          expect(await findAxeViolations(page), path).toEqual([]);
        }
        await expectFits(page, path);
        if (paths !== deskPaths) {
          await page.emulateMedia({ media: "print" });
          expect(await findPrintProblems(page), `${path} on paper`).toEqual([]);
          await page.emulateMedia({ media: null });
        }
        messages.length = 0;
      });
    }
  });
}
