import { Check } from "lucide";
import { Art, useIsLite } from "~/components/site/art";
import { Certificates } from "~/components/site/certificates";
import { Marquee } from "~/components/site/marquee";
import { ButtonLink } from "~/components/ui/button";
import { Icon } from "~/components/ui/icon";
import type { Route } from "./+types/route";
import { WideArt } from "./hero-drawing";
import { Line, Stop } from "./stop";

export type HomeData = Route.ComponentProps["loaderData"];

export function WhyChooseUs({ why_choose_us, why_statement }: HomeData) {
  return (
    <Stop
      id="why"
      title="Why choose us"
      intro={<p className="mt-6 text-2xl font-semibold tracking-tight text-balance text-ink">{why_statement}</p>}
      className="lg:grid lg:grid-cols-[2fr_3fr] lg:gap-16"
    >
      <ul className="grid gap-x-8 gap-y-5 sm:grid-cols-2">
        {why_choose_us.map(({ title, text }) => (
          <li key={title} className="border-t border-edge pt-3">
            <h3 className="text-base">{title}</h3>
            <p className="mt-1 text-sm text-quiet">{text}</p>
          </li>
        ))}
      </ul>
    </Stop>
  );
}

export function Clearance({ clearance_services }: HomeData) {
  return (
    <Stop
      id="clearance"
      title="Customs clearance services"
      intro="We handle every step, from classifying your goods to returning the empty container."
    >
      <WideArt part="border-post.svg#scene" viewBox="0 0 1200 300" className="block h-40 lg:-mt-8 lg:h-80" />
      <div className="relative -mt-6 grid gap-px rounded-label border border-edge bg-line lg:-mt-10 lg:grid-cols-3">
        {clearance_services.map(({ title, items }) => (
          <div key={title} className="bg-raised p-5">
            <h3 className="border-b border-line pb-3 text-base">{title}</h3>
            <ul className="mt-4 grid gap-3">
              {items.map((item) => (
                <li key={item} className="flex gap-3 text-sm">
                  <Icon of={Check} className="mt-0.5 size-4 shrink-0 text-done" />
                  {item}
                </li>
              ))}
            </ul>
          </div>
        ))}
      </div>
    </Stop>
  );
}

export function Certifications({ certifications, notes }: HomeData) {
  return (
    <Stop id="certifications" title="Certifications and accreditations" intro={notes.certifications}>
      <Certificates of={certifications} className="lg:grid-cols-3" />
    </Stop>
  );
}

export function Testimonials({ testimonials, notes }: HomeData) {
  return (
    <Stop id="testimonials" title="What clients say" intro={notes.testimonials} sunken>
      <Marquee label="Testimonials" className="grid gap-8 lg:grid-cols-3 moves:gap-0">
        {testimonials.map(({ name, company, rating, text }) => (
          <li key={name} className="moves:mr-12 moves:w-[min(27rem,75vw)]">
            <figure className="flex h-full flex-col">
              <Rating value={rating} />
              <blockquote className="mt-4 grow sm:text-lg">
                <p>{text}</p>
              </blockquote>
              <figcaption className="mt-4 text-sm">
                <p className="font-semibold">{name}</p>
                <p className="text-quiet">{company}</p>
              </figcaption>
            </figure>
          </li>
        ))}
      </Marquee>
    </Stop>
  );
}

function Rating({ value }: { value: number }) {
  return (
    <p className="flex items-center gap-3 text-sm font-semibold text-done">
      <svg viewBox="0 0 92 12" width="92" height="12" aria-hidden="true" className="w-23 fill-current">
        <path d="M6 5h80v2H6z" />
        {Array.from({ length: value }, (_, index) => (
          <circle key={index} cx={6 + index * 20} cy="6" r="5" />
        ))}
      </svg>
      <span>
        <span className="sr-only">Rated </span>
        {value} out of 5
      </span>
    </p>
  );
}

export function Closing({ closing }: HomeData) {
  return (
    <>
      <Stop id="next" title={closing.title}>
        <p className="max-w-prose text-lg text-quiet">{closing.text}</p>
        <ButtonLink look="action" to="/contact" className="mt-6">
          {closing.button}
        </ButtonLink>
      </Stop>
      {!useIsLite() && (
        <div className="pointer-events-none relative -mx-4 -mb-8 md:-mt-12 lg:mx-0 lg:-mt-56">
          <Line className="top-0 h-3/4" />
          {/* Extends the drawing to the edges of the window if the window is wider than the page. */}
          <WideArt part="story-rail-plain.svg#around" viewBox="0 0 640 360" className="absolute hidden lg:block" />
          <Art name="story-rail-plain" className="block w-full" />
        </div>
      )}
    </>
  );
}
