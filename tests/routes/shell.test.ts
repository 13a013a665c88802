import type { HTMLElement } from "node-html-parser";
import { describe, expect, test } from "vitest";
import { companyData, headOffice, toTelephoneUrl } from "../support/public-form.ts";
import { listDuplicateIds } from "../support/route-fixtures.ts";
import { getTestApp, getText, type ParsedPage } from "../support/test-app.ts";

const app = await getTestApp();
const visitor = app.browser();
const client = app.browser();
await client.signUpAndLogIn("Wanjiru Kamau");
await client.open("/portal");
const page = await visitor.open("/contact");
const clientPage = await client.open("/contact");

/** Returns the text and the URL of each link in an element. */
const listLinks = (element: HTMLElement | undefined) =>
  (element?.querySelectorAll("a") ?? []).map((link) => [getText(link), link.getAttribute("href")]);
const findLink = (page: ParsedPage, within: string, text: string) =>
  page.all(`${within} a`).find((link) => getText(link) === text);

/** Checks for an https link that opens a new tab and gives the other site no access to this page's window. */
function expectExternalLink(link: HTMLElement | undefined) {
  expect([link?.getAttribute("target"), link?.getAttribute("rel")]).toEqual(["_blank", "noreferrer"]);
  expect(link?.getAttribute("href")).toMatch(/^https:\/\//);
}

const mainPages = [
  ["Home", "/"],
  ["Services", "/services"],
  ["About", "/about"],
  ["FAQ", "/resources/faq"],
  ["Feeds Update", "/resources/feeds"],
  ["Blog", "/resources/blog"],
];
const footerTargets = [
  ...["/contact", "/careers", "/login", "/privacy", "/terms", "/legal", "/additional-info", "/cookie-settings"],
];

test("The main menu has links to every main page and the login, and its lists are closed at first.", () => {
  const menus = page.all("header nav[aria-label=Main]");
  expect(menus.length).toBeGreaterThan(0);
  for (const menu of menus) expect(listLinks(menu)).toEqual([...mainPages, ["Client Login", "/login"]]);
  expect(page.all("header").map(getText).join()).not.toMatch(/My Shipments|Sign out/);
  expect(page.all("header details summary").map(getText)).toEqual(["Menu", "Resources"]);
  expect(page.all("header details[open]")).toEqual([]);
  expect(listLinks(page.all("header [aria-label=Resources]")[0])).toEqual(mainPages.slice(3));
});

test('The menu and the footer show a signed-in client "My Shipments" and "Sign out".', () => {
  for (const menu of clientPage.all("header nav[aria-label=Main]"))
    expect(listLinks(menu)).toEqual([...mainPages, ["My Shipments", "/portal"]]);
  expect(clientPage.form("Sign out").action).toBe("/portal/sign-out");
  expect(listLinks(clientPage.all("footer nav")[0])[2]).toEqual(["My Shipments", "/portal"]);
});

test("The footer has eight links, both offices, four social pages and the copyright year.", () => {
  const links = listLinks(page.all("footer nav")[0]);
  expect(links.map(([, target]) => target)).toEqual(footerTargets);
  expect(links.map(([text]) => text)).not.toContain("");
  const addresses = page.all("footer address");
  expect(addresses).toHaveLength(2);
  for (const [index, office] of companyData.offices.entries()) {
    const address = addresses[index];
    for (const text of [office.name, office.address]) expect(getText(address)).toContain(text);
    expect(listLinks(address)).toContainEqual([office.phone, toTelephoneUrl(office.phone)]);
    expect(listLinks(address)).toContainEqual([office.email, `mailto:${office.email}`]);
    const map = address?.querySelectorAll("a").find((link) => link.getAttribute("href") === office.map);
    expect(getText(map)).toBe(`Map: ${office.name}`);
    expectExternalLink(map);
  }
  expect(companyData.social.map((each) => each.name)).toEqual(["LinkedIn", "X", "Instagram", "Facebook"]);
  for (const { name: network, url } of companyData.social) {
    const link = findLink(page, "footer", network);
    expect(link?.getAttribute("href")).toBe(url);
    expectExternalLink(link);
  }
  expect(getText(page.all("footer")[0])).toContain("© 2025");
});

test('The links "Chat with us" in the header and next to the content open a chat with the company.', () => {
  const links = page.all("a").filter((link) => getText(link) === "Chat with us");
  expect(links.map((link) => Boolean(link.closest("header")))).toEqual([true, false]);
  for (const link of links) {
    expect(link.getAttribute("href")).toBe(`https://wa.me/${companyData.chat_phone}`);
    expectExternalLink(link);
  }
});

test("The first link of a page skips to the content, and the company's logo links to the home page.", () => {
  const [skip] = page.all("body a");
  expect([getText(skip), skip?.getAttribute("href")]).toEqual(["Skip to the content", "#main"]);
  expect(page.all("main").map(({ id, attributes }) => [id, attributes.tabindex])).toEqual([["main", "-1"]]);
  const [brand] = page.all("header a");
  expect([brand?.getAttribute("href"), getText(brand) === ""]).toEqual(["/", false]);
});

test.each(["/portal", "/portal/new", "/portal/account"])(
  "The footer of %s has phone, chat, the size of the page, and a collapsed list with the public footer's links.",
  async (path) => {
    const publicLinks = listLinks((await client.open("/")).all("footer nav[aria-label='More pages']")[0]);
    const [footer] = (await client.open(path)).all("footer");
    expect(footer?.querySelectorAll("details:not([open])")).toHaveLength(1);
    expect(listLinks(footer)).toEqual([
      [headOffice.phone, toTelephoneUrl(headOffice.phone)],
      ...publicLinks.filter(([, address]) => address !== "/portal"),
      ["Chat with us", `https://wa.me/${companyData.chat_phone}`],
    ]);
    expect(getText(footer)).toMatch(/^© 2025 Mizigo Head office, Nairobi .* Page size: about KB Text-only version/);
  },
);

describe("Quote panel", () => {
  test.each([
    ["/", "/?quote"],
    ["/contact", "/?quote"],
    ["/login", "/?quote"],
    ["/no-such-page", "/no-such-page?quote"],
  ])(
    'The link "Get a Quote" on %s opens the quote panel at %s, but the header has no such link for a client.',
    async (path, target) => {
      const page = await visitor.open(path);
      expect(page.all("dialog")).toEqual([]);
      const [inBar, inFooter] = ["header", "footer"].map((within) => findLink(page, within, "Get a Quote"));
      // The home page has the link in its content instead of its header.
      expect(inBar?.getAttribute("href")).toBe(path === "/" ? undefined : target);
      expect(inFooter?.getAttribute("href")).toBe(target);
      expect(findLink(clientPage, "header", "Get a Quote")).toBeUndefined();
    },
  );

  test.each(["/", "/no-such-page"])(
    "The quote panel over %s has the fields of the specification, and two links that close the panel.",
    async (path) => {
      const page = await visitor.open(`${path}?quote`);
      const [dialog] = page.all("dialog[open]");
      expect(dialog?.getAttribute("aria-label")).toBe("Get a Quote");
      expect(listLinks(dialog).filter(([text]) => text === "Close")).toEqual([["Close", path]]);
      const [backdrop, ...others] = page.all("a[aria-label='Close the quote form']");
      expect([backdrop?.getAttribute("href"), backdrop?.closest("dialog"), others]).toEqual([path, null, []]);

      const { action, fields } = page.form("Continue to email");
      expect([action, fields.from]).toEqual(["/actions/quote", path]);
      const listLabels = dialog?.querySelectorAll("label").map((label) => {
        const field = dialog.querySelector(`[id=${label.getAttribute("for")}]`);
        return [getText(label), field?.getAttribute("name"), field?.getAttribute("type")];
      });
      expect(listLabels).toEqual([
        ["Full Name", "name", "text"],
        ["Email", "email", "email"],
        ["Phone", "phone", "tel"],
        ["Service", "service", undefined],
        ["Message", "message", undefined],
      ]);
      expect(listDuplicateIds(page)).toEqual([]);
    },
  );

  test("The page under the quote panel has the same filter while the panel is open and after it is closed.", async () => {
    const listArticles = (page: ParsedPage) => page.all("main h2").map(getText);
    const filtered = await visitor.open("/resources/blog?category=Case+Study");
    expect(listArticles(filtered)).not.toEqual(listArticles(await visitor.open("/resources/blog")));
    const quotePath = findLink(filtered, "footer", "Get a Quote")?.getAttribute("href") ?? "";
    const opened = await visitor.open(quotePath);
    const closed = await visitor.open(findLink(opened, "dialog[open]", "Close")?.getAttribute("href") ?? "");
    expect([opened, closed].map(listArticles)).toEqual([listArticles(filtered), listArticles(filtered)]);
    expect(closed.all("dialog[open]")).toEqual([]);
  });

  test("A URL without the parameter quote does not open the quote panel.", async () => {
    for (const path of ["/?quotes", "/?q=quote", "/contact?request=quote"])
      expect((await visitor.open(path)).all("dialog[open]"), path).toEqual([]);
  });
});

test.each([
  ["/", ["Home"]],
  ["/login", ["Client Login"]],
  ["/contact", []],
  ["/no-such-page", []],
])("The menu on %s marks the current page as %j.", async (path, names) => {
  const marked = (await visitor.open(path)).all("header nav [aria-current=page]").map(getText);
  expect([...new Set(marked)]).toEqual(names);
});

describe("Links of menu and footer", () => {
  const listPaths = (page: ParsedPage) =>
    page
      .all("header:has(nav) a, footer a")
      .map((link) => link.getAttribute("href") ?? "")
      .filter((target) => target.startsWith("/"));

  test("Every link of the menu and the footer opens a page, for a visitor and for a client.", async () => {
    for (const browser of [visitor, client]) {
      const paths = [...new Set(listPaths(await browser.open("/")))];
      expect(paths.length).toBeGreaterThanOrEqual(13);
      const responses = await Promise.all(paths.map((path) => browser.get(path)));
      expect(paths.filter((_, index) => responses[index]?.status !== 200)).toEqual([]);
    }
  });

  test("All pages that menu and footer link to have the same menu and footer, and one h1.", async () => {
    const listTargets = (page: ParsedPage) =>
      listPaths(page).map((path) => path.replace(/^.*[?&]quote(=.*)?$/, "?quote"));
    const expected = listTargets(await visitor.open("/about"));
    for (const path of new Set([...listPaths(await visitor.open("/")), "/no-such-page"])) {
      const page = await visitor.open(path);
      expect(page.all("h1"), path).toHaveLength(1);
      // The header of the home page has no quote button.
      const missing = path.split("?")[0] === "/" ? ["?quote"] : [];
      expect([...listTargets(page), ...missing].sort(), path).toEqual([...expected].sort());
    }
  });
});

test("The first heading of a page is its h1, and every link and button is in a landmark for screen readers.", async () => {
  const shipment = await client.createShipment("Tea");
  for (const path of ["/portal", "/portal/new", "/portal/2fa", shipment, "/", "/about", "/contact"]) {
    const page = await client.open(path);
    expect(page.all("main h1, main h2, main h3")[0]?.tagName, path).toBe("H1");
    const outside = page.all("body a, body button").filter((each) => {
      const isSkipLink = each.getAttribute("href") === "#main";
      return !isSkipLink && !each.closest("header, nav, main, footer, aside, dialog");
    });
    expect(outside.map(String), path).toEqual([]);
  }
});
