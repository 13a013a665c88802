import { useEffect } from "react";
import {
  data,
  Links,
  Meta,
  Scripts,
  ScrollRestoration,
  type ShouldRevalidateFunctionArgs,
  useMatches,
} from "react-router";
import type { Route } from "./+types/root";
import { ErrorPage } from "./components/error-page";
import { Flash, Toaster } from "./components/flash";
import { Page, stayOnPage } from "./components/lost-connection";
import { Pending, usePageChange } from "./components/page-change";
import { Footer } from "./components/site/footer";
import { Navigation } from "./components/site/navigation";
import { QuotePanel, useIsBelowQuote } from "./components/site/quote-panel";
import { Splash } from "./components/site/splash";
import { Streaks } from "./components/site/streaks";
import { useChosenTheme } from "./components/site/theme-toggle";
import { type SiteData, useSiteData } from "./components/site-data";
import { quoteServices, theCompany } from "./lib/content.server";
import { env } from "./lib/env.server";
import { flashMiddleware, takeFlash } from "./lib/flash.server";
import { answerMiddleware, gateMiddleware } from "./lib/gate.server";
import { limitsMiddleware } from "./lib/limits.server";
import { isLite } from "./lib/lite.server";
import { logMiddleware } from "./lib/log.server";
import { isOnlyQuote } from "./lib/revalidate";
import { seemsSignedIn } from "./lib/session.server";
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

export async function loader({ request, context }: Route.LoaderArgs) {
  return data<SiteData>({
    company: theCompany,
    origin: env().origin,
    quoteServices,
    theme: await themeOf(request),
    lite: isLite(request),
    toast: takeFlash(context),
    signedIn: seemsSignedIn(request, context),
  });
}

/**
 * Every navigation revalidates, since a flash toast belongs to one page. The quote form opens over the same page, and a
 * refused form stays on it.
 */
export function shouldRevalidate(change: ShouldRevalidateFunctionArgs) {
  const isRefusal = change.actionStatus !== undefined && change.actionStatus >= 400;
  return !isRefusal && !isOnlyQuote(change) && change.nextUrl.pathname !== "/resources/quote";
}

// Site data from before the connection was lost, for the error page. Set in the browser only.
let known: SiteData | undefined;

/** The document. Renders without loader data too: a request refused by gateMiddleware has none. */
export function Layout({ children }: { children: React.ReactNode }) {
  const answered = useSiteData();
  useEffect(() => {
    known = answered ?? known;
  }, [answered]);
  const page = answered ?? known;
  const theme = useChosenTheme() ?? page?.theme ?? "dark";
  const isBelowQuote = useIsBelowQuote();
  usePageChange();
  const head = (
    <>
      <meta charSet="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <Meta />
      <Links />
    </>
  );
  // A page that stands alone, without the site around it and without script.
  if (useMatches().some(({ handle }) => (handle as { bare?: true } | undefined)?.bare)) {
    return (
      <html lang="en" className={theme} data-alone>
        <head>
          {head}
          <link rel="icon" href="data:," />
        </head>
        <body>
          <main id="main" className="mx-auto max-w-3xl px-4 py-6">
            {children}
          </main>
        </body>
      </html>
    );
  }
  return (
    <html lang="en" className={theme}>
      <head>
        {head}
        <link rel="alternate" href="/resources/blog/rss.xml" type="application/rss+xml" title="Blog" />
        {page?.lite ? (
          // An empty icon, or the browser would request /favicon.ico.
          <link rel="icon" href="data:," />
        ) : (
          <>
            <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
            <link rel="apple-touch-icon" href="/apple-touch-icon.png" />
            <link rel="manifest" href="/manifest.webmanifest" />
          </>
        )}
      </head>
      <body className="flex min-h-dvh flex-col">
        <div className="contents" inert={isBelowQuote}>
          {page && <Splash tagline={page.company.taglines[0] ?? ""} />}
          <a
            href="#main"
            className="sr-only focus:not-sr-only focus:absolute focus:z-20 focus:bg-action focus:p-3 focus:text-on-action"
          >
            Skip to the content
          </a>
          <Navigation
            name={page?.company.short_name ?? "Home"}
            chatPhone={page?.company.chat_phone}
            signedIn={page?.signedIn ?? false}
            theme={theme}
          />
          <main id="main" tabIndex={-1} className="mx-auto w-full max-w-6xl grow px-4 py-8">
            {page?.toast && <Flash toast={page.toast} />}
            {children}
          </main>
          {page && <Footer company={page.company} lite={page.lite} signedIn={page.signedIn} />}
        </div>
        {page && <QuotePanel services={page.quoteServices} />}
        {!page?.lite && (
          <>
            <Pending />
            <Toaster />
            <Streaks />
            <ScrollRestoration />
            <Scripts />
          </>
        )}
      </body>
    </html>
  );
}

export const clientMiddleware: Route.ClientMiddlewareFunction[] = [stayOnPage];

export default Page;

export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  return <ErrorPage error={error} />;
}
