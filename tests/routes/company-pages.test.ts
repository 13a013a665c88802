import type { HTMLElement } from "node-html-parser";
import { beforeAll, describe, expect, test } from "vitest";
import { getHref } from "../support/page-parts.ts";
import { readContent } from "../support/public-form.ts";
import { getTestApp, getText, type ParsedPage } from "../support/test-app.ts";

const visitor = (await getTestApp()).browser();

describe("Services page", () => {
  const { services } = readContent<{ services: { id: string; title: string }[] }>("services");
  let page: ParsedPage;
  beforeAll(async () => {
    page = await visitor.open("/services");
  });
  const listOpenCards = (of: ParsedPage) => of.all("main details[open] summary h2").map(getText);

  test("The services page has a card for each of the eleven services, with an icon, a tagline and three details.", () => {
    const cards = page.all("main details");
    expect(
      cards.map((card) => [card.querySelector("summary ~ [id]")?.id, getText(card.querySelector("summary h2"))]),
    ).toEqual(services.map(({ id, title }) => [id, title]));
    for (const card of cards) {
      expect(card.querySelectorAll("summary svg").length, getText(card)).toBe(2);
      expect(getText(card.querySelector("summary h2 ~ span")).length, getText(card)).toBeGreaterThan(20);
      expect(card.querySelectorAll("li h3").map(getText)).toEqual([
        ...["What we do", "What we need from you", "How long it takes"],
      ]);
      for (const detail of card.querySelectorAll("li p")) expect(getText(detail).length).toBeGreaterThan(60);
    }
  });

  test("Only one card of the services page is open at a time, at first the card about clearing with the reasons to choose us.", () => {
    expect(page.all("main details").map((card) => card.getAttribute("name"))).toEqual(Array(11).fill("service"));
    expect(listOpenCards(page)).toEqual(["Clearing & Forwarding"]);
    const [reasons, ...others] = page.all("main details section");
    expect(others).toEqual([]);
    expect(getText(reasons?.querySelector("h3"))).toBe("Why Choose Our Clearing & Forwarding Team?");
    expect(reasons?.querySelectorAll("dt")).toHaveLength(3);
    expect(getText(reasons?.closest("details")?.querySelector("h2"))).toBe("Clearing & Forwarding");
  });

  test("The URL of a service opens only this service's card. The URL of an unknown service opens the first card.", async () => {
    for (const { id, title } of services.slice(-3))
      expect([id, listOpenCards(await visitor.open(`/services?service=${id}`))]).toEqual([id, [title]]);
    for (const id of ["", "teleport", "constructor", "CLEARING", '"><script>alert(1)</script>']) {
      const unknown = await visitor.open(`/services?service=${encodeURIComponent(id)}`);
      expect([id, unknown.status, listOpenCards(unknown)]).toEqual([id, 200, ["Clearing & Forwarding"]]);
      expect(unknown.html).not.toContain("<script>alert");
    }
  });

  test("Each card of a service links to a quote form with this service.", async () => {
    for (const [index, card] of page.all("main details").entries()) {
      const title = services[index]?.title ?? "";
      const [link] = card.querySelectorAll("a");
      expect(getText(link)).toBe(`Ask for a quote: ${title}`);
      const form = await visitor.open(link?.getAttribute("href") ?? "");
      expect(form.h1).toBe("Get a Quote");
      // The quote form's list contains nine of the eleven services. For the other two services, the message names the
      // service.
      const [selected] = form.all("option[selected]").map(getText);
      if (selected !== title) expect(form.all("textarea")[0]?.text).toBe(`${title}: `);
    }
  });

  test("The services page starts with a banner and ends with a link for a consultation.", () => {
    expect(page.all("main use").map((use) => use.getAttribute("href"))).toEqual(["/art/services-banner.svg#art"]);
    expect(page.text).toMatch(/Logistics Consultancy.*Need a Custom Solution\?.*Request Consultation$/);
    expect(getHref(page, "Request Consultation")).toBe("/contact");
  });
});

