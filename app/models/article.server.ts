/** Articles of the blog and the legal texts, from content/, compiled when the site is built. */
import { z } from "zod";
import type { CompiledMdx } from "../lib/build/mdx.ts";
import { checkContent, services } from "./content.server.ts";

const Slug = z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "the file name must be lower-case words joined by hyphens");

/** Drawings of public/art that an article can have. */
const scenes = [
  "stamped-entry",
  "story-car-carrier",
  "story-customs-desk",
  "story-quay-cranes",
  "story-rail-plain",
  "story-truck-escarpment",
  "story-yard-night",
] as const;

/** What matters, in a few points: for whom, the figure, what to have ready, as of when. */
const Glance = z.array(z.string().min(1).max(120)).min(3).max(5);

const ArticleFields = z.object({
  title: z.string().min(1),
  category: z.enum([
    "Automotive",
    "Compliance",
    "Freight",
    "Customs",
    "Clearance",
    "Sustainability",
    "Documentation",
    "Industries",
    "Removals",
    "Technology",
    "Specialized",
    "Risk Management",
    "Logistics",
    "Exports",
    "Case Study",
  ]),
  date: z.iso.date(),
  excerpt: z.string().min(1).max(200),
  placeholder: z.boolean().default(false),
  scene: z.enum(scenes).optional(),
  glance: Glance.optional(),
  /** The id of the service that a quote is asked for at its end. */
  service: z.enum(services.services.map(({ id }) => id)).default("clearing"),
});

/** What stands above an article. Only an article that can be read has a drawing and points at a glance. */
export const Frontmatter = ArticleFields.superRefine((article, context) => {
  for (const part of ["scene", "glance"] as const) {
    if (Boolean(article[part]) !== article.placeholder) continue;
    const message = article.placeholder ? "a placeholder has none" : "an article that is no placeholder has one";
    context.addIssue({ code: "custom", path: [part], message });
  }
});

const PageFrontmatter = z.object({
  title: z.string().min(1),
  description: z.string().min(1).max(200),
  updated: z.iso.date().optional(),
  glance: Glance,
});

type TextBody = Pick<CompiledMdx, "html" | "headings">;
export type ArticleSummary = Omit<z.infer<typeof ArticleFields>, "glance" | "service"> & { slug: string };
/** `minutes` is how long a person reads. */
export type Article = z.infer<typeof ArticleFields> & TextBody & { slug: string; minutes: number };
export type LegalText = z.infer<typeof PageFrontmatter> & TextBody;
export type ArticlePage = { articles: ArticleSummary[]; page: number; pages: number };

const articleFiles = import.meta.glob<CompiledMdx>("../../content/blog/*.mdx", { eager: true });
const pageFiles = import.meta.glob<CompiledMdx>("../../content/pages/*.mdx", { eager: true });

/** Words a person reads in a minute, for the reading time. */
const wordsPerMinute = 220;
/** How many articles a page of the list has at most. */
const articlesPerPage = 20;

/** All articles, newest first. */
const articles: Article[] = Object.entries(articleFiles)
  .map(([path, { frontmatter, html, headings, words }]) => {
    const file = path.replace("../../", "");
    const slug = checkContent(file, Slug, file.replace(/^.*\/|\.mdx$/g, ""));
    const minutes = Math.max(1, Math.round(words / wordsPerMinute));
    return { ...checkContent(file, Frontmatter, frontmatter), slug, html, headings, minutes };
  })
  .sort((a, b) => b.date.localeCompare(a.date) || a.slug.localeCompare(b.slug));

/**
 * One page of the articles: those that can be read first, then those still being written, both newest first; of one
 * category when given. An unknown category has none.
 */
export function listArticles(asked: { category: string | null; page: number }): ArticlePage {
  const { category, page } = asked;
  const found = articles.filter((article) => category === null || article.category === category);
  return paginateArticles(sortPlaceholdersLast(found.map(toArticleSummary)), page);
}

/** The articles with the placeholders after all others, each in the order they had. */
export function sortPlaceholdersLast(list: readonly ArticleSummary[]): ArticleSummary[] {
  return [...list].sort((a, b) => Number(a.placeholder) - Number(b.placeholder));
}

/** A page of a list, with how many there are. Pages count from 1; a number out of range gives the nearest page. */
export function paginateArticles(list: ArticleSummary[], asked: number): ArticlePage {
  const pages = Math.max(1, Math.ceil(list.length / articlesPerPage));
  const page = Math.min(Math.max(1, Math.trunc(asked) || 1), pages);
  return { articles: list.slice((page - 1) * articlesPerPage, page * articlesPerPage), page, pages };
}

/** The articles that are no placeholders, newest first: those in the sitemap and the RSS feed. */
export function listPublishedArticles(): ArticleSummary[] {
  return articles.filter(({ placeholder }) => !placeholder).map(toArticleSummary);
}

/** The categories that have articles, in alphabetical order. */
export function listCategories(): string[] {
  return [...new Set(articles.map(({ category }) => category))].sort((a, b) => a.localeCompare(b));
}

/** An article by its slug, or null. */
export function getArticle(slug: string): Article | null {
  return articles.find((article) => article.slug === slug) ?? null;
}

/**
 * Where an article leads: two others that are written, of its category first, then those that follow it in the list, whose
 * first follows its last: so each is somebody's next.
 */
export function listNextArticles({ slug, category }: Article): ArticleSummary[] {
  const written = listPublishedArticles();
  const place = written.findIndex((one) => one.slug === slug);
  const others = [...written.slice(place + 1), ...written.slice(0, Math.max(place, 0))];
  const own = others.filter((other) => other.category === category);
  return [...own, ...others.filter((other) => !own.includes(other))].slice(0, 2);
}

/** The legal text content/pages/<name>.mdx. Throws when there is none. */
export function getLegalText(name: "privacy" | "terms" | "legal"): LegalText {
  const file = `content/pages/${name}.mdx`;
  const compiled = pageFiles[`../../${file}`];
  if (!compiled) throw new Error(`${file}: there is no such file`);
  const { frontmatter, html, headings } = compiled;
  return { ...checkContent(file, PageFrontmatter, frontmatter), html, headings };
}

/**
 * Returns the loader data of a text. In a document request `html` and `headings` are not enumerable, so that React Router
 * renders them but does not serialise them a second time for hydration. LongText and Prose read them from the document.
 */
export function toLoaderData<Text extends TextBody>(
  text: Text,
  isDataRequest: boolean,
): Omit<Text, keyof TextBody> & Partial<TextBody> {
  const copy = { ...text };
  if (!isDataRequest) for (const part of ["html", "headings"]) Object.defineProperty(copy, part, { enumerable: false });
  return copy;
}

function toArticleSummary({ slug, title, category, date, excerpt, placeholder, scene }: Article): ArticleSummary {
  return { slug, title, category, date, excerpt, placeholder, scene };
}
