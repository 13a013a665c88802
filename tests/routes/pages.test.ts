import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { publicPages } from "../support/public-pages.ts";
import { copyBrowser, listDuplicateIds } from "../support/route-fixtures.ts";
import { getTestApp, getTestSite, getText, type ParsedPage, parsePage } from "../support/test-app.ts";

const app = await getTestApp();
const site = await getTestSite();
const visitor = site.browser();
const client = site.browser();
await client.signUpAndLogIn("Wanjiru Kamau");
const shipment = await client.createShipment("Tea to Mombasa");

const confirmPath = "/auth/confirm?token_hash=a-token-of-at-least-sixteen-letters";
const pages = new Map<string, ParsedPage>();
for (const path of [...publicPages, "/login", "/signup", confirmPath, "/auth/confirm"])
  pages.set(path, await visitor.open(path));
for (const path of ["/portal", "/portal/new"]) pages.set(path, await client.open(path));
pages.set("/portal/:shipmentId", await client.open(shipment));
const indexedPages = [...pages].filter(
  ([path]) => publicPages.includes(path) && !["/", "/no-such-page"].includes(path),
);

const securityHeaders = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  // With no-referrer, browsers would send `Origin: null`, and the origin check would reject the page's form.
  "referrer-policy": "strict-origin-when-cross-origin",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  // An empty list denies a feature to every origin, even to this site.
  "permissions-policy": expect.stringMatching(
    /^camera=\(\), geolocation=\(\), microphone=\(\), payment=\(\), usb=\(\)(, [a-z-]+=\(\))*$/,
  ),
};

/** Checks for security headers, and for a Content-Security-Policy that allows inline code only by hash or nonce. */
function expectSecurePage(page: ParsedPage): void {
  expect(Object.fromEntries(page.headers)).toMatchObject(securityHeaders);
  expect([page.headers.has("Server"), page.headers.has("X-Powered-By")]).toEqual([false, false]);
  const policy = page.headers.get("Content-Security-Policy") ?? "";
  const rules = policy.split("; ");
  for (const rule of ["default-src 'none'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"])
    expect(rules).toContain(rule);
  expect(policy).not.toMatch(/unsafe|\*|https?:/);
  const sources = policy.replaceAll(/ '(sha256|nonce)-[^']+'/g, "").split("; ");
  expect(sources.filter((source) => !/^[a-z-]+ '(self|none)'$/.test(source))).toEqual(["img-src 'self' data:"]);
  const [, nonce = "no nonce"] = /'nonce-([^']+)'/.exec(policy) ?? [];
  for (const [, tag, attributes = "", content = ""] of page.html.matchAll(
    /<(script|style)\b([^>]*)>([\s\S]*?)<\/\1>/g,
  )) {
    // Structured data needs no hash or nonce, because browsers do not execute it.
    if (["ld+json", " src=", nonce].some((part) => attributes.includes(part))) continue;
    const hash = `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
    expect(
      rules.find((rule) => rule.startsWith(`${tag}-src`)),
      content.slice(0, 60),
    ).toContain(hash);
  }
  expect(page.all("[style]")).toEqual([]);
  expect(page.html).not.toMatch(/<[^>]+ on[a-z]+=/);
}

test.each([...pages])(
  "The page %s is in English and has one title, one h1, a navigation and a footer.",
  (path, page) => {
    expect([page.status, page.headers.get("Content-Type")]).toEqual([
      ...[path === "/no-such-page" ? 404 : 200, "text/html; charset=utf-8"],
    ]);
    expect(page.html).toMatch(/^<!DOCTYPE html>/i);
    expect(page.all("html").map((html) => html.getAttribute("lang"))).toEqual(["en"]);
    expect(page.all("head title")).toHaveLength(1);
    expect(page.title).toMatch(/.+ · Mizigo Clearing & Forwarding$/);
    expect(page.all("h1")).toHaveLength(1);
    expect(page.all("header nav a").map(getText)).toContain("Home");
    expect(getText(page.all("footer")[0])).toContain("Head office, Nairobi");
  },
);

test.each([
  ["/", "Customs clearing", "Built on Trust"],
  ["/services", "Our Services", "Our Logistics Expertise"],
  ["/login", "Client Login", "Client Login"],
  ["/signup", "Sign up", "Create your client account"],
  ["/auth/confirm", "Confirm your email address", "Confirm your email address"],
  ["/portal", "My Shipments", "My Shipments"],
  ["/portal/new", "Create Shipment", "Create Shipment"],
  ["/portal/:shipmentId", "Tea to Mombasa", "Tea to Mombasa"],
  ["/no-such-page", "Page not found", "Page not found"],
])("The page %s has a title that starts with %j, and a heading that starts with %j.", (path, title, h1) => {
  const page = pages.get(path);
  expect([page?.title, page?.h1]).toEqual([expect.stringMatching(`^${title}`), expect.stringMatching(`^${h1}`)]);
});

test.each([...pages])(
  "On the page %s, each field and button has a name, and the server instead of the browser validates the forms.",
  (_, page) => {
    const fields = page.all("input, select, textarea");
    for (const field of fields.filter((each) => each.getAttribute("type") !== "hidden")) {
      const label = field.closest("label") ?? page.all("label").find((each) => each.getAttribute("for") === field.id);
      expect(getText(label) || field.getAttribute("aria-label"), field.outerHTML).toBeTruthy();
    }
    for (const button of page.all("button, a"))
      expect(getText(button) || button.getAttribute("aria-label"), button.outerHTML).toBeTruthy();
    expect(page.all("[required]")).toEqual([]);
    for (const form of page.all("form")) {
      const method = form.getAttribute("method") ?? "";
      expect(["get", "post"], form.outerHTML).toContain(method);
      const inputs = form.querySelectorAll("input").map((input) => input.getAttribute("type") ?? "text");
      const isTyped = inputs.some((type) => !["hidden", "checkbox"].includes(type));
      if (isTyped && method === "post") expect(form.hasAttribute("novalidate"), form.outerHTML).toBe(true);
      expect(form.querySelector("button"), form.outerHTML).not.toBeNull();
    }
    expect(listDuplicateIds(page)).toEqual([]);
  },
);

test.each([...pages])("A visitor without script can see every text of the page %s.", (_, page) => {
  for (const part of page.all("[hidden]")) {
    for (const script of part.querySelectorAll("script")) script.remove();
    expect(getText(part)).toBe("");
  }
  expect(getText(page.all("noscript")[0])).toBe("");
});

test.each([...pages])(
  "The page %s has the security headers, and its Content-Security-Policy allows only the page's own scripts.",
  (_, page) => {
    expectSecurePage(page);
  },
);

test("Files, redirects and responses to rejected forms also have the security headers.", async () => {
  const responses = await Promise.all([
    visitor.get("/favicon.svg"),
    visitor.get("/portal"),
    visitor.post("/login", {}),
    visitor.post("/login", {}, { Origin: "https://evil.example" }),
    visitor.post("/actions/forgot-password", {}),
  ]);
  expect(responses.map(({ status }) => status)).toEqual([200, 303, 400, 403, 303]);
  for (const { headers } of responses) expect(Object.fromEntries(headers)).toMatchObject(securityHeaders);
});

describe.each(indexedPages)("Public page %s", (path, page) => {
  const getMeta = (name: string) => page.all(`head meta[name=${name}]`)[0]?.getAttribute("content") ?? "";
  const getProperty = (name: string) => page.all(`head meta[property=og:${name}]`)[0]?.getAttribute("content");

  test(`The page ${path} has its title, description and URL in the metadata for search engines and link previews.`, () => {
    expect([getMeta("description").length >= 50, getMeta("description").length < 165]).toEqual([true, true]);
    expect(`${getProperty("title")} · Mizigo Clearing & Forwarding`).toBe(page.title);
    expect(getProperty("description")).toBe(getMeta("description"));
    expect(listCanonicalAddresses(page)).toEqual([expect.stringMatching(new RegExp(`^https?://[^/]+${path}$`))]);
  });

  test(`The headings of ${path} start with the h1 and skip no level.`, () => {
    const levels = page.all("main h1, main h2, main h3, main h4").map(({ tagName }) => Number(tagName.slice(1)));
    expect(levels[0]).toBe(1);
    for (const [index, level] of levels.entries())
      expect(level - (levels[index - 1] ?? 0), `heading ${index}`).toBeLessThanOrEqual(1);
  });

  test(`The files of all drawings of ${path} exist.`, async () => {
    for (const use of page.all("main use")) {
      const [file = "", fragment] = (use.getAttribute("href") ?? "").split("#");
      const drawing = await visitor.get(file);
      expect(drawing.headers.get("Content-Type"), file).toContain("image/svg+xml");
      expect(await drawing.text()).toContain(`id="${fragment}"`);
    }
  });
});

