import { useRouteLoaderData } from "react-router";
import { HeroRoute } from "~/components/site/hero-route";
import { Title } from "~/components/title";
import { ButtonLink } from "~/components/ui/button";
import type { loader } from "~/root";
import type { Route } from "./+types/_site._index";

export const meta: Route.MetaFunction = () => [
  {
    name: "description",
    content: "Customs clearing, freight forwarding and logistics in East Africa since 1993, from Nairobi and Mombasa.",
  },
];

export default function HomePage() {
  const company = useRouteLoaderData<typeof loader>("root")?.company;
  return (
    <>
      <Title>Customs clearing and freight in East Africa</Title>
      <p className="text-sm font-semibold text-quiet">
        Customs clearing · Freight forwarding · Logistics, since {company?.founded}
      </p>
      <h1 className="mt-2 max-w-2xl text-2xl">{company?.taglines[0]}</h1>
      <p className="mt-4 max-w-prose text-lg text-quiet">
        We clear your cargo at Mombasa, carry it inland, and tell you at every stage who has to act and by when.
      </p>
      <div className="mt-6 flex flex-wrap gap-3">
        <ButtonLink look="action" to="/login">
          Follow your shipments
        </ButtonLink>
        <ButtonLink to="/signup">Sign up with your Client ID</ButtonLink>
      </div>
      <HeroRoute />
    </>
  );
}
