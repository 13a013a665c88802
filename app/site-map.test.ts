import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { COST_FIELDS } from "./models/cost.ts";
import { footerLinks, login, mainLinks, resourceLinks } from "./site-links.ts";
import * as siteMap from "./site-map.ts";

const { publicPages, offlinePages } = siteMap;
const paths = publicPages.map(({ page }) => page.path);
const routeFiles = readdirSync(path.join(import.meta.dirname, "routes"));
const publicRoutes = routeFiles.filter((file) => file.startsWith("_site.")).map(getRoutePath);

/** Returns the URL path of the route module `file`, according to the naming rules of @react-router/fs-routes. */
function getRoutePath(file: string): string {
  const segments = file
    .replace(/\.tsx?$/, "")
    .split(".")
    .filter((segment) => !segment.startsWith("_"));
  return `/${segments.map((segment) => segment.replace(/^\$/, ":").replace(/_$/, "")).join("/")}`;
}

test("Every route module of a public page is in the site map.", () => {
  const missing = publicRoutes.filter((route) => !paths.includes(route));
  expect(missing.map((route) => `Add ${route} to app/site-map.ts.`)).toEqual([]);
});

test("Every page of the site map has a route module.", () => {
  const extra = paths.filter((one) => !publicRoutes.includes(one));
  expect(extra.map((one) => `Remove ${one} from app/site-map.ts, or add its route module.`)).toEqual([]);
});

test("The site map lists each page once.", () => {
  expect(paths).toEqual([...new Set(paths)]);
});

test("The site map contains every page that menu and footer link to, and every offline page.", () => {
  const linked = [...mainLinks, ...resourceLinks, ...footerLinks, ...offlinePages].map((page) => page.path);
  expect(linked.filter((one) => !paths.includes(one))).toEqual([login.path]);
});

test("Every content file from which the site map reads a title exists.", () => {
  const content = path.join(import.meta.dirname, "../content");
  for (const { titleSource } of publicPages.filter((page) => page.titleSource)) {
    const file = titleSource === "articles" ? "blog" : `pages/${titleSource}.mdx`;
    expect(existsSync(path.join(content, file)), file).toBe(true);
  }
});

test("The site map names every field of the cost calculator as a query parameter of its page.", () => {
  for (const one of ["/resources/cost", "/quote"])
    expect(publicPages.find(({ page }) => page.path === one)?.uncachedParams, one).toEqual(COST_FIELDS);
});

test("The site map names the first path segment of every route module as a public page or as an area.", () => {
  const areas = [...siteMap.accountAreas, ...siteMap.authAreas, ...siteMap.secretLinkAreas].map((area) => `/${area}`);
  const others = routeFiles.filter((file) => !/^_site\.|\[\.\]|^\$\.|^_auth\.tsx$/.test(file)).map(getRoutePath);
  const unknown = others.filter(
    (route) =>
      !`${route}/`.startsWith(siteMap.formArea) && !areas.includes(`/${route.split("/")[1]?.replace(/_$/, "")}`),
  );
  expect(unknown.map((route) => `Add the area of ${route} to app/site-map.ts.`)).toEqual([]);
});
