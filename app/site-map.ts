/** Browser code must not use `publicPages`, so that the bundler can omit this list from the scripts. */

import * as links from "./site-links.ts";

type PagePath = { path: string };

const cost = { path: "/resources/cost" };
const article = { path: "/resources/blog/:slug" };
const quote = { path: "/quote" };

export const offlinePages: PagePath[] = [
  ...links.mainLinks,
  ...links.resourceLinks,
  ...links.footerLinks.filter((page) => page !== links.login),
  cost,
  article,
];

export const quoteParam = "quote";

export type PublicPage = {
  page: PagePath;
  titleSource?: "privacy" | "terms" | "legal" | "articles";
  /** The server caches one page for each value of these parameters, so each parameter must have few values. */
  cachedParams?: readonly string[];
  /** Parameters that accept any value. The server does not cache pages with these parameters. */
  uncachedParams?: readonly string[];
  inSitemap: boolean;
};

const costFields = ["what", "registered", "excise", "currency", "value", "freight", "insurance", "rate", "duty"];

export const publicPages: readonly PublicPage[] = [
  { page: links.home, inSitemap: true },
  { page: links.services, cachedParams: ["service"], inSitemap: true },
  { page: links.about, inSitemap: true },
  { page: cost, uncachedParams: costFields, inSitemap: true },
  { page: links.faq, inSitemap: true },
  { page: links.feeds, inSitemap: true },
  { page: links.blog, cachedParams: ["category", "page"], inSitemap: true },
  { page: article, titleSource: "articles", inSitemap: true },
  { page: links.contact, uncachedParams: ["about"], inSitemap: true },
  { page: links.careers, inSitemap: true },
  { page: links.privacy, titleSource: "privacy", inSitemap: true },
  { page: links.terms, titleSource: "terms", inSitemap: true },
  { page: links.legal, titleSource: "legal", inSitemap: true },
  { page: links.additionalInfo, inSitemap: true },
  { page: links.cookieSettings, inSitemap: true },
  { page: quote, cachedParams: ["service"], uncachedParams: costFields, inSitemap: false },
];

// The page cache never stores a page whose path starts with one of these segments.
export const accountAreas: string[] = ["portal", "desk"];
export const authAreas: string[] = ["login", "signup"];
export const secretLinkAreas: string[] = ["s", "auth", "unsubscribe"];

export const formArea = "/actions/";
