import {
  data,
  isRouteErrorResponse,
  Links,
  Meta,
  Outlet,
  Scripts,
  ScrollRestoration,
  useRouteLoaderData,
} from "react-router";
import type { Route } from "./+types/root";
import { Flash } from "./components/flash";
import { Footer } from "./components/site/footer";
import { Navigation } from "./components/site/navigation";
import { Title } from "./components/title";
import { ButtonLink } from "./components/ui/button";
import { theCompany } from "./lib/content.server";
import { flashMiddleware, takeFlash } from "./lib/flash.server";
import { gateMiddleware } from "./lib/gate.server";
import { hasSessionCookie } from "./lib/session.server";
import { backendMiddleware } from "./lib/supabase.server";
import { themeOf } from "./lib/theme.server";
import "./styles/app.css";

export const middleware: Route.MiddlewareFunction[] = [gateMiddleware, flashMiddleware, backendMiddleware];

export async function loader({ request, context }: Route.LoaderArgs) {
  return data({
    company: theCompany,
    theme: await themeOf(request),
    toast: takeFlash(context),
    signedIn: hasSessionCookie(request),
  });
}

/** The flash belongs to one page: every navigation asks again. */
export function shouldRevalidate() {
  return true;
}

export const links: Route.LinksFunction = () => [{ rel: "icon", href: "/favicon.svg", type: "image/svg+xml" }];

/** The document. It has to stand without data too: a request refused at the gate has none. */
export function Layout({ children }: { children: React.ReactNode }) {
  const page = useRouteLoaderData<typeof loader>("root");
  const theme = page?.theme ?? "dark";
  return (
    <html lang="en" className={theme}>
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content={theme} />
        <Meta />
        <Links />
      </head>
      <body className="flex min-h-dvh flex-col">
        <a
          href="#main"
          className="sr-only focus:not-sr-only focus:absolute focus:z-20 focus:bg-action focus:p-3 focus:text-on-action"
        >
          Skip to the content
        </a>
        <Navigation name={page?.company.short_name ?? "Home"} signedIn={page?.signedIn ?? false} theme={theme} />
        <main id="main" tabIndex={-1} className="mx-auto w-full max-w-6xl grow px-4 py-8">
          {page?.toast && <Flash toast={page.toast} />}
          {children}
        </main>
        {page && <Footer company={page.company} />}
        <ScrollRestoration />
        <Scripts />
      </body>
    </html>
  );
}

export default function App() {
  return <Outlet />;
}

const explanations: Record<number, { title: string; text: string }> = {
  403: {
    title: "This form came from somewhere else",
    text: "Open the page on this site and send the form from there.",
  },
  404: { title: "There is no page here", text: "The address may be mistyped, or the page has moved." },
  413: { title: "That is too much at once", text: "Go back and send less text or a smaller file." },
  503: { title: "Not available at the moment", text: "Nothing is lost. Try again in a minute." },
};

export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  const status = isRouteErrorResponse(error) ? error.status : 500;
  const { title, text } = explanations[status] ?? {
    title: status < 500 ? "This request cannot be answered" : "Something went wrong",
    text:
      status < 500 && isRouteErrorResponse(error)
        ? String(error.data)
        : "It is our fault, not yours. Try again in a minute.",
  };
  return (
    <>
      <Title>{title}</Title>
      <p className="text-sm font-semibold text-quiet">Error {status}</p>
      <h1 className="text-xl">{title}</h1>
      <p className="mt-2 mb-6 max-w-prose">{text}</p>
      <ButtonLink to="/">Go to the home page</ButtonLink>
    </>
  );
}
