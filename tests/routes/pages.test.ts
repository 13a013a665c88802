import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { publicPages } from "../support/public-pages.ts";
import { listDuplicateIds } from "../support/route-fixtures.ts";
import { getTestApp, getText, noStorePattern, type ParsedPage, parsePage, startTestSite } from "../support/test-app.ts";

const app = await getTestApp();
const site = await startTestSite();
const visitor = site.browser();
const client = site.browser();
await client.signUpAndLogIn("Wanjiru Kamau");
const shipment = await client.createShipment("Tea to Mombasa");
afterAll(() => site.close());

const confirmPath = "/auth/confirm?token_hash=a-token-of-at-least-sixteen-letters";
const frameCases: { name: string; path: string; status?: number; title: string; h1: string }[] = [
  { name: "home page", path: "/", title: "Customs clearing", h1: "Built on Trust" },
  { name: "services page", path: "/services", title: "Our Services", h1: "Our Logistics Expertise" },
  { name: "login", path: "/login", title: "Client Login", h1: "Client Login" },
  { name: "sign-up", path: "/signup", title: "Sign up", h1: "Create your client account" },
  {
    ...{ name: "confirmation", path: confirmPath },
    ...{ title: "Confirm your email address", h1: "Confirm your email address" },
  },
  {
    ...{ name: "confirmation without a token", path: "/auth/confirm" },
    ...{ title: "Confirm your email address", h1: "Confirm your email address" },
  },
  { name: "portal", path: "/portal", title: "My Shipments", h1: "My Shipments" },
  { name: "form for a new shipment", path: "/portal/new", title: "Create Shipment", h1: "Create Shipment" },
  { name: "page of a shipment", path: "shipment", title: "Tea to Mombasa", h1: "Tea to Mombasa" },
  {
    ...{ name: "page of an unknown address", path: "/no/such-page", status: 404 },
    ...{ title: "Page not found", h1: "Page not found" },
  },
];

const securityHeaders = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  // With no-referrer, browsers send `Origin: null`, and the origin check would reject the page's form.
  "referrer-policy": "strict-origin-when-cross-origin",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  // An empty list denies a feature to every origin, this site included.
  "permissions-policy": expect.stringMatching(
    /^camera=\(\), geolocation=\(\), microphone=\(\), payment=\(\), usb=\(\)(, [a-z-]+=\(\))*$/,
  ),
};

/** Expects security headers and a content security policy that allows inline code only by hash or nonce. */
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
    // Browsers do not execute structured data.
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

describe.each(frameCases)("$name", ({ name, path, status = 200, title, h1 }) => {
  let page: ParsedPage;
  beforeAll(async () => {
    // A visitor opens the login and the sign-up, because these pages redirect a signed-in client.
    const browser = ["/login", "/signup"].includes(path) ? visitor : client;
    page = await browser.open(path === "shipment" ? shipment : path);
  });

  test(`The ${name} is an English HTML page with one title, one h1, navigation and footer`, () => {
    expect([page.status, page.headers.get("Content-Type")]).toEqual([status, "text/html; charset=utf-8"]);
    expect(page.html).toMatch(/^<!DOCTYPE html>/i);
    expect(page.all("html").map((html) => html.getAttribute("lang"))).toEqual(["en"]);
    expect(page.all("head title")).toHaveLength(1);
    expect(page.title).toMatch(new RegExp(`^${title}.* · Mizigo Clearing & Forwarding$`));
    expect(page.all("h1").map(getText)).toEqual([expect.stringContaining(h1)]);
    expect(page.all("header nav a").map(getText)).toContain("Home");
    expect(getText(page.all("footer")[0])).toContain("Head office, Nairobi");
  });

  test(`Each field and button of the ${name} has a name, and the server validates its forms`, () => {
    const fields = page.all("input, select, textarea");
    for (const field of fields.filter((each) => each.getAttribute("type") !== "hidden")) {
      const label = field.closest("label") ?? page.all("label").find((each) => each.getAttribute("for") === field.id);
      expect(getText(label) || field.getAttribute("aria-label"), field.outerHTML).toBeTruthy();
    }
    for (const button of page.all("button, a")) expect(getText(button), button.outerHTML).not.toBe("");
    expect(page.all("[required]")).toEqual([]);
    for (const form of page.all("form")) {
      const isSearch = form.getAttribute("role") === "search";
      expect(form.getAttribute("method"), form.outerHTML).toBe(isSearch ? "get" : "post");
      const hasInput = form.querySelectorAll("input").some((input) => input.getAttribute("type") !== "hidden");
      if (hasInput && !isSearch) expect(form.hasAttribute("novalidate"), form.outerHTML).toBe(true);
      expect(form.querySelector("button"), form.outerHTML).not.toBeNull();
    }
    expect(listDuplicateIds(page)).toEqual([]);
  });

  test(`A visitor without script sees every text of the ${name}`, () => {
    for (const part of page.all("[hidden]")) {
      for (const script of part.querySelectorAll("script")) script.remove();
      expect(getText(part)).toBe("");
    }
    expect(getText(page.all("noscript")[0])).toBe("");
  });

  test(`The ${name} has the security headers and runs only scripts that its policy names`, () => {
    expectSecurePage(page);
  });

  if (["/", "/services"].includes(path)) return;
  test(`No cache stores the ${name}`, () => {
    expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  });
});

