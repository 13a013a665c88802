import { ChevronDown, Menu } from "lucide-react";
import { Form, Link, NavLink, useLocation } from "react-router";
import { Button } from "../ui/button";
import { RouteMark } from "./route-mark";
import { ThemeToggle } from "./theme-toggle";

type NavigationProps = { name: string; signedIn: boolean; theme: string };

const resources = [
  { to: "/resources/faq", name: "FAQ" },
  { to: "/resources/feeds", name: "Feeds Update" },
  { to: "/resources/blog", name: "Blog" },
];

/** The bar above every page. On a phone its links fold into a native disclosure. */
export function Navigation({ name, signedIn, theme }: NavigationProps) {
  const client = signedIn ? { to: "/portal", name: "My Shipments" } : { to: "/login", name: "Client Login" };
  // A new key after each navigation closes what was open.
  const { key } = useLocation();
  return (
    <header className="border-b border-line bg-surface">
      <div className="mx-auto flex max-w-6xl items-center gap-4 px-4 py-2">
        <Link to="/" viewTransition className="flex min-h-11 items-center gap-3 font-semibold no-underline">
          <RouteMark className="h-7 w-9 shrink-0" />
          <span className="leading-tight">{name}</span>
        </Link>
        <nav aria-label="Main" className="ml-auto hidden items-center gap-1 md:flex">
          <NavItem to="/">Home</NavItem>
          <NavItem to="/services">Services</NavItem>
          <NavItem to="/about">About</NavItem>
          <details key={key} className="relative hover:details-content:[content-visibility:visible]">
            <summary className={`${itemLook} gap-1`}>
              Resources
              <ChevronDown aria-hidden className="size-4" />
            </summary>
            <div className="absolute left-0 z-10 w-48 rounded-label border border-line bg-raised p-2 shadow-float">
              {resources.map((page) => (
                <NavItem key={page.to} to={page.to}>
                  {page.name}
                </NavItem>
              ))}
            </div>
          </details>
          <NavItem to={client.to}>{client.name}</NavItem>
        </nav>
        <div className="ml-auto flex items-center gap-1 md:ml-0">
          <ThemeToggle theme={theme} />
          {signedIn && <SignOut />}
          <details key={key} className="relative md:hidden">
            <summary className="flex size-11 items-center justify-center rounded-label border border-edge">
              <Menu aria-hidden className="size-5" />
              <span className="sr-only">Menu</span>
            </summary>
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
          </details>
        </div>
      </div>
    </header>
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
