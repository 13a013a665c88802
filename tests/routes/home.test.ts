import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { getTestApp, getText, type ParsedPage, parsePage, type TestBrowser } from "../support/test-app.ts";

type TitledText = { title: string; text: string };
type HomeData = {
  search_terms: string[];
  stats: { value: number; suffix: string; label: string }[];
  why_choose_us: TitledText[];
  clearance_services: { title: string; items: string[] }[];
  closing: TitledText & { button: string };
};

const root = path.resolve(import.meta.dirname, "../..");
const homeData = readContent<HomeData>("home");
const companyData = readContent<{ founded: number; taglines: string[]; offices: { email: string }[] }>("company");
const certifications = readContent<{ home: { name: string; short: string; description: string }[] }>(
  "certifications",
).home;
const industries = readContent<{ id: string; name: string; text: string }[]>("industries");
const testimonials = readContent<{ name: string; company: string; text: string }[]>("testimonials");

let app: Awaited<ReturnType<typeof getTestApp>>;
let visitor: TestBrowser;
let page: ParsedPage;
beforeAll(async () => {
  app = await getTestApp();
  visitor = app.browser();
  page = await visitor.open("/");
});

describe("the home page", () => {
  test("has its eight sections in order, each with a heading, and skips no level", () => {
    expect(page.all("main h1, main h2").map(getText)).toEqual([
      companyData.taglines[0],
      "Where is your cargo?",
      `Since ${companyData.founded}`,
      "Why choose us",
      "Customs clearance services",
      "Certifications and accreditations",
      "Industries we serve",
      "What clients say",
      homeData.closing.title,
    ]);
    let above = 0;
    for (const heading of page.all("main h1, main h2, main h3, main h4")) {
      const level = Number(heading.tagName.slice(1));
      expect(level, getText(heading)).toBeLessThanOrEqual(above + 1);
      above = level;
    }
  });

  test("tells search engines what it is", () => {
    expect(page.title).toMatch(/^Customs clearing and freight in East Africa · /);
    const description = page.all("meta[name=description]")[0]?.getAttribute("content") ?? "";
    expect(description).toMatch(/customs clearing.*since 1993/i);
    expect(page.all("link[rel=canonical]").map((link) => new URL(link.getAttribute("href") ?? "").pathname)).toEqual([
      "/",
    ]);
  });

  test("opens the quote form from its hero, over itself", async () => {
    const link = page.all("main a").find((each) => getText(each) === "Get a Quote");
    expect(link?.getAttribute("href")).toBe("/?quote");
    const open = await visitor.open("/?quote");
    expect(open.all("dialog[open] h2").map(getText)).toEqual(["Get a Quote"]);
    expect(open.h1).toBe(page.h1);
  });

  test("leads from the search terms to the contact page, with each term as its subject", async () => {
    const banner = page.all("main div").find((each) => getText(each).startsWith("People ask us about"));
    expect(banner?.querySelectorAll("li").map(getText)).toEqual(homeData.search_terms);
    const links = banner?.querySelectorAll("a").map((link) => link.getAttribute("href") ?? "") ?? [];
    expect(links.at(-1)).toBe("/contact");
    expect(links).toHaveLength(homeData.search_terms.length + 1);
    for (const [index, term] of homeData.search_terms.entries()) {
      expect((await visitor.open(links[index] ?? "")).value("subject")).toBe(term);
    }
    expect((await visitor.open("/contact?about=Words+of+somebody")).value("subject")).toBe("");
  });

  test("names the eight stations of the line once for those who listen", () => {
    expect(page.all("ol[aria-label='Stations of our line'] li").map(getText)).toEqual([
      "Mombasa",
      "Nairobi",
      "Malaba",
      "Kampala",
      "Kigali",
      "Bujumbura",
      "Juba",
      "Goma",
    ]);
    for (const drawing of page.all("main svg")) expect(drawing.getAttribute("aria-hidden")).toBe("true");
  });

  test("draws the line with its branches, and names every station in the drawing and on the plan for phones", () => {
    const named = readFileSync(path.join(root, "public/art/hero-stations.svg"), "utf8");
    for (const part of ["names", "phone"]) {
      expect(page.all("main use").map((use) => use.getAttribute("href"))).toContain(`/art/hero-stations.svg#${part}`);
      const drawn = named.split(`id="${part}"`)[1]?.split('id="')[0] ?? "";
      const stations = page.all("ol[aria-label='Stations of our line'] li").map(getText);
      expect([...drawn.matchAll(/<text[^>]*>(\w+)</g)].map(([, name]) => name).sort()).toEqual(stations.sort());
    }
  });

  test("says once for a section that its entries are samples", () => {
    for (const id of ["certifications", "testimonials"])
      expect(getText(page.all(`#${id}`)[0]).match(/sample/gi), id).toHaveLength(1);
  });

  test("shows a certificate in the seal it has on the About page", async () => {
    const seal = (of: ParsedPage) =>
      of
        .all("section[aria-labelledby^=certifications] li")
        .find((each) => getText(each.querySelector("text")) === "ISO")
        ?.querySelector("svg");
    expect(seal(page)?.querySelector("use")?.getAttribute("href")).toBe("/art/mark-seal.svg#art");
    expect(seal(page)?.outerHTML).toBe(seal(await visitor.open("/about"))?.outerHTML);
  });

  test("gives its numbers as they are, with nothing to count up", () => {
    expect(page.all("#stats dd").map(getText)).toEqual(["30+", "100+", "36,000+"]);
    expect(page.all("#stats dt").map(getText)).toEqual(homeData.stats.map(({ label }) => label));
  });

  test("gives six reasons, three columns of clearance services and six certifications", () => {
    expect(page.all("#why li h3").map(getText)).toEqual(homeData.why_choose_us.map(({ title }) => title));
    expect(page.all("#why li p").map(getText)).toEqual(homeData.why_choose_us.map(({ text }) => text));
    expect(page.all("#clearance h3").map(getText)).toEqual(homeData.clearance_services.map(({ title }) => title));
    expect(page.all("#clearance li").map(getText)).toEqual(homeData.clearance_services.flatMap(({ items }) => items));
    expect(page.all("#certifications li").map(getText)).toEqual(
      certifications.map(({ short, name, description }) => `${short} ${name} ${description}`),
    );
  });

  test("asks about each industry with it as the subject", async () => {
    const links = page.all("#industries li a");
    expect(links.map(getText)).toEqual(industries.map(({ name }) => `Ask us about ${name}`));
    for (const [index, { name }] of industries.entries()) {
      const contact = await visitor.open(links[index]?.getAttribute("href") ?? "");
      expect(contact.value("subject")).toBe(name);
    }
  });

  test("has the ten industries in a row that the keyboard reaches, each a button", () => {
    const [row] = page.all("#industries [tabindex]");
    expect(row?.getAttribute("tabindex")).toBe("0");
    expect(row?.getAttribute("aria-label")).toBe("The ten industries");
    expect(row?.querySelectorAll("form button").map(getText)).toEqual(
      industries.map(({ name, text }) => `${name} ${text}`),
    );
  });

  test("shows all three testimonials with their rating in words", () => {
    expect(page.all("#testimonials figure").map(getText)).toEqual(
      testimonials.map(({ name, company, text }) => `Rated 5 of 5 ${text} ${name} ${company}`),
    );
  });

  test("ends with a way to write", () => {
    expect(getText(page.all("#next")[0])).toContain(homeData.closing.text);
    expect(page.all("#next a").map((link) => [getText(link), link.getAttribute("href")])).toEqual([
      [homeData.closing.button, "/contact"],
    ]);
    expect(homeData.closing.button).toBe("Contact Us");
  });

  test("draws for at most 60 KB, no drawing above 6 KB", () => {
    const files = new Set(page.all("main use").map((use) => use.getAttribute("href")?.split("#")[0] ?? ""));
    const sizes = [...files].map((name) => statSync(path.join(root, "public", name)).size);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(6 * 1024);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(60_000);
  });

  test("has a drawing for everything it draws", () => {
    const drawings = page.all("main use").map((use) => use.getAttribute("href") ?? "");
    for (const { id } of industries) expect(drawings).toContain(`/art/industry-${id}.svg#art`);
    for (const drawing of drawings) {
      const [name = "", part] = drawing.split("#");
      const file = path.join(root, "public", name);
      expect(existsSync(file), drawing).toBe(true);
      expect(readFileSync(file, "utf8"), drawing).toContain(`id="${part}"`);
    }
  });
});

