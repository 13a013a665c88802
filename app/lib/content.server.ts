/** Content of the site, from content/data: checked when the site starts, refused with the name of file and field. */
import { parse } from "yaml";
import { z } from "zod";
import { CostRates } from "../models/cost.server.ts";
import { WorkingHours } from "../models/hours.ts";
import type { Letterhead } from "../models/letter.ts";
import { StorageTariff } from "../models/storage.ts";
import { env } from "./env.server.ts";

const files = import.meta.glob<string>("../../content/data/*.yaml", { query: "?raw", import: "default", eager: true });

const text = z.string().min(1);
const phone = z.string().regex(/^\+[\d ]{9,20}$/, "must be an international number such as +254 700 000 001");
const titled = z.object({ title: text, text });

const Company = z.object({
  name: text,
  short_name: text.max(20),
  founded: z.number().int(),
  taglines: z.array(text).length(2),
  offices: z.array(z.object({ name: text, address: text, map: z.url(), phone, email: z.email() })).length(2),
  copyright_year: z.number().int(),
  chat_phone: z.string().regex(/^\d{9,15}$/, "must be digits only, with the country code"),
  social: z.array(z.object({ name: text, url: z.url() })).length(4),
});
export type Company = z.infer<typeof Company>;

const Certification = z.object({ name: text, short: text.max(5), description: text });

const Question = z.object({
  question: text,
  answer: text,
  /** A page of ours that says more. */
  link: z.object({ to: z.string().regex(/^\/[a-z/-]*$/, "must be a path such as /contact"), words: text }).optional(),
});

/** The company: name, offices, chat and social pages. */
export const theCompany: Company = read("company", Company);

/** Who writes the mails of this site: the head office. */
export function theLetterhead(): Letterhead {
  const { name, offices } = theCompany;
  const { phone = "", email = "" } = offices[0] ?? {};
  return { name, phone, email, origin: env().origin };
}

/** Registration and licence numbers, for the legal pages. */
export const identifiers = read(
  "identifiers",
  z.object({
    registration_number: text,
    customs_agent_licence: text,
    aeo_number: text,
    tax_pin: text,
    managing_director: text,
  }),
);

/** Working hours, East Africa Time. */
export const hours = read("hours", WorkingHours);

export const home = read(
  "home",
  z.object({
    description: text,
    intro: text,
    search_terms: z.array(text),
    stats: z.array(z.object({ value: z.number().int(), suffix: z.string(), label: text })),
    why_statement: text,
    why_choose_us: z.array(titled).length(6),
    clearance_services: z.array(z.object({ title: text, items: z.array(text) })).length(3),
    notes: z.object({ certifications: text.optional(), testimonials: text.optional() }),
    closing: z.object({ title: text, text, button: text }),
  }),
);

/** The nine options of the quote form; the form takes no other. */
export const quoteServices = read("quote-services", z.array(text).length(9));

const Service = z.object({
  id: z.string().regex(/^[a-z-]+$/),
  title: text,
  tagline: text,
  details: z.array(text).min(1),
  /** The option of the quote form that is chosen for who asks for this service. */
  quote: z.enum(quoteServices),
  extra: z.object({ title: text, items: z.array(titled).length(3) }).optional(),
});
export type Service = z.infer<typeof Service>;

export const services = read("services", z.object({ intro: text, services: z.array(Service).length(11) }));

export const about = read(
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
    vision: titled,
    mission: titled,
  }),
);

export const careers = read(
  "careers",
  z.object({ description: text, intro: text, working_here: z.array(titled).min(3), note: text.optional() }),
);

export const faq = read("faq", z.array(z.object({ title: text, questions: z.array(Question).length(3) })).length(3));

export const certifications = read(
  "certifications",
  z.object({ home: z.array(Certification).length(6), about: z.array(Certification).length(4) }),
);

export const industries = read("industries", z.array(z.object({ id: text, name: text, text })).length(10));

export const testimonials = read(
  "testimonials",
  z.array(z.object({ name: text, company: text, rating: z.literal(5), text })).length(3),
);

export const partners = read("partners", z.array(z.object({ name: text, monogram: text.max(3) })).length(13));

export const team = read("team", z.array(z.object({ name: text, role: text, description: text })).length(3));

export const feeds = read("feeds", z.array(z.object({ name: text, text, url: z.url() })).length(6));

export const storageTariff = read("storage", StorageTariff);

/** What "What will it cost?" counts with. */
export const costRates = read("cost", CostRates);

/** Checks content/data/<name>.yaml. The year of the founding stands in one place: other texts say {founded}. */
export function read<T>(name: string, schema: z.ZodType<T>): T {
  const file = `content/data/${name}.yaml`;
  const source = files[`../../${file}`];
  if (source === undefined) throw new Error(`${file}: there is no such file`);
  return check(
    file,
    schema,
    parse(name === "company" ? source : source.replaceAll("{founded}", `${theCompany.founded}`)),
  );
}

/** Returns the value in the schema's shape, or throws an error that names file and field. */
export function check<T>(file: string, schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new Error(`${file}: ${issue?.path.join(".") || "the file"}: ${issue?.message}`);
}
