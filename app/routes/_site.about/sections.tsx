import { Handshake, Sprout, TrainFront, Waypoints } from "lucide";
import { Certificates } from "~/components/site/certificates";
import { Marquee } from "~/components/site/marquee";
import { initials, Monogram } from "~/components/site/monogram";
import { Icon } from "~/components/ui/icon";
import type { Route } from "./+types/route";
import { Carousel } from "./carousel";

type AboutData = Route.ComponentProps["loaderData"];

export function Story({ about: { story } }: AboutData) {
  return (
    <section aria-labelledby="story" className="mt-10">
      <h2 id="story" className="text-xl">
        {story.title}
      </h2>
      <div className="mt-4 grid gap-x-12 gap-y-8 lg:scripted:grid-cols-[1fr_minmax(0,36rem)]">
        <div className="grid content-start gap-x-10 gap-y-4 lg:not-scripted:grid-cols-3">
          {story.paragraphs.map((paragraph) => (
            <p key={paragraph} className="max-w-xl">
              {paragraph}
            </p>
          ))}
        </div>
        <Carousel scenes={story.scenes} />
      </div>
    </section>
  );
}

export function Partners({ about, partners }: AboutData) {
  return (
    <section aria-labelledby="partners" className="mt-20">
      <h2 id="partners" className="text-xl">
        Our Trusted Partners
      </h2>
      <p className="mt-2 mb-8 max-w-prose text-pretty text-quiet">{about.partners}</p>
      <Marquee
        label="Logos of our partners"
        className="grid grid-cols-3 gap-x-4 gap-y-6 sm:grid-cols-5 lg:grid-cols-7 moves:gap-x-0"
      >
        {partners.map(({ name, monogram }) => (
          <li key={name} className="text-xs text-quiet moves:mr-6 moves:w-28">
            <Monogram shape="container" letters={monogram} className="mb-2 w-full" />
            <p>{name}</p>
          </li>
        ))}
      </Marquee>
    </section>
  );
}

/** The icons are in the same order as the highlights in content/data/about.yaml. */
const highlightIcons = [Handshake, Waypoints, TrainFront, Sprout];

export function Highlights({ about }: AboutData) {
  return (
    <div className="mt-20 grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
      {about.highlights.map(({ title, description }, index) => (
        <section key={title} className="flex gap-4 rounded-label border border-line bg-raised p-5 sm:flex-col">
          <Icon of={highlightIcons[index] ?? Waypoints} className="size-7 shrink-0 text-action" strokeWidth={1.5} />
          <div>
            <h2 className="text-lg">{title}</h2>
            <p className="mt-1 max-w-prose text-sm text-quiet">{description}</p>
          </div>
        </section>
      ))}
    </div>
  );
}

export function Leadership({ about, team }: AboutData) {
  return (
    <section aria-labelledby="leadership" className="mt-20">
      <h2 id="leadership" className="text-xl">
        Leadership Team
      </h2>
      {about.notes.leadership && <p className="mt-2 text-quiet">{about.notes.leadership}</p>}
      <ul className="mt-6 grid gap-x-8 gap-y-6 lg:grid-cols-3">
        {team.map(({ name, role, description }) => (
          <li key={name} className="flex gap-5 border-t border-line pt-6">
            <Monogram shape="pass" letters={initials(name)} className="w-18 shrink-0 self-start" />
            <div>
              <h3 className="text-lg">{name}</h3>
              <p className="text-sm font-semibold text-action">{role}</p>
              <p className="mt-2 max-w-prose text-sm text-quiet">{description}</p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function Direction({ about: { vision, mission } }: AboutData) {
  return (
    <div className="mt-20 grid gap-y-10 border-l-2 border-action md:grid-cols-2 md:border-t-2 md:border-l-0">
      {[vision, mission].map(({ title, text }) => (
        <section
          key={title}
          className="relative pl-6 before:absolute before:top-0 before:-left-[9px] before:size-4 before:rounded-full before:border-2 before:border-action before:bg-surface md:pt-8 md:pr-12 md:pl-0 md:before:-top-[9px] md:before:left-0"
        >
          <h2 className="text-sm text-quiet">{title}</h2>
          <p className="mt-2 max-w-prose text-xl text-balance">{text}</p>
        </section>
      ))}
    </div>
  );
}

export function Certifications({ about, certifications }: AboutData) {
  return (
    <section aria-labelledby="certifications" className="mt-20 mb-8">
      <h2 id="certifications" className="text-xl">
        Certifications & Memberships
      </h2>
      {about.notes.certifications && <p className="mt-2 text-quiet">{about.notes.certifications}</p>}
      <div className="mt-6">
        <Certificates of={certifications} />
      </div>
    </section>
  );
}
