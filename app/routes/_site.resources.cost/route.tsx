import { useEffect, useRef, useState } from "react";
import { data } from "react-router";
import { useActionForm } from "~/components/forms/form";
import { PageHeading } from "~/components/site/title";
import { ButtonLink } from "~/components/ui/button";
import { focusInView } from "~/components/ui/page-navigation";
import { revalidateExceptForQuote } from "~/lib/browser/revalidate";
import { dayInEastAfrica } from "~/lib/dates";
import { getDailyHeaders } from "~/lib/http/headers.server";
import { createPageMeta } from "~/lib/http/page-meta";
import { costRates } from "~/models/content.server";
import { COST_FIELDS, estimateCost, getOldestCarYear, parseImport } from "~/models/cost";
import { citeRates, parseCostQuery } from "~/models/cost.server";
import type { Route } from "./+types/route";
import { CostForm } from "./cost-form";
import { Documents } from "./documents";
import { EstimateBreakdown } from "./estimate-breakdown";
import { ImportWarnings } from "./import-warnings";

export function loader({ url }: Route.LoaderArgs) {
  const today = dayInEastAfrica(new Date());
  const parsed = parseCostQuery(url.searchParams, costRates, today);
  const result = parsed?.result ?? { initialValue: {} };
  const cargo = parsed?.cargo ?? null;
  return data(
    { rates: citeRates(costRates, today), submitted: { result }, cargo, rejected: parsed !== null && !cargo, today },
    { status: parsed && !cargo ? 400 : 200, headers: getDailyHeaders() },
  );
}

export const headers: Route.HeadersFunction = ({ loaderHeaders }) => loaderHeaders;

/** After a POST from another form on this page, reloaded data would reset the typed values. */
export function shouldRevalidate(change: Parameters<typeof revalidateExceptForQuote>[0]) {
  return change.formMethod === "POST" ? false : revalidateExceptForQuote(change);
}

export const meta: Route.MetaFunction = ({ matches, location }) =>
  createPageMeta(matches, {
    title: "What will your import cost?",
    description:
      "Estimate the duty, VAT and levies on your import into Kenya. The estimate is in Kenyan shillings (KES). Each rate has a date and source.",
    path: "/resources/cost",
    noindex: location.search !== "",
  });

export default function CostPage({ loaderData }: Route.ComponentProps) {
  const { rates, submitted, rejected, today } = loaderData;
  const [form, fields] = useActionForm("cost", submitted, COST_FIELDS);
  const [typed, setTyped] = useState<{ submitted: typeof submitted; values: Record<string, string> } | null>(null);
  // The estimate uses the typed values until the server responds with the submitted values.
  const live = typed?.submitted === submitted ? typed.values : null;
  const values = live ?? (submitted.result.initialValue as Record<string, string>);
  const cargo = live ? parseImport(live, rates, today) : loaderData.cargo;
  const lines = cargo && estimateCost(cargo, rates);
  const oldestYear = getOldestCarYear(today, rates.car_age.years);
  const registeredYear = Number(cargo?.registered?.slice(0, 4));
  const estimate = useFocusOnResult(loaderData.cargo);
  return (
    <>
      <PageHeading title="What will your import cost?" className="text-2xl" form={rejected ? form : undefined} />
      <p className="mt-4 max-w-prose text-lg text-pretty text-quiet">
        Estimate the duty, taxes and levies on your import before you pay the seller.
      </p>
      <div className="mt-8 mb-8 grid items-start gap-x-16 gap-y-10 lg:grid-cols-[minmax(0,min(22rem,35%))_minmax(0,1fr)]">
        <CostForm
          key={JSON.stringify(submitted.result.initialValue)}
          id={form.id}
          fields={fields}
          rates={rates}
          onType={(values) => setTyped({ submitted, values })}
        />
        <section
          ref={estimate}
          id={loaderData.cargo ? "sum" : undefined}
          tabIndex={-1}
          aria-label="The estimate"
          className="outline-none"
        >
          <ImportWarnings
            {...{ rates, oldestYear, registeredYear }}
            isCar={!values.what || values.what === "car"}
            penalty={lines?.penalty}
          />
          <EstimateBreakdown rates={rates} what={values.what} cargo={cargo} lines={lines} />
          {cargo && !(registeredYear < oldestYear) && (
            <ButtonLink look="action" to={`/quote?${new URLSearchParams(values)}`} className="mt-6 print:hidden">
              Get a quote for this import
            </ButtonLink>
          )}
          <Documents documents={rates.documents} what={values.what} />
        </section>
      </div>
    </>
  );
}

function useFocusOnResult(result: object | null) {
  const target = useRef<HTMLElement>(null);
  const previous = useRef(result);
  useEffect(() => {
    if (result && result !== previous.current && target.current) focusInView(target.current);
    previous.current = result;
  }, [result]);
  return target;
}
