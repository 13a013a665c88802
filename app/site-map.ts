/**
 * Every page of the site once, as plain data that imports nothing. The server, the browser, the service worker and the tests
 * read it. Browsers download only the exports that their code uses: keep `publicPages` out of browser code.
 */

import {
  about,
  additionalInfo,
  blog,
  careers,
  contact,
  cookieSettings,
  faq,
  feeds,
  footerLinks,
  home,
  legal,
  login,
  mainLinks,
  privacy,
  resourceLinks,
  services,
  terms,
} from "./site-links.ts";

type PagePath = { path: string };

const cost = { path: "/resources/cost" };
const article = { path: "/resources/blog/:slug" };
const quote = { path: "/quote" };

/** Pages of which the browser may store an offline copy. */
export const offlinePages: PagePath[] = [
  ...mainLinks,
  ...resourceLinks,
  ...footerLinks.filter((page) => page !== login),
  cost,
  article,
];

/** The query parameter of every public page that opens the quote form over it. Its value has no meaning. */
export const quoteParam = "quote";

export type PublicPage = {
  page: PagePath;
  /** What has the page's title: a file in content/pages, or the articles in content/blog. By default, its route module. */
  titleSource?: "privacy" | "terms" | "legal" | "articles";
  /** Query parameters with few values in use. The server caches the page for each value. */
  cachedParams?: readonly string[];
  /** Query parameters with any value. The server renders the page for each request. */
  uncachedParams?: readonly string[];
  inSitemap: boolean;
};

/** The fields of the cost calculator: COST_FIELDS in app/models/cost.ts, which a test compares. */
const costFields = ["what", "registered", "excise", "currency", "value", "freight", "insurance", "rate", "duty"];

export const publicPages: readonly PublicPage[] = [
  { page: home, inSitemap: true },
  { page: services, cachedParams: ["service"], inSitemap: true },
  { page: about, inSitemap: true },
  { page: cost, uncachedParams: costFields, inSitemap: true },
  { page: faq, inSitemap: true },
  { page: feeds, inSitemap: true },
  { page: blog, cachedParams: ["category", "page"], inSitemap: true },
  { page: article, titleSource: "articles", inSitemap: true },
  { page: contact, uncachedParams: ["about"], inSitemap: true },
  { page: careers, inSitemap: true },
  { page: privacy, titleSource: "privacy", inSitemap: true },
  { page: terms, titleSource: "terms", inSitemap: true },
  { page: legal, titleSource: "legal", inSitemap: true },
  { page: additionalInfo, inSitemap: true },
  { page: cookieSettings, inSitemap: true },
  { page: quote, cachedParams: ["service"], uncachedParams: costFields, inSitemap: false },
];

// First path segments of the pages for one person, which the server never shares between visitors.
export const accountAreas: string[] = ["portal", "desk"];
export const authAreas: string[] = ["login", "signup"];
/** Pages with a secret in their address. */
export const secretLinkAreas: string[] = ["s", "auth", "unsubscribe"];

export const formArea = "/actions/";
