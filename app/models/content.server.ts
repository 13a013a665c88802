import { parse } from "yaml";
import { z } from "zod";
import { env } from "../lib/http/env.server.ts";
import { checkContent } from "./content-file.server.ts";
import { CostRates, citeRates, insertFigures } from "./cost.server.ts";
import type { EmailSender } from "./emails.ts";
import { PublicHolidays, WorkingHours } from "./hours.ts";

const dataFiles = import.meta.glob<string>("../../content/data/*.yaml", {
  query: "?raw",
  import: "default",
  eager: true,
});

const text = z.string().min(1);
const phoneField = z.string().regex(/^\+[\d ]{9,20}$/, "must be an international number such as +254 700 000 001");
const titledText = z.object({ title: text, text: text });

const Company = z.object({
  name: text,
  short_name: text.max(20),
  founded: z.number().int(),
  taglines: z.array(text).length(2),
  offices: z
    .array(z.object({ name: text, address: text, map: z.url(), phone: phoneField, email: z.email() }))
    .length(2),
  copyright_year: z.number().int(),
  chat_phone: z.string().regex(/^\d{9,15}$/, "must contain only digits, and begin with the country code"),
  social: z.array(z.object({ name: text, url: z.url() })).length(4),
});
export type Company = z.infer<typeof Company>;

const Certification = z.object({ name: text, short: text.max(5), description: text });

const Question = z.object({
  question: text,
  answer: text,
  link: z.object({ to: z.string().regex(/^\/[a-z/-]*$/, "must be a path such as /contact"), words: text }).optional(),
});

export const companyDetails: Company = readContent("company", Company);

export function getEmailSender(): EmailSender {
  const { name, offices } = companyDetails;
  const { phone = "", email = "" } = offices[0] ?? {};
  return { name, phone, email, origin: env().origin };
}

export const identifiers = readContent(
  "identifiers",
  z.object({
    registration_number: text,
    customs_agent_licence: text,
    aeo_number: text,
    tax_pin: text,
    managing_director: text,
  }),
);

export const workingHours = readContent("hours", WorkingHours);

export const publicHolidays = readContent("public-holidays", PublicHolidays);

export const home = readContent(
  "home",
  z.object({
    description: text,
    intro: text,
    search_terms: z.array(text),
    stats: z.array(z.object({ value: z.number().int(), suffix: z.string(), label: text })),
    why_statement: text,
    why_choose_us: z.array(titledText).length(6),
    clearance_services: z.array(z.object({ title: text, items: z.array(text) })).length(3),
    notes: z.object({ certifications: text.optional(), testimonials: text.optional() }),
    closing: z.object({ title: text, text: text, button: text }),
  }),
);

export const quoteServices = readContent("quote-services", z.array(text).length(9));

const Service = z.object({
  id: z.string().regex(/^[a-z-]+$/),
  title: text,
  tagline: text,
  details: z.array(text).min(1),
  quote: z.enum(quoteServices),
  extra: z.object({ title: text, items: z.array(titledText).length(3) }).optional(),
});
export type Service = z.infer<typeof Service>;

export const services = readContent("services", z.object({ intro: text, services: z.array(Service).length(11) }));

export const about = readContent(
  "about",
  z.object({
    title: text,
    description: text,
    story: z.object({
      title: text,
      paragraphs: z.array(text),
      scenes: z.array(z.object({ id: text, caption: text, alt: text })).length(5),
    }),
    partners: text,
    notes: z.object({ leadership: text.optional(), certifications: text.optional() }),
    highlights: z.array(z.object({ title: text, description: text })).length(4),
    vision: titledText,
    mission: titledText,
  }),
);

export const careers = readContent(
  "careers",
  z.object({
    description: text,
    intro: text,
    working_here: z.array(titledText).min(3),
    note: text.optional(),
  }),
);

export const faq = readContent(
  "faq",
  z.array(z.object({ title: text, questions: z.array(Question).length(3) })).length(3),
);

export const costRates = readContent("cost", CostRates);

export function getFaq(today: string): typeof faq {
  return faq.map(({ title, questions }) => ({
    title,
    questions: questions.map((entry) => ({ ...entry, answer: insertFigures(entry.answer, costRates, today) })),
  }));
}

export const certifications = readContent(
  "certifications",
  z.object({ home: z.array(Certification).length(6), about: z.array(Certification).length(4) }),
);

export const industries = readContent("industries", z.array(z.object({ id: text, name: text, text: text })).length(10));

export const testimonials = readContent(
  "testimonials",
  z.array(z.object({ name: text, company: text, rating: z.literal(5), text: text })).length(3),
);

export const partners = readContent("partners", z.array(z.object({ name: text, monogram: text.max(3) })).length(13));

export const team = readContent("team", z.array(z.object({ name: text, role: text, description: text })).length(3));

export const feeds = readContent("feeds", z.array(z.object({ name: text, text: text, url: z.url() })).length(6));

// These calls stop the start of the site if a text has a placeholder such as {vat} without a figure in cost.yaml.
getFaq("2026-01-01");
citeRates(costRates, "2026-01-01");

/** Returns the content of a data file and replaces {founded} with the founding year. Throws for invalid content. */
export function readContent<T>(name: string, schema: z.ZodType<T>): T {
  const file = `content/data/${name}.yaml`;
  const source = dataFiles[`../../${file}`];
  if (source === undefined) throw new Error(`${file}: the file is missing`);
  return checkContent(
    file,
    schema,
    parse(name === "company" ? source : source.replaceAll("{founded}", `${companyDetails.founded}`)),
  );
}