const listCanonicalAddresses = (page: ParsedPage) =>
  page.all("head link[rel=canonical]").map((link) => link.getAttribute("href"));

test("The canonical URL of a page has no query.", async () => {
  for (const path of ["/services", "/resources/blog"])
    expect(listCanonicalAddresses(await visitor.open(`${path}?service=exports&utm_source=x`))).toEqual([
      expect.stringMatching(`${path}$`),
    ]);
});

test("Every public page works without the backend and makes no backend call, for visitors and for signed-in clients.", async () => {
  const files = ["/sitemap.xml", "/robots.txt", "/resources/blog/rss.xml"];
  const paths = ["/", ...indexedPages.map(([path]) => path), ...files, "/?quote", "/actions/quote"];
  const [stranger, signedIn] = [app.browser(), copyBrowser(app, client)];
  app.proxy.fail("close");
  const calls = await app.proxy.during(async () => {
    for (const path of [...paths, "/login", "/signup", confirmPath])
      expect((await stranger.get(path)).status, path).toBe(200);
    for (const path of paths) expect((await signedIn.get(path)).status, path).toBe(200);
    for (const browser of [stranger, signedIn]) expect((await browser.get("/no-such-page")).status).toBe(404);
  });
  // Opens the login and sign-up pages after the count has ended, because these pages check a client's session with a
  // backend call.
  for (const path of ["/login", "/signup"]) expect((await signedIn.get(path)).status).toBe(200);
  app.proxy.fail("none");
  expect(calls).toEqual([]);
});

test.each(["/portal.php", "/.env", "/%E0%A4%A", "/%00", "/a%2F..%2Fb", "/portal/a/b/c", "/<script>alert(1)</script>"])(
  "The unknown URL %s gets a 404 page that does not contain the URL as HTML.",
  async (path) => {
    const page = await parsePage(await visitor.get(path));
    expect([page.status, page.h1]).toEqual([404, "Page not found"]);
    expect(page.html).not.toContain("<script>alert");
  },
);
