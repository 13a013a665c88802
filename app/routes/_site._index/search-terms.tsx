import { ArrowRight } from "lucide";
import { Link } from "react-router";
import { TextLink } from "~/components/ui/button";
import { Icon } from "~/components/ui/icon";

/** Returns the URL of the contact form with a prefilled subject. The form ignores unknown subjects. */
export function createContactUrl(subject: string): string {
  return `/contact?${new URLSearchParams({ about: subject })}#write`;
}

export function SearchTerms({ terms }: { terms: string[] }) {
  return (
    <div className="relative mt-8 mb-4 flex flex-wrap items-center gap-x-6 border-y border-line py-3 text-sm md:mt-4 md:mb-0">
      <p className="font-semibold">Popular topics</p>
      <ul className="order-1 my-2 flex w-full flex-wrap gap-2 text-quiet md:order-2">
        {terms.map((term) => (
          <li key={term}>
            <Link
              to={createContactUrl(term)}
              className="relative z-1 inline-flex min-h-11 items-center rounded-label border border-line px-3 no-underline hover:border-edge hover:text-action"
            >
              {term}
            </Link>
          </li>
        ))}
      </ul>
      <TextLink to="/contact" className="order-1 gap-2 font-semibold after:absolute after:inset-0">
        Ask about your cargo
        <Icon of={ArrowRight} className="size-4 text-action" />
      </TextLink>
    </div>
  );
}