describe("asking where a consignment is", () => {
  const track = async (trackingNumber: string) =>
    parsePage(await visitor.submit(page, "Request an update", { trackingNumber }));

  test.each([
    ["a container", "MSCU 7788990"],
    ["Arabic", "شحنة رقم ٤٢"],
    ["quotes and brackets", `"O'Brien" <b>&amp;</b>`],
    ["what addresses are made of", "50%?&body=x#y+z/\\"],
    ["letters beyond the basic plane", "船🚢7788990"],
    ["64 characters", "x".repeat(64)],
  ])("with %s prepares a mail to the Nairobi office that says so", async (_, number) => {
    const ready = await track(number);
    expect(ready.status).toBe(200);
    expect(ready.headers.get("Cache-Control")).toBe("private, no-store");
    expect(ready.title).toMatch(/^Customs clearing/);
    expect(ready.toasts).toEqual([
      {
        title: "Email Client Opening...",
        description: "Your email client is opening to send the tracking request.",
        variant: "default",
      },
    ]);
    const mail = readEmailDraft(ready);
    expect(mail.to).toBe(companyData.offices[0]?.email);
    expect(mail.headers).toEqual(["subject", "body"]);
    expect(mail.subject).toBe(number);
    expect(mail.body).toContain(`tracking number ${number}.`);
    expect(ready.value("trackingNumber")).toBe(number);
    expect(ready.problems).toEqual([]);
  });

  test("leaves blanks around the number out of the mail", async () => {
    expect(readEmailDraft(await track("  MSCU 7788990 ")).subject).toBe("MSCU 7788990");
  });

  test.each([
    ["line breaks in percent signs", "x%0d%0aBcc: thief@evil.example"],
    ["another header of the address", "x&bcc=thief@evil.example&to=thief@evil.example"],
  ])("with %s adds no header to the mail", async (_, number) => {
    const ready = await track(number);
    expect(ready.status).toBe(200);
    const mail = readEmailDraft(ready);
    expect(mail.to).toBe(companyData.offices[0]?.email);
    expect(mail.headers).toEqual(["subject", "body"]);
    expect(mail.href.split("&body=")[0]).not.toMatch(/%0[0ad]|%E2%80%A8|%C2%85/i);
  });

  test.each([
    ["line breaks", "x\r\nBcc: thief@evil.example"],
    ["line separators", "x\u2028Bcc: thief@evil.example\u0085Cc: y"],
    ["a bare line feed and a NUL", "x\nBcc: thief@evil.example\u0000"],
  ])("with %s is refused beside its field, and no mail is prepared", async (_, number) => {
    const refused = await track(number);
    expect(refused.status).toBe(400);
    expect(refused.problems).toHaveLength(1);
    expect(refused.text).not.toContain("Open in your mail application");
  });

  test.each([
    ["nothing", ""],
    ["blanks only", " \t  "],
    ["line breaks only", "\r\n\r\n"],
  ])("with %s is refused: a number is required", async (_, number) => {
    const refused = await track(number);
    const text = "Please enter a tracking number to request an update.";
    expect(refused.status).toBe(400);
    expect(refused.title).toMatch(/^Error: Customs clearing/);
    expect(refused.toasts).toEqual([{ title: "Tracking Number Required", description: text, variant: "destructive" }]);
    expect(refused.problems).toEqual([{ text, id: "tracking-trackingNumber" }]);
    expect(refused.has("tracking-trackingNumber")).toBe(true);
    expect(refused.saidOf("trackingNumber")).toEqual(["Bill of lading, air waybill or container", text]);
    expect(refused.all("main a[href^='mailto:']")).toEqual([]);
    expect(refused.text.indexOf("There is a problem")).toBeLessThan(refused.text.indexOf(refused.h1));
  });

  test("without the field is refused like an empty one", async () => {
    const refused = await parsePage(await visitor.post("/?index", {}));
    expect(refused.status).toBe(400);
    expect(refused.toasts[0]?.title).toBe("Tracking Number Required");
  });

  test.each([65, 20_000])("with %i characters is refused, and they stay in the field", async (length) => {
    const refused = await track("9".repeat(length));
    const text = "Use at most 64 characters for the tracking number.";
    expect(refused.status).toBe(400);
    expect(refused.title).toMatch(/^Error: /);
    expect(refused.toasts).toEqual([]);
    expect(refused.problems).toEqual([{ text, id: "tracking-trackingNumber" }]);
    expect(refused.saidOf("trackingNumber")).toContain(text);
    expect(refused.value("trackingNumber")).toHaveLength(length);
    expect(refused.all("main a[href^='mailto:']")).toEqual([]);
  });

  test("twice in one form asks for one number", async () => {
    const form = new URLSearchParams([
      ["trackingNumber", "A1"],
      ["trackingNumber", "B2"],
    ]);
    expect((await parsePage(await visitor.post("/?index", form))).status).toBe(400);
  });
});

