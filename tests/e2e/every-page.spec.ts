import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect, logInWithoutPage, newShipment, test, waitForHydration } from "../support/e2e-fixtures.ts";
import { emulateFontSize, findOverflow, findPrintProblems } from "../support/page-layout.ts";
import { recordCspViolations } from "../support/page-recorder.ts";
import { authPages, publicPages } from "../support/public-pages.ts";

/** The last is a 404. */
const publicPaths = ["/?quote", "/actions/quote", ...publicPages];
const portalPaths = [
  ...["/portal", "/portal/new", "/portal/2fa", "/portal/:id", "/portal/:id?quote"],
  ...["/portal/:id/change", "/portal/:id/share", "/portal/account"],
];

const deskPaths = [
  ...["/desk", "/desk/shipments", "/desk/shipments/:id", "/desk/shipments/:id/move", "/desk/clients"],
  ...["/desk/clients/:client", "/desk/invitations", "/desk/team", "/desk/log", "/desk/2fa"],
];

/** A name that has to be broken somewhere. */
const longName = "Averyveryverylongnamewithoutasingleblankinitthatmustbebrokensomewhere of pharmaceuticals";

const pathGroups = {
  "the first public pages": publicPaths.slice(0, 6),
  "the next public pages": publicPaths.slice(6, 12),
  "the other public pages": publicPaths.slice(12),
  "the portal": portalPaths,
  "the doors of the portal": [...authPages, "/auth/confirm", "/auth/email", "/actions/forgot-password"],
  "the company's desk": deskPaths,
};

/** The script that a page has fetched, compressed, in bytes. */
async function measureScriptBytes(page: Page): Promise<number> {
  return page.evaluate(() => {
    const files = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
    const sizes = new Map(files.filter(({ name }) => name.endsWith(".js")).map((file) => [file.name, file]));
    return [...sizes.values()].reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
  });
}

/** Expects a page to hydrate without console output or CSP violations, with 80 to 135 KB of script. */
async function expectHydrated(page: Page, path: string, words: string[]): Promise<void> {
  await waitForHydration(page);
  // The last thing that script adds to every page.
  await expect(page.locator("button", { hasText: "Pause all motion" })).toBeVisible({ timeout: 15_000 });
  expect(await page.evaluate(() => window.violations), path).toEqual([]);
  if (path !== "/no-such-page") expect(words, path).toEqual([]);
  const bytes = await measureScriptBytes(page);
  expect(bytes, path).toBeGreaterThan(80_000);
  expect(bytes, path).toBeLessThanOrEqual(135_000);
}

type AxeViolation = { id: string; nodes: { html: string }[] };

declare global {
  interface Window {
    /** What AxeBuilder leaves on the page it has analysed. */
    axe: { run: (options: object) => Promise<{ violations: AxeViolation[] }> };
  }
}

/** The rules of WCAG 2.2 AA that the page breaks, in both themes. */
async function findAxeViolations(page: Page): Promise<string[]> {
  // Legacy mode opens no second page, as there are no frames; only violations are reported in detail.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] });
  const { violations: inDark } = await axe.withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]).analyze();
  // The other theme has other colours and nothing else.
  await page.evaluate(async () => {
    document.documentElement.className = "light";
    const turning = document.getAnimations().filter((each) => each instanceof CSSTransition);
    await Promise.allSettled(turning.map(({ finished }) => finished));
  });
  // AxeBuilder would send its half megabyte of script to the page again.
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

