import { ChevronDown, LogOut, Menu } from "lucide";
import { type ReactNode, useSyncExternalStore } from "react";
import { Form, Link, NavLink, useLocation, useMatches } from "react-router";
import { Icon } from "~/components/ui/icon";
import { contact, login, mainLinks, type PageLink, resourceLinks } from "~/site-links";
import { useMotion } from "../motion";
import { Button, buttonClass } from "../ui/button";
import { Chat } from "./chat";
import { Disclosure } from "./disclosure";
import { useQuoteLink } from "./quote-panel";
import { RouteMark } from "./route-mark";
import { ThemeToggle } from "./theme-toggle";

type NavigationProps = { name: string; chatPhone: string | undefined; signedIn: boolean | "staff"; theme: string };

/** True if a team member views a desk page. On desk paths, a client gets status 404 and no loader data. */
export function useIsAtDesk(): boolean {
  return useMatches().some(({ id, loaderData }) => id === "routes/desk" && loaderData !== undefined);
}

export function getAccountLink(signedIn: boolean | "staff"): PageLink {
  if (signedIn === "staff") return { path: "/desk", label: "Desk" };
  return signedIn ? { path: "/portal", label: "My Shipments" } : login;
}

export function Navigation({ name, chatPhone, signedIn, theme }: NavigationProps) {
  const client = getAccountLink(signedIn);
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
                {mainLinks.map(NavItem)}
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
                      {resourceLinks.map(NavItem)}
                    </ul>
                  </Disclosure>
                </li>
                {NavItem(client)}
              </ul>
            </nav>
            <Link to={contact.path} viewTransition className={`${itemClass} menu-contact`}>
              {contact.label}
            </Link>{" "}
            {/* The home page has its own quote button at the top. */}
            {!signedIn && pathname !== "/" && <QuoteButton />}
          </div>
        </Disclosure>
        <div className="flex flex-wrap items-center justify-end gap-0.5 @md:gap-1">
          {chatPhone && <Chat phone={chatPhone} inBar />}
          <MotionSwitch />
          <ThemeToggle theme={theme} />
          {signedIn && <SignOut />}
        </div>
      </div>
    </Bar>
  );
}

const solidFromPx = 50;

function subscribe(listener: () => void): () => void {
  addEventListener("scroll", listener, { passive: true });
  return () => removeEventListener("scroll", listener);
}

function Bar({ children }: { children: ReactNode }) {
  const isSolid = useSyncExternalStore(
    subscribe,
    () => scrollY > solidFromPx,
    () => true,
  );
  return (
    <header
      className={`@container top-0 z-10 border-b transition-[background-color,border-color] duration-200 ease-out [@media(height>=30rem)_and_(width>=20rem)]:sticky ${isSolid ? "border-line bg-surface" : "border-transparent"}`}
    >
      {children}
    </header>
  );
}

const itemClass =
  "flex min-h-11 items-center rounded-label px-3 text-sm font-semibold no-underline hover:text-action " +
  "aria-[current=page]:underline aria-[current=page]:decoration-action aria-[current=page]:decoration-2";

function NavItem({ path, label }: PageLink) {
  return (
    <li key={path}>
      <NavLink to={path} end={path === "/"} viewTransition className={itemClass}>
        {label}
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

function MotionSwitch() {
  const motion = useMotion();
  return <div className="hidden size-11 moves:block">{motion && <motion.PauseButton />}</div>;
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
