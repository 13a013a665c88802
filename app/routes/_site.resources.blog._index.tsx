import { Form } from "react-router";
import { inputClass } from "~/components/forms/field";
import { Art, useIsLite } from "~/components/site/art";
import { Title } from "~/components/site/title";
import { Button, TextLink } from "~/components/ui/button";
import { calendarDate } from "~/lib/dates";
import { createPageMeta } from "~/lib/http/page-meta";
import { type ArticleSummary, listArticles, listCategories } from "~/models/article.server";
import type { Route } from "./+types/_site.resources.blog._index";

export { revalidateExceptForQuote as shouldRevalidate } from "~/lib/browser/revalidate";

const allCategories = "All";

export function loader({ url }: Route.LoaderArgs) {
  const requested = url.searchParams.get("category") || allCategories;
  const categories = listCategories();
  const category = requested === allCategories ? null : requested;
  const list = listArticles({ category, page: Number(url.searchParams.get("page")) });
  return { ...list, categories, category: categories.find((name) => name === requested) ?? allCategories };
}

export const meta: Route.MetaFunction = ({ matches, loaderData }) =>
  createPageMeta(matches, {
    title: "Blog",
    description:
      "Customs clearing and freight in East Africa explained with worked examples: car imports, customs codes, shared or full containers, and port clearance.",
    path: "/resources/blog",
    noindex: loaderData?.articles.length === 0,
  });

export default function BlogPage({ loaderData }: Route.ComponentProps) {
  const { articles, category, categories, page, pages } = loaderData;
  const written = articles.filter(({ placeholder }) => !placeholder);
  const planned = articles.filter(({ placeholder }) => placeholder);
  return (
    <>
      <Title>{category === allCategories ? "Blog" : `${category}: Blog`}</Title>
      <div className="mb-8 flex flex-wrap items-end justify-between gap-x-12 gap-y-6 lg:flex-nowrap">
        <div>
          <h1 className="text-2xl">Blog</h1>
          <p className="mt-3 max-w-prose text-lg text-balance text-quiet">
            Practical guides for importers and shippers, with the steps and the costs.
          </p>
        </div>
        <CategoryFilter category={category} categories={categories} />
      </div>
      {articles.length === 0 && (
        <div className="rounded-label border border-line bg-raised p-6">
          <h2 className="text-lg">No Articles Found</h2>
          <p className="mt-1 text-quiet">Please try a different category.</p>
        </div>
      )}
      {written.length > 0 && (
        <ol className="mb-12 grid gap-4 md:grid-cols-2 md:gap-6">
          {written.map((article, index) => (
            <ArticleCard key={article.slug} article={article} isLead={page === 1 && index === 0} />
          ))}
        </ol>
      )}
      {planned.length > 0 && (
        <>
          <h2 className="mb-2 text-lg">Coming soon</h2>
          <ol className="grid gap-x-12 md:grid-cols-2">
            {planned.map((article) => (
              <PlannedArticle key={article.slug} article={article} />
            ))}
          </ol>
        </>
      )}
      {pages > 1 && <Pagination category={category} page={page} pages={pages} />}
      <a href="/resources/blog/rss.xml" className="mt-4 inline-flex min-h-11 items-center text-sm underline">
        Get new articles by RSS
      </a>
    </>
  );
}

function CategoryFilter({ category, categories }: { category: string; categories: string[] }) {
  return (
    <Form action="/resources/blog" className="flex flex-wrap items-end gap-2">
      <div className="grow">
        <label htmlFor="category" className="block text-sm font-semibold">
          Category
        </label>
        <select id="category" name="category" key={category} defaultValue={category} className={`mt-1 ${inputClass}`}>
          {[allCategories, ...categories].map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </div>
      <Button>Show</Button>
    </Form>
  );
}

function ArticleCard({ article, isLead }: { article: ArticleSummary; isLead: boolean }) {
  const { title, excerpt } = article;
  const scene = useIsLite() ? undefined : article.scene;
  return (
    <li className={isLead ? "md:col-span-2" : ""}>
      <article
        className={`relative h-full overflow-hidden rounded-label border border-line bg-raised hover:border-edge ${isLead ? "lg:flex lg:items-center" : ""}`}
      >
        {scene && (
          <div className={isLead ? "lg:w-3/5 print:hidden" : "hidden h-52 items-center overflow-hidden md:flex"}>
            <Art name={scene} className="w-full shrink-0" />
          </div>
        )}
        <div className={`px-4 pt-4 pb-2 sm:px-6 ${isLead && scene ? "lg:w-2/5" : ""}`}>
          <ArticleFacts article={article} />
          <h2 className={`mt-1 text-lg ${isLead ? "lg:text-xl" : ""}`}>{title}</h2>
          <p className="mt-2 max-w-prose text-sm text-pretty text-quiet">{excerpt}</p>
          <ReadMore article={article} />
        </div>
      </article>
    </li>
  );
}

function PlannedArticle({ article }: { article: ArticleSummary }) {
  return (
    <li className="border-t border-line">
      <article className="relative pt-3">
        <ArticleFacts article={article} />
        <h3 className="mt-1">{article.title}</h3>
        <div className="flex items-center gap-4 text-sm">
          <p className="grow truncate text-quiet print:whitespace-normal">{article.excerpt}</p>
          <ReadMore article={article} />
        </div>
      </article>
    </li>
  );
}

function ArticleFacts({ article: { category, date, placeholder } }: { article: ArticleSummary }) {
  return (
    <p className="flex flex-wrap items-baseline gap-x-3 text-sm text-quiet">
      <span className="font-semibold">{category}</span> <time dateTime={date}>{calendarDate(date)}</time>{" "}
      {placeholder && <span className="rounded-label border border-line px-1.5 text-xs">Coming soon</span>}
    </p>
  );
}

function ReadMore({ article: { slug, title } }: { article: ArticleSummary }) {
  return (
    <TextLink to={`/resources/blog/${slug}`} className="shrink-0 text-sm font-semibold after:absolute after:inset-0">
      Read More<span className="sr-only">: {title}</span>
    </TextLink>
  );
}

function Pagination({ category, page, pages }: { category: string; page: number; pages: number }) {
  const to = (targetPage: number) => {
    const query = new URLSearchParams(category === allCategories ? {} : { category });
    if (targetPage > 1) query.set("page", String(targetPage));
    return { pathname: "/resources/blog", search: query.toString() };
  };
  return (
    <nav aria-label="Pages of articles" className="mt-4 flex items-center gap-6">
      {page > 1 && <TextLink to={to(page - 1)}>Newer articles</TextLink>}
      <p className="text-sm text-quiet tabular-nums">
        Page {page} of {pages}
      </p>
      {page < pages && <TextLink to={to(page + 1)}>Older articles</TextLink>}
    </nav>
  );
}
