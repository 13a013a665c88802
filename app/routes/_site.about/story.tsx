import { Art } from "~/components/site/art";
import type { about } from "~/lib/content.server";

/** Drawings in public/art whose names turn the words of the scene's id round. */
const drawings: Record<string, string> = { "night-yard": "yard-night", "escarpment-truck": "truck-escarpment" };

/**
 * Paragraphs, and five scenes as stations of the route line from the quay inland. On a phone the scenes are a row to
 * swipe, on a wide screen they are all in view.
 */
export function Story({ title, paragraphs, scenes }: (typeof about)["story"]) {
  return (
    <section aria-labelledby="story" className="mt-10">
      <h2 id="story" className="text-xl">
        {title}
      </h2>
      <div className="mt-4 grid gap-x-10 gap-y-4 lg:grid-cols-3">
        {paragraphs.map((paragraph) => (
          <p key={paragraph} className="max-w-xl">
            {paragraph}
          </p>
        ))}
      </div>
      <ol className="mt-8 flex snap-x snap-mandatory overflow-x-auto gap-x-4 md:grid md:grid-cols-6 md:gap-y-8 md:overflow-x-clip">
        {scenes.map((scene) => (
          <li key={scene.id} className="w-[85%] shrink-0 snap-start md:col-span-2 md:w-auto md:nth-[-n+2]:col-span-3">
            <figure>
              <Art
                name={`story-${drawings[scene.id] ?? scene.id}`}
                label={scene.alt}
                className="w-full rounded-label border border-line"
              />
              <figcaption className="relative -mr-4 mt-5 border-t-2 border-line pt-3 pr-8 text-sm text-quiet before:absolute before:-top-[7px] before:left-0 before:size-3 before:rounded-full before:border-2 before:border-action before:bg-surface">
                {scene.caption}
              </figcaption>
            </figure>
          </li>
        ))}
      </ol>
    </section>
  );
}
