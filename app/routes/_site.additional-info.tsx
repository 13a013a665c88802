import { Link } from "react-router";
import { Title } from "~/components/title";
import { type Company, identifiers, theCompany } from "~/lib/content.server";
import { env } from "~/lib/env.server";
import { seo } from "~/lib/seo";
import type { Route } from "./+types/_site.additional-info";

export { exceptForQuote as shouldRevalidate } from "~/lib/revalidate";

export function loader() {
  const { customs_agent_licence, aeo_number, tax_pin, managing_director } = identifiers;
  return {
    company: theCompany,
    origin: env().origin,
    licence: customs_agent_licence,
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
      <ReallyUs company={loaderData.company} origin={loaderData.origin} licence={loaderData.licence} />
    </>
  );
}

/** How somebody finds out that a mail, a call or a page is the company's. */
function ReallyUs(props: { company: Company; origin: string; licence: string }) {
  const { company, origin, licence } = props;
  return (
    <section id="really-us" className="mt-12 max-w-prose">
      <h2 className="text-xl">Is this really us?</h2>
      <p className="mt-3">
        Fraud in our trade begins with a message that looks like ours: a fee to pay at once, a new account to pay it to.
        Check it here, not by the number or the link in the message.
      </p>
      <h3 className="mt-6 font-semibold">Our site and our mails</h3>
      <p className="mt-1">
        Our only site is <span className="font-mono wrap-anywhere">{origin}</span>. Our mails link to nothing else,
        carry no file, and never ask for a password or a code.
      </p>
      <h3 className="mt-6 font-semibold">Our numbers and addresses</h3>
      <ul className="mt-1 list-disc pl-6">
        {company.offices.map(({ name, phone, email }) => (
          <li key={name}>
            {name}: {phone}, <span className="wrap-anywhere">{email}</span>
          </li>
        ))}
        <li>WhatsApp: +{company.chat_phone}</li>
      </ul>
      <p className="mt-2">Somebody calls you? Say that you call back, and dial one of these.</p>
      <h3 className="mt-6 font-semibold">Our licence</h3>
      <p className="mt-1">
        The Kenya Revenue Authority licenses customs agents and publishes their list on{" "}
        <span className="font-mono">kra.go.ke</span>. Our number, <span className="font-semibold">{licence}</span>, must
        stand there with the name {company.name}.
      </p>
      <h3 className="mt-6 font-semibold">Our bank details</h3>
      <p className="mt-1">
        We never send our bank details by mail, SMS or WhatsApp, and never change them that way. They stand on our
        signed invoice. Before you pay to an account that is new to you, call the head office.
      </p>
    </section>
  );
}