/** What of a page does not fit a window of this width: the page, its bar, and targets of less than 44 px. */
const findLayoutProblems = (page: Page, width: number, links: string) =>
  page.evaluate(
    ({ width, links }) => {
      const found: string[] = [];
      const { scrollWidth } = document.documentElement;
      if (scrollWidth > width) found.push(`${scrollWidth} px wide`);
      const targets = `header :is(a, summary, button), main :is(${links}, summary, button, select)`;
      for (const each of document.querySelectorAll(targets)) {
        if (!each.checkVisibility()) continue;
        const box = each.getBoundingClientRect();
        const isOutside = each.closest("header") && box.right > innerWidth;
        if (box.width > 1 && box.right > 0 && (box.height < 44 || box.width < 44 || isOutside)) {
          found.push(`${each.outerHTML.slice(0, 200)}: ${box.width} x ${box.height}`);
        }
      }
      // A title breaks between its words.
      const titles = document.createTreeWalker(document.querySelector("h1") ?? new Text(), NodeFilter.SHOW_TEXT);
      for (let text = titles.nextNode(); text; text = titles.nextNode()) {
        const at = text.textContent?.indexOf("e-mail") ?? -1;
        const word = document.createRange();
        word.setStart(text, Math.max(at, 0));
        word.setEnd(text, at < 0 ? 0 : at + "e-mail".length);
        if (word.getClientRects().length > 1) found.push(`the title breaks within a word: ${text.textContent}`);
      }
      const bar = document.querySelector("header")?.getBoundingClientRect().height ?? Number.NaN;
      if (!(bar < 80)) found.push(`the bar is ${bar} px high`);
      return found;
    },
    { width, links },
  );

/**
 * Expects no sideways scrolling from 320 px on, nor at 640 px with 200 % text, and targets of at least 44 px. On a phone
 * letters of 24 and 32 px scroll nothing sideways either, which script does not change: it is seen without.
 */
async function expectFits(page: Page, path: string, withLargeLetters: boolean): Promise<void> {
  // In the portal and at the desk, links within a sentence may be as low as their line.
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
  // A text size of 200 % at 640 px, as a user stylesheet would set it.
  await page.setViewportSize({ width: 640, height: 800 });
  const wide = await page.evaluate(() => {
    document.documentElement.style.fontSize = "200%";
    return document.documentElement.scrollWidth;
  });
  expect(wide, `${path} at twice its size`).toBeLessThanOrEqual(640);
}

/** Expects a page that was opened for paper to be printed black on white in both themes, without what floats over it. */
async function expectPrintable(page: Page, path: string): Promise<void> {
  for (const theme of ["light", "dark"]) {
    await page.locator("html").evaluate((html, name) => html.setAttribute("class", name), theme);
    expect(await findPrintProblems(page), `${path} on paper, ${theme}`).toEqual([]);
  }
  await page.emulateMedia({ media: null });
}

for (const [which, paths] of Object.entries(pathGroups)) {
  test(`${which} fit every window, thumb, large letter and sheet of paper; with script, 135 KB bring them to life without a word, by WCAG 2.2 AA in both themes`, async ({
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
      const made = await company
        .from("shipments")
        .insert({ user_id: account, name: longName, status: "", stage: 1 })
        .select("id");
      id = made.data?.[0]?.id ?? "";
    }
    const words: string[] = [];
    page.on("console", (message) => {
      // The journeys refuse the worker of kept pages, but for those about it.
      if (message.text().startsWith("Service Worker registration blocked")) return;
      words.push(`${message.type()}: ${message.text()} at ${message.location().url}`);
    });
    await recordCspViolations(page);
    for (const path of paths) {
      await test.step(path, async () => {
        await page.setViewportSize({ width: 1280, height: 720 });
        // A button takes its other colours in its own time: who prints has a page that stands.
        const isPrinted = !javaScriptEnabled && paths !== deskPaths;
        if (isPrinted) await page.emulateMedia({ media: "print" });
        await page.goto(path.replace(":id", id).replace(":client", account));
        if (javaScriptEnabled) {
          await expectHydrated(page, path, words);
          expect(await findAxeViolations(page), path).toEqual([]);
        }
        // Script changes nothing of a page on paper: once is enough.
        if (isPrinted) await expectPrintable(page, path);
        await expectFits(page, path, !javaScriptEnabled);
        words.length = 0;
      });
    }
  });
}
