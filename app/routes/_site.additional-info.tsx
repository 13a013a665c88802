import { Link } from "react-router";
import { Title } from "~/components/title";
import { identifiers } from "~/lib/content.server";
import { seo } from "~/lib/seo";
import type { Route } from "./+types/_site.additional-info";

export { exceptForQuote as shouldRevalidate } from "~/lib/revalidate";

export function loader() {
  const { customs_agent_licence, aeo_number, tax_pin, managing_director } = identifiers;
  return {
    rows: [
      { label: "Customs agent licence number", value: customs_agent_licence },
      { label: "Authorised economic operator number", value: aeo_number },
      { label: "Tax authority PIN", value: tax_pin },
      { label: "Managing director", value: managing_director },
    ],
  };
}

export const meta: Route.MetaFunction = ({ matches }) =>
  seo(matches, {
    title: "Additional information",
    description:
      "Customs agent licence, authorised economic operator number, tax PIN and managing director of the company.",
    path: "/additional-info",
  });

export default function AdditionalInfoPage({ loaderData }: Route.ComponentProps) {
  return (
    <>
      <Title>Additional information</Title>
      <h1 className="text-2xl">Additional information</h1>
      <p className="mt-3 max-w-prose text-lg text-balance text-quiet">
        The numbers the Kenya Revenue Authority knows us by, and who answers for the company.
      </p>
      <dl className="mt-8 max-w-3xl ruled rounded-label border border-line bg-raised">
        {loaderData.rows.map(({ label, value }) => (
          <div key={label} className="px-4 py-4 sm:grid sm:grid-cols-2 sm:items-baseline sm:gap-6 sm:px-5">
            <dt className="text-sm text-quiet">{label}</dt>
            <dd className="font-semibold tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
      <p className="mt-6 max-w-prose">
        The registration number and the address for letters are in the{" "}
        <Link to="/legal" className="py-3.5 underline">
          legal notice
        </Link>
        .
      </p>
    </>
  );
}
