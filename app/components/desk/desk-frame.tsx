import { ChevronDown, Menu, Search, User } from "lucide";
import { type ReactNode, useEffect, useRef } from "react";
import { Form, Link, NavLink, useLocation } from "react-router";
import { Disclosure } from "~/components/site/disclosure";
import { RouteMark } from "~/components/site/route-mark";
import { useSiteData } from "~/components/site/site-data";
import { ThemeForm, useShownTheme } from "~/components/site/theme-toggle";
import { Icon } from "~/components/ui/icon";
import { PageToast } from "~/components/ui/toast";
import { isTyping, useRowKeys } from "./row-keys";

type DeskFrameProps = { name: string; role: string; children: ReactNode };

const pages: [path: string, label: string, onlyLeads?: true][] = [
  ["/desk", "Today"],
  ["/desk/shipments", "Shipments"],
  ["/desk/clients", "Clients"],
  ["/desk/invitations", "Invitations"],
  ["/desk/team", "Team", true],
  ["/desk/log", "Activity log"],
  ["/desk/report", "Report"],
];

/** The desk's own bar and main element, instead of the public header and footer. */
export function DeskFrame({ name, role, children }: DeskFrameProps) {
  const site = useSiteData();
  useRowKeys();
  return (
    <>
      <header className="desk-bar">
        <Link to="/desk" className="desk-logo">
          <RouteMark className="h-7 w-9" />
          <span className="sr-only">{site?.company.short_name} desk</span>
        </Link>
        <Disclosure
          className="desk-menu-button"
          summaryClass="desk-button"
          summary={
            <>
              <Icon of={Menu} className="size-5" />
              <span className="sr-only">Menu</span>
            </>
          }
        >
          <nav aria-label="Desk" className="desk-menu desk-pages">
            <ul>
              {pages
                .filter(([, , onlyLeads]) => !onlyLeads || role === "lead")
                .map(([path, label]) => (
                  <li key={path}>
                    <NavLink to={path} end={path === "/desk"}>
                      {label}
                    </NavLink>
                  </li>
                ))}
            </ul>
          </nav>
        </Disclosure>
        <DeskSearch />
        <div className="relative">
          <Disclosure
            summaryClass="desk-button"
            summary={
              <>
                <Icon of={User} className="size-5" />
                <span className="truncate max-lg:sr-only">{name}</span>
                <Icon of={ChevronDown} className="size-4 max-lg:hidden" />
              </>
            }
          >
            <PersonMenu name={name} role={role} />
          </Disclosure>
        </div>
      </header>
      <main id="main" tabIndex={-1} className="mx-auto w-full max-w-[100rem] grow px-4 py-3">
        {site?.toast && <PageToast toast={site.toast} />}
        {children}
      </main>
    </>
  );
}

/** The key "/" moves the focus to this field. */
function DeskSearch() {
  const ref = useRef<HTMLInputElement>(null);
  const { pathname, search } = useLocation();
  useEffect(() => {
    const focusSearch = (event: KeyboardEvent) => {
      if (event.key !== "/" || isTyping(event)) return;
      event.preventDefault();
      ref.current?.select();
    };
    addEventListener("keydown", focusSearch);
    return () => removeEventListener("keydown", focusSearch);
  }, []);
  const searched = pathname === "/desk/shipments" ? (new URLSearchParams(search).get("q") ?? "") : "";
  return (
    <Form role="search" action="/desk/shipments" className="desk-search">
      <input
        key={searched}
        ref={ref}
        name="q"
        type="search"
        defaultValue={searched}
        aria-label="Search shipments and clients"
        aria-keyshortcuts="/"
        placeholder="Search  /"
        autoComplete="off"
        spellCheck={false}
      />
      <button type="submit" className="desk-button">
        <Icon of={Search} className="size-5" />
        <span className="sr-only">Search</span>
      </button>
    </Form>
  );
}

function PersonMenu({ name, role }: Pick<DeskFrameProps, "name" | "role">) {
  const theme = useShownTheme();
  return (
    <div className="desk-menu right-0">
      <p className="px-3 py-2 text-sm wrap-anywhere text-quiet">
        {name}, {role}
      </p>
      <ul>
        <li>
          <NavLink to="/desk/2fa">Manage 2FA</NavLink>
        </li>
        <li>
          <ThemeForm theme={theme}>
            <button type="submit">Use the {theme === "dark" ? "light" : "dark"} theme</button>
          </ThemeForm>
        </li>
        <li>
          <Link to="/">Public site</Link>
        </li>
        <li>
          <Form method="post" action="/portal/sign-out">
            <button type="submit" name="sign-out">
              Sign out
            </button>
          </Form>
        </li>
      </ul>
    </div>
  );
}
