/** Tests pages for limited browsers: without newer CSS, without any CSS, without images, or with text only. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { type HTMLElement, NodeType, parse } from "node-html-parser";
import postcss, { type Container } from "postcss";
import { describe, expect, test } from "vitest";
import { clientBuildFolder } from "../../app/server/start/build.ts";
import { authPages, publicPages } from "../support/public-pages.ts";
import { getTestSite } from "../support/test-app.ts";

const publicPaths = [...publicPages, "/?quote", ...authPages, "/actions/forgot-password"];
const clientPaths = ["/portal", "/portal/new", "/portal/2fa", "/portal/sign-out"];

const pages = new Map<string, string>();
const site = await getTestSite();
const client = site.browser();
await client.signUpAndLogIn("Wanjiru Kamau");
const shipment = await client.createShipment("Solar panels, two 40 ft containers");
const visitor = site.browser();
for (const page of publicPaths) pages.set(page, await (await visitor.get(page)).text());
for (const page of [...clientPaths, shipment]) pages.set(page, await (await client.get(page)).text());

/** Returns the faults that `find` finds in all pages. Each fault starts with the path of its page. */
const findFaults = (find: (page: HTMLElement) => string[]) =>
  [...pages].flatMap(([page, html]) => find(parse(html)).map((fault) => `${page}: ${fault}`));