describe("About page", () => {
  let page: ParsedPage;
  beforeAll(async () => {
    page = await visitor.open("/about");
  });
  const getSection = (heading: string) => {
    const section = page.all("main section").find((each) => getText(each.querySelector("h2")) === heading);
    if (!section) throw new Error(`No section "${heading}"`);
    return section;
  };

  test("The About page has the sections of the specification in order, and each section has content.", () => {
    const headings = page.all("main h2").map(getText);
    expect(headings).toEqual([
      ...["Our Story", "Our Trusted Partners", "Our Culture", "Our Operations", "Sustainability", "Our Impact"],
      ...["Leadership Team", "Our Vision", "Our Mission", "Certifications & Memberships"],
    ]);
    for (const heading of headings)
      expect(getSection(heading).querySelectorAll("p, h3").length, heading).toBeGreaterThan(0);
  });

  test("The story on the About page has five drawings, each with a description and a caption.", () => {
    const scenes = getSection("Our Story").querySelectorAll("figure");
    const names = ["quay-cranes", "customs-desk", "yard-night", "rail-plain", "truck-escarpment"];
    expect(scenes.map((scene) => scene.querySelector("use")?.getAttribute("href"))).toEqual(
      names.map((name) => `/art/story-${name}.svg#art`),
    );
    for (const scene of scenes) {
      expect(scene.querySelector("[role=img]")?.getAttribute("aria-label")).toMatch(/^Drawing of .{10}/);
      expect(getText(scene.querySelector("figcaption")).length).toBeGreaterThan(10);
    }
  });

  test("The About page shows partners, leaders and certifications, and each of these sections says once that it has invented examples.", () => {
    for (const heading of ["Our Trusted Partners", "Leadership Team", "Certifications & Memberships"])
      expect(getText(getSection(heading)).match(/invented examples/gi), heading).toHaveLength(1);
    const partners = getSection("Our Trusted Partners").querySelectorAll("li");
    expect(new Set(partners.map((partner) => getText(partner.querySelector("text")))).size).toBe(13);
    const marks = partners.map((partner) => partner.querySelectorAll("svg[aria-hidden=true]").length);
    expect(marks).toEqual(Array(13).fill(1));
    const listEntries = (heading: string, title: string) =>
      getSection(heading)
        .querySelectorAll("li")
        .map((entry) => [getText(entry.querySelector("text")), getText(entry.querySelector(title))]);
    expect(listEntries("Leadership Team", "p")).toEqual([
      ["AB", "Managing Director"],
      ["BM", "Operations Manager"],
      ["CN", "Business Development Manager"],
    ]);
    expect(listEntries("Certifications & Memberships", "h3")).toEqual([
      ["ISO", "ISO Certification"],
      ["AEO", "AEO Status"],
      ["KRA", "KRA Agent"],
      ["KIFWA", "KIFWA Member"],
    ]);
    for (const heading of ["Leadership Team", "Certifications & Memberships"])
      for (const entry of getSection(heading).querySelectorAll("li"))
        expect(getText(entry.querySelectorAll("p").at(-1))).toMatch(/.{20}/);
  });
});

test("The FAQ has nine questions with answers in three categories, shows one answer at a time, and contains structured data.", async () => {
  const page = await visitor.open("/resources/faq");
  const countEntries = (category: HTMLElement) => category.querySelectorAll("details").length;
  expect(page.all("main section").map((each) => [getText(each.querySelector("h2")), countEntries(each)])).toEqual([
    ["Importing & Customs", 3],
    ["Freight & Logistics", 3],
    ["Specialized Services", 3],
  ]);
  const entries = page.all("main details");
  const answers = entries.map((entry) => [getText(entry.querySelector("h3")), getText(entry.querySelector("p"))]);
  for (const [question = "", answer = ""] of answers)
    expect([question, question.endsWith("?"), answer.split(" ").length > 30]).toEqual([question, true, true]);
  expect(entries.map((entry) => entry.getAttribute("name"))).toEqual(Array(9).fill("faq"));
  expect(entries.map((entry) => entry.hasAttribute("open"))).toEqual([true, ...Array(8).fill(false)]);
  expect(getHref(page, "Contact Our Experts")).toBe("/contact");
  const [block] = page.all("script[type='application/ld+json']");
  type FaqPage = { "@type": string; mainEntity: { name: string; acceptedAnswer: { text: string } }[] };
  const data = JSON.parse(block?.text ?? "") as FaqPage;
  expect(data["@type"]).toBe("FAQPage");
  expect(data.mainEntity.map(({ name, acceptedAnswer }) => [name, acceptedAnswer.text])).toEqual(answers);
});

test("The links of the feeds page open six news sites in new tabs and send no Referer header.", async () => {
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
    expect(getText(link)).toBe(`Visit News Center: ${getText(card.querySelector("h2"))} (opens in a new tab)`);
    const url = new URL(link?.getAttribute("href") ?? "");
    expect([url.protocol, url.hostname]).toEqual(["https:", expect.stringContaining(getText(card.querySelector("p")))]);
    expect([link?.getAttribute("target"), link?.getAttribute("rel")]).toEqual(["_blank", "noreferrer"]);
  }
});
