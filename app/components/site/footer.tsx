import { Form, Link, useLocation } from "react-router";
import type { Company } from "~/models/content.server";
import { footerLinks, login, type PageLink } from "~/site-links";
import { Button } from "../ui/button";
import { Chat } from "./chat";
import { getAccountLink } from "./navigation";
import { OfficePhone } from "./office-phone";
import { useQuoteLink } from "./quote-panel";

const linkClass = "inline-flex min-h-11 items-center underline decoration-line hover:decoration-action";

const rowClass = "mx-auto flex max-w-6xl flex-wrap items-center gap-x-6 px-4";

const phoneHref = (phone: string) => `tel:${phone.replaceAll(" ", "")}`;

export function Footer({ company, lite, signedIn }: { company: Company; lite: boolean; signedIn: boolean | "staff" }) {
  const { pathname, search } = useLocation();
  const inPortal = /^\/portal(\/|$)/.test(pathname);
  return (
    <footer className="border-t border-line bg-sunken text-xs sm:text-sm">
      {!inPortal && <FullFooter company={company} signedIn={signedIn} />}
      <div className={`${rowClass} py-1 text-quiet`}>
        {inPortal && <PortalHelp company={company} />}
        <p>
          {/* critical-css.ts inserts the page's size after rendering, so hydration must not change the element. */}
          Page size: about <span data-weight="" suppressHydrationWarning dangerouslySetInnerHTML={{ __html: "" }} /> KB
        </p>
        <Form method="post" action="/actions/lite" reloadDocument>
          <input type="hidden" name="lite" value={lite ? "off" : "on"} />
          <input type="hidden" name="to" value={pathname + search} />
          <Button look="quiet">{lite ? "Full version" : "Text-only version"}</Button>
        </Form>
      </div>
      <Chat phone={company.chat_phone} />
    </footer>
  );
}

function PortalHelp({ company }: { company: Company }) {
  return (
    <>
      <p>
        © {company.copyright_year} {company.short_name}
      </p>
      <p>
        {company.offices[0]?.name} <OfficePhone />
      </p>
      <details className="open:basis-full">
        <summary className={`${linkClass} cursor-pointer`}>More pages</summary>
        <ul className="flex flex-wrap gap-x-4">
          {footerLinks
            .filter((page) => page !== login)
            .map((page) => (
              <li key={page.path}>
                <FooterLink {...page} />
              </li>
            ))}
        </ul>
      </details>
    </>
  );
}

function FooterLink({ path, label }: PageLink) {
  return (
    <Link to={path} viewTransition className={linkClass}>
      {label}
    </Link>
  );
}

function FullFooter({ company, signedIn }: { company: Company; signedIn: boolean | "staff" }) {
  const client = getAccountLink(signedIn);
  const quote = useQuoteLink();
  return (
    <div className="mx-auto grid max-w-6xl grid-cols-2 gap-x-4 px-4 pt-2 sm:gap-x-8 sm:pt-8 lg:grid-cols-4">
      <div className="col-span-2 mb-1 flex items-center justify-between gap-4 sm:mb-6 lg:col-span-1 lg:block">
        <div>
          <p className="font-semibold">{company.name}</p>
          <p className="text-quiet">{company.taglines[0]}</p>
        </div>
        <Link {...quote} className={`${linkClass} shrink-0`}>
          Get a Quote
        </Link>
      </div>
      {company.offices.map((office) => (
        <address key={office.name} className="col-span-2 not-italic sm:col-span-1">
          <p className="font-semibold">
            {office.name}{" "}
            <a
              className="ml-2 py-3 font-normal underline decoration-line hover:decoration-action"
              href={office.map}
              target="_blank"
              rel="noreferrer"
            >
              Map<span className="sr-only">: {office.name}</span>
            </a>
          </p>
          <p className="text-quiet">{office.address}</p>
          <ul className="flex flex-wrap gap-x-3 sm:block">
            {[
              { to: `mailto:${office.email}`, words: office.email },
              { to: phoneHref(office.phone), words: office.phone },
            ].map(({ to, words }) => (
              <li key={to}>
                <a className={linkClass} href={to}>
                  {words}
                </a>
              </li>
            ))}
          </ul>
        </address>
      ))}
      <nav aria-label="More pages" className="col-span-2 lg:col-span-1">
        <ul className="flex flex-wrap gap-x-3 sm:gap-x-4 lg:-mt-2.5 lg:columns-2 lg:gap-2 lg:block">
          {footerLinks.map((page) => (
            <li key={page.path}>
              <FooterLink {...(page === login ? client : page)} />
            </li>
          ))}
        </ul>
      </nav>
      <div className="col-span-2 flex flex-wrap items-center justify-between gap-x-6 lg:col-span-4 lg:pt-4">
        <ul className="flex flex-wrap gap-x-4">
          {company.social.map((page) => (
            <li key={page.name}>
              <a className={`${linkClass} min-w-11 justify-center`} href={page.url} target="_blank" rel="noreferrer">
                {page.name}
              </a>
            </li>
          ))}
        </ul>
        <p className="text-quiet">
          © {company.copyright_year} {company.name}
        </p>
      </div>
    </div>
  );
}