describe("Styles of pages and linked files", () => {
  const readSheets = () => [
    ...new Set([...pages.values()].map((html) => /<style>(.*?)<\/style>/s.exec(html)?.[1] ?? "")),
    ...readdirSync(path.join(clientBuildFolder, "assets"))
      .filter((name) => name.endsWith(".css"))
      .map((name) => readFileSync(path.join(clientBuildFolder, "assets", name), "utf8")),
  ];
  const newSelectors =
    /:(is|where|has|modal|focus-visible|popover-open)\b|::(details-content|view-transition|backdrop|file-selector)|&/;

  /** Returns the CSS rules that an old browser ignores. */
  function listDroppedRules(css: Container): string[] {
    const dropped: string[] = [];
    css.walkAtRules(({ name, params }) => {
      // Container queries are allowed, because the main menu also works without container queries.
      if (!["media", "supports", "keyframes", "container"].includes(name)) dropped.push(`@${name} ${params}`);
      // Old browsers ignore media queries with ranges, or with `not` before a feature. `not (scripting: …)` is allowed,
      // because every browser that supports `scripting` also supports this `not`.
      if (name === "media" && /[<>]|not \((?!scripting)/.test(params)) dropped.push(`@media ${params}`);
    });
    css.walkRules((rule) => {
      // Browsers ignore a whole selector list if one selector is unknown.
      const isDropped = rule.selectors.length > 1 && rule.selectors.some((selector) => newSelectors.test(selector));
      if (isDropped) dropped.push(rule.selector);
      if (rule.nodes.some(({ type }) => type === "rule")) dropped.push(`nested in ${rule.selector}`);
    });
    css.walkDecls(({ prop, value, parent }) => {
      if (/^(inset|(margin|padding|border)-(inline|block)|scroll-padding-(inline|block))$/.test(prop))
        dropped.push(prop);
      let ancestor = parent as Container | undefined;
      while (ancestor && !("name" in ancestor && ancestor.name === "supports")) ancestor = ancestor.parent as Container;
      if (!ancestor && /\b(color-mix|oklch|oklab|lab|lch)\(/.test(value)) dropped.push(`${prop}: ${value}`);
    });
    return dropped;
  }

  test("Chrome 80, Safari 13 and Firefox 78 can apply every CSS rule of the pages.", () => {
    expect(readSheets().length).toBeGreaterThan(10);
    for (const sheet of readSheets()) expect(listDroppedRules(postcss.parse(sheet))).toEqual([]);
  });

  test("Each Tailwind variable that a stylesheet reads has a value in the same stylesheet, even without @property.", () => {
    for (const sheet of readSheets()) {
      const variables = [...sheet.matchAll(/var\((--[\w-]+)\)/g)].map(([, name = ""]) => name);
      expect(variables.length).toBeGreaterThan(5);
      // Every page defines the variables for colours and font sizes.
      expect(variables.filter((name) => name.startsWith("--tw-") && !sheet.includes(`${name}:`))).toEqual([]);
    }
  });
});

describe("Browser without styles", () => {
  test("Every drawing has attributes for width and height, so no drawing fills a page without styles.", () => {
    expect(
      findFaults((page) =>
        page
          .querySelectorAll("svg")
          .filter((svg) => !svg.hasAttribute("width") || !svg.hasAttribute("height"))
          .map((svg) => svg.outerHTML.slice(0, 80)),
      ),
    ).toEqual([]);
  });

  test("Without styles, no page has dark text on a dark background.", () => {
    expect(findFaults((page) => page.querySelectorAll("meta[name=color-scheme]").map(String))).toEqual([]);
  });
});

describe("Text browser", () => {
  test("Every POST form has a field, because text browsers send a form without fields as a GET request.", () => {
    expect(
      findFaults((page) =>
        page
          .querySelectorAll("form[method=post]")
          .filter((form) => !form.querySelector("[type=hidden][name], [type=email][name], [type=text][name], select"))
          .flatMap((form) => form.querySelectorAll("button:not([type=button])"))
          .filter((button) => !button.getAttribute("name"))
          .map((button) => button.outerHTML),
      ),
    ).toEqual([]);
  });

  test("A text browser shows no titles of drawings, and shows a logo's initials only next to the logo's name.", () => {
    expect(findFaults((page) => page.querySelectorAll("svg title").map(String))).toEqual([]);
    const letters = parse(pages.get("/") ?? "").querySelectorAll("svg text");
    expect(letters.filter((each) => !each.closest("li")?.querySelector("h3")).map(String)).toEqual([]);
  });

  test("A text browser shows the main menu and an article's table of contents only once.", () => {
    const listTargets = (page: HTMLElement, within: string) =>
      page.querySelectorAll(`${within} a`).map((link) => link.getAttribute("href"));
    expect(
      findFaults((page) => {
        const targets = listTargets(page, "header nav");
        return targets.length === new Set(targets).size && targets.length >= 7 ? [] : targets.map(String);
      }),
    ).toEqual([]);
    const article = parse(pages.get("/resources/blog/importing-a-car-to-kenya") ?? "");
    const contents = listTargets(article, "main nav[aria-label='In this article']");
    expect(contents.length).toBeGreaterThan(3);
    expect(listTargets(article, "main").filter((target) => target?.startsWith("#"))).toEqual(contents);
  });

  test("A text browser shows a space between words that only a style separates.", () => {
    expect(findFaults((page) => findJoinedWords(page.querySelector("body")))).toEqual([]);
  });
});

const inlineElements = /^(a|span|b|strong|time|label|button|input|svg|g|text|path|circle|use|progress)$/i;

/** Returns the places where a word ends and the next word starts in another inline element, without a space. */
function findJoinedWords(body: HTMLElement | null): string[] {
  const found: string[] = [];
  let previous = "";
  let isOther = false;
  const walk = (element: HTMLElement): void => {
    for (const node of element.childNodes) {
      if (node.nodeType === NodeType.TEXT_NODE) {
        if (isOther && /[\p{L}\p{N}.]$/u.test(previous) && /^[\p{L}\p{N}(]/u.test(node.text))
          found.push(`${previous.slice(-20)}|${node.text.slice(0, 20)}`);
        previous = node.text;
        isOther = false;
      }
      if (node.nodeType !== NodeType.ELEMENT_NODE) continue;
      const child = node as HTMLElement;
      if (/^(script|style|select|textarea)$/i.test(child.tagName)) continue;
      const isBlock = !inlineElements.test(child.tagName);
      if (isBlock) previous = "";
      isOther = true;
      walk(child);
      isOther = true;
      if (isBlock) previous = "";
    }
  };
  if (body) walk(body);
  return found;
}
