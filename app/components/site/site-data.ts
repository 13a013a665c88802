import { useRouteLoaderData } from "react-router";
import type { Toast } from "~/lib/http/toast";
import type { Company } from "~/models/content.server";

/** What every page knows of the site and of the request: the loader data of the root route. */
export type SiteData = {
  company: Company;
  /** Such as https://example.com, without a slash at its end. */
  origin: string;
  quoteServices: string[];
  theme: "dark" | "light";
  /** Whether this is a lighter page: no script, no decoration. */
  lite: boolean;
  /** The flash toast that the previous page left. */
  toast: Toast | null;
  /** Whether there seems to be a session: for display only. */
  signedIn: boolean;
};

/** What the page knows of the site; undefined where the root's loader did not run, as for a request refused before it. */
export function useSiteData(): SiteData | undefined {
  return useRouteLoaderData("root");
}
