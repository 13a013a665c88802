import { useSiteData } from "~/components/site/site-data";
import type { ArticleSummary } from "~/models/article.server";

/** A JSON-LD block is not executed, so the content security policy requires no nonce. */
function StructuredData({ facts }: { facts: Record<string, unknown> }) {
  // Without the character "<", no text can close the script element.
  const json = JSON.stringify({ "@context": "https://schema.org", ...facts }).replaceAll("<", "\\u003c");
  // In child text, React would escape the quotation marks of the JSON.
  return <script type="application/ld+json" dangerouslySetInnerHTML={{ __html: json }} />;
}

export function OrganisationData() {
  const site = useSiteData();
  if (!site) return null;
  const { company, origin } = site;
  const [headOffice] = company.offices;
  return (
    <StructuredData
      facts={{
        ...organisation(origin, company.name),
        slogan: company.taglines[0],
        foundingDate: String(company.founded),
        logo: `${origin}/icon-512.png`,
        telephone: headOffice?.phone,
        email: headOffice?.email,
        address: headOffice?.address,
        location: company.offices.map(({ name, address, phone, map }) => ({
          "@type": "Place",
          name,
          address,
          telephone: phone,
          hasMap: map,
        })),
        sameAs: company.social.map(({ url }) => url),
      }}
    />
  );
}

export function ArticleData({ article }: { article: ArticleSummary }) {
  const site = useSiteData();
  if (!site) return null;
  const publisher = organisation(site.origin, site.company.name);
  return (
    <StructuredData
      facts={{
        "@type": "Article",
        headline: article.title,
        description: article.excerpt,
        articleSection: article.category,
        datePublished: article.date,
        inLanguage: "en",
        mainEntityOfPage: `${site.origin}/resources/blog/${article.slug}`,
        image: `${site.origin}/social-card.png`,
        author: publisher,
        publisher,
      }}
    />
  );
}

function organisation(origin: string, name: string) {
  return { "@type": "Organization", "@id": `${origin}/#company`, name, url: `${origin}/` };
}
