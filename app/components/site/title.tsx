import { useSiteData } from "~/components/site/site-data";

export function Title({ refused = false, children }: { refused?: boolean; children: string }) {
  const company = useSiteData()?.company.name;
  return <title>{`${refused ? "Error: " : ""}${children}${company ? ` · ${company}` : ""}`}</title>;
}
