/** Browser code must not use `publicPages`. The bundler then omits the list from the scripts. */

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

export const offlinePages: PagePath[] = [
  ...mainLinks,
  ...resourceLinks,
  ...footerLinks.filter((page) => page !== login),
  cost,
  article,
];

export const quoteParam = "quote";

export type PublicPage = {
  page: PagePath;
  titleSource?: "privacy" | "terms" | "legal" | "articles";
  /** The server caches one page for each value of these parameters, so each parameter must have few values. */
  cachedParams?: readonly string[];
  /** Parameters with arbitrary values. The server renders a page with such a parameter for each request. */
  uncachedParams?: readonly string[];
  inSitemap: boolean;
};

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

// First path segments of pages whose responses the server never shares between visitors.
export const accountAreas: string[] = ["portal", "desk"];
export const authAreas: string[] = ["login", "signup"];
export const secretLinkAreas: string[] = ["s", "auth", "unsubscribe"];

export const formArea = "/actions/";
