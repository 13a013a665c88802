/** What limited browsers get: without newer CSS, without any CSS, without pictures, or with text alone. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { type HTMLElement, NodeType, parse } from "node-html-parser";
import postcss, { type Container } from "postcss";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clientBuildFolder } from "../../app/server/start/build.ts";
import { authPages, publicPages } from "../support/public-pages.ts";
import { getTestApp, startTestSite, type TestBrowser } from "../support/test-app.ts";

const publicPaths = [...publicPages, "/?quote", ...authPages, "/actions/forgot-password"];

let site: Awaited<ReturnType<typeof startTestSite>>;
let client: TestBrowser;
/** The HTML of every page, by its address. */
const pages = new Map<string, string>();
beforeAll(async () => {
  await getTestApp();
  site = await startTestSite();
  client = site.browser();
  await client.signUpAndLogIn("Wanjiru Kamau");
  const shipment = await client.createShipment("Solar panels, two 40 ft containers");
  const visitor = site.browser();
  for (const page of publicPaths) pages.set(page, await (await visitor.get(page)).text());
  for (const page of ["/portal", "/portal/new", "/portal/2fa", "/portal/sign-out", shipment])
    pages.set(page, await (await client.get(page)).text());
});
afterAll(async () => {
  await site.close();
});

/** What is wrong with each page, as one list. */
const findOnEveryPage = (found: (body: HTMLElement, html: string) => string[]) =>
  [...pages].flatMap(([page, html]) => found(parse(html), html).map((what) => `${page}: ${what}`));

