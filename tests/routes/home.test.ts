import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { describeCut } from "../support/labels.ts";
import { companyData, expectEmailDraft, expectInvalidFields, readContent } from "../support/public-form.ts";
import { successToast } from "../support/route-fixtures.ts";
import { getTestApp, getText, origin, parsePage, type TestBrowser } from "../support/test-app.ts";

type TitledText = { title: string; text: string };
type HomeData = {
  search_terms: string[];
  stats: { label: string }[];
  why_choose_us: TitledText[];
  clearance_services: { title: string; items: string[] }[];
  closing: TitledText & { button: string };
};

const homeData = readContent<HomeData>("home");
const certifications = readContent<{ home: { name: string; short: string; description: string }[] }>("certifications");
const industries = readContent<{ id: string; name: string; text: string }[]>("industries");
const testimonials = readContent<{ name: string; company: string; text: string }[]>("testimonials");

let visitor: TestBrowser;
const app = await getTestApp();
const page = await app.browser().open("/");
beforeEach(() => {
  visitor = app.browser();
});

describe("Home page", () => {
  test("The home page has the sections of the specification in order, and its headings skip no level.", () => {
    expect(page.all("main h1, main h2").map(getText)).toEqual([
      ...[companyData.taglines[0], "Where is your cargo?", `Our work since ${companyData.founded}`, "Why choose us"],
      ...["Customs clearance services", "Certifications and accreditations", "Industries we serve"],
      ...["What clients say", homeData.closing.title],
    ]);
    const levels = page.all("main h1, main h2, main h3, main h4").map(({ tagName }) => Number(tagName.slice(1)));
    for (const [index, level] of levels.entries()) expect(level - (levels[index - 1] ?? 0)).toBeLessThanOrEqual(1);
  });

  test("The home page has the title, description and canonical URL for search engines.", () => {
    expect(page.title).toMatch(/^Customs clearing and freight in East Africa · /);
    const [description] = page.all("meta[name=description]");
    expect(description?.getAttribute("content")).toMatch(/customs clearing.*since 1993/i);
    const [canonical] = page.all("link[rel=canonical]");
    expect(new URL(canonical?.getAttribute("href") ?? "").pathname).toBe("/");
  });

  test("Each search term links to the contact form with the term as its subject. An unknown term does not.", async () => {
    const banner = page.all("main div").find((each) => getText(each).startsWith("Popular topics"));
    expect(banner?.querySelectorAll("li").map(getText)).toEqual(homeData.search_terms);
    const links = banner?.querySelectorAll("a").map((link) => link.getAttribute("href") ?? "") ?? [];
    expect(links.pop()).toBe("/contact");
    const subjects = [];
    for (const link of links) subjects.push((await visitor.open(link)).value("subject"));
    expect(subjects).toEqual(homeData.search_terms);
    expect((await visitor.open("/contact?about=Words+of+somebody")).value("subject")).toBe("");
  });

  test("Screen readers read one list of the stations of the route, and both drawings contain the name of each station.", () => {
    const stations = page.all("ol[aria-label='Cities we serve'] li").map(getText);
    expect(stations).toEqual(["Mombasa", "Nairobi", "Malaba", "Kampala", "Kigali", "Bujumbura", "Juba", "Goma"]);
    for (const drawing of page.all("main svg")) expect(drawing.getAttribute("aria-hidden")).toBe("true");
    const drawings = page.all("main use").map((use) => use.getAttribute("href"));
    const art = readFileSync("public/art/hero-stations.svg", "utf8");
    for (const part of ["names", "phone"]) {
      expect(drawings).toContain(`/art/hero-stations.svg#${part}`);
      const drawn = art.split(`id="${part}"`)[1]?.split('id="')[0] ?? "";
      expect([...drawn.matchAll(/<text[^>]*>(\w+)</g)].map(([, name]) => name).sort()).toEqual([...stations].sort());
    }
  });

  test("The home page shows all its figures, reasons, services, certifications and testimonials.", () => {
    for (const id of ["certifications", "testimonials"])
      expect(getText(page.all(`#${id}`)[0]).match(/invented examples/gi), id).toHaveLength(1);
    const listTexts = (selector: string) => page.all(selector).map(getText);
    expect(listTexts("#stats dd")).toEqual(["30+", "100+", "36,000+"]);
    expect(listTexts("#stats dt")).toEqual(homeData.stats.map(({ label }) => label));
    expect(listTexts("#why li h3")).toEqual(homeData.why_choose_us.map(({ title }) => title));
    expect(listTexts("#why li p")).toEqual(homeData.why_choose_us.map(({ text }) => text));
    expect(listTexts("#clearance h3")).toEqual(homeData.clearance_services.map(({ title }) => title));
    expect(listTexts("#clearance li")).toEqual(homeData.clearance_services.flatMap(({ items }) => items));
    expect(listTexts("#certifications li")).toEqual(
      certifications.home.map(({ short, name, description }) => `${short} ${name} ${description}`),
    );
    expect(listTexts("#testimonials figure")).toEqual(
      testimonials.map(({ name, company, text }) => `Rated 5 out of 5 ${text} ${name} ${company}`),
    );
    expect(listTexts("#next").join()).toContain(homeData.closing.text);
    expect(page.all("#next a").map((link) => link.getAttribute("href"))).toEqual(["/contact"]);
  });

  test("Each drawing of the home page exists and has at most 6 KB, and all drawings together have at most 60 KB.", () => {
    const drawings = page.all("main use").map((use) => use.getAttribute("href") ?? "");
    for (const { id } of industries) expect(drawings).toContain(`/art/industry-${id}.svg#art`);
    for (const drawing of drawings) {
      const [name = "", part] = drawing.split("#");
      const file = path.join("public", name);
      expect(existsSync(file) && readFileSync(file, "utf8").includes(`id="${part}"`), drawing).toBe(true);
    }
    const files = [...new Set(drawings.map((drawing) => drawing.split("#")[0] ?? ""))];
    const sizes = files.map((name) => statSync(path.join("public", name)).size);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(6 * 1024);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(60_000);
  });
});

