import { ChevronDown } from "lucide";
import { Icon } from "~/components/ui/icon";
import type { Heading } from "~/lib/mdx.build";
import "../../styles/prose.css";

type LongTextProps = { html: string | undefined; headings: Heading[]; contents: string };

/** A long text with its table of contents: a route line beside it on a wide screen, folded above it on a phone. */
export function LongText({ html, headings, contents }: LongTextProps) {
  if (headings.length === 0) return <Prose html={html} />;
  return (
    <div className="grid grid-cols-1 gap-x-12 gap-y-6 lg:grid-cols-[16rem_minmax(0,1fr)]">
      <nav
        aria-label={contents}
        className="rounded-label border border-line bg-raised lg:border-0 lg:bg-transparent print:hidden"
      >
        <div
          className="before:mb-2 before:hidden before:text-sm before:font-semibold before:content-[attr(data-title)] lg:sticky lg:top-6 lg:max-h-[calc(100dvh-3rem)] lg:overflow-y-auto lg:pb-2 lg:before:block"
          data-title={contents}
        >
          <details className="group lg:hidden">
            <summary className="flex min-h-11 items-center justify-between gap-4 px-4 font-semibold">
              {contents}
              <Icon of={ChevronDown} className="size-5 group-open:rotate-180" />
            </summary>
          </details>
          <Stations headings={headings} />
        </div>
      </nav>
      <Prose html={html} />
    </div>
  );
}

/** Text of content/, compiled to HTML when the site is built. Without `html` it is read from the document. */
function Prose({ html }: { html: string | undefined }) {
  const shown = html ?? document.querySelector(".prose")?.innerHTML ?? "";
  return <div className="prose" dangerouslySetInnerHTML={{ __html: shown }} />;
}

function Stations({ headings }: { headings: Heading[] }) {
  return (
    <ol className="unfolds mx-4 mb-4 border-l border-line text-sm lg:mx-1 lg:mb-0">
      {headings.map(({ id, text }) => (
        <li
          key={id}
          className="relative before:absolute before:top-[1.125rem] before:-left-1 before:size-2 before:rounded-full before:border before:border-edge before:bg-surface"
        >
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
