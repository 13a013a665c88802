import type { MetaDescriptor } from "react-router";

type MetaMatches = readonly ({ id: string; loaderData?: unknown } | undefined)[];
type SiteMeta = { origin: string; company: { name: string } };

export function createPageMeta(
  matches: MetaMatches,
  page: { title: string; description: string; path: string; type?: "website" | "article"; noindex?: boolean },
): MetaDescriptor[] {
  const site = matches.find((match) => match?.id === "root")?.loaderData as SiteMeta | undefined;
  const url = `${site?.origin ?? ""}${page.path}`;
  return [
    { name: "description", content: page.description },
    { tagName: "link", rel: "canonical", href: url },
    { property: "og:type", content: page.type ?? "website" },
    { property: "og:title", content: page.title },
    { property: "og:description", content: page.description },
    { property: "og:url", content: url },
    { property: "og:site_name", content: site?.company.name ?? "" },
    { property: "og:image", content: `${site?.origin ?? ""}/social-card.png` },
    ...(page.noindex ? [{ name: "robots", content: "noindex" }] : []),
  ];
}
