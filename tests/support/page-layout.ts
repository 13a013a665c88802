/** What of a page does not fit its window, and what of it does not belong on paper. */
import type { Page } from "@playwright/test";

/** The browser's default font size: `set` changes it, and `reset` makes it 16 px again. */
export async function emulateFontSize(page: Page) {
  const session = await page.context().newCDPSession(page);
  const set = (standard: number) => session.send("Page.setFontSizes", { fontSizes: { standard } });
  return {
    set,
    async reset() {
      await set(16);
      // A session that stays open undoes on the next page what others emulate, such as paper.
      await session.detach();
    },
  };
}

/** Whether the page is wider than the window, and parts of the bar that overlap or lie outside the window. */
export const findOverflow = (page: Page) =>
  page.evaluate(() => {
    const found: string[] = [];
    const width = document.documentElement.scrollWidth;
    if (width > innerWidth) found.push(`${width} px wide`);
    const bar = document.querySelector("header");
    const parts = [...(bar?.querySelectorAll("a, summary, button") ?? [])]
      .filter((part) => part.checkVisibility())
      .map((part) => ({ name: part.textContent?.trim(), box: part.getBoundingClientRect() }));
    for (const { name, box } of parts) {
      if (box.left < 0 || box.right > innerWidth) found.push(`${name} is outside`);
      for (const other of parts) {
        if (other.box === box) continue;
        const across = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
        const down = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
        if (across > 1 && down > 1) found.push(`${name} lies over ${other.name}`);
      }
    }
    return found;
  });

/** Elements that are printed although they are controls or no content of the page. */
export const findPrintedControls = (page: Page) =>
  page.evaluate(() =>
    [
      ...document.querySelectorAll(
        "header nav, header details, header.\\@container a:not([href='/']), button, summary .sr-only, footer :is(nav, form, [target], [data-weight]), input[type=file], .fixed",
      ),
    ]
      .filter((each) => each.checkVisibility() && !each.closest("li button"))
      .map((each) => each.outerHTML.slice(0, 100)),
  );

/** Text that is not black, or not on white. */
const findPaleText = (page: Page) =>
  page.evaluate(() => {
    const found = new Set<string>();
    const clear = "rgba(0, 0, 0, 0)";
    for (const each of document.querySelectorAll("html, main, main *")) {
      const { color, backgroundColor } = getComputedStyle(each);
      const says = [...each.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim());
      if (says && color !== "rgb(0, 0, 0)") found.add(`${color}: ${each.textContent?.slice(0, 40)}`);
      if (says && ![clear, "rgb(255, 255, 255)"].includes(backgroundColor))
        found.add(`on ${backgroundColor}: ${each.tagName}`);
    }
    return [...found];
  });

/** What is wrong with a page in print media: text that is not black on white, and what nobody can press there. */
export async function findPrintProblems(page: Page): Promise<string[]> {
  return [...(await findPaleText(page)), ...(await findPrintedControls(page))];
}
