import { useSiteData } from "~/components/site/site-data";

export function Title({ rejected = false, children }: { rejected?: boolean; children: string }) {
  const company = useSiteData()?.company.name;
  return <title>{`${rejected ? "Error: " : ""}${children}${company ? ` · ${company}` : ""}`}</title>;
}
