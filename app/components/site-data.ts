import { useRouteLoaderData } from "react-router";
import type { Company } from "~/lib/content.server";
import type { Toast } from "~/lib/flash";

/** What every page knows of the site and of its request: the answer of the root's loader. */
export type SiteData = {
  company: Company;
  /** Such as https://example.com, without a slash at its end. */
  origin: string;
  quoteServices: string[];
  theme: "dark" | "light";
  /** Whether the page was asked for light: no script, no decoration. */
  lite: boolean;
  /** What the page before left to say. */
  toast: Toast | null;
  /** Whether there seems to be a session. It opens nothing. */
  signedIn: boolean;
};

/** What the page knows of the site; undefined where the root's loader did not run, as for a request refused before it. */
export function useSiteData(): SiteData | undefined {
  return useRouteLoaderData("root");
}
