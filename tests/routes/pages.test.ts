import { createHash } from "node:crypto";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { getConfirmationLink } from "../support/outbox.ts";
import { issueClientIds } from "../support/service-role.ts";
import {
  getTestApp,
  getText,
  noStorePattern,
  type ParsedPage,
  parsePage,
  password,
  startTestSite,
  type TestBrowser,
} from "../support/test-app.ts";

let app: Awaited<ReturnType<typeof getTestApp>>;
let site: Awaited<ReturnType<typeof startTestSite>>;
let visitor: TestBrowser;
let client: TestBrowser;
let shipment: string;
beforeAll(async () => {
  app = await getTestApp();
  site = await startTestSite();
  visitor = site.browser();
  client = site.browser();
  await client.signUpAndLogIn("Wanjiru Kamau");
  shipment = await client.createShipment("Tea to Mombasa");
});
afterAll(async () => {
  await site.close();
});

const token = "a-token-of-at-least-sixteen-letters";
const pageCases = [
  { name: "the home page", path: () => "/", status: 200, title: "Customs clearing", h1: "Built on Trust" },
  { name: "the login", path: () => "/login", status: 200, title: "Client Login", h1: "Client Login" },
  { name: "the sign-up", path: () => "/signup", status: 200, title: "Sign up", h1: "Open your client account" },
  {
    name: "the confirmation",
    path: () => `/auth/confirm?token_hash=${token}`,
    status: 200,
    title: "Confirm your e-mail address",
    h1: "Confirm your e-mail address",
  },
  {
    name: "the confirmation without a token",
    path: () => "/auth/confirm",
    status: 200,
    title: "Confirm your e-mail address",
    h1: "Confirm your e-mail address",
  },
  { name: "the portal", path: () => "/portal", status: 200, title: "My Shipments", h1: "My Shipments" },
  { name: "the create form", path: () => "/portal/new", status: 200, title: "Create Shipment", h1: "Create Shipment" },
  { name: "a shipment", path: () => shipment, status: 200, title: "Tea to Mombasa", h1: "Tea to Mombasa" },
  {
    name: "an unknown page",
    path: () => "/no/such-page",
    status: 404,
    title: "There is no page here",
    h1: "There is no page here",
  },
];

