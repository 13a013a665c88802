import { expect, test } from "vitest";
import * as model from "./article.server.ts";

const fields = { title: "T", category: "Customs" as const, date: "2025-10-15", excerpt: "E" };
const newSummary = (slug: string, placeholder = false) => ({ ...fields, slug, placeholder });

test("Sorting articles returns a new list with the placeholders at the end.", () => {
  const list = [true, false, true, false].map((placeholder, index) => newSummary(String(index), placeholder));
  expect(model.sortPlaceholdersLast(list).map(({ slug }) => slug)).toEqual(["1", "3", "0", "2"]);
  expect(list.map(({ slug }) => slug)).toEqual(["0", "1", "2", "3"]);
});

test("A page of the blog lists at most 20 articles, and 100 pages list each of 2,000 articles once.", () => {
  const many = Array.from({ length: 2000 }, (_, index) => newSummary(String(index + 1)));
  const getSlugs = (page: number) => model.paginateArticles(many, page).articles.map(({ slug }) => slug);
  expect(model.paginateArticles(many, 1)).toMatchObject({ page: 1, pages: 100 });
  expect(getSlugs(1)).toEqual(many.slice(0, 20).map(({ slug }) => slug));
  expect(getSlugs(101)).toEqual(getSlugs(100));
  expect(new Set(Array.from({ length: 100 }, (_, index) => getSlugs(index + 1)).flat()).size).toBe(2000);
  expect(model.paginateArticles(many.slice(0, 21), 2)).toMatchObject({ articles: [{ slug: "21" }], page: 2, pages: 2 });
  expect(model.paginateArticles([], 1)).toEqual({ articles: [], page: 1, pages: 1 });
});

const figures = { date: "2025-10-15", source: "Sample Act", check_by: "2026-12-31" };
const readable = { scene: "stamped-entry", glance: ["A", "B", "C"], figures };

test.each([readable, { placeholder: true }])("The frontmatter of an article is valid with %j.", (parts) => {
  expect(model.Frontmatter.safeParse({ ...fields, ...parts }).success).toBe(true);
});

test.each([
  {},
  { ...readable, scene: undefined },
  { ...readable, figures: undefined },
  { ...readable, scene: "no-such-scene" },
  { ...readable, glance: ["A", "B"] },
  { ...readable, glance: ["A", "B", "C".repeat(121)] },
  { ...readable, placeholder: true },
])("The frontmatter of an article is invalid with %j.", (parts) => {
  expect(model.Frontmatter.safeParse({ ...fields, ...parts }).success).toBe(false);
});

test("The last key point of an article names the date and the source of the article's figures.", () => {
  const cited = "Source, as of 15 October 2025: Sample Act.";
  expect(model.citeFigures(readable, "2026-12-31").glance).toEqual(["A", "B", "C", cited]);
  const reminder =
    "Check these figures with us: we planned to check these figures by 31 December 2026, but we are late.";
  expect(model.citeFigures(readable, "2027-01-01").glance?.at(-1)).toBe(`${cited} ${reminder}`);
  expect(model.citeFigures({ glance: ["A"] }, "2027-01-01")).toEqual({ glance: ["A"] });
});
