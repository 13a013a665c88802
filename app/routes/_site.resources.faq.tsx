import { Plus } from "lucide";
import { data } from "react-router";
import { AccordionItem } from "~/components/site/accordion-item";
import { Art } from "~/components/site/art";
import { PageHeading } from "~/components/site/title";
import { ButtonLink, TextLink } from "~/components/ui/button";
import { Icon } from "~/components/ui/icon";
import { dayInEastAfrica } from "~/lib/dates";
import { getDailyHeaders } from "~/lib/http/headers.server";
import { createPageMeta } from "~/lib/http/page-meta";
import { getFaq } from "~/models/content.server";
import type { Route } from "./+types/_site.resources.faq";

export { revalidateExceptForQuote as shouldRevalidate } from "~/lib/browser/revalidate";

export function loader() {
  return data({ categories: getFaq(dayInEastAfrica(new Date())) }, { headers: getDailyHeaders() });
}

export const headers: Route.HeadersFunction = ({ loaderHeaders }) => loaderHeaders;

export const meta: Route.MetaFunction = ({ matches, loaderData }) => [
  ...createPageMeta(matches, {
    title: "Frequently Asked Questions",
    description:
      "Answers for importers and shippers in East Africa about documents, duties, clearance times, shared or full containers, used cars, household goods and permits.",
    path: "/resources/faq",
  }),
  { "script:ld+json": structuredData(loaderData?.categories ?? []) },
];

/** Browsers do not execute JSON-LD, so its script element needs no nonce for the content security policy. */
function structuredData(categories: ReturnType<typeof getFaq>) {
  return {
    "@context": "https://schema.org",
    "@type": "FAQPage",
    mainEntity: categories
      .flatMap((category) => category.questions)
      .map(({ question, answer }) => ({
        "@type": "Question",
        name: question,
        acceptedAnswer: { "@type": "Answer", text: answer },
      })),
  };
}

export default function FaqPage({ loaderData: { categories } }: Route.ComponentProps) {
  return (
    <>
      <PageHeading title="Frequently Asked Questions" className="max-w-4xl text-2xl" />
      <p className="mt-4 max-w-prose text-lg text-pretty text-quiet">
        Answers to the questions that importers, shippers and families ask us most often.
      </p>
      <div className="mt-10 mb-8 grid gap-x-16 gap-y-12 lg:grid-cols-[1fr_20rem]">
        <div>
          {categories.map((category, index) => (
            <section key={category.title} className="mt-12 first:mt-0">
              <h2 className="text-xl">{category.title}</h2>
              <div className="mt-3 ml-2 border-l-2 border-line">
                {category.questions.map((entry, position) => (
                  <Question key={entry.question} {...entry} open={index === 0 && position === 0} />
                ))}
              </div>
            </section>
          ))}
        </div>
        <aside className="overflow-hidden rounded-label border border-line bg-raised md:flex md:items-center lg:sticky lg:top-20 lg:block lg:self-start">
          <Art name="stamped-entry" className="hidden w-2/5 md:block lg:w-full" />
          <div className="p-5 sm:p-6">
            <h2 className="text-lg">Have another question?</h2>
            <p className="mt-2 mb-5 text-quiet">Ask our customs team.</p>
            <ButtonLink look="action" to="/contact">
              Contact Our Experts
            </ButtonLink>
          </div>
        </aside>
      </div>
    </>
  );
}

const stationClass =
  "before:absolute before:top-5 before:-left-[9px] before:size-4 before:rounded-full before:border-2 before:border-edge " +
  "before:bg-surface open:before:border-action open:before:bg-action";

type FaqEntry = ReturnType<typeof getFaq>[number]["questions"][number];

function Question({ question, answer, link, open }: FaqEntry & { open: boolean }) {
  return (
    <AccordionItem name="faq" open={open} className={`relative border-b border-line pl-6 ${stationClass}`}>
      <summary className="flex min-h-11 items-start gap-4 py-4 hover:text-action">
        <h3 className="grow text-base text-pretty">{question}</h3>
        <Icon
          of={Plus}
          className="mt-0.5 size-5 shrink-0 text-quiet transition-transform duration-200 ease-out group-open:rotate-45"
        />
      </summary>
      <p className={`max-w-prose text-pretty text-quiet ${link ? "" : "pb-6"}`}>{answer}</p>
      {link && (
        <TextLink to={link.to} className="mb-4 font-semibold">
          {link.words}
        </TextLink>
      )}
    </AccordionItem>
  );
}