describe.each(pageCases)("$name", ({ path, status, title, h1 }) => {
  let page: ParsedPage;
  beforeAll(async () => {
    // The login and the sign-up redirect clients who are signed in.
    page = await (["/login", "/signup"].includes(path()) ? visitor : client).open(path());
  });

  test(`answers ${status} as HTML in English with a title and one h1`, () => {
    expect(page.status).toBe(status);
    expect(page.headers.get("Content-Type")).toBe("text/html; charset=utf-8");
    expect(page.html).toMatch(/^<!DOCTYPE html>/i);
    expect(page.all("html").map((html) => html.getAttribute("lang"))).toEqual(["en"]);
    expect(page.all("head title")).toHaveLength(1);
    expect(page.title).toMatch(new RegExp(`^${title}.* · Mizigo Clearing & Forwarding$`));
    expect(page.all("h1").map(getText)).toEqual([expect.stringContaining(h1)]);
  });

  test("has the navigation and the footer of the site around it", () => {
    expect(page.all("header nav a").map(getText)).toContain("Home");
    expect(getText(page.all("footer")[0])).toContain("Head office, Nairobi");
    // The portal's footer is one line.
    if (!path().startsWith("/portal")) expect(getText(page.all("footer")[0])).toContain("Branch office, Mombasa");
    expect(getText(page.all("footer")[0])).toContain("© 2025");
    expect(page.all("a[href='#main']").map(getText)).toEqual(["Skip to the content"]);
    expect(page.has("main")).toBe(true);
  });

  test("names every field and button, and leaves judging to the server", () => {
    const fields = page.all("input, select, textarea");
    for (const field of fields.filter((one) => one.getAttribute("type") !== "hidden")) {
      const label = field.closest("label") ?? page.all("label").find((one) => one.getAttribute("for") === field.id);
      expect(getText(label) || field.getAttribute("aria-label"), field.outerHTML).toBeTruthy();
    }
    for (const button of page.all("button, a")) expect(getText(button), button.outerHTML).not.toBe("");
    expect(page.all("[required]")).toEqual([]);
    for (const form of page.all("form")) {
      const isSearch = form.getAttribute("role") === "search";
      expect(form.getAttribute("method"), form.outerHTML).toBe(isSearch ? "get" : "post");
      if (isSearch) continue;
      const asks = form.querySelectorAll("input").some((input) => input.getAttribute("type") !== "hidden");
      if (asks) expect(form.hasAttribute("novalidate"), form.outerHTML).toBe(true);
    }
    const ids = page.all("[id]").map((element) => element.id);
    expect(ids).toEqual([...new Set(ids)]);
  });

  test("shows all its words without a script that puts them in place", () => {
    for (const part of page.all("[hidden]")) {
      for (const script of part.querySelectorAll("script")) script.remove();
      expect(getText(part)).toBe("");
    }
    expect(getText(page.all("noscript")[0])).toBe("");
  });

  test("runs only scripts that its policy names by hash, and has no style in an attribute", () => {
    const policy = page.headers.get("Content-Security-Policy") ?? "";
    for (const rule of ["default-src 'none'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"]) {
      expect(policy.split("; ")).toContain(rule);
    }
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    const sources = policy.replaceAll(/ 'sha256-[^']+'/g, "").split("; ");
    expect(sources.filter((source) => !/^[a-z-]+ '(self|none)'$/.test(source))).toEqual(["img-src 'self' data:"]);
    expectCspHashes(page, policy);
    expect(page.all("[style]")).toEqual([]);
    expect(page.html).not.toMatch(/<[^>]+ on[a-z]+=/);
  });

  test("carries the security headers", () => {
    expect(Object.fromEntries(page.headers)).toMatchObject(securityHeaders);
    expect(page.headers.has("Server")).toBe(false);
    expect(page.headers.has("X-Powered-By")).toBe(false);
  });
});

const securityHeaders = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  // With no-referrer, browsers send `Origin: null` and the form of the page would be refused.
  "referrer-policy": "strict-origin-when-cross-origin",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  // Denied to every origin, this site included.
  "permissions-policy": expect.stringMatching(
    /^camera=\(\), geolocation=\(\), microphone=\(\), payment=\(\), usb=\(\)(, [a-z-]+=\(\))*$/,
  ),
};

test("files, redirects and refusals carry the security headers too", async () => {
  const answers = await Promise.all([
    visitor.get("/favicon.svg"),
    visitor.get("/portal"),
    visitor.post("/login", {}),
    visitor.post("/login", {}, { Origin: "https://evil.example" }),
    visitor.post("/actions/forgot-password", {}),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 303, 400, 403, 303]);
  for (const answer of answers) expect(Object.fromEntries(answer.headers)).toMatchObject(securityHeaders);
});

test("a built file may be kept for ever, and a missing one is 404", async () => {
  const home = await visitor.open("/");
  const style = home.all("link[rel=stylesheet]")[0]?.getAttribute("href") ?? "";
  const file = await visitor.get(style);
  expect(file.headers.get("Cache-Control")).toBe("public, max-age=31536000, immutable");
  expect((await visitor.get("/assets/no-such-file.js")).status).toBe(404);
});

