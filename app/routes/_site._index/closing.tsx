import { Art, useIsLite } from "~/components/site/art";
import { ButtonLink } from "~/components/ui/button";
import type { Route } from "./+types/route";
import { Line, Stop } from "./stop";
import { WideArt } from "./wide-art";

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
        <div className="pointer-events-none relative -mx-4 -mb-8 md:-mt-12 lg:mx-0 lg:-mt-56">
          <Line className="top-0 h-3/4" />
          {/* Continues the drawing to the edges of a window that is wider than the page. */}
          <WideArt part="story-rail-plain.svg#around" viewBox="0 0 640 360" className="absolute hidden lg:block" />
          <Art name="story-rail-plain" className="block w-full" />
        </div>
      )}
    </>
  );
}