test("Files, redirects and rejected forms carry the security headers too", async () => {
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

describe.each(publicPages.filter((path) => !["/", "/no-such-page"].includes(path)))("public page %s", (path) => {
  let page: ParsedPage;
  beforeAll(async () => {
    page = await visitor.open(path);
  });
  const getMeta = (name: string) => page.all(`head meta[name=${name}]`)[0]?.getAttribute("content") ?? "";
  const getProperty = (name: string) => page.all(`head meta[property=og:${name}]`)[0]?.getAttribute("content");

  test(`Search engines and link previews get the title, description and address of ${path}`, async () => {
    expect([getMeta("description").length >= 50, getMeta("description").length < 165]).toEqual([true, true]);
    expect(`${getProperty("title")} · Mizigo Clearing & Forwarding`).toBe(page.title);
    expect(getProperty("description")).toBe(getMeta("description"));
    for (const query of ["", "?service=exports&utm_source=x"]) {
      const { all } = await visitor.open(path + query);
      const canonical = all("head link[rel=canonical]").map((link) => link.getAttribute("href"));
      expect(canonical).toEqual([expect.stringMatching(new RegExp(`^https?://[^/]+${path}$`))]);
    }
  });

  test(`The headings of ${path} skip no level, and each id occurs once`, () => {
    const levels = page.all("main h1, main h2, main h3, main h4").map(({ tagName }) => Number(tagName.slice(1)));
    expect(levels[0]).toBe(1);
    for (const [index, level] of levels.entries())
      expect(level - (levels[index - 1] ?? 0), `heading ${index}`).toBeLessThanOrEqual(1);
    expect(listDuplicateIds(page)).toEqual([]);
  });

  test(`The page ${path} has the security headers and only drawings that exist`, async () => {
    expectSecurePage(page);
    for (const use of page.all("main use")) {
      const [file = "", fragment] = (use.getAttribute("href") ?? "").split("#");
      const drawing = await visitor.get(file);
      expect(drawing.headers.get("Content-Type"), file).toContain("image/svg+xml");
      expect(await drawing.text()).toContain(`id="${fragment}"`);
    }
  });
});

test("Every public page opens while the backend is down and calls no backend, signed in or not", async () => {
  const files = ["/sitemap.xml", "/robots.txt", "/resources/blog/rss.xml"];
  const paths = [...publicPages, ...files, "/?quote", "/actions/quote"].filter((path) => path !== "/no-such-page");
  app.proxy.fail("close");
  const calls = await app.proxy.during(async () => {
    for (const path of [...paths, "/login", "/signup", confirmPath])
      expect((await visitor.get(path)).status, path).toBe(200);
    for (const path of paths) expect((await client.get(path)).status, path).toBe(200);
    for (const browser of [visitor, client]) expect((await browser.get("/no-such-page")).status).toBe(404);
  });
  // To check a client's session, the login and the sign-up call the backend.
  for (const path of ["/login", "/signup"]) expect((await client.get(path)).status).toBe(200);
  app.proxy.fail("none");
  expect(calls).toEqual([]);
});

test.each(["/portal.php", "/.env", "/%E0%A4%A", "/%00", "/a%2F..%2Fb", "/portal/a/b/c", "/<script>alert(1)</script>"])(
  "The unknown address %s has a 404 page that does not repeat the address as markup",
  async (path) => {
    const page = await parsePage(await visitor.get(path));
    expect([page.status, page.h1]).toEqual([404, "Page not found"]);
    expect(page.html).not.toContain("<script>alert");
  },
);