test.each(["/login", "/signup", "/auth/confirm", "/portal", "/portal/new", "/no-such-page"])(
  "%s is kept by nobody",
  async (path) => {
    expect((await client.get(path)).headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  },
);

test("a visitor is offered the login, a client the shipments and a way out", async () => {
  const navigation = async (browser: TestBrowser) =>
    (await browser.open("/")).all("header a, header button").map(getText);
  expect(await navigation(visitor)).toEqual(expect.arrayContaining(["Home", "Client Login", "Use the light theme"]));
  expect(await navigation(visitor)).not.toContain("Sign out");
  expect(await navigation(client)).toEqual(expect.arrayContaining(["My Shipments", "Sign out"]));
  expect(await navigation(client)).not.toContain("Client Login");
});

test("public pages are all there with the backend dead, and ask it nothing", async () => {
  app.proxy.fail("close");
  // Login and sign-up check a session, if there is one; that call is not counted.
  for (const path of ["/login", "/signup"]) expect((await client.get(path)).status).toBe(200);
  const calls = await app.proxy.during(async () => {
    for (const path of ["/", "/login", "/signup", `/auth/confirm?token_hash=${token}`]) {
      expect((await visitor.get(path)).status).toBe(200);
    }
    expect((await client.get("/")).status).toBe(200);
  });
  app.proxy.fail("none");
  expect(calls).toEqual([]);
});

test.each([
  "/portal.php",
  "/.env",
  "/%E0%A4%A",
  "/%00",
  "/a%2F..%2Fb",
  "/portal/a/b/c/d",
  "/<script>alert(1)</script>",
])("the odd address %s is a 404 that repeats nothing of it as markup", async (path) => {
  const page = await parsePage(await visitor.get(path));
  expect(page.status).toBe(404);
  expect(page.h1).toBe("There is no page here");
  expect(page.html).not.toContain("<script>alert");
});

test("HEAD answers as GET does, without a body", async () => {
  const request = (method: string) => new Request("http://127.0.0.1:3000/login", { method });
  const response = await visitor.send(request("HEAD"));
  expect(response.status).toBe(200);
  expect(response.headers.get("Content-Type")).toBe("text/html; charset=utf-8");
  expect(await response.text()).toBe("");
});

describe("the link of a confirmation mail", () => {
  test("spends nothing when it is opened, and confirms when the button is pressed", async () => {
    const email = "link@client.example";
    const [clientId = ""] = await issueClientIds(app.company, 1);
    await visitor.post("/signup", { clientId, fullName: "Link", email, password });
    const { pathname, search } = new URL(await getConfirmationLink(process.env.DATA_DIR ?? "", email));
    const calls = await app.proxy.during(async () => {
      await visitor.open(pathname + search);
      await client.open(pathname + search);
    });
    expect(calls).toEqual([]);

    const page = await visitor.open(pathname + search);
    expect(page.all("main input").map((input) => input.getAttribute("autocomplete"))).toEqual([
      undefined,
      "username",
      "current-password",
    ]);
    expect(page.value("email")).toBe("");
    const login = await visitor.follow(await visitor.submit(page, "Confirm this address", { email, password }));
    expect(login.h1).toBe("Client Login");
    expect(login.toasts).toEqual([
      { title: "E-mail address confirmed", description: "Log in with your password.", variant: "default" },
    ]);
    await app.browser().logIn(email);

    // A second press, as on a slow line, says the same.
    const again = await visitor.follow(await visitor.submit(page, "Confirm this address", { email, password }));
    expect(again.toasts[0]?.title).toBe("E-mail address confirmed");
  });

  test("without a token, or with one that cannot be one, says so and has no button", async () => {
    for (const path of ["/auth/confirm", "/auth/confirm?token_hash=", '/auth/confirm?token_hash="><script>x']) {
      const page = await visitor.open(path);
      expect(page.text).toContain("This link is not complete. Open it from the message again.");
      expect(() => page.form("Confirm this address")).toThrow("No button");
    }
  });

  test("that nobody was sent is refused in words, and the page says how to get a new one", async () => {
    const email = "waits-elsewhere@client.example";
    const [clientId = ""] = await issueClientIds(app.company, 1);
    await visitor.post("/signup", { clientId, fullName: "Elsewhere", email, password });
    visitor.cookies.delete("flash");
    const form = await visitor.open(`/auth/confirm?token_hash=${token}`);
    const page = await parsePage(await visitor.submit(form, "Confirm this address", { email, password }));
    expect(page.status).toBe(400);
    expect(page.title).toMatch(/^Error: /);
    expect(page.toasts).toEqual([
      { title: "Sign in Failed", description: "This link has been used or is too old.", variant: "destructive" },
    ]);
    expect(page.text).toContain("Log in with your password, and we send you a new one.");
  });

  test("that was cut off before the form was sent is refused in words", async () => {
    const page = await parsePage(await visitor.post("/auth/confirm", { token: "short" }));
    expect(page.status).toBe(400);
    expect(page.toasts[0]?.description).toBe("This link is not complete. Open it from the message again.");
  });
});

describe.each([
  { path: "/services", title: "Our Services", h1: "Our Logistics Expertise" },
  {
    path: "/about",
    title: "Pioneering Global Logistics for 30+ Years",
    h1: "Pioneering Global Logistics for 30+ Years",
  },
  { path: "/resources/cost", title: "What will it cost?", h1: "What will it cost?" },
  { path: "/resources/faq", title: "Frequently Asked Questions", h1: "Frequently Asked Questions" },
  { path: "/resources/feeds", title: "Feeds Update", h1: "Feeds Update" },
])("the public page $path", ({ path, title, h1 }) => {
  let page: ParsedPage;
  beforeAll(async () => {
    page = await visitor.open(path);
  });
  const meta = (name: string) => page.all(`head meta[name=${name}]`)[0]?.getAttribute("content") ?? "";
  const property = (name: string) => page.all(`head meta[property=og:${name}]`)[0]?.getAttribute("content");

  test("has its title with the company's name, and one h1", () => {
    expect(page.status).toBe(200);
    expect(page.title).toBe(`${title} · Mizigo Clearing & Forwarding`);
    expect(page.all("h1").map(getText)).toEqual([h1]);
  });

  test("tells search engines and previews what it is and where, whatever the query", async () => {
    expect(meta("description").length).toBeGreaterThan(70);
    expect(meta("description").length).toBeLessThan(165);
    expect(property("title")).toBe(title);
    expect(property("description")).toBe(meta("description"));
    const canonical = (one: ParsedPage) => one.all("head link[rel=canonical]").map((link) => link.getAttribute("href"));
    expect(canonical(page)).toEqual([expect.stringMatching(new RegExp(`^https?://[^/]+${path}$`))]);
    expect(canonical(await visitor.open(`${path}?service=exports&utm_source=x`))).toEqual(canonical(page));
    expect(meta("robots")).toBe("");
  });

  test("has headings in order and each id once", () => {
    const levels = page.all("main h1, main h2, main h3, main h4").map(({ tagName }) => Number(tagName.slice(1)));
    expect(levels[0]).toBe(1);
    levels.forEach((level, index) => {
      expect(level - (levels[index - 1] ?? 0), `heading ${index} after h${levels[index - 1]}`).toBeLessThanOrEqual(1);
    });
    const ids = page.all("[id]").map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)]);
  });

  test("carries the security headers, and nothing in it that the policy refuses", () => {
    expect(Object.fromEntries(page.headers)).toMatchObject(securityHeaders);
    const policy = page.headers.get("Content-Security-Policy") ?? "";
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expectCspHashes(page, policy);
    expect(page.all("[style], [onclick], [ontoggle]")).toEqual([]);
  });

  test("draws only with files the site has", async () => {
    for (const use of page.all("main use")) {
      const [file = "", fragment] = (use.getAttribute("href") ?? "").split("#");
      const drawing = await visitor.get(file);
      expect(drawing.headers.get("Content-Type"), file).toContain("image/svg+xml");
      expect(await drawing.text()).toContain(`id="${fragment}"`);
    }
  });

  test("is there with the backend dead, and asks it nothing", async () => {
    const calls = await app.proxy.during(async () => {
      app.proxy.fail("close");
      const signedIn = await client.open(path);
      app.proxy.fail("none");
      expect(signedIn.status).toBe(200);
      expect(signedIn.h1).toBe(h1);
    });
    expect(calls).toEqual([]);
  });
});

