import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import type { DatedFigure } from "../../app/models/dated-figure.ts";

export type ArticleFile = {
  slug: string;
  title: string;
  category: string;
  date: string;
  excerpt: string;
  placeholder?: boolean;
  glance?: string[];
  figures?: DatedFigure;
};

/** All articles, newest first. */
export const articles = readdirSync("content/blog")
  .map((name): ArticleFile => {
    const [, frontmatter = ""] = readFileSync(path.join("content/blog", name), "utf8").split(/^---$/m);
    return { slug: path.basename(name, ".mdx"), ...parse(frontmatter) };
  })
  .sort((a, b) => b.date.localeCompare(a.date));

export const publishedArticles = articles.filter(({ placeholder }) => !placeholder);
export const placeholderArticles = articles.filter(({ placeholder }) => placeholder);
