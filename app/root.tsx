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
import { useMotion } from "./components/motion";
import { connectionLostMiddleware, RootOutlet } from "./components/offline/connection-lost";
import { ErrorPage } from "./components/site/error-page";
import { Footer } from "./components/site/footer";
import { Navigation, useIsAtDesk } from "./components/site/navigation";
import { QuotePanel, useIsBelowQuote } from "./components/site/quote-panel";
import { Splash } from "./components/site/route-mark";
import { type SiteData, useSiteData } from "./components/site/site-data";
import { useChosenTheme } from "./components/site/theme-toggle";
import { NavigationProgress, useNavigationFocus } from "./components/ui/page-navigation";
import { PageToast, Toaster } from "./components/ui/toast";
import { getSignedInState } from "./lib/auth/viewer.server";
import { isQuotePanelChange } from "./lib/browser/revalidate";
import { env } from "./lib/http/env.server";
import { isLite } from "./lib/http/lite.server";
import { logMiddleware } from "./lib/http/log.server";
import { rateLimitMiddleware } from "./lib/http/rate-limiter.server";
import { requestGuardMiddleware, responseHeadersMiddleware } from "./lib/http/request-guard.server";
import { readTheme } from "./lib/http/theme.server";
import { takeToast, toastCookieMiddleware } from "./lib/http/toast.server";
import { supabaseMiddleware } from "./lib/supabase/client.server";
import { companyDetails, quoteServices } from "./models/content.server";
import "./styles/app.css";

export const middleware: Route.MiddlewareFunction[] = [
  logMiddleware,
  responseHeadersMiddleware,
  requestGuardMiddleware,
  rateLimitMiddleware,
  toastCookieMiddleware,
  supabaseMiddleware,
];

export async function loader({ request, context }: Route.LoaderArgs) {
  return data<SiteData>({
    company: companyDetails,
    origin: env().origin,
    quoteServices,
    theme: await readTheme(request),
    lite: isLite(request),
    toast: takeToast(context),
    signedIn: getSignedInState(request, context),
  });
}

/** Navigations reload the root's loader data, because these data contain the toast of the next page. */
export function shouldRevalidate(change: ShouldRevalidateFunctionArgs) {
  const isRejected = change.actionStatus !== undefined && change.actionStatus >= 400;
  return !isRejected && !isQuotePanelChange(change) && change.nextUrl.pathname !== "/actions/quote";
}

// After a lost connection, the error page uses the site data of the previous page. Only browsers set this variable.
let lastSiteData: SiteData | undefined;

/** Site data is missing if middleware rejected the request. */
export function Layout({ children }: { children: React.ReactNode }) {
  const siteData = useSiteData();
  useEffect(() => {
    lastSiteData = siteData ?? lastSiteData;
  }, [siteData]);
  const site = siteData ?? lastSiteData;
  const theme = useChosenTheme() ?? site?.theme ?? "dark";
  const isBelowQuote = useIsBelowQuote();
  const atDesk = useIsAtDesk();
  useNavigationFocus();
  const head = (
    <>
      <meta charSet="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      {/* iPhones would turn air waybill numbers into telephone links. */}
      <meta name="format-detection" content="telephone=no" />
      <Meta />
      <Links />
    </>
  );
  if (useMatches().some(({ handle }) => (handle as { bare?: true } | undefined)?.bare)) {
    return (
      <html lang="en" className={theme} data-standalone>
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
        {site?.lite ? (
          // Without this icon, the browser would request /favicon.ico.
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
          {site && !atDesk && <Splash tagline={site.company.taglines[0] ?? ""} />}
          <a
            href="#main"
            className="sr-only focus:not-sr-only focus:absolute focus:z-20 focus:bg-action focus:p-3 focus:text-on-action"
          >
            Skip to the content
          </a>
          {atDesk ? (
            children
          ) : (
            <>
              <Navigation
                name={site?.company.short_name ?? "Home"}
                chatPhone={site?.company.chat_phone}
                signedIn={site?.signedIn ?? false}
                theme={theme}
              />
              <main id="main" tabIndex={-1} className="mx-auto w-full max-w-6xl grow px-4 py-8">
                {site?.toast && <PageToast toast={site.toast} />}
                {children}
              </main>
              {site && <Footer company={site.company} lite={site.lite} signedIn={site.signedIn} />}
            </>
          )}
        </div>
        {site && !atDesk && <QuotePanel services={site.quoteServices} />}
        {!site?.lite && (
          <>
            <NavigationProgress />
            <Toaster />
            {!atDesk && <Streaks />}
            <ScrollRestoration />
            <Scripts />
          </>
        )}
      </body>
    </html>
  );
}

function Streaks() {
  const motion = useMotion();
  return motion && <motion.MovingStreaks />;
}

export const clientMiddleware: Route.ClientMiddlewareFunction[] = [connectionLostMiddleware];

export default RootOutlet;

export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  return <ErrorPage error={error} />;
}