describe("the services", () => {
  const titles = [
    ["clearing", "Clearing & Forwarding"],
    ["sea-air", "Sea & Air Freight"],
    ["door-to-door", "Door-to-Door Delivery"],
    ["consolidation", "Consolidation Management"],
    ["storage", "Storage Facilities"],
    ["removals", "Removals & Relocations"],
    ["imports", "Import Services"],
    ["exports", "Export Services"],
    ["shipping-agents", "Shipping Agency"],
    ["transporters", "Inland Transportation"],
    ["consultancy", "Logistics Consultancy"],
  ];
  let page: ParsedPage;
  beforeAll(async () => {
    page = await visitor.open("/services");
  });
  const opened = (one: ParsedPage) => one.all("main details[open] summary h2").map(getText);

  test("are the eleven of the specification in its order, each with an icon, a tagline and its details", () => {
    const cards = page.all("main details");
    expect(
      cards.map((card) => [card.querySelector("summary ~ [id]")?.id, getText(card.querySelector("summary h2"))]),
    ).toEqual(titles);
    for (const card of cards) {
      expect(card.querySelectorAll("summary svg").length, getText(card)).toBe(2);
      expect(getText(card.querySelector("summary h2 ~ span")).length, getText(card)).toBeGreaterThan(20);
      expect(card.querySelectorAll("li h3").map(getText)).toEqual([
        "What we do",
        "What you hand over",
        "How long it takes",
      ]);
      for (const detail of card.querySelectorAll("li p")) expect(getText(detail).length).toBeGreaterThan(60);
    }
  });

  test("are one group of which the browser opens one at a time, clearing at first", () => {
    expect(page.all("main details").map((card) => card.getAttribute("name"))).toEqual(Array(11).fill("service"));
    expect(opened(page)).toEqual(["Clearing & Forwarding"]);
  });

  test("have the block on the clearing team in the clearing card only", () => {
    const blocks = page.all("main details section");
    expect(blocks).toHaveLength(1);
    expect(getText(blocks[0]?.querySelector("h3"))).toBe("Why Choose Our Clearing & Forwarding Team?");
    expect(blocks[0]?.querySelectorAll("dt").map(getText)).toEqual(["AEO Certified", "24/7 Operations", "Expert Team"]);
    expect(getText(blocks[0]?.closest("details")?.querySelector("h2"))).toBe("Clearing & Forwarding");
  });

  test.each(titles)("?service=%s opens %s and nothing else", async (id, title) => {
    expect(opened(await visitor.open(`/services?service=${id}`))).toEqual([title]);
  });

  test.each(["", "teleport", "constructor", "CLEARING", '"><script>alert(1)</script>'])(
    "?service=%s, which there is not, changes nothing",
    async (id) => {
      const answer = await visitor.open(`/services?service=${encodeURIComponent(id)}`);
      expect(answer.status).toBe(200);
      expect(opened(answer)).toEqual(["Clearing & Forwarding"]);
      expect(answer.html).not.toContain("<script>alert");
    },
  );

  test("end each with a request for a quote that names it", async () => {
    for (const [index, card] of page.all("main details").entries()) {
      const [link] = card.querySelectorAll("a");
      expect(getText(link)).toBe(`Ask for a quote for ${titles[index]?.[1]}`);
      const form = await visitor.open(link?.getAttribute("href") ?? "");
      expect(form.h1).toBe("Get a Quote");
      const [chosen] = form.all("option[selected]").map(getText);
      // Where the form has no option of this name, the message has it.
      if (chosen !== titles[index]?.[1]) expect(form.all("textarea")[0]?.text).toBe(`${titles[index]?.[1]}: `);
    }
  });

  test("begin with the banner and end with the way to a consultation", () => {
    expect(page.all("main use").map((use) => use.getAttribute("href"))).toEqual(["/art/services-banner.svg#art"]);
    expect(page.text).toMatch(/Logistics Consultancy.*Need a Custom Solution\?.*Request Consultation$/);
    const link = page.all("main a").find((each) => getText(each) === "Request Consultation");
    expect(link?.getAttribute("href")).toBe("/contact");
  });
});

