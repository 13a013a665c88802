import { ChevronDown, Menu } from "lucide";
import { Form, Link, NavLink, useLocation } from "react-router";
import { Icon } from "~/components/ui/icon";
import { Button } from "../ui/button";
import { Bar } from "./bar";
import { Disclosure } from "./disclosure";
import { MotionSwitch } from "./motion-switch";
import { RouteMark } from "./route-mark";
import { ThemeToggle } from "./theme-toggle";

type NavigationProps = { name: string; signedIn: boolean; theme: string };

const resources = [
  { to: "/resources/faq", name: "FAQ" },
  { to: "/resources/feeds", name: "Feeds Update" },
  { to: "/resources/blog", name: "Blog" },
];

/** The way to the shipments, or to the login before it. */
export function clientLink(signedIn: boolean) {
  return signedIn ? { to: "/portal", name: "My Shipments" } : { to: "/login", name: "Client Login" };
}

/** The bar above every page. On a phone its links fold into a native disclosure. */
export function Navigation({ name, signedIn, theme }: NavigationProps) {
  const client = clientLink(signedIn);
  // A new key after each navigation closes what was open.
  const { key } = useLocation();
  return (
    <Bar>
      <div className="mx-auto flex max-w-6xl items-center px-4 py-2 @md:gap-4">
        <Link to="/" viewTransition className="flex min-h-11 min-w-11 items-center gap-3 font-semibold no-underline">
          <RouteMark className="h-7 w-9 shrink-0" />
          <span className={`leading-tight ${signedIn ? "@max-md:sr-only" : ""}`}>{name}</span>
        </Link>
        <nav aria-label="Main" className="ml-auto hidden items-center gap-1 md:flex">
          <NavItem to="/">Home</NavItem>
          <NavItem to="/services">Services</NavItem>
          <NavItem to="/about">About</NavItem>
          <Disclosure
            key={key}
            hover
            className="relative not-scripted:hover:details-content:[content-visibility:visible]"
            summaryLook={`${itemLook} gap-1`}
            summary={
              <>
                Resources
                <Icon of={ChevronDown} className="size-4" />
              </>
            }
          >
            <div className="absolute left-0 z-10 w-48 rounded-label border border-line bg-raised p-2 shadow-float">
              {resources.map((page) => (
                <NavItem key={page.to} to={page.to}>
                  {page.name}
                </NavItem>
              ))}
            </div>
          </Disclosure>
          <NavItem to={client.to}>{client.name}</NavItem>
        </nav>
        <div className="ml-auto flex items-center gap-0.5 md:ml-0 @md:gap-1">
          <MotionSwitch />
          <ThemeToggle theme={theme} />
          {signedIn && <SignOut />}
          <Disclosure
            key={key}
            className="relative md:hidden"
            summaryLook="flex size-11 items-center justify-center rounded-label border border-edge"
            summary={
              <>
                <Icon of={Menu} className="size-5" />
                <span className="sr-only">Menu</span>
              </>
            }
          >
            <nav
              aria-label="Main"
              className="absolute right-0 z-10 mt-2 w-60 rounded-label border border-line bg-raised p-2 shadow-float"
            >
              <NavItem to="/">Home</NavItem>
              <NavItem to="/services">Services</NavItem>
              <NavItem to="/about">About</NavItem>
              <p className="px-3 pt-3 text-xs text-quiet">Resources</p>
              {resources.map((page) => (
                <NavItem key={page.to} to={page.to}>
                  {page.name}
                </NavItem>
              ))}
              <div className="mt-2 border-t border-line pt-2">
                <NavItem to={client.to}>{client.name}</NavItem>
              </div>
            </nav>
          </Disclosure>
        </div>
      </div>
    </Bar>
  );
}

const itemLook =
  "flex min-h-11 items-center rounded-label px-3 text-sm font-semibold no-underline hover:text-action " +
  "aria-[current=page]:underline aria-[current=page]:decoration-action aria-[current=page]:decoration-2";

function NavItem({ to, children }: { to: string; children: string }) {
  return (
    <NavLink to={to} end={to === "/"} viewTransition className={itemLook}>
      {children}
    </NavLink>
  );
}

function SignOut() {
  return (
    <Form method="post" action="/portal/sign-out">
      <Button>Sign out</Button>
    </Form>
  );
}
