/** Finds parts of a page that do not fit the window, or that must not be printed. */
import type { Page } from "@playwright/test";

/**
 * Returns the page's width if the page is wider than the window, and parts of the header that overlap or do not fit.
 */
export const findOverflow = (page: Page) =>
  page.evaluate(() => {
    const problems: string[] = [];
    const width = document.documentElement.scrollWidth;
    if (width > innerWidth) problems.push(`${width} px wide`);
    const bar = document.querySelector("header");
    const parts = [...(bar?.querySelectorAll("a, summary, button") ?? [])]
      .filter((part) => part.checkVisibility())
      .map((part) => ({ name: part.textContent?.trim(), box: part.getBoundingClientRect() }));
    for (const { name, box } of parts) {
      if (box.left < 0 || box.right > innerWidth) problems.push(`${name} is outside`);
      for (const secondPart of parts) {
        if (secondPart.box === box) continue;
        const across = Math.min(box.right, secondPart.box.right) - Math.max(box.left, secondPart.box.left);
        const down = Math.min(box.bottom, secondPart.box.bottom) - Math.max(box.top, secondPart.box.top);
        if (across > 1 && down > 1) problems.push(`${name} lies over ${secondPart.name}`);
      }
    }
    return problems;
  });

/** Returns the printed elements that must not be printed: controls, navigation, and links of header and footer. */
const findPrintedControls = (page: Page) =>
  page.evaluate(() =>
    [
      ...document.querySelectorAll(
        "header nav, header details, header.\\@container a:not([href='/']), button, summary .sr-only, footer :is(nav, form, [target], [data-weight]), input[type=file], .fixed",
      ),
    ]
      .filter((each) => each.checkVisibility() && !each.closest("li button"))
      .map((each) => each.outerHTML.slice(0, 100)),
  );

/** Returns the print faults of a page: text that is not black on white (in any theme), and printed controls. */
export async function findPrintProblems(page: Page): Promise<string[]> {
  const paleText = await page.evaluate(() => {
    const problems = new Set<string>();
    const clear = "rgba(0, 0, 0, 0)";
    for (const theme of ["light", "dark"]) {
      document.documentElement.className = theme;
      for (const each of document.getAnimations()) if (each instanceof CSSTransition) each.finish();
      for (const each of document.querySelectorAll("html, main, main *")) {
        const { color, backgroundColor } = getComputedStyle(each);
        const hasText = [...each.childNodes].some(
          (node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim(),
        );
        if (hasText && color !== "rgb(0, 0, 0)") problems.add(`${theme}, ${color}: ${each.textContent?.slice(0, 40)}`);
        if (hasText && ![clear, "rgb(255, 255, 255)"].includes(backgroundColor))
          problems.add(`${theme}, on ${backgroundColor}: ${each.tagName}`);
      }
    }
    return [...problems];
  });
  return [...paleText, ...(await findPrintedControls(page))];
}
