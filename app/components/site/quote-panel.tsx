import { X } from "lucide-react";
import { Link, useLocation } from "react-router";
import { QuoteForm } from "./quote-form";

/** The address of a page with the quote form open over it. */
export function withQuote(pathname: string, search: string): string {
  const rest = withoutQuote(search);
  return `${pathname}${rest ? `${rest}&` : "?"}quote`;
}

function withoutQuote(search: string): string {
  const parameters = new URLSearchParams(search);
  parameters.delete("quote");
  return parameters.size > 0 ? `?${parameters}` : "";
}

/** The quote form over the page it was opened from: an address with `?quote`, closed by links to the same page. */
export function QuotePanel({ services }: { services: string[] }) {
  const { pathname, search } = useLocation();
  const page = pathname + withoutQuote(search);
  return (
    <div className="fixed inset-0 z-20 grid place-items-center overflow-y-auto p-4">
      <Link
        to={page}
        preventScrollReset
        aria-label="Close the quote form"
        tabIndex={-1}
        className="fixed inset-0 bg-sunken/90"
      />
      <section
        role="dialog"
        aria-modal="true"
        aria-labelledby="quote-title"
        className="relative w-full max-w-md rounded-label border border-line bg-raised p-4 shadow-float sm:p-6"
      >
        <header className="mb-4 flex items-start justify-between gap-4">
          <h2 id="quote-title" className="text-lg font-semibold">
            Get a Quote
          </h2>
          <Link
            to={page}
            preventScrollReset
            className="-mt-2 -mr-2 flex size-11 items-center justify-center rounded-label border border-transparent hover:border-edge"
          >
            <X aria-hidden className="size-5" />
            <span className="sr-only">Close</span>
          </Link>
        </header>
        <QuoteForm services={services} from={page} />
      </section>
    </div>
  );
}
