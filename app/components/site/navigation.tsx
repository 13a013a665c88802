import { ChevronDown, LogOut, Menu } from "lucide";
import { Form, Link, NavLink, useLocation, useMatches } from "react-router";
import { Icon } from "~/components/ui/icon";
import { Button, buttonClass } from "../ui/button";
import { Bar } from "./bar";
import { Chat } from "./chat";
import { Disclosure } from "./disclosure";
import { MotionSwitch } from "./motion-switch";
import { useQuoteLink } from "./quote-panel";
import { RouteMark } from "./route-mark";
import { ThemeToggle } from "./theme-toggle";

type NavigationProps = { name: string; chatPhone: string | undefined; signedIn: boolean; theme: string };

/** Whether this is a page of the desk that a colleague sees: for everybody else there is none. */
export function useIsAtDesk(): boolean {
  return useMatches().some(({ id, loaderData }) => id === "routes/desk" && loaderData !== undefined);
}

/** The link to the shipments, to the desk from its own pages, or to the login for visitors. */
export function useAccountLink(signedIn: boolean) {
  if (useIsAtDesk()) return { to: "/desk", name: "Desk" };
  return signedIn ? { to: "/portal", name: "My Shipments" } : { to: "/login", name: "Client Login" };
}

/** The bar above every page. Where it is too narrow for its list of pages, the list folds under a button. */
export function Navigation({ name, chatPhone, signedIn, theme }: NavigationProps) {
  const client = useAccountLink(signedIn);
  const atDesk = useIsAtDesk();
  const { pathname } = useLocation();
  return (
    <Bar>
      <div className="relative mx-auto flex max-w-6xl flex-wrap items-center px-4 py-2 @md:gap-4">
        <div className="min-w-min flex-1">
          <Link
            to="/"
            viewTransition
            aria-label={signedIn ? name : undefined}
            className="inline-flex min-h-11 min-w-11 items-center gap-1 font-semibold whitespace-nowrap no-underline"
          >
            <RouteMark className="h-7 w-9 shrink-0" />
            <span className={signedIn ? "@max-[58rem]:hidden" : ""}>{name}</span>
          </Link>
        </div>
        <Disclosure
          className="menu-button order-1 ml-0.5"
          summaryClass="flex size-11 items-center justify-center rounded-label border border-edge"
          summary={
            <>
              <Icon of={Menu} className="size-5" />
              <span className="sr-only">Menu</span>
            </>
          }
        >
          <div className="menu">
            <nav aria-label="Main">
              <ul>
                <NavItem to="/">Home</NavItem>
                <NavItem to="/services">Services</NavItem>
                <NavItem to="/about">About</NavItem>
                <li>
                  <Disclosure
                    opensOnHover
                    summaryClass={`${itemClass} gap-1`}
                    summary={
                      <>
                        Resources
                        <Icon of={ChevronDown} className="size-4" />
                      </>
                    }
                  >
                    <ul aria-label="Resources" className="submenu">
                      <NavItem to="/resources/faq">FAQ</NavItem>
                      <NavItem to="/resources/feeds">Feeds Update</NavItem>
                      <NavItem to="/resources/blog">Blog</NavItem>
                    </ul>
                  </Disclosure>
                </li>
                <NavItem to={client.to}>{client.name}</NavItem>
              </ul>
            </nav>
            {!atDesk && (
              <Link to="/contact" viewTransition className={`${itemClass} menu-contact`}>
                Contact
              </Link>
            )}{" "}
            {/* The home page begins with it. */}
            {!signedIn && pathname !== "/" && <QuoteButton />}
          </div>
        </Disclosure>
        <div className="flex flex-wrap items-center justify-end gap-0.5 @md:gap-1">
          {chatPhone && !atDesk && <Chat phone={chatPhone} inBar />}
          <MotionSwitch />
          <ThemeToggle theme={theme} />
          {signedIn && <SignOut />}
        </div>
      </div>
    </Bar>
  );
}

const itemClass =
  "flex min-h-11 items-center rounded-label px-3 text-sm font-semibold no-underline hover:text-action " +
  "aria-[current=page]:underline aria-[current=page]:decoration-action aria-[current=page]:decoration-2";

function NavItem({ to, children }: { to: string; children: string }) {
  return (
    <li>
      <NavLink to={to} end={to === "/"} viewTransition className={itemClass}>
        {children}
      </NavLink>
    </li>
  );
}

function QuoteButton() {
  return (
    <Link {...useQuoteLink()} className={buttonClass("action", "menu-quote")}>
      Get a Quote
    </Link>
  );
}

function SignOut() {
  return (
    <Form method="post" action="/portal/sign-out">
      <Button name="sign-out" aria-label="Sign out">
        <Icon of={LogOut} className="size-5 @min-[24rem]:hidden" />
        <span className="@max-[24rem]:hidden">Sign out</span>
      </Button>
    </Form>
  );
}
