import { z } from "zod";
import type { CompiledMdx } from "../lib/build/mdx.ts";
import { services } from "./content.server.ts";
import { checkContent } from "./content-file.server.ts";
import { cite, DatedFigure } from "./dated-figure.ts";

const Slug = z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "the file name must be lower-case words joined by hyphens");

const scenes = [
  "stamped-entry",
  "story-car-carrier",
  "story-customs-desk",
  "story-quay-cranes",
  "story-rail-plain",
  "story-truck-escarpment",
  "story-yard-night",
] as const;

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
  figures: DatedFigure.optional(),
  service: z.enum(services.services.map(({ id }) => id)).default("clearing"),
});

/** An article must have a drawing (`scene`), a summary (`glance`) and dated figures. A placeholder has none of them. */
export const Frontmatter = ArticleFields.superRefine((article, context) => {
  for (const part of ["scene", "glance", "figures"] as const) {
    if (Boolean(article[part]) !== article.placeholder) continue;
    const message = article.placeholder
      ? "must not be set in a placeholder article"
      : "is required, unless the article is a placeholder";
    context.addIssue({ code: "custom", path: [part], message });
  }
});

const PageFrontmatter = z.object({
  title: z.string().min(1),
  description: z.string().min(1).max(200),
  updated: z.iso.date().optional(),
  glance: Glance,
  figures: DatedFigure.optional(),
});

type TextBody = Pick<CompiledMdx, "html" | "headings">;
export type ArticleSummary = Omit<z.infer<typeof ArticleFields>, "glance" | "figures" | "service"> & { slug: string };
export type Article = z.infer<typeof ArticleFields> & TextBody & { slug: string; minutes: number };

const articleFiles = import.meta.glob<CompiledMdx>("../../content/blog/*.mdx", { eager: true });
const pageFiles = import.meta.glob<CompiledMdx>("../../content/pages/*.mdx", { eager: true });

const wordsPerMinute = 220;
const articlesPerPage = 20;

const articles: Article[] = Object.entries(articleFiles)
  .map(([path, { frontmatter, html, headings, words }]) => {
    const file = path.replace("../../", "");
    const slug = checkContent(file, Slug, file.replace(/^.*\/|\.mdx$/g, ""));
    const minutes = Math.max(1, Math.round(words / wordsPerMinute));
    return { ...checkContent(file, Frontmatter, frontmatter), slug, html, headings, minutes };
  })
  .sort((a, b) => b.date.localeCompare(a.date) || a.slug.localeCompare(b.slug));

export function listArticles({ category, page }: { category: string | null; page: number }) {
  const matches = articles.filter((article) => category === null || article.category === category);
  return paginateArticles(sortPlaceholdersLast(matches.map(toArticleSummary)), page);
}

export function sortPlaceholdersLast(list: readonly ArticleSummary[]): ArticleSummary[] {
  return [...list].sort((a, b) => Number(a.placeholder) - Number(b.placeholder));
}

/** Returns one page of a list of articles. Page numbers start at 1. A number out of range selects the nearest page. */
export function paginateArticles(list: ArticleSummary[], requestedPage: number) {
  const pages = Math.max(1, Math.ceil(list.length / articlesPerPage));
  const page = Math.min(Math.max(1, Math.trunc(requestedPage) || 1), pages);
  return { articles: list.slice((page - 1) * articlesPerPage, page * articlesPerPage), page, pages };
}

export function listPublishedArticles(): ArticleSummary[] {
  return articles.filter(({ placeholder }) => !placeholder).map(toArticleSummary);
}

export function listCategories(): string[] {
  return [...new Set(articles.map(({ category }) => category))].sort((a, b) => a.localeCompare(b));
}

export function getArticle(slug: string): Article | null {
  return articles.find((article) => article.slug === slug) ?? null;
}

/** Returns the text with the figures' source at the end of `glance`. `today` is YYYY-MM-DD in East Africa Time. */
export function citeFigures<Text extends Pick<Article, "glance" | "figures">>(text: Text, today: string): Text {
  const { figures, ...others } = text;
  if (!figures) return text;
  return { ...others, glance: [...(text.glance ?? []), cite([figures], today, "these figures")] } as Text;
}

/**
 * Returns the next two articles, preferably of the same category. After the last article, the list continues with the
 * first, so that every article gets a link.
 */
export function listNextArticles({ slug, category }: Article): ArticleSummary[] {
  const published = listPublishedArticles();
  const index = published.findIndex((article) => article.slug === slug);
  const followers = [...published.slice(index + 1), ...published.slice(0, Math.max(index, 0))];
  const sameCategory = followers.filter((article) => article.category === category);
  return [...sameCategory, ...followers.filter((article) => !sameCategory.includes(article))].slice(0, 2);
}

export function getLegalText(name: "privacy" | "terms" | "legal") {
  const file = `content/pages/${name}.mdx`;
  const compiled = pageFiles[`../../${file}`];
  if (!compiled) throw new Error(`${file}: the file is missing`);
  const { frontmatter, html, headings } = compiled;
  return { ...checkContent(file, PageFrontmatter, frontmatter), html, headings };
}

/** If `isDataRequest` is false, makes `html` and `headings` non-enumerable, so that the hydration data omits them. */
export function toLoaderData<Text extends TextBody>(text: Text, isDataRequest: boolean) {
  const copy: Omit<Text, keyof TextBody> & Partial<TextBody> = { ...text };
  if (!isDataRequest) for (const part of ["html", "headings"]) Object.defineProperty(copy, part, { enumerable: false });
  return copy;
}

function toArticleSummary({ slug, title, category, date, excerpt, placeholder, scene }: Article): ArticleSummary {
  return { slug, title, category, date, excerpt, placeholder, scene };
}