describe("Tracking request", () => {
  const submitNumber = async (trackingNumber: string) =>
    parsePage(await visitor.submit(page, "Request an update", { trackingNumber }));

  test("Sending a tracking number creates an email draft that asks for an update.", async () => {
    const description = "Your email client is opening to send the tracking request.";
    for (const number of ["MSCU 7788990", `"O'Brien" <b>&amp;</b>`, "x".repeat(64)]) {
      const ready = await submitNumber(` ${number} `);
      const { subject, body } = expectEmailDraft(ready);
      expect(subject).toBe(number);
      expect(body).toContain(`tracking number ${number}.`);
      expect(ready.title).toMatch(/^Customs clearing/);
      expect(ready.toasts).toEqual(successToast("Email Client Opening...", description));
    }
  });

  test("An empty tracking form shows that the tracking number is required.", async () => {
    const text = "Please enter a tracking number to request an update.";
    const blanks = await Promise.all(["", " \t\r\n "].map(submitNumber));
    for (const rejected of [...blanks, await parsePage(await visitor.post("/?index", {}))]) {
      expectInvalidFields(rejected, ["trackingNumber"]);
      expect(rejected.title).toMatch(/^Error: Customs clearing/);
      const toast = { title: "Tracking Number Required", description: text, variant: "destructive" };
      expect(rejected.toasts).toEqual([toast]);
      const hint = "Bill of lading, air waybill or container number";
      expect(rejected.getDescriptions("trackingNumber")).toEqual([hint, text]);
      expect(rejected.all("main a[href^='mailto:']")).toEqual([]);
    }
  });

  test.each([
    ["a line break", "x\r\nBcc: thief@evil.example", "x Bcc: thief@evil.example"],
    ["dashes and digits of another keyboard", "\u202aMSCU\u2013٧٧٨٨٩٩٠\u202c", "MSCU-7788990"],
  ])("A tracking number with %s is one line in the email draft.", async (_what, number, shown) => {
    const { href, subject } = expectEmailDraft(await submitNumber(number));
    expect(subject).toBe(shown);
    expect(href.split("&body=")[0]).not.toMatch(/%0[0ad]/i);
  });

  test("A tracking number of 65 characters is rejected, and the field shows the first 64 characters again.", async () => {
    const rejected = await submitNumber("9".repeat(65));
    expectInvalidFields(rejected, ["trackingNumber"]);
    const texts = rejected.problems.map(({ text }) => text);
    expect(texts).toEqual([`Use at most 64 characters for the tracking number. ${describeCut(64)}`]);
    expect([rejected.toasts, rejected.value("trackingNumber")]).toEqual([[], "9".repeat(64)]);
  });
});

describe("Industries", () => {
  test("Each industry links to the contact form with the industry's name as the subject.", async () => {
    const links = page.all("#industries li a");
    expect(links.map(getText)).toEqual(industries.map(({ name }) => `Ask us: ${name}`));
    const subjects = links.map((link) => new URL(link.getAttribute("href") ?? "", origin).searchParams.get("about"));
    expect(subjects).toEqual(industries.map(({ name }) => name));
    expect((await visitor.open(links.at(-1)?.getAttribute("href") ?? "")).value("subject")).toBe(subjects.at(-1));
  });

  test("A click on an industry shows the industry's toast once and makes no backend call.", async () => {
    const calls = await app.proxy.during(async () => {
      for (const { name, text } of industries.slice(-2)) {
        const response = await visitor.submit(page, `${name} ${text}`);
        expect(response.headers.get("Location")).toBe("/#industries");
        const next = await visitor.follow(response);
        expect(next.toasts).toEqual(successToast(`${name} Clicked`, "This feature is not implemented yet."));
        expect(next.has("industries")).toBe(true);
      }
      expect((await visitor.open("/")).toasts).toEqual([]);
    });
    expect(calls).toEqual([]);
  });

  test("An unknown industry redirects to the row of industries without a toast.", async () => {
    for (const industry of ["", "piracy", "__proto__", "Agriculture", "<script>alert(1)</script>"]) {
      const next = await visitor.follow(await visitor.post("/actions/industries", { industry }));
      expect([industry, next.status, next.toasts]).toEqual([industry, 200, []]);
      expect(next.html).not.toContain("<script>alert");
    }
  });

  test("Opening the URL of the industry form redirects to the row of industries.", async () => {
    const response = await visitor.get("/actions/industries");
    expect([response.status, response.headers.get("Location")]).toEqual([303, "/#industries"]);
  });
});