describe("the styles, in every page and in the files they name,", () => {
  const sheets = () => [
    ...new Set([...pages.values()].map((html) => /<style>(.*?)<\/style>/s.exec(html)?.[1] ?? "")),
    ...readdirSync(path.join(clientBuildFolder, "assets"))
      .filter((name) => name.endsWith(".css"))
      .map((name) => readFileSync(path.join(clientBuildFolder, "assets", name), "utf8")),
  ];

  /** The CSS rules that an old browser would drop, together with what they contain. */
  function leftOut(css: Container): string[] {
    const found: string[] = [];
    css.walkAtRules((rule) => {
      const known = ["media", "supports", "keyframes"].includes(rule.name);
      // Browsers without container queries show the bar's menu folded.
      if (!known && rule.name !== "container") found.push(`@${rule.name} ${rule.params}`);
      // No range, and no `not` without a media type, except for `scripting`: browsers that know it know such a `not`.
      if (rule.name === "media" && /[<>]|not \((?!scripting)/.test(rule.params)) found.push(`@media ${rule.params}`);
    });
    css.walkRules((rule) => {
      const isNew = (selector: string) =>
        /:(is|where|has|modal|focus-visible|popover-open)\b|::(details-content|view-transition|backdrop|file-selector)|&/.test(
          selector,
        );
      // An unknown selector makes the whole list invalid.
      if (rule.selectors.length > 1 && rule.selectors.some(isNew)) found.push(rule.selector);
      if (rule.nodes.some(({ type }) => type === "rule")) found.push(`nested in ${rule.selector}`);
    });
    css.walkDecls((declaration) => {
      const { prop, value, parent } = declaration;
      if (/^(inset|(margin|padding|border)-(inline|block)|scroll-padding-(inline|block))$/.test(prop)) found.push(prop);
      let around = parent as Container | undefined;
      while (around && !("name" in around && around.name === "supports")) around = around.parent as Container;
      if (!around && /\b(color-mix|oklch|oklab|lab|lch)\(/.test(value)) found.push(`${prop}: ${value}`);
    });
    return found;
  }

  test("hold nothing that Chrome 80, Safari 13 or Firefox 78 would leave out", () => {
    expect(sheets().length).toBeGreaterThan(10);
    for (const sheet of sheets()) expect(leftOut(postcss.parse(sheet))).toEqual([]);
  });

  test("give each variable that a rule reads a value of its own, without registering it", () => {
    for (const sheet of sheets()) {
      const read = [...sheet.matchAll(/var\((--[\w-]+)\)/g)].map(([, name]) => name);
      // The variables of colours and type scale are in the main stylesheet, and inlined in every page.
      const unset = read.filter((name) => !sheet.includes(`${name}:`) && name?.startsWith("--tw-"));
      expect(unset).toEqual([]);
      expect(read.length).toBeGreaterThan(5);
    }
  });

  test("have their print rules in a linked file and not in the pages", () => {
    for (const [page, html] of pages) {
      expect(html, page).not.toContain("@media print{");
      expect(html, page).toMatch(/<link (media="print"|[^>]*rel="stylesheet")[^>]*>/);
    }
    expect(sheets().some((sheet) => sheet.includes("@media print{"))).toBe(true);
  });
});

describe("without any style", () => {
  test("no drawing fills the page", () => {
    const sizeless = findOnEveryPage((root) =>
      root
        .querySelectorAll("svg")
        .filter((svg) => !svg.hasAttribute("width") || !svg.hasAttribute("height"))
        .map((svg) => svg.outerHTML.slice(0, 80)),
    );
    expect(sizeless).toEqual([]);
  });

  test("no page asks for a dark window and leaves the letters dark", () => {
    expect(findOnEveryPage((root) => root.querySelectorAll("meta[name=color-scheme]").map(String))).toEqual([]);
  });
});

describe("in a browser that shows text alone", () => {
  test("every form that posts has a field, or it would be sent as a GET", () => {
    const empty = findOnEveryPage((root) =>
      root
        .querySelectorAll("form[method=post]")
        .filter((form) => !form.querySelector("[type=hidden][name], [type=email][name], [type=text][name], select"))
        .flatMap((form) => form.querySelectorAll("button:not([type=button])"))
        .filter((button) => !button.getAttribute("name"))
        .map((button) => button.outerHTML),
    );
    expect(empty).toEqual([]);
  });

  test("no drawing has letters or a title that would be read as the page's", () => {
    const read = findOnEveryPage((root) => root.querySelectorAll("svg title").map(String));
    expect(read).toEqual([]);
    // Marks stand beside the name that they are short for.
    const letters = parse(pages.get("/") ?? "").querySelectorAll("svg text");
    expect(letters.filter((each) => !each.closest("li")?.querySelector("h3")).map(String)).toEqual([]);
  });

  test("the list of pages and the contents of an article are there once", () => {
    const names = (root: HTMLElement, within: string) =>
      root.querySelectorAll(`${within} a`).map((link) => link.getAttribute("href"));
    expect(
      findOnEveryPage((root) => {
        const links = names(root, "header nav");
        return links.length === new Set(links).size && links.length >= 7 ? [] : links.map(String);
      }),
    ).toEqual([]);
    const article = parse(pages.get("/resources/blog/importing-a-car-to-kenya") ?? "");
    const contents = names(article, "main nav[aria-label='In this article']");
    expect(contents.length).toBeGreaterThan(3);
    expect(names(article, "main").filter((to) => to?.startsWith("#"))).toEqual(contents);
  });

  test("no two words run together that only a style tells apart", () => {
    expect(findOnEveryPage((root) => findJoinedWords(root.querySelector("body")))).toEqual([]);
  });
});

const inlineElements = /^(a|span|b|strong|time|label|button|input|svg|g|text|path|circle|use|progress)$/i;

/** Places where the text of one inline element ends with a word and the next begins with one, without a blank. */
function findJoinedWords(body: HTMLElement | null): string[] {
  const found: string[] = [];
  let before = "";
  let isOther = false;
  const walk = (element: HTMLElement): void => {
    for (const node of element.childNodes) {
      if (node.nodeType === NodeType.TEXT_NODE) {
        if (isOther && /[\p{L}\p{N}.]$/u.test(before) && /^[\p{L}\p{N}(]/u.test(node.text))
          found.push(`${before.slice(-20)}|${node.text.slice(0, 20)}`);
        before = node.text;
        isOther = false;
      }
      if (node.nodeType !== NodeType.ELEMENT_NODE) continue;
      const child = node as HTMLElement;
      if (/^(script|style|select|textarea)$/i.test(child.tagName)) continue;
      const breaks = !inlineElements.test(child.tagName);
      if (breaks) before = "";
      isOther = true;
      walk(child);
      isOther = true;
      if (breaks) before = "";
    }
  };
  if (body) walk(body);
  return found;
}

describe.each(["/portal/sign-out", "/actions/forgot-password"])("opening %s", (address) => {
  test("changes nothing and offers the button that does", async () => {
    const answer = await client.get(address);
    expect(answer.status).toBe(200);
    expect(answer.headers.getSetCookie()).toEqual([]);
    const form = parse(await answer.text()).querySelector("main form");
    expect(form?.getAttribute("method")).toBe("post");
    expect((await client.get("/portal")).status).toBe(200);
  });
});
