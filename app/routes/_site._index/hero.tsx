import { Form, useLocation } from "react-router";
import { Field } from "~/components/forms/field";
import { ErrorSummary, SubmitButton, useActionForm } from "~/components/forms/form";
import { LazyEmailDraftPanel } from "~/components/site/lazy-email-draft-panel";
import { quoteLink } from "~/components/site/quote-panel";
import { ButtonLink, TextLink } from "~/components/ui/button";
import { PageToast } from "~/components/ui/toast";
import type { Route } from "./+types/route";
import { HeroDrawing } from "./hero-drawing";
import { SearchTerms } from "./search-terms";

export function Hero({ loaderData, actionData }: Route.ComponentProps) {
  const { intro, taglines, search_terms } = loaderData;
  const [form, fields] = useActionForm("tracking", actionData, ["trackingNumber"]);
  const quote = quoteLink(useLocation());
  const ready = actionData && "draft" in actionData && actionData.draft ? actionData : null;
  return (
    <div>
      <ErrorSummary {...form} actionData={ready ? undefined : actionData} />
      {ready && <PageToast toast={ready.toast} />}
      <div className="grid gap-8 lg:grid-cols-[1fr_24rem] lg:gap-16 lg:pt-6">
        <div>
          <p className="text-sm font-semibold text-quiet">{taglines[1]}</p>
          <h1 className="mt-2 max-w-xl text-2xl">{taglines[0]}</h1>
          {ready ? (
            <div className="mt-6">
              <LazyEmailDraftPanel draft={ready.draft} opens />
            </div>
          ) : (
            <>
              <p className="mt-4 mb-6 max-w-prose text-quiet sm:text-lg">{intro}</p>
              <div className="flex flex-wrap gap-3">
                <ButtonLink look="action" {...quote}>
                  Get a Quote
                </ButtonLink>{" "}
                <ButtonLink to="/resources/cost">What will your import cost?</ButtonLink>
              </div>
            </>
          )}
        </div>
        <section aria-labelledby="track" className="self-start rounded-label border border-line bg-raised">
          <h2 id="track" className="border-b border-line px-4 py-3 text-base font-semibold sm:px-6">
            Where is your cargo?
          </h2>
          <Form method="post" action="/?index" id={form.id} noValidate className="px-4 pt-4 pb-2 sm:px-6">
            <Field
              field={fields.trackingNumber}
              label="Tracking number"
              hint="Bill of lading, air waybill or container number"
              autoComplete="off"
              autoCapitalize="characters"
              spellCheck={false}
            />
            <SubmitButton look="plain" pending="Preparing…" className="w-full">
              Request an update
            </SubmitButton>
          </Form>
          <div className="px-4 pb-2 text-sm sm:px-6">
            <p className="mt-1 text-quiet">We reply by email during working hours. Follow your shipments online:</p>
            <TextLink to="/signup" className="font-semibold">
              Sign up with your Client ID
            </TextLink>
          </div>
        </section>
      </div>
      <HeroDrawing />
      <SearchTerms terms={search_terms} />
    </div>
  );
}
