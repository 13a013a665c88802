import { Menu, Moon, Sun } from "lucide-react";
import { Form, Link, NavLink, useLocation } from "react-router";
import { Button } from "../ui/button";
import { RouteMark } from "./route-mark";

type NavigationProps = { name: string; signedIn: boolean; theme: string };

/** The bar above every page. On a phone its links fold into a native disclosure. */
export function Navigation({ name, signedIn, theme }: NavigationProps) {
  const links = (
    <>
      <NavItem to="/">Home</NavItem>
      <NavItem to={signedIn ? "/portal" : "/login"}>{signedIn ? "My Shipments" : "Client Login"}</NavItem>
    </>
  );
  return (
    <header className="border-b border-line bg-surface">
      <div className="mx-auto flex max-w-6xl items-center gap-4 px-4 py-2">
        <Link to="/" className="flex min-h-11 items-center gap-3 font-semibold no-underline">
          <RouteMark className="h-7 w-9 shrink-0" />
          <span className="leading-tight">{name}</span>
        </Link>
        <nav aria-label="Main" className="ml-auto hidden items-center gap-1 sm:flex">
          {links}
        </nav>
        <div className="ml-auto flex items-center gap-1 sm:ml-0">
          <ThemeToggle theme={theme} />
          {signedIn && <SignOut />}
          <details className="group relative sm:hidden">
            <summary className="flex size-11 items-center justify-center rounded-label border border-edge">
              <Menu aria-hidden className="size-5" />
              <span className="sr-only">Menu</span>
            </summary>
            <nav
              aria-label="Main"
              className="absolute right-0 z-10 mt-2 w-52 rounded-label border border-line bg-raised p-2 shadow-float"
            >
              {links}
            </nav>
          </details>
        </div>
      </div>
    </header>
  );
}

function NavItem({ to, children }: { to: string; children: string }) {
  return (
    <NavLink
      to={to}
      end={to === "/"}
      className="flex min-h-11 items-center rounded-label px-3 text-sm font-semibold no-underline hover:text-action aria-[current=page]:underline aria-[current=page]:decoration-action aria-[current=page]:decoration-2"
    >
      {children}
    </NavLink>
  );
}

function ThemeToggle({ theme }: { theme: string }) {
  const { pathname, search } = useLocation();
  const other = theme === "dark" ? "light" : "dark";
  const Mark = theme === "dark" ? Sun : Moon;
  return (
    <Form method="post" action="/resources/theme" preventScrollReset>
      <input type="hidden" name="theme" value={other} />
      <input type="hidden" name="to" value={pathname + search} />
      <Button look="icon">
        <Mark aria-hidden className="size-5" />
        <span className="sr-only">Use the {other} theme</span>
      </Button>
    </Form>
  );
}

function SignOut() {
  return (
    <Form method="post" action="/portal/sign-out">
      <Button>Sign out</Button>
    </Form>
  );
}
