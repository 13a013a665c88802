import { data, Links, Meta, Outlet, Scripts, ScrollRestoration, useRouteLoaderData } from "react-router";
import type { Route } from "./+types/root";
import { ErrorPage } from "./components/error-page";
import { Flash } from "./components/flash";
import { Chat } from "./components/site/chat";
import { Footer } from "./components/site/footer";
import { Navigation } from "./components/site/navigation";
import { QuotePanel } from "./components/site/quote-panel";
import { quoteServices, theCompany } from "./lib/content.server";
import { env } from "./lib/env.server";
import { flashMiddleware, takeFlash } from "./lib/flash.server";
import { answerMiddleware, gateMiddleware } from "./lib/gate.server";
import { limitsMiddleware } from "./lib/limits.server";
import { logMiddleware } from "./lib/log.server";
import { hasSessionCookie } from "./lib/session.server";
import { backendMiddleware } from "./lib/supabase.server";
import { themeOf } from "./lib/theme.server";
import "./styles/app.css";

export const middleware: Route.MiddlewareFunction[] = [
  logMiddleware,
  answerMiddleware,
  gateMiddleware,
  limitsMiddleware,
  flashMiddleware,
  backendMiddleware,
];

export async function loader({ request, context, url }: Route.LoaderArgs) {
  return data({
    company: theCompany,
    origin: env().origin,
    quoteServices: url.searchParams.has("quote") ? quoteServices : null,
    theme: await themeOf(request),
    toast: takeFlash(context),
    signedIn: hasSessionCookie(request),
  });
}

/** The flash belongs to one page: every navigation asks again. */
export function shouldRevalidate() {
  return true;
}

export const links: Route.LinksFunction = () => [
  { rel: "icon", href: "/favicon.svg", type: "image/svg+xml" },
  { rel: "apple-touch-icon", href: "/apple-touch-icon.png" },
  { rel: "manifest", href: "/manifest.webmanifest" },
  { rel: "alternate", href: "/resources/blog/rss.xml", type: "application/rss+xml", title: "Blog" },
];

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
        {page && <Chat phone={page.company.chat_phone} />}
        {page?.quoteServices && <QuotePanel services={page.quoteServices} />}
        <ScrollRestoration />
        <Scripts />
      </body>
    </html>
  );
}

export default function App() {
  return <Outlet />;
}

export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  return <ErrorPage error={error} />;
}
