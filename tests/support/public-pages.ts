import * as siteMap from "../../app/site-map.ts";

/** The paths of the site map's pages, but of only one article. The last path has no page and returns status 404. */
export const publicPages: readonly string[] = [
  ...siteMap.publicPages
    .filter(({ inSitemap }) => inSitemap)
    .map(({ page }) => page.path.replace(":slug", "importing-a-car-to-kenya")),
  "/no-such-page",
];

/** The paths of public pages that redirect signed-in clients. */
export const authPages: readonly string[] = siteMap.authAreas.map((area) => `/${area}`);
