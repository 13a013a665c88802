import { ChevronDown } from "lucide";
import type { ReactNode } from "react";
import { Icon } from "~/components/ui/icon";
import type { Heading } from "~/lib/build/mdx";
import { Art } from "./art";
import "../../styles/prose.css";

type LongTextProps = { html: string | undefined; headings: Heading[] | undefined; contents: string; aside?: ReactNode };

const stationClass =
  "relative before:absolute before:top-[1.125rem] before:-left-1 before:size-2 before:rounded-full before:border before:border-edge before:bg-surface";

export function LongText({ html, headings = readHeadings(), contents, aside }: LongTextProps) {
  if (headings.length === 0) return <Prose html={html} />;
  return (
    <div
      className={`grid grid-cols-1 gap-x-10 gap-y-6 lg:grid-cols-[13rem_minmax(0,1fr)] ${aside ? "xl:grid-cols-[13rem_minmax(0,1fr)_16rem]" : ""}`}
    >
      {aside && <div className="lg:col-span-2 xl:col-span-1 xl:col-start-3 xl:row-start-1">{aside}</div>}
      <nav
        aria-label={contents}
        className="rounded-label border border-line bg-raised lg:border-0 lg:bg-transparent print:hidden"
      >
        <div
          className="before:mb-2 before:hidden before:text-sm before:font-semibold before:content-[attr(data-title)] lg:sticky lg:top-20 lg:max-h-[calc(100dvh-6rem)] lg:overflow-y-auto lg:pb-2 lg:before:block"
          data-title={contents}
        >
          <details className="group lg:hidden">
            <summary className="flex min-h-11 items-center justify-between gap-4 px-4 font-semibold">
              {contents}
              <Icon of={ChevronDown} className="size-5 group-open:rotate-180" />
            </summary>
          </details>
          <ContentsList headings={headings} />
        </div>
      </nav>
      <Prose html={html} />
    </div>
  );
}

export function Glance({ points, scene }: { points: string[]; scene?: string }) {
  return (
    <section
      aria-labelledby="glance"
      className="rounded-label border border-line bg-raised p-4 md:flex md:items-center md:gap-6 xl:sticky xl:top-20 xl:block"
    >
      {scene && (
        <Art name={scene} className="hidden w-2/5 rounded-label border border-line md:block xl:mb-3 xl:w-full" />
      )}
      <div>
        <h2 id="glance" className="font-semibold">
          Key points
        </h2>
        <ul className="mt-1 ml-1 border-l border-line text-sm">
          {points.map((point) => (
            <li key={point} className={`py-1.5 pl-5 ${stationClass}`}>
              {point}
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}

/** Reads the headings from the page, because `toLoaderData` omits the text and the headings from hydration data. */
function readHeadings(): Heading[] {
  return [...document.querySelectorAll(".prose h2")].map(({ id, textContent }) => ({ id, text: textContent ?? "" }));
}

function Prose({ html }: { html: string | undefined }) {
  const content = html ?? document.querySelector(".prose")?.innerHTML ?? "";
  return <div className="prose" dangerouslySetInnerHTML={{ __html: content }} />;
}

function ContentsList({ headings }: { headings: Heading[] }) {
  return (
    <ol className="toc-list mx-4 mb-4 border-l border-line text-sm lg:mx-1 lg:mb-0">
      {headings.map(({ id, text }) => (
        <li key={id} className={stationClass}>
          <a
            href={`#${id}`}
            className="flex min-h-11 items-center py-1 pl-5 leading-snug no-underline hover:text-action hover:underline"
          >
            {text}
          </a>
        </li>
      ))}
    </ol>
  );
}
