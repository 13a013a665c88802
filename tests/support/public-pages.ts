import * as siteMap from "../../app/site-map.ts";

/** The pages of the sitemap, with one article for all articles. The last path has no page and gets status 404. */
export const publicPages: readonly string[] = [
  ...siteMap.publicPages
    .filter(({ inSitemap }) => inSitemap)
    .map(({ page }) => page.path.replace(":slug", "importing-a-car-to-kenya")),
  "/no-such-page",
];

/** Public pages that redirect signed-in clients. */
export const authPages: readonly string[] = siteMap.authAreas.map((area) => `/${area}`);
