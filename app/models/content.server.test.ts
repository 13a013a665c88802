import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { z } from "zod";
import * as content from "./content.server.ts";

const { companyDetails, checkContent } = content;
const root = path.resolve(import.meta.dirname, "../..");

const { about, home, services } = content;
const [clearing, ...otherServices] = services.services;
const listTitles = (items: { title: string }[]) => items.map(({ title }) => title);
const listNames = (items: { name: string }[]) => items.map(({ name }) => name);
const countDistinct = (values: string[]) => new Set(values).size;

test.each<[string, unknown, unknown]>([
  [
    "services",
    services.services.map(({ id, title }) => [id, title]),
    [
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
    ],
  ],
  [
    "reasons to choose the clearing team",
    [clearing?.extra?.title, ...listTitles(clearing?.extra?.items ?? [])],
    ["Why Choose Our Clearing & Forwarding Team?", "AEO Certified", "24/7 Operations", "Expert Team"],
  ],
  ["services without reasons", otherServices.filter(({ extra }) => extra), []],
  [
    "services of the quote form",
    content.quoteServices,
    [
      ...["Clearing & Forwarding", "Sea & Air Freight", "Door-to-Door Logistics", "Removals", "Imports", "Exports"],
      ...["Shipping Agents", "Transporters", "Logistics Consultancy"],
    ],
  ],
  ["founding year and copyright year", [companyDetails.founded, companyDetails.copyright_year], [1993, 2025]],
  ["taglines", companyDetails.taglines, ["Built on Trust, Driven by Speed.", "Pioneering East African Logistics."]],
  [
    "offices",
    listNames(companyDetails.offices),
    [expect.stringMatching(/head.*Nairobi/i), expect.stringMatching(/branch.*Mombasa/i)],
  ],
  ["social pages", listNames(companyDetails.social), ["LinkedIn", "X", "Instagram", "Facebook"]],
  [
    "working hours",
    content.workingHours.map(({ days, hours }) => `${days}: ${hours}`),
    ["Mon-Fri: 8:00 AM to 5:00 PM", "Sat: 9:00 AM to 1:00 PM", "Sun and public holidays: Closed"],
  ],
  [
    "figures of the home page",
    home.stats.map(({ value, suffix }) => `${value}${suffix}`),
    expect.arrayContaining(["30+", "100+", "36000+"]),
  ],
  [
    "reasons of the home page",
    listTitles(home.why_choose_us),
    [
      ...["Accurate duty and taxes", "Quicker release", "End-to-end handling", "Single contact 24/7"],
      ...["Global partner network", "Licensed and compliant"],
    ],
  ],
  [
    "clearance services of the home page",
    listTitles(home.clearance_services),
    ["IDF and HS classification", "Port/CFS and ICD operations", "Permits and inspections"],
  ],
  ["last button of the home page", home.closing.button, "Contact Us"],
  ["number of certifications of the home page", content.certifications.home.length, 6],
  [
    "certifications of the page About",
    listNames(content.certifications.about),
    ["ISO Certification", "AEO Status", "KRA Agent", "KIFWA Member"],
  ],
  [
    "roles of the team",
    content.team.map(({ role }) => role),
    ["Managing Director", "Operations Manager", "Business Development Manager"],
  ],
  ["managing director", content.identifiers.managing_director, content.team[0]?.name],
  ["number of partners", countDistinct(listNames(content.partners)), 13],
  ["number of industries", countDistinct(content.industries.map(({ id }) => id)), 10],
  ["number of news feeds", countDistinct(content.feeds.map(({ url }) => url)), 6],
  ["title of the page About", about.title, "Pioneering Global Logistics for 30+ Years"],
  ["number of scenes of the page About", countDistinct(about.story.scenes.map(({ id }) => id)), 5],
  [
    "highlights of the page About",
    listTitles(about.highlights),
    ["Our Culture", "Our Operations", "Sustainability", "Our Impact"],
  ],
  ["vision and mission", listTitles([about.vision, about.mission]), ["Our Vision", "Our Mission"]],
  ["ratings of the testimonials", content.testimonials.map(({ rating }) => rating), [5, 5, 5]],
  [
    "categories of questions",
    content.faq.map(({ title, questions }) => [title, questions.length]),
    [
      ["Importing & Customs", 3],
      ["Freight & Logistics", 3],
      ["Specialized Services", 3],
    ],
  ],
])("The content has the %s of the specification.", (_what, actual, expected) => {
  expect(actual).toEqual(expected);
});

test("Every link to another site uses https.", () => {
  const urls = [...content.feeds, ...companyDetails.social].map(({ url }) => url);
  for (const url of [...urls, ...companyDetails.offices.map(({ map }) => map)]) {
    expect(new URL(url).protocol, url).toBe("https:");
  }
});

describe("Content check", () => {
  const Offices = z.object({
    offices: z.array(z.object({ email: z.email(), floor: z.number().optional() })).length(2),
  });
  const nairobi = { email: "nairobi@company.example" };
  test.each<[string, unknown, RegExp]>([
    ["an invalid field", { offices: [nairobi, { email: "x" }] }, /offices\.1\.email: .*email/i],
    ["a missing field", { offices: [nairobi, {}] }, /offices\.1\.email: /],
    ["a list that is too short", { offices: [nairobi] }, /offices: /],
    ["a field of another type", { offices: [nairobi, { ...nairobi, floor: "3" }] }, /offices\.1\.floor: /],
    ["no content", null, /the file: /],
  ])("The error for a content file with %s names the file and the position of the error.", (_what, value, place) => {
    const check = () => checkContent("content/data/company.yaml", Offices, value);
    expect(check).toThrow(/^content\/data\/company\.yaml: /);
    expect(check).toThrow(place);
  });

  test("The content check returns valid content unchanged.", () => {
    const value = { offices: [nairobi, { email: "mombasa@company.example", floor: 3 }] };
    expect(checkContent("content/data/company.yaml", Offices, value)).toEqual(value);
  });
});

