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

describe("the content of the site has what the specification counts:", () => {
  test("eleven services with their ids and titles, in order", () => {
    expect(content.services.services.map(({ id, title }) => [id, title])).toEqual([
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
    ]);
  });

  test("why to choose the clearing team, in three items, and for no other service", () => {
    const [clearing, ...others] = content.services.services;
    expect(clearing?.extra?.title).toBe("Why Choose Our Clearing & Forwarding Team?");
    expect(clearing?.extra?.items.map(({ title }) => title)).toEqual([
      "AEO Certified",
      "24/7 Operations",
      "Expert Team",
    ]);
    expect(others.filter(({ extra }) => extra)).toEqual([]);
  });

  test("the nine services a quote can be asked for, in order", () => {
    expect(content.quoteServices).toEqual([
      "Clearing & Forwarding",
      "Sea & Air Freight",
      "Door-to-Door Logistics",
      "Removals",
      "Imports",
      "Exports",
      "Shipping Agents",
      "Transporters",
      "Logistics Consultancy",
    ]);
  });

  test("a company founded in 1993, its two taglines, and the copyright of 2025", () => {
    expect(companyDetails.founded).toBe(1993);
    expect(companyDetails.taglines).toEqual(["Built on Trust, Driven by Speed.", "Pioneering East African Logistics."]);
    expect(companyDetails.copyright_year).toBe(2025);
  });

  test("the head office in Nairobi and the branch in Mombasa, four social pages", () => {
    expect(companyDetails.offices.map(({ name }) => name)).toEqual([
      expect.stringMatching(/head.*Nairobi/i),
      expect.stringMatching(/branch.*Mombasa/i),
    ]);
    expect(companyDetails.social.map(({ name }) => name)).toEqual(["LinkedIn", "X", "Instagram", "Facebook"]);
  });

  test("the working hours", () => {
    expect(content.workingHours.map(({ days, hours }) => `${days}: ${hours}`)).toEqual([
      "Mon-Fri: 8:00 AM to 5:00 PM",
      "Sat: 9:00 AM to 1:00 PM",
      "Sun and public holidays: Closed",
    ]);
  });

  test("the figures, reasons and three columns of the home page", () => {
    expect(content.home.stats.map(({ value, suffix }) => `${value}${suffix}`)).toEqual(
      expect.arrayContaining(["30+", "100+", "36000+"]),
    );
    expect(content.home.why_choose_us.map(({ title }) => title)).toEqual([
      "Accurate duty and taxes",
      "Quicker release",
      "End-to-end handling",
      "Single contact 24/7",
      "Global partner network",
      "Licensed and compliant",
    ]);
    expect(content.home.clearance_services.map(({ title }) => title)).toEqual([
      "IDF and HS classification",
      "Port/CFS and ICD operations",
      "Permits and inspections",
    ]);
    expect(content.home.closing.button).toBe("Contact Us");
  });

  test("six certifications at home and four on About, three people, thirteen partners, ten industries, six feeds", () => {
    expect(content.certifications.home).toHaveLength(6);
    expect(content.certifications.about.map(({ name }) => name)).toEqual([
      "ISO Certification",
      "AEO Status",
      "KRA Agent",
      "KIFWA Member",
    ]);
    expect(content.team.map(({ role }) => role)).toEqual([
      "Managing Director",
      "Operations Manager",
      "Business Development Manager",
    ]);
    expect(new Set(content.partners.map(({ name }) => name)).size).toBe(13);
    expect(new Set(content.industries.map(({ id }) => id)).size).toBe(10);
    expect(new Set(content.feeds.map(({ url }) => url)).size).toBe(6);
  });

  test("the title, five scenes and four highlights of About", () => {
    expect(content.about.title).toBe("Pioneering Global Logistics for 30+ Years");
    expect(new Set(content.about.story.scenes.map(({ id }) => id)).size).toBe(5);
    expect(content.about.highlights.map(({ title }) => title)).toEqual([
      "Our Culture",
      "Our Operations",
      "Sustainability",
      "Our Impact",
    ]);
    expect([content.about.vision.title, content.about.mission.title]).toEqual(["Our Vision", "Our Mission"]);
  });

  test("three testimonials of rating 5, and three questions in each of three categories", () => {
    expect(content.testimonials.map(({ rating }) => rating)).toEqual([5, 5, 5]);
    expect(content.faq.map(({ title, questions }) => [title, questions.length])).toEqual([
      ["Importing & Customs", 3],
      ["Freight & Logistics", 3],
      ["Specialized Services", 3],
    ]);
  });

  test("one managing director, whichever page names them", () => {
    expect(content.identifiers.managing_director).toBe(content.team[0]?.name);
  });
});