describe("the About page", () => {
  let page: ParsedPage;
  beforeAll(async () => {
    page = await visitor.open("/about");
  });
  const section = (heading: string) => {
    const found = page.all("main section").find((each) => getText(each.querySelector("h2")) === heading);
    if (!found) throw new Error(`No section "${heading}"`);
    return found;
  };

  test("has its sections in the order of the specification", () => {
    expect(page.all("main h2").map(getText)).toEqual([
      "Our Story",
      "Our Trusted Partners",
      "Our Culture",
      "Our Operations",
      "Sustainability",
      "Our Impact",
      "Leadership Team",
      "Our Vision",
      "Our Mission",
      "Certifications & Memberships",
    ]);
    for (const heading of page.all("main h2").map(getText)) {
      expect(section(heading).querySelectorAll("p, h3").length, heading).toBeGreaterThan(0);
    }
  });

  test("tells the story in five scenes, each described and with a caption", () => {
    const scenes = section("Our Story").querySelectorAll("figure");
    expect(scenes.map((scene) => scene.querySelector("use")?.getAttribute("href"))).toEqual([
      "/art/story-quay-cranes.svg#art",
      "/art/story-customs-desk.svg#art",
      "/art/story-yard-night.svg#art",
      "/art/story-rail-plain.svg#art",
      "/art/story-truck-escarpment.svg#art",
    ]);
    for (const scene of scenes) {
      expect(scene.querySelector("[role=img]")?.getAttribute("aria-label")).toMatch(/^Drawing of .{10}/);
      expect(getText(scene.querySelector("figcaption")).length).toBeGreaterThan(10);
    }
  });

  test("shows thirteen partners by mark and name, and says that they are samples", () => {
    const partners = section("Our Trusted Partners").querySelectorAll("li");
    expect(partners).toHaveLength(13);
    expect(new Set(partners.map((partner) => getText(partner.querySelector("text")))).size).toBe(13);
    for (const partner of partners) {
      expect(partner.querySelectorAll("svg[aria-hidden=true]")).toHaveLength(1);
    }
    expect(getText(section("Our Trusted Partners")).match(/sample/gi)).toHaveLength(1);
  });

  test("names three leaders with their initials, roles and what they do", () => {
    const people = section("Leadership Team").querySelectorAll("li");
    expect(people.map((person) => getText(person.querySelectorAll("p")[0]))).toEqual([
      "Managing Director",
      "Operations Manager",
      "Business Development Manager",
    ]);
    expect(people.map((person) => getText(person.querySelector("text")))).toEqual(["AB", "BM", "CN"]);
    expect(getText(section("Leadership Team")).match(/sample/gi)).toHaveLength(1);
    for (const person of people) expect(getText(person.querySelectorAll("p")[1]).length).toBeGreaterThan(40);
  });

  test("shows four certifications, marked as samples once", () => {
    const certifications = section("Certifications & Memberships").querySelectorAll("li");
    expect(
      certifications.map((each) => [getText(each.querySelector("text")), getText(each.querySelector("h3"))]),
    ).toEqual([
      ["ISO", "ISO Certification"],
      ["AEO", "AEO Status"],
      ["KRA", "KRA Agent"],
      ["KIFWA", "KIFWA Member"],
    ]);
    for (const each of certifications) expect(getText(each.querySelector("p"))).toMatch(/.{20}/);
    expect(getText(section("Certifications & Memberships")).match(/sample/gi)).toHaveLength(1);
  });
});

