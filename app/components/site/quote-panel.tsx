import { X } from "lucide";
import { type ReactNode, useEffect, useState, useSyncExternalStore } from "react";
import { Link, PrefetchPageLinks, useFetcher, useLocation } from "react-router";
import { Icon } from "~/components/ui/icon";
import { type EmailDraft, openEmailApp } from "~/models/email-draft";
import type { action } from "~/routes/actions.quote";
import { CloseLink, Dialog, dialogLinkProps, useCloseDialog } from "../ui/dialog";
import { showToast } from "../ui/toast-state";
import { LazyEmailDraftPanel } from "./lazy-email-draft-panel";
import { QuoteForm } from "./quote-form";

/** A link to the page at `pathname` and `search` with the quote form open over it. */
export function quoteLink({ pathname, search }: { pathname: string; search: string }) {
  const rest = removeQuoteParam(search);
  return {
    to: `${pathname}${rest ? `${rest}&` : "?"}quote`,
    ...dialogLinkProps,
    preventScrollReset: true,
  };
}

/** The link to the quote form from the page in view: over it, or over the home page where it has a form of its own. */
export function useQuoteLink() {
  const here = useLocation();
  return /^\/(portal|login|signup|auth|contact|careers|quote|actions\/quote)/.test(here.pathname)
    ? { to: "/?quote" }
    : quoteLink(here);
}

function removeQuoteParam(search: string): string {
  const parameters = new URLSearchParams(search);
  parameters.delete("quote");
  return parameters.size > 0 ? `?${parameters}` : "";
}

/**
 * Whether the server's HTML has the quote form over the page: the HTML must mark the page below as inert then. Once
 * hydrated, the form is a modal dialog, which does so by itself.
 */
export function useIsBelowQuote(): boolean {
  const { search } = useLocation();
  return useIsBeforeHydration() && new URLSearchParams(search).has("quote");
}

/**
 * The lower part of a long page. The server's HTML leaves it out under the quote form, which arrives sooner without it:
 * it is added on hydration, or comes with the page once the form is closed.
 */
export function DeferredSection({ children }: { children: ReactNode }) {
  return useIsBelowQuote() ? null : children;
}

/** True on the server and during hydration: the page has to work without script. */
function useIsBeforeHydration(): boolean {
  return useSyncExternalStore(
    () => () => {},
    () => false,
    () => true,
  );
}

/**
 * The quote form over the page it was opened from, at that page's address with `?quote`. With script the mail
 * application opens by itself and the form closes; if none opened, the mail is kept here and the toast links to it.
 */
export function QuotePanel({ services }: { services: string[] }) {
  const { pathname, search, state } = useLocation();
  const [sent, setSent] = useState<EmailDraft | null>(null);
  if (!new URLSearchParams(search).has("quote")) return null;
  const page = pathname + removeQuoteParam(search);
  return (
    <div className="fixed inset-0 z-20 grid place-items-center overflow-y-auto p-4">
      <Link
        to={page}
        preventScrollReset
        aria-label="Close the quote form"
        tabIndex={-1}
        className="fixed inset-0 bg-sunken/90"
      />
      <Dialog
        label="Get a Quote"
        back={page}
        className="relative w-full max-w-md rounded-label border border-line bg-raised p-4 shadow-float sm:p-6"
      >
        <header className="mb-4 flex items-start justify-between gap-4">
          <h2 className="text-lg font-semibold">Get a Quote</h2>
          <CloseLink
            to={page}
            className="-mt-2 -mr-2 flex size-11 items-center justify-center rounded-label border border-transparent hover:border-edge"
          >
            <Icon of={X} className="size-5" />
            <span className="sr-only">Close</span>
          </CloseLink>
        </header>
        {sent && (state as { mail?: true } | null)?.mail ? (
          <LazyEmailDraftPanel draft={sent} />
        ) : (
          <>
            {sent && (
              <details className="mb-4">
                <summary className="inline-flex min-h-11 items-center underline">
                  No mail opened for your last request?
                </summary>
                <LazyEmailDraftPanel draft={sent} />
              </details>
            )}
            <QuoteFetcherForm services={services} page={page} onSent={setSent} />
          </>
        )}
      </Dialog>
    </div>
  );
}

type QuoteFetcherFormProps = { services: string[]; page: string; onSent: (draft: EmailDraft) => void };

/** The form; with script a fetcher submits it in place. */
function QuoteFetcherForm({ services, page, onSent }: QuoteFetcherFormProps) {
  const fetcher = useFetcher<typeof action>();
  const close = useCloseDialog(page);
  const isPrinted = useIsBeforeHydration();
  const link = quoteLink(useLocation());
  const answer = fetcher.data;
  // Runs once for each answer.
  useEffect(() => {
    if (!answer || !("draft" in answer)) return;
    onSent(answer.draft);
    openEmailApp(answer.draft);
    const action = { label: "No mail opened?", ...link, state: { ...link.state, mail: true } };
    showToast({ ...answer.toast, action });
    close();
  }, [answer]);
  return (
    <>
      {/* Loads the code that submits the form now: a connection lost later leaves the page and what was typed. */}
      {!isPrinted && <PrefetchPageLinks page="/actions/quote" />}
      <QuoteForm
        services={services}
        from={page}
        refused={answer && !("draft" in answer) ? answer : undefined}
        fetcher={fetcher}
      />
    </>
  );
}
