import { describe, expect, test } from "vitest";
import { z } from "zod";
import * as content from "./content.server.ts";
import { checkContent } from "./content-file.server.ts";

const { companyDetails } = content;
const titled = (...titles: string[]) => titles.map((title) => ({ title }));
const named = (...names: string[]) => names.map((name) => ({ name }));
const countDistinct = (values: string[]) => new Set(values).size;

test("The content files contain the texts and figures of the specification.", () => {
  const { services, home, industries, feeds, partners, about, team, identifiers } = content;
  const [clearing, ...otherServices] = services.services;
  expect({ ...content }).toMatchObject({
    quoteServices: [
      ...["Clearing & Forwarding", "Sea & Air Freight", "Door-to-Door Logistics", "Removals", "Imports", "Exports"],
      ...["Shipping Agents", "Transporters", "Logistics Consultancy"],
    ],
    companyDetails: {
      ...{ founded: 1993, copyright_year: 2025 },
      taglines: ["Built on Trust, Driven by Speed.", "Pioneering East African Logistics."],
      offices: [{ name: expect.stringMatching(/head.*Nairobi/i) }, { name: expect.stringMatching(/branch.*Mombasa/i) }],
      social: named("LinkedIn", "X", "Instagram", "Facebook"),
    },
    workingHours: [
      { days: "Mon-Fri", hours: "8:00 AM to 5:00 PM" },
      { days: "Sat", hours: "9:00 AM to 1:00 PM" },
      { days: "Sun and public holidays", hours: "Closed" },
    ],
    home: {
      why_choose_us: [
        ...titled("Accurate duty and taxes", "Quicker release", "End-to-end handling", "Single contact 24/7"),
        ...titled("Global partner network", "Licensed and compliant"),
      ],
      clearance_services: titled("IDF and HS classification", "Port/CFS and ICD operations", "Permits and inspections"),
      closing: { button: "Contact Us" },
    },
    about: {
      title: "Pioneering Global Logistics for 30+ Years",
      highlights: titled("Our Culture", "Our Operations", "Sustainability", "Our Impact"),
      ...{ vision: { title: "Our Vision" }, mission: { title: "Our Mission" } },
    },
    certifications: { about: named("ISO Certification", "AEO Status", "KRA Agent", "KIFWA Member") },
    team: ["Managing Director", "Operations Manager", "Business Development Manager"].map((role) => ({ role })),
    testimonials: [{ rating: 5 }, { rating: 5 }, { rating: 5 }],
    faq: titled("Importing & Customs", "Freight & Logistics", "Specialized Services"),
  });
  expect(services.services.map(({ id, title }) => `${id}: ${title}`)).toEqual([
    ...["clearing: Clearing & Forwarding", "sea-air: Sea & Air Freight", "door-to-door: Door-to-Door Delivery"],
    ...["consolidation: Consolidation Management", "storage: Storage Facilities", "removals: Removals & Relocations"],
    ...["imports: Import Services", "exports: Export Services", "shipping-agents: Shipping Agency"],
    ...["transporters: Inland Transportation", "consultancy: Logistics Consultancy"],
  ]);
  expect(clearing?.extra).toMatchObject({
    title: "Why Choose Our Clearing & Forwarding Team?",
    items: titled("AEO Certified", "24/7 Operations", "Expert Team"),
  });
  expect(otherServices.filter(({ extra }) => extra)).toEqual([]);
  expect(home.stats.map(({ value, suffix }) => `${value}${suffix}`)).toEqual(
    expect.arrayContaining(["30+", "100+", "36000+"]),
  );
  expect(content.certifications.home).toHaveLength(6);
  expect(content.faq.map(({ questions }) => questions.length)).toEqual([3, 3, 3]);
  expect(identifiers.managing_director).toBe(team[0]?.name);
  expect(countDistinct(partners.map(({ name }) => name))).toBe(13);
  expect(countDistinct(industries.map(({ id }) => id))).toBe(10);
  expect(countDistinct(feeds.map(({ url }) => url))).toBe(6);
  expect(countDistinct(about.story.scenes.map(({ id }) => id))).toBe(5);
});

test("Every link in the content files to another site starts with https.", () => {
  const urls = [...content.feeds, ...companyDetails.social].map(({ url }) => url);
  for (const url of [...urls, ...companyDetails.offices.map(({ map }) => map)]) {
    expect(new URL(url).protocol, url).toBe("https:");
  }
});

describe("Check of content files", () => {
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
  ])("The error for a content file with %s names the file and the wrong field.", (_what, value, place) => {
    const check = () => checkContent("content/data/company.yaml", Offices, value);
    expect(check).toThrow(/^content\/data\/company\.yaml: /);
    expect(check).toThrow(place);
  });

  test("The check of content files returns valid content unchanged.", () => {
    const value = { offices: [nairobi, { email: "mombasa@company.example", floor: 3 }] };
    expect(checkContent("content/data/company.yaml", Offices, value)).toEqual(value);
  });
});
