import {
  Anchor,
  Armchair,
  BadgeCheck,
  Boxes,
  Clock,
  Compass,
  DoorOpen,
  type IconNode,
  Package,
  PackagePlus,
  PlaneTakeoff,
  Plus,
  Ship,
  Stamp,
  Truck,
  Users,
  Warehouse,
} from "lucide";
import { AccordionItem } from "~/components/site/accordion-item";
import { Art } from "~/components/site/art";
import { DeferredSection } from "~/components/site/quote-panel";
import { Title } from "~/components/site/title";
import { ButtonLink, TextLink } from "~/components/ui/button";
import { Icon } from "~/components/ui/icon";
import { createPageMeta } from "~/lib/http/page-meta";
import { type Service, services } from "~/models/content.server";
import type { Route } from "./+types/_site.services";

export { revalidateExceptForQuote as shouldRevalidate } from "~/lib/browser/revalidate";

export function loader({ url }: Route.LoaderArgs) {
  const requested = url.searchParams.get("service");
  const open = services.services.some(({ id }) => id === requested) ? requested : "clearing";
  return { ...services, open };
}

export const meta: Route.MetaFunction = ({ matches }) =>
  createPageMeta(matches, {
    title: "Our Services",
    description:
      "Customs clearing, sea and air freight, storage, removals and inland transport in East Africa. See what we do, what we need from you and how long each service takes.",
    path: "/services",
  });

export default function ServicesPage({ loaderData: { intro, services, open } }: Route.ComponentProps) {
  return (
    <>
      <Title>Our Services</Title>
      <h1 className="text-2xl">Our Logistics Expertise</h1>
      <p className="mt-4 max-w-prose text-lg text-quiet">{intro}</p>
      <div className="mt-8 overflow-hidden rounded-label border border-line">
        <Art name="services-banner" className="-ml-[38%] w-[200%] max-w-none sm:ml-0 sm:w-full" />
      </div>
      <DeferredSection>
        <div className="mt-8 grid gap-3 md:grid-cols-2">
          {services.map((service) => (
            <ServiceCard key={service.id} service={service} open={service.id === open} />
          ))}
        </div>
        <section className="relative mt-20 mb-8 grid items-center gap-x-12 gap-y-6 border-t-2 border-action pt-10 before:absolute before:-top-[9px] before:left-0 before:size-4 before:rounded-full before:border-2 before:border-action before:bg-surface md:grid-cols-[1fr_auto]">
          <div>
            <h2 className="text-xl">Need a Custom Solution?</h2>
            <p className="mt-2 max-w-prose text-quiet">
              Write to us about the goods, the route and your shipping dates. Someone who knows the route will reply.
            </p>
          </div>
          <div className="flex flex-wrap gap-3">
            <ButtonLink to="/resources/cost">What will your import cost?</ButtonLink>{" "}
            <ButtonLink look="action" to="/contact">
              Request Consultation
            </ButtonLink>
          </div>
        </section>
      </DeferredSection>
    </>
  );
}

const icons: Record<string, IconNode> = {
  clearing: Stamp,
  "sea-air": Ship,
  "door-to-door": DoorOpen,
  consolidation: Boxes,
  storage: Warehouse,
  removals: Armchair,
  imports: PackagePlus,
  exports: PlaneTakeoff,
  "shipping-agents": Anchor,
  transporters: Truck,
  consultancy: Compass,
};

/** An open card and each card without a neighbour in its row take the full row, so that the grid has no gaps. */
const fullRowClass =
  "open:col-span-full md:odd:has-[+[open]]:col-span-full md:[:not(:has(>:nth-child(odd)[open]))>&:last-child]:col-span-full";

function ServiceCard({ service, open }: { service: Service; open: boolean }) {
  const drawing = icons[service.id] ?? Package;
  return (
    <AccordionItem
      name="service"
      open={open}
      className={`flex flex-col rounded-label border border-line bg-raised open:border-edge ${fullRowClass}`}
    >
      <summary className="grid grow grid-cols-[auto_1fr_auto] content-start gap-x-4 p-4 hover:text-action sm:p-5">
        <span className="row-span-2 flex size-11 items-center justify-center rounded-label border border-line bg-surface text-action">
          <Icon of={drawing} className="size-6" strokeWidth={1.5} />
        </span>
        <h2 className="text-lg text-pretty">{service.title}</h2>
        <Icon
          of={Plus}
          className="mt-1 size-5 text-quiet transition-transform duration-200 ease-out group-open:rotate-45"
        />
        <span className="mt-1 max-w-prose text-sm text-quiet">{service.tagline}</span>
      </summary>
      {/* Browsers open a closed card if the URL's hash is this id. */}
      <div id={service.id} className="scroll-mt-28 px-4 pt-2 pb-6 sm:px-5">
        <Details paragraphs={service.details} />
        {service.extra && <Extra {...service.extra} />}
        <TextLink to={`/quote?service=${service.id}`} className="mt-4 font-semibold">
          Ask for a quote<span className="sr-only">: {service.title}</span>
        </TextLink>
      </div>
    </AccordionItem>
  );
}

const detailTitles = ["What we do", "What we need from you", "How long it takes"];

function Details({ paragraphs }: { paragraphs: string[] }) {
  const named = paragraphs.length === detailTitles.length;
  return (
    <ol className={`grid border-l-2 border-line lg:border-t-2 lg:border-l-0 ${named ? "lg:grid-cols-3" : ""}`}>
      {paragraphs.map((paragraph, index) => (
        <li
          key={paragraph}
          className="relative pb-6 pl-5 before:absolute before:top-1.5 before:-left-[7px] before:size-3 before:rounded-full before:border-2 before:border-action before:bg-raised last:pb-0 lg:pt-5 lg:pr-8 lg:pb-0 lg:pl-0 lg:before:-top-[7px] lg:before:left-0"
        >
          {named && <h3 className="text-sm text-ink">{detailTitles[index]}</h3>}
          <p className="mt-1 max-w-lg text-sm">{paragraph}</p>
        </li>
      ))}
    </ol>
  );
}

const extraIcons = [BadgeCheck, Clock, Users];

function Extra({ title, items }: NonNullable<Service["extra"]>) {
  return (
    <section className="mt-8 rounded-label bg-sunken p-4 sm:p-5">
      <h3 className="text-base">{title}</h3>
      <dl className="mt-4 grid gap-5 md:grid-cols-3 md:gap-8">
        {items.map((item, index) => {
          const drawing = extraIcons[index] ?? BadgeCheck;
          return (
            <div key={item.title}>
              <dt className="flex items-center gap-2 font-semibold">
                <Icon of={drawing} className="size-5 shrink-0 text-done" strokeWidth={1.75} />
                {item.title}
              </dt>
              <dd className="mt-1 max-w-prose text-sm text-quiet">{item.text}</dd>
            </div>
          );
        })}
      </dl>
    </section>
  );
}
