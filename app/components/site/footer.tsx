import { Form, Link, useLocation } from "react-router";
import type { Company } from "~/lib/content.server";
import { Button } from "../ui/button";
import { Chat } from "./chat";
import { useAtDesk, useClientLink } from "./navigation";
import { quoteLink } from "./quote-panel";

const pages = (client: { to: string; name: string }) => [
  { to: "/contact", name: "Contact" },
  { to: "/careers", name: "Careers" },
  client,
  { to: "/privacy", name: "Privacy Policy" },
  { to: "/terms", name: "Terms of Service" },
  { to: "/legal", name: "Legal Notice" },
  { to: "/additional-info", name: "Additional Info" },
  { to: "/cookie-settings", name: "Cookie Settings" },
];

const linkLook =
  "inline-flex min-h-11 max-w-full items-center wrap-anywhere underline decoration-line hover:decoration-action";

/** The foot of every page: who we are, how to reach a person, and the small print; at the desk only the page's weight. */
export function Footer({ company, lite, signedIn }: { company: Company; lite: boolean; signedIn: boolean }) {
  const { pathname, search } = useLocation();
  const client = useClientLink(signedIn);
  const atDesk = useAtDesk();
  // The quote form opens over the page, except over pages with a form of their own.
  const quote = /^\/(portal|login|signup|auth|contact|careers|resources\/quote)/.test(pathname)
    ? { to: "/?quote" }
    : quoteLink({ pathname, search });
  return (
    <footer className="border-t border-line bg-sunken pb-14 text-sm sm:pb-16">
      {!atDesk && (
        <>
          <div className="mx-auto grid max-w-6xl grid-cols-2 gap-x-4 gap-y-3 px-4 pt-5 sm:gap-8 sm:py-10 lg:grid-cols-4">
            <div className="col-span-2 flex items-center justify-between gap-4 sm:col-span-1 sm:block">
              <div>
                <p className="font-semibold">{company.name}</p>
                <p className="text-quiet sm:mt-1">{company.taglines[0]}</p>
              </div>
              <p className="shrink-0 sm:mt-2">
                <Link {...quote} className={linkLook}>
                  Get a Quote
                </Link>
              </p>
            </div>
            {company.offices.map((office) => (
              <address key={office.name} className="not-italic">
                <p className="font-semibold">{office.name}</p>
                <p className="mt-1 text-quiet">{office.address}</p>
                <ul className="sm:mt-1">
                  <li>
                    <a className={linkLook} href={`tel:${office.phone.replaceAll(" ", "")}`}>
                      {office.phone}
                    </a>
                  </li>
                  <li>
                    <a className={linkLook} href={`mailto:${office.email}`}>
                      {office.email}
                    </a>
                  </li>
                  <li>
                    <a className={linkLook} href={office.map} target="_blank" rel="noreferrer">
                      Map<span className="sr-only"> of the {office.name}</span>
                    </a>
                  </li>
                </ul>
              </address>
            ))}
            <nav aria-label="More pages" className="col-span-2 sm:col-span-1">
              <ul className="columns-3 gap-3 sm:columns-2 lg:-mt-2.5 lg:columns-1">
                {pages(client).map((page) => (
                  <li key={page.to}>
                    <Link to={page.to} viewTransition className={linkLook}>
                      {page.name}
                    </Link>
                  </li>
                ))}
              </ul>
            </nav>
          </div>
          <div className="mx-auto flex max-w-6xl flex-wrap items-center justify-between gap-x-8 border-t border-line px-4 sm:py-4">
            <p className="text-quiet">
              © {company.copyright_year} {company.name}
            </p>
            <ul className="flex flex-wrap gap-x-6">
              {company.social.map((page) => (
                <li key={page.name}>
                  <a className={`${linkLook} min-w-11 justify-center`} href={page.url} target="_blank" rel="noreferrer">
                    {page.name}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        </>
      )}
      <div className="mx-auto flex max-w-6xl flex-wrap items-center gap-x-8 px-4 text-quiet">
        <p>
          This page is about <Weight /> KB{lite ? ", all of it text" : ", pictures and script included"}.
        </p>
        <Form method="post" action="/resources/lite" reloadDocument>
          <input type="hidden" name="lite" value={lite ? "off" : "on"} />
          <input type="hidden" name="to" value={pathname + search} />
          <Button look="quiet">{lite ? "Show pictures again" : "Lighter pages, text only"}</Button>
        </Form>
      </div>
      {!atDesk && <Chat phone={company.chat_phone} />}
    </footer>
  );
}

/** The page's size, filled in after rendering (app/server/web/critical-css.ts); hydration leaves it alone. */
function Weight() {
  return <span data-weight="" suppressHydrationWarning dangerouslySetInnerHTML={{ __html: "" }} />;
}