describe("npm run content", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "content-"));
  let stdout = "";
  beforeAll(() => {
    for (const name of ["app/server", "app/lib", "content/data", "content/blog", "supabase"])
      mkdirSync(path.join(folder, name), { recursive: true });
    for (const name of ["package.json", "app/server/content.ts", "app/server/content-report.ts", "app/lib/dates.ts"])
      copyFileSync(path.join(root, name), path.join(folder, name));
    symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"));
    const company = {
      name: "Mizigo Clearing & Forwarding",
      founded: 1993,
      taglines: ["Built on Trust, Driven by Speed."],
      offices: [
        { address: "Sample House, Nairobi", phone: "+254 700 000 001", email: "nairobi@mizigo.example" },
        { address: "Kilindini Road, Mombasa", phone: "+254 722 700 123", email: "mombasa@clearing.co.ke" },
      ],
      chat_phone: "254700000001",
      licence: "SAMPLE-CAL-0000",
    };
    writeFileSync(path.join(folder, "content/data/company.yaml"), stringify(company));
    const years =
      "founded: 1993 # sample\nsince: >- # sample\n  Here since\n  1993\nstats:\n  - value: 36000 # sample\n    suffix: +\n";
    writeFileSync(path.join(folder, "content/data/about.yaml"), years);
    writeFileSync(path.join(folder, "supabase/config.toml"), 'admin_email = "no-reply@mizigo.example"\n');
    mkdirSync(path.join(folder, "supabase/templates"));
    writeFileSync(path.join(folder, "supabase/templates/invite.html"), "<p>Hello,</p>\nCall +254 700 000 001</p>\n");
    const texts = ["Samples and laboratory reports followed up", "Resamples, samples and minerals outbound."];
    writeFileSync(path.join(folder, "content/data/home.yaml"), stringify({ texts }));
    writeFileSync(
      path.join(folder, "content/blog/draft.mdx"),
      "---\ntitle: Draft\nplaceholder: true\n---\nFull content\n",
    );
    const figures = { source: "Act", check_by: "2026-10-31" };
    const done = `---\n${stringify({ title: "Done", figures })}---\nNot a placeholder: true\n`;
    writeFileSync(path.join(folder, "content/blog/done.mdx"), done);
    const rates = { vat: figures, levy: { ...figures, check_by: "2999-12-31" } };
    writeFileSync(path.join(folder, "content/data/cost.yaml"), stringify(rates));
    writeFileSync(path.join(folder, "content/data/storage.yaml"), stringify(figures));
    const tsx = path.join(root, "node_modules/tsx/dist/cli.mjs");
    stdout = execFileSync(process.execPath, [tsx, "app/server/content.ts"], { cwd: folder, encoding: "utf8" });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const allLines = () => stdout.split("\n").filter((line) => /^(content|supabase)\//.test(line));
  const lines = () => allLines().filter((line) => !line.includes("figure was due"));

  test("The command npm run content lists and counts the figures whose check-by day has passed.", () => {
    expect(allLines().filter((line) => !lines().includes(line))).toEqual([
      "content/data/cost.yaml: vat: the check of this figure was due on 31 October 2026",
      "content/data/storage.yaml: the check of this figure was due on 31 October 2026",
      "content/blog/done.mdx: figures: the check of this figure was due on 31 October 2026",
    ]);
    expect(stdout).toContain("\n3 figures to check.");
  });

  test.each([
    ["the company's name", "company.yaml: name: Mizigo Clearing & Forwarding"],
    ["an address", "company.yaml: offices.0.address: Sample House, Nairobi"],
    ["a telephone number", "company.yaml: offices.0.phone: +254 700 000 001"],
    ["an email address", "company.yaml: offices.0.email: nairobi@mizigo.example"],
    ["the number of the chat", "company.yaml: chat_phone: 254700000001"],
    ["an identifier", "company.yaml: licence: SAMPLE-CAL-0000"],
    ["the sender of emails", "supabase/config.toml: admin_email: no-reply@mizigo.example"],
    ["a telephone number in an email", "supabase/templates/invite.html: Call +254 700 000 001</p>"],
  ])("The command npm run content lists %s that is a sample.", (_what, line) => {
    expect(lines()).toContain(line.startsWith("supabase/") ? line : `content/data/${line}`);
  });

  test("The command npm run content lists real-looking values with the comment sample.", () => {
    expect(lines().filter((line) => line.includes("about.yaml"))).toEqual([
      "content/data/about.yaml: founded: 1993",
      "content/data/about.yaml: since: Here since 1993",
      "content/data/about.yaml: stats.0.value: 36000",
    ]);
  });

  test("The command npm run content lists no real values and no texts about samples.", () => {
    expect(lines().filter((line) => /company.*(offices\.1|founded|taglines)|home\.yaml/.test(line))).toEqual([]);
  });

  test("The command npm run content lists only the articles that are placeholders.", () => {
    expect(lines().filter((line) => line.startsWith("content/blog/"))).toEqual([
      expect.stringMatching(/^content\/blog\/draft\.mdx: /),
    ]);
  });

  test("The command npm run content counts the sample values to replace.", () => {
    expect(stdout).toContain(`\n${lines().length} sample values to replace`);
  });
});
