import { readFileSync } from "node:fs";
import type { HTMLElement } from "node-html-parser";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { getTestApp, getText, type ParsedPage, parsePage, type TestBrowser } from "../support/test-app.ts";

type CompanyData = {
  offices: { name: string; address: string; map: string; phone: string; email: string }[];
  chat_phone: string;
  social: { name: string; url: string }[];
};

const companyData = parse(readFileSync("content/data/company.yaml", "utf8")) as CompanyData;

let app: Awaited<ReturnType<typeof getTestApp>>;
let visitor: TestBrowser;
let client: TestBrowser;
beforeAll(async () => {
  app = await getTestApp();
  visitor = app.browser();
  client = app.browser();
  await client.signUpAndLogIn("Wanjiru Kamau");
  await client.open("/portal");
});

/** Name and address of the links below an element. */
const listLinks = (element: HTMLElement | undefined) =>
  (element?.querySelectorAll("a") ?? []).map((link) => [getText(link), link.getAttribute("href")]);
const findElement = (page: ParsedPage, selector: string) => page.all(selector)[0];
/** Expects an https link that opens in a new tab, without access to this page's window. */
function expectExternalLink(link: HTMLElement | undefined) {
  expect(link?.getAttribute("target"), link?.outerHTML).toBe("_blank");
  expect(link?.getAttribute("rel") ?? "", link?.outerHTML).toBe("noreferrer");
  expect(link?.getAttribute("href")).toMatch(/^https:\/\//);
}

describe.each([
  { name: "the home page", path: "/", status: 200, quote: "/?quote" },
  { name: "the contact page", path: "/contact", status: 200, quote: "/?quote" },
  { name: "the login", path: "/login", status: 200, quote: "/?quote" },
  { name: "a page that is not there", path: "/no-such-page", status: 404, quote: "/no-such-page?quote" },
])("on $name", ({ path, status, quote }) => {
  let page: ParsedPage;
  beforeAll(async () => {
    page = await visitor.open(path);
    expect(page.status).toBe(status);
  });

  const pages = [
    ["Home", "/"],
    ["Services", "/services"],
    ["About", "/about"],
    ["FAQ", "/resources/faq"],
    ["Feeds Update", "/resources/feeds"],
    ["Blog", "/resources/blog"],
  ];

  test("the navigation, on wide screens and in the phone's menu, leads to every page and to the login", () => {
    const navigations = page.all("header nav[aria-label=Main]");
    expect(navigations.length).toBeGreaterThan(0);
    for (const navigation of navigations) {
      expect(listLinks(navigation)).toEqual([...pages, ["Client Login", "/login"]]);
    }
    expect(page.all("header").map(getText).join()).not.toMatch(/My Shipments|Sign out/);
  });

  test("Resources and the phone's menu are native disclosures, closed at first", () => {
    const summaries = page.all("header details summary").map(getText);
    expect(summaries).toEqual(["Menu", "Resources"]);
    for (const details of page.all("header details")) expect(details.hasAttribute("open")).toBe(false);
    expect(listLinks(findElement(page, "header [aria-label=Resources]")).map(([name]) => name)).toEqual([
      "FAQ",
      "Feeds Update",
      "Blog",
    ]);
  });

  test("a client finds 'My Shipments' in place of the login, and a way out", async () => {
    // The login sends them on.
    const theirs = await client.open(path === "/login" ? "/portal" : path);
    if (path !== "/login") expect(listLinks(findElement(theirs, "footer nav"))[2]).toEqual(["My Shipments", "/portal"]);
    for (const navigation of theirs.all("header nav[aria-label=Main]")) {
      expect(listLinks(navigation)).toEqual([...pages, ["My Shipments", "/portal"]]);
    }
    expect(theirs.form("Sign out").action).toBe("/portal/sign-out");
  });

  test("the theme can be changed by a form that comes back here", () => {
    const { action, fields } = page.form("Use the light theme");
    expect(action).toBe("/actions/theme");
    expect(fields).toMatchObject({ theme: "light", to: path });
  });

  test("the footer leads to the contact page and to the seven small ones", () => {
    const links = listLinks(findElement(page, "footer nav"));
    expect(links.map(([, to]) => to)).toEqual([
      "/contact",
      "/careers",
      "/login",
      "/privacy",
      "/terms",
      "/legal",
      "/additional-info",
      "/cookie-settings",
    ]);
    for (const [name] of links) expect(name).not.toBe("");
  });

  test("the footer has both offices with address, phone, e-mail and a map", () => {
    const offices = page.all("footer address");
    expect(offices).toHaveLength(2);
    for (const [index, office] of companyData.offices.entries()) {
      const shown = offices[index];
      for (const part of [office.name, office.address, office.phone, office.email])
        expect(getText(shown)).toContain(part);
      const links = listLinks(shown);
      expect(links).toContainEqual([office.phone, `tel:${office.phone.replaceAll(" ", "")}`]);
      expect(links).toContainEqual([office.email, `mailto:${office.email}`]);
      const map = shown?.querySelectorAll("a").find((link) => link.getAttribute("href") === office.map);
      expect(getText(map)).toBe(`Map of the ${office.name}`);
      expectExternalLink(map);
    }
  });

  test("the footer has the four social pages, which open beside this one", () => {
    for (const { name, url } of companyData.social) {
      const link = page.all("footer a").find((each) => getText(each) === name);
      expect(link?.getAttribute("href")).toBe(url);
      expectExternalLink(link);
    }
    expect(companyData.social.map(({ name }) => name)).toEqual(["LinkedIn", "X", "Instagram", "Facebook"]);
  });

  test("the footer names the copyright year 2025", () => {
    expect(getText(findElement(page, "footer"))).toContain("© 2025");
  });

  test("'Chat with us' opens a chat with the company's number beside the page", () => {
    const links = page.all("a").filter((each) => getText(each) === "Chat with us");
    // In the bar, and where there is a gutter beside the content, floating in it.
    expect(links.map((link) => Boolean(link.closest("header")))).toEqual([true, false]);
    for (const link of links) {
      expect(link.getAttribute("href")).toMatch(/^https:\/\/[^/]+\//);
      expect(link.getAttribute("href")).toContain(companyData.chat_phone);
      expectExternalLink(link);
    }
  });

  test("the first link of the page skips to its content", () => {
    const [skip] = page.all("body a");
    expect(getText(skip)).toBe("Skip to the content");
    const id = skip?.getAttribute("href")?.replace("#", "") ?? "";
    expect(page.all(`main[id=${id}]`)).toHaveLength(1);
    expect(findElement(page, "main")?.getAttribute("tabindex")).toBe("-1");
  });

  test("'Get a Quote' leads to the quote form, over this page where nothing is being written", async () => {
    const link = page.all("footer a").find((each) => getText(each) === "Get a Quote");
    expect(link?.getAttribute("href")).toBe(quote);
    const opened = await visitor.open(quote);
    expect(opened.all("dialog[open]")).toHaveLength(1);
    expect(opened.status).toBe(path === "/login" ? 200 : status);
  });

  test("the bar has it too for a visitor, except on the home page, which begins with it", async () => {
    const inBar = (of: ParsedPage) => listLinks(findElement(of, "header")).filter(([name]) => name === "Get a Quote");
    expect(inBar(page)).toEqual(path === "/" ? [] : [["Get a Quote", quote]]);
    expect(inBar(await client.open(path === "/login" ? "/portal" : path))).toEqual([]);
  });

  test("no dialog is open without being asked for", () => {
    expect(page.all("dialog")).toEqual([]);
  });

  test("the name of the company leads home", () => {
    const [brand] = page.all("header a");
    expect(brand?.getAttribute("href")).toBe("/");
    expect(getText(brand)).not.toBe("");
  });
});

test("in the portal the footer is one line: whose site it is, whom to call, and what the page weighs", async () => {
  const [office] = companyData.offices;
  for (const path of ["/portal", "/portal/new", "/portal/account"]) {
    const footer = findElement(await client.open(path), "footer");
    const chat = `https://wa.me/${companyData.chat_phone}`;
    expect(listLinks(footer)).toEqual([
      [office?.phone, `tel:${office?.phone.replaceAll(" ", "")}`],
      ["Contact", "/contact"],
      ["Privacy Policy", "/privacy"],
      ["Chat with us", chat],
    ]);
    expect(getText(footer)).toMatch(/^© 2025 Mizigo Head office, Nairobi .* This page: about KB Lighter pages/);
  }
});

describe.each(["/", "/contact", "/no-such-page"])("the quote panel over %s", (path) => {
  let page: ParsedPage;
  let dialog: HTMLElement | undefined;
  beforeAll(async () => {
    page = await visitor.open(`${path}?quote`);
    dialog = findElement(page, "dialog[open]");
  });

  test("is an open dialog with a name", () => {
    expect(dialog?.hasAttribute("open")).toBe(true);
    expect(dialog?.getAttribute("aria-label")).toBe("Get a Quote");
  });

  test("is closed by a link in it and by the backdrop around it, both back to the same page", () => {
    const close = dialog?.querySelectorAll("a").filter((link) => getText(link) === "Close") ?? [];
    expect(close.map((link) => link.getAttribute("href"))).toEqual([path]);
    const backdrop = page.all("a[aria-label='Close the quote form']");
    expect(backdrop.map((link) => link.getAttribute("href"))).toEqual([path]);
    expect(dialog?.querySelectorAll("a")).not.toContain(backdrop[0]);
  });

  test("asks for name, e-mail, phone, service and message, and knows where it was opened", () => {
    const form = dialog?.querySelector("form");
    expect(form?.getAttribute("method")).toBe("post");
    expect(form?.getAttribute("action")).toBe("/actions/quote");
    expect(form?.hasAttribute("novalidate")).toBe(true);
    const labels = (form?.querySelectorAll("label") ?? []).map((label) => [
      getText(label),
      form?.querySelector(`[id=${label.getAttribute("for")}]`)?.getAttribute("name"),
    ]);
    expect(labels).toEqual([
      ["Full Name", "name"],
      ["Email", "email"],
      ["Phone", "phone"],
      ["Service", "service"],
      ["Message", "message"],
    ]);
    const type = (name: string) => form?.querySelector(`[name=${name}]`)?.getAttribute("type");
    expect([type("email"), type("phone")]).toEqual(["email", "tel"]);
    expect(form?.querySelectorAll("select option")).toHaveLength(10);
    expect(form?.querySelector("[name=from]")?.getAttribute("value")).toBe(path);
  });

  test("leaves every id of the page unique", () => {
    const ids = page.all("[id]").map((element) => element.id);
    expect(ids).toEqual([...new Set(ids)]);
  });
});

test("the quote panel leaves the page under it as it was asked for, and so does closing it", async () => {
  const filtered = await visitor.open("/resources/blog?category=Case+Study");
  const articles = filtered.all("main h2").map(getText);
  expect(articles).not.toEqual((await visitor.open("/resources/blog")).all("main h2").map(getText));
  const link = filtered.all("footer a").find((each) => getText(each) === "Get a Quote");
  const opened = await visitor.open(link?.getAttribute("href") ?? "");
  const close = findElement(opened, "dialog[open]")
    ?.querySelectorAll("a")
    .find((each) => getText(each) === "Close");
  expect(opened.all("main h2").map(getText)).toEqual(articles);
  const closed = await visitor.open(close?.getAttribute("href") ?? "");
  expect(closed.all("dialog[open]")).toEqual([]);
  expect(closed.all("main h2").map(getText)).toEqual(articles);
});

test("the quote panel is not opened by other parameters", async () => {
  for (const path of ["/?quotes", "/?q=quote", "/contact?request=quote"]) {
    expect((await visitor.open(path)).all("dialog[open]"), path).toEqual([]);
  }
});

test("the navigation marks the page one is on, and no other", async () => {
  for (const [path, name] of [
    ["/", "Home"],
    ["/login", "Client Login"],
    ["/contact", null],
    ["/no-such-page", null],
  ]) {
    const marked = (await visitor.open(path ?? "")).all("header nav [aria-current=page]").map(getText);
    expect([...new Set(marked)], path ?? "").toEqual(name ? [name] : []);
  }
});

describe("every page that navigation and footer lead to answers 200,", () => {
  const inside = (page: ParsedPage) =>
    page.all("header:has(nav) a, footer a").flatMap((link) => {
      const to = link.getAttribute("href") ?? "";
      return to.startsWith("/") ? [to] : [];
    });

  test("for a visitor", async () => {
    const links = new Set(inside(await visitor.open("/")));
    expect(links.size).toBeGreaterThanOrEqual(14);
    const answers = await Promise.all([...links].map(async (to) => [to, (await visitor.get(to)).status]));
    expect(answers.filter(([, status]) => status !== 200)).toEqual([]);
  });

  test("for a client", async () => {
    const links = new Set(inside(await client.open("/")));
    expect(links).toContain("/portal");
    const answers = await Promise.all([...links].map(async (to) => [to, (await client.get(to)).status]));
    expect(answers.filter(([, status]) => status !== 200)).toEqual([]);
  });

  test("with the same navigation and footer around it, and one h1", async () => {
    const around = (page: ParsedPage) => inside(page).map((each) => each.replace(/^.*[?&]quote(=.*)?$/, "?quote"));
    const links = new Set(inside(await visitor.open("/")));
    const expected = around(await visitor.open("/about"));
    for (const to of links) {
      const page = await visitor.open(to);
      expect(page.all("h1"), to).toHaveLength(1);
      // The home page alone has no quote button in its bar.
      if (to.split("?")[0] === "/") expect([...around(page), "?quote"].sort(), to).toEqual([...expected].sort());
      else expect(around(page), to).toEqual(expected);
    }
  });
});

test("a post that is refused at the gate still leads somewhere: navigation, skip link and a way home", async () => {
  const page = await parsePage(await visitor.post("/contact", {}, { "Sec-Fetch-Site": "cross-site" }));
  expect(page.status).toBe(403);
  expect(page.all("header nav a").map(getText)).toContain("Services");
  expect(page.all("body a").map((link) => link.getAttribute("href"))[0]).toBe("#main");
  expect(page.has("main")).toBe(true);
  expect(page.all("main a").map((link) => link.getAttribute("href"))).toContain("/");
});

test("the shell asks the backend nothing, whether somebody is signed in or not", async () => {
  const calls = await app.proxy.during(async () => {
    for (const path of ["/", "/contact", "/no-such-page", "/?quote"]) {
      await visitor.get(path);
      await client.get(path);
    }
    await visitor.get("/login");
  });
  expect(calls).toEqual([]);
});
