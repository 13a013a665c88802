import { ArrowLeft } from "lucide";
import { data, Link, redirect } from "react-router";
import { Glance, LongText } from "~/components/site/prose";
import { DeferredSection } from "~/components/site/quote-panel";
import { ArticleData } from "~/components/site/structured-data";
import { Title } from "~/components/site/title";
import { TextLink } from "~/components/ui/button";
import { Icon } from "~/components/ui/icon";
import { calendarDate, dayInEastAfrica } from "~/lib/dates";
import { getDailyHeaders, isDataRequest } from "~/lib/http/headers.server";
import { createPageMeta } from "~/lib/http/page-meta";
import { citeFigures, getArticle, listNextArticles, toLoaderData } from "~/models/article.server";
import type { Route } from "./+types/_site.resources.blog.$slug";

export { revalidateExceptForQuote as shouldRevalidate } from "~/lib/browser/revalidate";

export function loader({ params, request }: Route.LoaderArgs) {
  const article = getArticle(params.slug);
  if (!article) throw redirect("/resources/blog", 303);
  const next = listNextArticles(article).map(({ slug, title, category }) => ({ slug, title, category }));
  const text = citeFigures({ ...article, next }, dayInEastAfrica(new Date()));
  return data(toLoaderData(text, isDataRequest(request)), { headers: getDailyHeaders() });
}

export const headers: Route.HeadersFunction = ({ loaderHeaders }) => loaderHeaders;

export const meta: Route.MetaFunction = ({ matches, loaderData }) =>
  loaderData
    ? createPageMeta(matches, {
        title: loaderData.title,
        description: loaderData.excerpt,
        path: `/resources/blog/${loaderData.slug}`,
        type: "article",
        noindex: loaderData.placeholder,
      })
    : [];

export default function ArticlePage({ loaderData: article }: Route.ComponentProps) {
  const { title, category, date, excerpt, minutes, placeholder, html, headings, glance, scene, service, next } =
    article;
  return (
    <article>
      <Title>{title}</Title>
      <BackToBlog />
      <p className="mt-4 flex flex-wrap items-baseline gap-x-4 text-sm text-quiet">
        <TextLink
          to={{ pathname: "/resources/blog", search: new URLSearchParams({ category }).toString() }}
          className="font-semibold decoration-line hover:decoration-action"
        >
          {category}
        </TextLink>{" "}
        <time dateTime={date}>{calendarDate(date)}</time>{" "}
        {placeholder ? (
          <span className="rounded-label border border-line px-1.5 text-xs">Coming soon</span>
        ) : (
          <span>{minutes} min to read</span>
        )}
      </p>
      <h1 className="max-w-5xl text-2xl">{title}</h1>
      <p className="mt-4 mb-8 max-w-prose text-lg text-balance text-quiet">{excerpt}</p>
      <LongText
        html={html}
        headings={headings}
        contents="In this article"
        aside={glance && <Glance points={glance} scene={scene} />}
      />
      {placeholder && <PlaceholderNote />}
      <DeferredSection>
        <NextSteps service={service} next={next} />
        {!placeholder && <BackToBlog className="mt-6" />}
      </DeferredSection>
      {!placeholder && <ArticleData article={article} />}
    </article>
  );
}

function NextSteps({ service, next: articles }: Pick<Route.ComponentProps["loaderData"], "service" | "next">) {
  const steps = [
    { to: "/resources/cost", label: "Calculate", title: "What will your import cost?" },
    { to: `/quote?service=${service}`, label: "Ask us", title: "Get a quote" },
    ...articles.map(({ slug, title, category }) => ({ to: `/resources/blog/${slug}`, label: category, title })),
  ];
  return (
    <aside aria-labelledby="next" className="mt-12 print:hidden">
      <h2 id="next" className="text-lg">
        What to do next
      </h2>
      <ul className="mt-4 grid gap-4 sm:grid-cols-2 lg:grid-cols-4">
        {steps.map(({ to, label, title }) => (
          <li key={to} className="relative rounded-label border border-line bg-raised px-4 pt-3 hover:border-edge">
            <p className="text-sm text-quiet">{label}</p>
            <Link to={to} className="block min-h-11 pt-0.5 pb-3 font-semibold underline after:absolute after:inset-0">
              {title}
            </Link>
          </li>
        ))}
      </ul>
    </aside>
  );
}

function PlaceholderNote() {
  return (
    <p className="mt-4 max-w-prose text-quiet">
      We are still writing this article. You can already{" "}
      <Link to="/contact" className="py-3.5 underline">
        ask us
      </Link>{" "}
      about your shipment.
    </p>
  );
}

function BackToBlog({ className = "" }: { className?: string }) {
  return (
    <TextLink to="/resources/blog" className={`gap-2 text-sm font-semibold print:hidden ${className}`}>
      <Icon of={ArrowLeft} className="size-4" />
      Back to All Articles
    </TextLink>
  );
}
