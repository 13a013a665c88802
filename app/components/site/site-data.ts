import { useRouteLoaderData } from "react-router";
import type { Toast } from "~/lib/http/toast";
import type { Company } from "~/models/content.server";

export type SiteData = {
  company: Company;
  origin: string;
  quoteServices: string[];
  theme: "dark" | "light";
  lite: boolean;
  toast: Toast | null;
  /** `signedIn` is only for display, because the session is not verified. */
  signedIn: boolean | "staff";
};

/** Returns undefined if middleware rejected the request before the root loader ran. */
export function useSiteData(): SiteData | undefined {
  return useRouteLoaderData("root");
}
