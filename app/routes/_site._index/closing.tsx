import { Art, useIsLite } from "~/components/site/art";
import { ButtonLink } from "~/components/ui/button";
import type { Route } from "./+types/route";
import { rail, Stop } from "./stop";

/** The last stop: write to us. Its line runs on into the railway of the drawing that ends the page. */
export function Closing({ closing }: Pick<Route.ComponentProps["loaderData"], "closing">) {
  return (
    <>
      <Stop id="next" title={closing.title}>
        <p className="max-w-prose text-lg text-quiet">{closing.text}</p>
        <ButtonLink look="action" to="/contact" className="mt-6">
          {closing.button}
        </ButtonLink>
      </Stop>
      {!useIsLite() && (
        <div
          className={`pointer-events-none relative -mx-4 -mb-8 md:-mt-12 lg:mx-0 lg:-mt-56 ${rail} before:top-0 before:h-3/4`}
        >
          <Surroundings />
          <Art name="story-rail-plain" className="block w-full" />
        </div>
      )}
    </>
  );
}

/** The plain and the train beyond the edges of the drawing, on screens wider than it. */
function Surroundings() {
  return (
    <svg
      viewBox="0 0 640 360"
      aria-hidden="true"
      className="absolute hidden w-full overflow-visible fill-line lg:block"
    >
      <path opacity=".42" d="M639 216C660 224 690 236 730 240V270H639z" />
      <path opacity=".5" d="M1 240L-70 246-900 238V270H1zM639 238l90 8 900-10v30H639z" />
      <path d="M1 262L-900 268V360H1zM639 258L1600 264V360H639z" />
      <path
        className="fill-edge"
        opacity=".15"
        d="M1 316C-120 334-240 318-900 330V360H1zM639 282C720 276 800 300 1600 290V360H639z"
      />
      <g fill="none" strokeWidth="3">
        <path className="stroke-edge" strokeWidth="20" strokeDasharray="44 4" d="M-974 253H1" />
        <path className="stroke-ink" strokeDasharray="44 4" d="M-974 265H1" />
        <path className="stroke-action" d="M-974 270H1M639 337C672 343 900 352 1600 352" />
      </g>
    </svg>
  );
}
