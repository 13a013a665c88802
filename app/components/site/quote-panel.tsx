import { X } from "lucide";
import { type ReactNode, useEffect, useState } from "react";
import { Link, PrefetchPageLinks, useFetcher, useLocation } from "react-router";
import { Icon } from "~/components/ui/icon";
import { type EmailDraft, openEmailApp } from "~/models/email-draft";
import type { action } from "~/routes/actions.quote";
import { CloseLink, Dialog, dialogLinkProps, useCloseDialog } from "../ui/dialog";
import { useIsHydrated } from "../ui/hydration";
import { showToast } from "../ui/toast-state";
import { LazyEmailDraftPanel } from "./lazy-email-draft-panel";
import { QuoteForm } from "./quote-form";

export function quoteLink({ pathname, search }: { pathname: string; search: string }) {
  const otherParams = removeQuoteParam(search);
  return {
    to: `${pathname}${otherParams ? `${otherParams}&` : "?"}quote`,
    ...dialogLinkProps,
    preventScrollReset: true,
  };
}

/** The link opens the quote form over the current page, or over the home page if the current page has a form. */
export function useQuoteLink() {
  const location = useLocation();
  return /^\/(portal|login|signup|auth|contact|careers|quote|actions\/quote)/.test(location.pathname)
    ? { to: "/?quote" }
    : quoteLink(location);
}

function removeQuoteParam(search: string): string {
  const parameters = new URLSearchParams(search);
  parameters.delete("quote");
  return parameters.size > 0 ? `?${parameters}` : "";
}

/** True if the quote form is open before hydration. After hydration, the modal dialog makes the page inert. */
export function useIsBelowQuote(): boolean {
  const { search } = useLocation();
  return !useIsHydrated() && new URLSearchParams(search).has("quote");
}

/** If the quote form is open, omits `children` from the server's HTML, so that the form appears sooner. */
export function DeferredSection({ children }: { children: ReactNode }) {
  return useIsBelowQuote() ? null : children;
}

/** Shows the quote form, or the email draft after a click on the link in the toast. */
export function QuotePanel({ services }: { services: string[] }) {
  const { pathname, search, state } = useLocation();
  const [draft, setDraft] = useState<EmailDraft | null>(null);
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
        {draft && (state as { email?: true } | null)?.email ? (
          <LazyEmailDraftPanel draft={draft} />
        ) : (
          <>
            {draft && (
              <details className="mb-4">
                <summary className="inline-flex min-h-11 items-center underline">
                  Show the email with your last quote request
                </summary>
                <LazyEmailDraftPanel draft={draft} />
              </details>
            )}
            <QuoteFetcherForm services={services} page={page} onSent={setDraft} />
          </>
        )}
      </Dialog>
    </div>
  );
}

type QuoteFetcherFormProps = { services: string[]; page: string; onSent: (draft: EmailDraft) => void };

function QuoteFetcherForm({ services, page, onSent }: QuoteFetcherFormProps) {
  const fetcher = useFetcher<typeof action>();
  const close = useCloseDialog(page);
  const isHydrated = useIsHydrated();
  const link = quoteLink(useLocation());
  const actionData = fetcher.data;
  useEffect(() => {
    if (!actionData || !("draft" in actionData)) return;
    onSent(actionData.draft);
    openEmailApp(actionData.draft);
    const action = { label: "Open the email again", ...link, state: { ...link.state, email: true } };
    showToast({ ...actionData.toast, action });
    close();
  }, [actionData]);
  const rejected = actionData && !("draft" in actionData) ? actionData : undefined;
  const isRejected = rejected !== undefined;
  useEffect(() => {
    if (!isRejected) return;
    document.title = `Error: ${document.title}`;
    // Only the prefix "Error: " is removed, because the next page may already have set its own title.
    return () => {
      document.title = document.title.replace("Error: ", "");
    };
  }, [isRejected]);
  return (
    <>
      {/* Preloads the action's route module, so that the typed text survives a lost connection during submission. */}
      {isHydrated && <PrefetchPageLinks page="/actions/quote" />}
      <QuoteForm services={services} from={page} rejected={rejected} fetcher={fetcher} />
    </>
  );
}