describe("the questions", () => {
  let page: ParsedPage;
  beforeAll(async () => {
    page = await visitor.open("/resources/faq");
  });

  test("are three in each of three categories", () => {
    const categories = page.all("main section");
    expect(categories.map((category) => getText(category.querySelector("h2")))).toEqual([
      "Importing & Customs",
      "Freight & Logistics",
      "Specialized Services",
    ]);
    for (const category of categories) {
      expect(category.querySelectorAll("details")).toHaveLength(3);
      for (const question of category.querySelectorAll("summary h3")) expect(getText(question)).toMatch(/\?$/);
      for (const answer of category.querySelectorAll("summary ~ p")) {
        const count = getText(answer).split(" ").length;
        expect(count, getText(answer)).toBeGreaterThan(30);
      }
    }
  });

  test("are one group across the categories, with the first open", () => {
    const entries = page.all("main details");
    expect(entries.map((entry) => entry.getAttribute("name"))).toEqual(Array(9).fill("faq"));
    expect(entries.map((entry) => entry.hasAttribute("open"))).toEqual([true, ...Array(8).fill(false)]);
  });

  test("lead to the experts when none of them is the right one", () => {
    const link = page.all("main a").find((each) => getText(each) === "Contact Our Experts");
    expect(link?.getAttribute("href")).toBe("/contact");
  });

  test("are in the structured data word for word", () => {
    const [block] = page.all("script[type='application/ld+json']");
    const data = JSON.parse(block?.text ?? "") as {
      "@type": string;
      mainEntity: { name: string; acceptedAnswer: { text: string } }[];
    };
    expect(data["@type"]).toBe("FAQPage");
    expect(data.mainEntity.map(({ name, acceptedAnswer }) => [name, acceptedAnswer.text])).toEqual(
      page.all("main details").map((entry) => [getText(entry.querySelector("h3")), getText(entry.querySelector("p"))]),
    );
  });
});

