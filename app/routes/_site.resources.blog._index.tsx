import { Form, Link } from "react-router";
import { inputLook } from "~/components/field";
import { Title } from "~/components/title";
import { Button } from "~/components/ui/button";
import { calendarDate } from "~/lib/dates";
import { seo } from "~/lib/seo";
import { type ArticleSummary, listArticles, listCategories } from "~/models/article.server";
import type { Route } from "./+types/_site.resources.blog._index";

export { exceptForQuote as shouldRevalidate } from "~/lib/revalidate";

const all = "All";

export function loader({ url }: Route.LoaderArgs) {
  const asked = url.searchParams.get("category") || all;
  const categories = listCategories();
  const category = asked === all ? null : asked;
  const list = listArticles({ category, page: Number(url.searchParams.get("page")) });
  return { ...list, categories, category: categories.find((name) => name === asked) ?? all };
}

export const meta: Route.MetaFunction = ({ matches, loaderData }) =>
  seo(matches, {
    title: "Blog",
    description:
      "Customs clearing and freight in East Africa explained: car imports, AEO status, HS codes, LCL or FCL, port clearance, with worked examples.",
    path: "/resources/blog",
    noindex: loaderData?.articles.length === 0,
  });

export default function BlogPage({ loaderData }: Route.ComponentProps) {
  const { articles, category, categories, page, pages } = loaderData;
  return (
    <>
      <Title>{category === all ? "Blog" : `${category}: Blog`}</Title>
      <h1 className="text-2xl">Blog</h1>
      <p className="mt-3 max-w-prose text-lg text-balance text-quiet">
        What to do before the ship sails, who acts at each step, and what it costs, worked out in figures.
      </p>
      <div className="mt-8 grid grid-cols-1 items-start gap-x-12 gap-y-8 lg:grid-cols-[16rem_minmax(0,1fr)]">
        <CategoryFilter category={category} categories={categories} />
        <div>
          {articles.length > 0 ? (
            <ol className="border-l border-line">
              {articles.map((article) => (
                <ArticleCard key={article.slug} article={article} />
              ))}
            </ol>
          ) : (
            <div className="rounded-label border border-line bg-raised p-6">
              <h2 className="text-lg">No Articles Found</h2>
              <p className="mt-1 text-quiet">Please try a different category.</p>
            </div>
          )}
          {pages > 1 && <Pages category={category} page={page} pages={pages} />}
          <a href="/resources/blog/rss.xml" className="mt-4 inline-flex min-h-11 items-center text-sm underline">
            New articles by RSS
          </a>
        </div>
      </div>
    </>
  );
}

function CategoryFilter({ category, categories }: { category: string; categories: string[] }) {
  return (
    <Form action="/resources/blog" className="flex items-end gap-2">
      <div className="grow">
        <label htmlFor="category" className="block text-sm font-semibold">
          Category
        </label>
        <select id="category" name="category" key={category} defaultValue={category} className={`mt-1 ${inputLook}`}>
          {[all, ...categories].map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </div>
      <Button>Show</Button>
    </Form>
  );
}

/** An article as a station of the route line; hollow while it is being written. */
function ArticleCard({ article }: { article: ArticleSummary }) {
  const { slug, title, category, date, excerpt, placeholder } = article;
  const station = placeholder ? "before:border-edge before:bg-surface" : "before:border-action before:bg-action";
  return (
    <li
      className={`relative pb-4 pl-6 before:absolute before:top-5 before:-left-[5.5px] before:size-2.5 before:rounded-full before:border-2 ${station}`}
    >
      <article
        className={`relative rounded-label border border-line px-4 pt-3 pb-1 hover:border-edge sm:px-5 ${placeholder ? "" : "bg-raised"}`}
      >
        <p className="flex flex-wrap items-baseline gap-x-4 text-sm text-quiet">
          <span className="font-semibold">{category}</span> <time dateTime={date}>{calendarDate(date)}</time>{" "}
          {placeholder && <span className="rounded-label border border-line px-1.5 text-xs">Being written</span>}
        </p>
        <h2 className="mt-1 text-lg leading-snug">{title}</h2>
        <p className="mt-2 max-w-prose text-sm text-pretty text-quiet">{excerpt}</p>
        <Link
          to={`/resources/blog/${slug}`}
          className="inline-flex min-h-11 items-center text-sm font-semibold underline after:absolute after:inset-0"
        >
          Read More <span className="sr-only">about {title}</span>
        </Link>
      </article>
    </li>
  );
}

function Pages({ category, page, pages }: { category: string; page: number; pages: number }) {
  const to = (other: number) => {
    const query = new URLSearchParams(category === all ? {} : { category });
    if (other > 1) query.set("page", String(other));
    return { pathname: "/resources/blog", search: query.toString() };
  };
  const look = "inline-flex min-h-11 items-center underline";
  return (
    <nav aria-label="Pages of articles" className="mt-4 flex items-center gap-6">
      {page > 1 && (
        <Link to={to(page - 1)} className={look}>
          Newer
        </Link>
      )}
      <p className="text-sm text-quiet tabular-nums">
        Page {page} of {pages}
      </p>
      {page < pages && (
        <Link to={to(page + 1)} className={look}>
          Older
        </Link>
      )}
    </nav>
  );
}
