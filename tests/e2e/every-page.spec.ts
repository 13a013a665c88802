import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect, logInWithoutPage, newShipment, test, waitForHydration } from "../support/e2e-fixtures.ts";
import { labels } from "../support/labels.ts";
import { emulateFontSize, findOverflow, findPrintProblems } from "../support/page-layout.ts";
import { recordCspViolations } from "../support/page-recorder.ts";
import { authPages, publicPages } from "../support/public-pages.ts";

/** The paths of the quote form and of all public pages. The last path has no page and gets status 404. */
const publicPaths = ["/?quote", "/actions/quote", ...publicPages];
const portalPaths = [
  ...["/portal", "/portal/new", "/portal/2fa", "/portal/:id", "/portal/:id?quote"],
  ...["/portal/:id/change", "/portal/:id/share", "/portal/account"],
];

const deskPaths = [
  ...["/desk", "/desk/shipments", "/desk/shipments/:id", "/desk/shipments/:id/move", "/desk/clients"],
  ...["/desk/clients/:client", "/desk/invitations", "/desk/team", "/desk/log", "/desk/2fa"],
];

/** A name whose first word is longer than a line of the page. */
const longName = "Averyveryverylongnamewithoutasingleblankinitthatmustbebrokensomewhere of pharmaceuticals";

const pathGroups = {
  "the first public pages": publicPaths.slice(0, 6),
  "the next public pages": publicPaths.slice(6, 12),
  "the other public pages": publicPaths.slice(12),
  "the portal": portalPaths,
  "the login pages": [...authPages, "/auth/confirm", "/auth/email", "/actions/forgot-password"],
  "the desk": deskPaths,
};

/** Returns the compressed size of all fetched scripts in bytes. */
async function measureScriptBytes(page: Page): Promise<number> {
  return page.evaluate(() => {
    const files = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
    const sizes = new Map(files.filter(({ name }) => name.endsWith(".js")).map((file) => [file.name, file]));
    return [...sizes.values()].reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
  });
}

/** Expects a page to hydrate without console output or CSP violations, with 80 to 135 KB of script. */
async function expectHydrated(page: Page, path: string, messages: string[]): Promise<void> {
  await waitForHydration(page);
  // Hydration is complete when script has added this button.
  await expect(page.locator("button", { hasText: labels.pauseMotion })).toBeVisible({ timeout: 15_000 });
  expect(await page.evaluate(() => window.violations), path).toEqual([]);
  if (path !== "/no-such-page") expect(messages, path).toEqual([]);
  const bytes = await measureScriptBytes(page);
  expect(bytes, path).toBeGreaterThan(80_000);
  expect(bytes, path).toBeLessThanOrEqual(135_000);
}

type AxeViolation = { id: string; nodes: { html: string }[] };

declare global {
  interface Window {
    /** The axe-core API, which AxeBuilder adds to the page. */
    axe: { run: (options: object) => Promise<{ violations: AxeViolation[] }> };
  }
}

/** Returns the violations of WCAG 2.2 AA in both themes. */
async function findAxeViolations(page: Page): Promise<string[]> {
  // Legacy mode is faster, because it opens no second page. Only pages with frames need a second page.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] });
  const { violations: inDark } = await axe.withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]).analyze();
  // The themes differ only in colours, so only the contrast is checked in the light theme.
  await page.evaluate(async () => {
    document.documentElement.className = "light";
    const transitions = document.getAnimations().filter((each) => each instanceof CSSTransition);
    await Promise.allSettled(transitions.map(({ finished }) => finished));
  });
  // Calling axe-core directly avoids loading its half megabyte of script again.
  const inLight = await page.evaluate(async () => {
    const options = { resultTypes: ["violations"], runOnly: { type: "rule", values: ["color-contrast"] } };
    const { violations } = await window.axe.run(options);
    return violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) }));
  });
  await page.evaluate(() => {
    document.documentElement.className = "dark";
  });
  return [
    ...inDark.map((rule) => ({ ...rule, theme: "dark" })),
    ...inLight.map((rule) => ({ ...rule, theme: "light" })),
  ].flatMap(({ id, theme, nodes }) => nodes.map(({ html }) => `${id}, ${theme}: ${html}`));
}