test("the feeds are six news pages, each in a new tab that does not learn where the person came from", async () => {
  const cards = (await visitor.open("/resources/feeds")).all("main li");
  expect(cards.map((card) => [getText(card.querySelector("h2")), getText(card.querySelector("p"))])).toEqual([
    ["Kenya Revenue Authority", "kra.go.ke"],
    ["Kenya Ports Authority", "kpa.co.ke"],
    ["Reuters Markets", "reuters.com"],
    ["The Maritime Executive", "maritime-executive.com"],
    ["Splash247", "splash247.com"],
    ["International Maritime Organization", "imo.org"],
  ]);
  for (const card of cards) {
    const [link, ...others] = card.querySelectorAll("a");
    expect(others).toEqual([]);
    expect(getText(link)).toBe(`Visit News Center of ${getText(card.querySelector("h2"))}, in a new tab`);
    expect(new URL(link?.getAttribute("href") ?? "").hostname).toContain(getText(card.querySelector("p")));
    expect(link?.getAttribute("href")).toMatch(/^https:/);
    expect(link?.getAttribute("target")).toBe("_blank");
    expect(link?.getAttribute("rel")).toBe("noreferrer");
  }
});

/** Every script and style of the page itself is named in the policy by its hash, or by a nonce of this answer. */
function expectCspHashes(page: ParsedPage, policy: string) {
  const [, nonce] = /'nonce-([^']+)'/.exec(policy) ?? [];
  const inline = /<(script|style)\b([^>]*)>([\s\S]*?)<\/\1>/g;
  for (const [, tag, attributes = "", content = ""] of page.html.matchAll(inline)) {
    // Structured data is not executed and needs none.
    if (attributes.includes("ld+json") || attributes.includes(" src=")) continue;
    if (nonce && attributes.includes(nonce)) continue;
    const hash = `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
    expect(
      policy.split("; ").find((rule) => rule.startsWith(`${tag}-src`)),
      content.slice(0, 60),
    ).toContain(hash);
  }
}
