import { Link } from "react-router";
import { PageHeading } from "~/components/site/title";
import { env } from "~/lib/http/env.server";
import { createPageMeta } from "~/lib/http/page-meta";
import { type Company, companyDetails, identifiers } from "~/models/content.server";
import type { Route } from "./+types/_site.additional-info";

export { revalidateExceptForQuote as shouldRevalidate } from "~/lib/browser/revalidate";

export function loader() {
  const { customs_agent_licence, aeo_number, tax_pin, managing_director } = identifiers;
  return {
    company: companyDetails,
    origin: env().origin,
    licence: customs_agent_licence,
    rows: [
      { label: "Customs agent licence number", value: customs_agent_licence },
      { label: "Authorised economic operator number", value: aeo_number },
      { label: "Tax authority PIN (KRA PIN)", value: tax_pin },
      { label: "Managing director", value: managing_director },
    ],
  };
}

export const meta: Route.MetaFunction = ({ matches }) =>
  createPageMeta(matches, {
    title: "Additional information",
    description:
      "Customs agent licence, authorised economic operator number, KRA PIN and managing director of the company.",
    path: "/additional-info",
  });

export default function AdditionalInfoPage({ loaderData }: Route.ComponentProps) {
  return (
    <>
      <PageHeading title="Additional information" className="text-2xl" />
      <p className="mt-3 max-w-prose text-lg text-balance text-quiet">
        This page lists our registration numbers at the Kenya Revenue Authority (KRA) and names our managing director.
        It also explains how to recognise us.
      </p>
      <dl className="mt-8 grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
        {loaderData.rows.map(({ label, value }) => (
          <div key={label} className="rounded-label border border-line bg-raised px-4 py-4">
            <dt className="text-sm text-quiet">{label}</dt>
            <dd className="mt-1 font-semibold tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
      <p className="mt-4 max-w-prose text-quiet">
        You can find our company registration number and address in the{" "}
        <Link to="/legal" className="py-3.5 underline">
          legal notice
        </Link>
        .
      </p>
      <IdentityCheck company={loaderData.company} origin={loaderData.origin} licence={loaderData.licence} />
    </>
  );
}

function IdentityCheck({ company, origin, licence }: { company: Company; origin: string; licence: string }) {
  return (
    <section id="identity-check" className="mt-12 border-t border-line pt-10">
      <h2 className="text-xl">How to recognise us</h2>
      <p className="mt-3 max-w-prose">
        Criminals send messages that look like ours. These messages ask for an urgent fee or a payment into a new
        account. Compare a suspicious message with this page. Do not use a phone number or link from a suspicious
        message.
      </p>
      <div className="mt-8 grid gap-10 lg:grid-cols-2 lg:gap-16">
        <Licence name={company.name} number={licence} />
        <div className="grid content-start gap-6">
          <div>
            <h3 className="font-semibold">Our website and our emails</h3>
            <p className="mt-1 max-w-prose">
              Our only website is <span className="font-mono wrap-anywhere">{origin}</span>. Our emails link only to
              this website. Our emails have no attachments. Our team never asks you for a password or a login code.
            </p>
          </div>
          <div>
            <h3 className="font-semibold">Our phone numbers and email addresses</h3>
            <ul className="mt-1 list-disc pl-6">
              {company.offices.map(({ name, phone, email }) => (
                <li key={name}>
                  {name}: {phone}, <span className="wrap-anywhere">{email}</span>
                </li>
              ))}
              <li>WhatsApp: +{company.chat_phone}</li>
            </ul>
            <p className="mt-2 max-w-prose">If someone calls in our name, hang up and call one of these numbers.</p>
          </div>
          <div>
            <h3 className="font-semibold">Our bank details</h3>
            <p className="mt-1 max-w-prose">
              We never send our bank details by email, SMS or WhatsApp. Our bank details are on our signed invoice.
              Before you pay into a new account, call the head office.
            </p>
          </div>
        </div>
      </div>
    </section>
  );
}

const stationClass =
  "relative pb-4 pl-6 last:pb-0 before:absolute before:top-1.5 before:-left-[7px] before:size-3 before:rounded-full " +
  "before:border-2 before:border-action before:bg-raised";

function Licence({ name, number }: { name: string; number: string }) {
  return (
    <section className="self-start rounded-label border-2 border-action bg-raised px-4 py-5 sm:px-6">
      <h3 className="text-lg">How to check our licence</h3>
      <p className="mt-3 text-sm text-quiet">Customs agent licence number</p>
      <p className="font-mono text-xl font-semibold wrap-anywhere">{number}</p>
      <ol className="mt-5 ml-1.5 border-l-2 border-action">
        <li className={stationClass}>
          Type <span className="font-mono font-semibold">kra.go.ke</span> into your browser to open the website of the
          Kenya Revenue Authority.
        </li>
        <li className={stationClass}>On the website, find the list of licensed customs agents.</li>
        <li className={stationClass}>
          Find our licence number on the list, next to the name <span className="font-semibold">{name}</span>. If our
          licence number is missing, call the head office before you pay anyone.
        </li>
      </ol>
    </section>
  );
}