test("every address of another site is https", () => {
  const urls = [...content.feeds, ...companyDetails.social].map(({ url }) => url);
  for (const url of [...urls, ...companyDetails.offices.map(({ map }) => map)]) {
    expect(new URL(url).protocol, url).toBe("https:");
  }
});

describe("content of another shape is refused with", () => {
  const Offices = z.object({
    offices: z.array(z.object({ email: z.email(), floor: z.number().optional() })).length(2),
  });
  const nairobi = { email: "nairobi@company.example" };
  test.each<{ what: string; value: unknown; words: RegExp }>([
    {
      what: "its file, field and reason",
      value: { offices: [nairobi, { email: "x" }] },
      words: /offices\.1\.email: .*email/i,
    },
    { what: "the field that is missing", value: { offices: [nairobi, {}] }, words: /offices\.1\.email: / },
    { what: "the list that is too short", value: { offices: [nairobi] }, words: /offices: / },
    {
      what: "the field of another type",
      value: { offices: [nairobi, { ...nairobi, floor: "3" }] },
      words: /offices\.1\.floor: /,
    },
    { what: "the file when nothing is in it", value: null, words: /the file: / },
  ])("$what", ({ value, words }) => {
    const refused = () => checkContent("content/data/company.yaml", Offices, value);
    expect(refused).toThrow(/^content\/data\/company\.yaml: /);
    expect(refused).toThrow(words);
  });

  test("nothing when it fits, and comes back as it is", () => {
    const value = { offices: [nairobi, { email: "mombasa@company.example", floor: 3 }] };
    expect(checkContent("content/data/company.yaml", Offices, value)).toEqual(value);
  });
});

describe("npm run content, on content of which a part is real,", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "content-"));
  let stdout = "";
  beforeAll(() => {
    for (const name of ["app/server", "content/data", "content/blog", "supabase"])
      mkdirSync(path.join(folder, name), { recursive: true });
    for (const name of ["package.json", "app/server/content.ts", "app/server/sample-values.ts"])
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
    const texts = ["Samples and laboratory reports followed up", "Resamples, samples and minerals outbound."];
    writeFileSync(path.join(folder, "content/data/home.yaml"), stringify({ texts }));
    writeFileSync(
      path.join(folder, "content/blog/draft.mdx"),
      "---\ntitle: Draft\nplaceholder: true\n---\nFull content\n",
    );
    writeFileSync(path.join(folder, "content/blog/done.mdx"), "---\ntitle: Done\n---\nNot a placeholder: true\n");
    const tsx = path.join(root, "node_modules/tsx/dist/cli.mjs");
    stdout = execFileSync(process.execPath, [tsx, "app/server/content.ts"], { cwd: folder, encoding: "utf8" });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const lines = () => stdout.split("\n").filter((line) => /^(content|supabase)\//.test(line));

  test.each([
    ["the company's name", "company.yaml: name: Mizigo Clearing & Forwarding"],
    ["an address", "company.yaml: offices.0.address: Sample House, Nairobi"],
    ["a telephone number", "company.yaml: offices.0.phone: +254 700 000 001"],
    ["an e-mail address", "company.yaml: offices.0.email: nairobi@mizigo.example"],
    ["the number of the chat", "company.yaml: chat_phone: 254700000001"],
    ["an identifier", "company.yaml: licence: SAMPLE-CAL-0000"],
  ])("tells file, place and value of %s that is a sample", (_what, line) => {
    expect(lines()).toContain(`content/data/${line}`);
  });

  test("tells of what looks real and is marked as a sample: years, figures, claims", () => {
    expect(lines().filter((line) => line.includes("about.yaml"))).toEqual([
      "content/data/about.yaml: founded: 1993",
      "content/data/about.yaml: since: Here since 1993",
      "content/data/about.yaml: stats.0.value: 36000",
    ]);
  });

  test("tells of the sender of the mails", () => {
    expect(lines()).toContain("supabase/config.toml: admin_email: no-reply@mizigo.example");
  });

  test("leaves real values out", () => {
    expect(lines().filter((line) => /company.*(offices\.1|founded|taglines)/.test(line))).toEqual([]);
  });

  test("leaves texts out that only speak of samples", () => {
    expect(lines().filter((line) => line.includes("home.yaml"))).toEqual([]);
  });

  test("names the articles that are still to be written, and no others", () => {
    expect(lines().filter((line) => line.startsWith("content/blog/"))).toEqual([
      expect.stringMatching(/^content\/blog\/draft\.mdx: /),
    ]);
  });

  test("says how many there are", () => {
    expect(stdout).toContain(`\n${lines().length} values to replace`);
  });
});
