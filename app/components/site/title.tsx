import { useSiteData } from "~/components/site/site-data";

/** The page's title, with the company's name; "Error: " before it when the form on the page was refused. */
export function Title({ refused = false, children }: { refused?: boolean; children: string }) {
  const company = useSiteData()?.company.name;
  return <title>{`${refused ? "Error: " : ""}${children}${company ? ` · ${company}` : ""}`}</title>;
}