describe("an industry", () => {
  test.each(industries)("$name answers with its toast above the row, once", async ({ id, name, text }) => {
    const browser = app.browser();
    const response = await browser.submit(page, `${name} ${text}`);
    expect(response.headers.get("Location")).toBe("/#industries");
    const next = await browser.follow(response);
    expect(next.toasts).toEqual([
      { title: `${name} Clicked`, description: "This feature is not implemented yet.", variant: "default" },
    ]);
    expect(next.has("industries")).toBe(true);
    expect(page.form(`${name} ${text}`).fields).toEqual({ industry: id });
    expect((await browser.open("/")).toasts).toEqual([]);
  });

  test.each(["", "piracy", "__proto__", "constructor", "Agriculture", "<script>alert(1)</script>"])(
    "that is none of ours, %j, leads to the row and says nothing",
    async (industry) => {
      const browser = app.browser();
      const next = await browser.follow(await browser.post("/actions/industries", { industry }));
      expect(next.status).toBe(200);
      expect(next.toasts).toEqual([]);
      expect(next.html).not.toContain("<script>alert");
    },
  );

  test("asked for by its address leads to the row", async () => {
    const response = await visitor.get("/actions/industries");
    expect(response.status).toBe(303);
    expect(response.headers.get("Location")).toBe("/#industries");
  });
});

test("nothing on the home page asks the backend", async () => {
  const calls = await app.proxy.during(async () => {
    const browser = app.browser();
    const opened = await browser.open("/?quote");
    await browser.submit(opened, "Request an update", { trackingNumber: "MSCU 7788990" });
    await browser.submit(opened, "Request an update", { trackingNumber: "" });
    const home = await browser.open("/");
    for (const { name, text } of industries) await browser.follow(await browser.submit(home, `${name} ${text}`));
  });
  expect(calls).toEqual([]);
});

/** The mail behind the main button of a page: to whom, which header fields in order, and what they say. */
function readEmailDraft(ready: ParsedPage) {
  const links = ready.all("main a").filter((link) => getText(link) === "Open in your mail application");
  expect(links).toHaveLength(1);
  const href = links[0]?.getAttribute("href") ?? "";
  const address = new URL(href);
  const headers = [...address.searchParams.keys()];
  const [subject = "", body = ""] = ["subject", "body"].map((name) => address.searchParams.get(name) ?? "");
  return { href, to: decodeURIComponent(address.pathname), headers, subject, body };
}

/** A file of content/data. */
function readContent<T>(name: string): T {
  return parse(readFileSync(path.join(root, `content/data/${name}.yaml`), "utf8"));
}
