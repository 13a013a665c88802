import { Marquee } from "~/components/site/marquee";
import type { Route } from "./+types/route";
import { Stop } from "./stop";

type TestimonialsProps = Pick<Route.ComponentProps["loaderData"], "testimonials" | "notes">;

export function Testimonials({ testimonials, notes }: TestimonialsProps) {
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