/** Returns elements that do not fit a window of this width, and click targets smaller than 44 px. */
const findLayoutProblems = (page: Page, width: number, links: string) =>
  page.evaluate(
    ({ width, links }) => {
      const problems: string[] = [];
      const { scrollWidth } = document.documentElement;
      if (scrollWidth > width) problems.push(`${scrollWidth} px wide`);
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
    },
    { width, links },
  );

/**
 * Expects no sideways scrolling at 320 px or more, or at 640 px with 200 % text. Expects targets of at least 44 px.
 * `withLargeLetters` adds font sizes of 24 and 32 px on a phone, and 200 % text at 768 and 1280 px.
 */
async function expectFits(page: Page, path: string, withLargeLetters: boolean): Promise<void> {
  // WCAG exempts links within a sentence from the minimum target size.
  const links = /^\/(portal|desk)/.test(path) ? "a:not(p a)" : "a";
  const size = withLargeLetters ? await emulateFontSize(page) : null;
  for (const width of [390, 375, 320]) {
    await page.setViewportSize({ width, height: 844 });
    expect(await findLayoutProblems(page, width, links), `${path} at ${width}`).toEqual([]);
    if (!size || width === 375) continue;
    for (const pixels of [24, 32]) {
      await size.set(pixels);
      expect(await findOverflow(page), `${path}, ${pixels} px letters at ${width} px`).toEqual([]);
    }
    await size.set(16);
  }
  await size?.reset();
  for (const width of withLargeLetters ? [640, 768, 1280] : [640]) {
    await page.setViewportSize({ width, height: 800 });
    // Sets a text size of 200 %, like a user stylesheet.
    const wide = await page.evaluate(() => {
      document.documentElement.style.fontSize = "200%";
      return document.documentElement.scrollWidth;
    });
    expect(wide, `${path} at twice its size`).toBeLessThanOrEqual(width);
  }
}

/** Expects that a page in print media is black on white in both themes and has no controls. */
async function expectPrintable(page: Page, path: string): Promise<void> {
  for (const theme of ["light", "dark"]) {
    await page.locator("html").evaluate((html, name) => html.setAttribute("class", name), theme);
    expect(await findPrintProblems(page), `${path} on paper, ${theme}`).toEqual([]);
  }
  await page.emulateMedia({ media: null });
}

for (const [group, paths] of Object.entries(pathGroups)) {
  test(`All of ${group} fit small windows, large letters and paper, and with script meet WCAG 2.2 AA within 135 KB`, async ({
    page,
    client,
    lead,
    serviceRole: company,
    baseURL,
    javaScriptEnabled,
  }) => {
    test.slow();
    let id = "";
    if (paths === portalPaths) {
      await logInWithoutPage(page, client);
      id = await newShipment(page, longName);
    }
    let account = "";
    if (paths === deskPaths) {
      await page.context().addCookies([{ name: "session", value: lead.session, url: baseURL ?? "" }]);
      account = (await company.rpc("find_account_id", { email: client.email })).data ?? "";
      const created = await company
        .from("shipments")
        .insert({ user_id: account, name: longName, status: "", stage: 1 })
        .select("id");
      id = created.data?.[0]?.id ?? "";
    }
    const messages: string[] = [];
    page.on("console", (message) => {
      // Only the tests of offline copies allow a service worker.
      if (message.text().startsWith("Service Worker registration blocked")) return;
      messages.push(`${message.type()}: ${message.text()} at ${message.location().url}`);
    });
    await recordCspViolations(page);
    for (const path of paths) {
      await test.step(path, async () => {
        await page.setViewportSize({ width: 1280, height: 720 });
        // Opening the page in print media avoids a colour transition of the buttons.
        const isPrinted = !javaScriptEnabled && paths !== deskPaths;
        if (isPrinted) await page.emulateMedia({ media: "print" });
        await page.goto(path.replace(":id", id).replace(":client", account));
        if (javaScriptEnabled) {
          await expectHydrated(page, path, messages);
          expect(await findAxeViolations(page), path).toEqual([]);
        }
        if (isPrinted) await expectPrintable(page, path);
        await expectFits(page, path, !javaScriptEnabled);
        messages.length = 0;
      });
    }
  });
}
