import { expect, test } from "vitest";
import { getTestApp, getText, type ParsedPage } from "../support/test-app.ts";

const visitor = (await getTestApp()).browser();

const listSections = (page: ParsedPage) => page.all(".prose h2").map(getText);
const createRange = (last: number) => Array.from({ length: last }, (_, index) => index + 1);
const toNumber = (section: string) => Number(/^(\d+)\. \S/.exec(section)?.[1]);

test.each(["/privacy", "/terms", "/legal"])(
  "The page %s lists its sections and starts with key points, and its text contains the figures of the key points.",
  async (path) => {
    const page = await visitor.open(path);
    expect(page.all("main nav a").map(getText)).toEqual(listSections(page));
    const points = page.all("main section[aria-labelledby=glance] li").map(getText);
    expect(points.length).toBeGreaterThanOrEqual(3);
    expect(page.html.indexOf('id="glance"')).toBeLessThan(page.html.indexOf('class="prose"'));
    const body = getText(page.all(".prose")[0]);
    const ownPoints = points.filter((point) => !point.startsWith("Source, as of"));
    for (const figure of ownPoints.join(" ").match(/\d+/g) ?? []) expect(body).toContain(figure);
  },
);

test("The privacy policy has a date, fifteen numbered sections and the storage periods of the specification.", async () => {
  const page = await visitor.open("/privacy");
  expect(page.title).toBe("Privacy policy · Mizigo Clearing & Forwarding");
  expect(page.text).toMatch(/^Privacy policy Last updated 22 October 2025 /);
  expect(page.text).toContain("Source, as of 22 October 2025: Data Protection Act, 2019.");
  expect(listSections(page).map(toNumber)).toEqual(createRange(15));
  const periods = ["no longer than 7 years", "within 72 hours", "within 14 days"];
  for (const text of ["Data Protection Act, 2019", ...periods, "minors under 18"]) expect(page.text).toContain(text);
});

test("The terms of service have a date, sixteen numbered sections in order, and a link to the privacy policy.", async () => {
  const page = await visitor.open("/terms");
  expect(page.text).toMatch(/^Terms of service Effective 22 October 2025 /);
  expect(listSections(page).map(toNumber)).toEqual(createRange(16));
  expect(listSections(page).map((section) => section.replace(/^\d+\. /, ""))).toEqual([
    ...["Introduction", "Company information", "Eligibility", "Use of services", "Intellectual property", "Pricing"],
    ...["Payment", "Data protection", "Third-party links", "Disclaimers", "Limitation of liability"],
    ...["Indemnification", "Termination", "Governing law", "Changes", "Contact"],
  ]);
  expect(page.all(".prose a").map((link) => link.getAttribute("href"))).toContain("/privacy");
  expect(page.text).toContain("arbitration in Nairobi");
});

test("The legal notice has nine parts, the company's registration number and the competent courts.", async () => {
  const page = await visitor.open("/legal");
  expect(listSections(page)).toEqual([
    ...["Company registration details", "Copyright", "Disclaimer", "Liability", "External links", "Data protection"],
    ...["Email disclaimer", "Governing law", "Legal correspondence"],
  ]);
  expect(page.text).toContain("Registration number: SAMPLE-CPR-0000");
  expect(page.text).toContain("The courts in Nairobi decide disputes");
});

test("The additional information has the four registration and licence numbers of the company.", async () => {
  const rows = (await visitor.open("/additional-info")).all("main dl > div");
  expect(rows.map((row) => [getText(row.querySelector("dt")), getText(row.querySelector("dd"))])).toEqual([
    ["Customs agent licence number", "SAMPLE-CAL-0000"],
    ["Authorised economic operator number", "SAMPLE-AEO-0000"],
    ["Tax authority PIN (KRA PIN)", "SAMPLE-PIN-0000"],
    ["Managing director", "Amina Barasa"],
  ]);
});
