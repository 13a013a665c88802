import { useCallback, useRef, useState } from "react";
import { useMotion } from "~/components/motion";
import { Art } from "~/components/site/art";
import type { about } from "~/models/content.server";

const drawings: Record<string, string> = { "night-yard": "yard-night", "escarpment-truck": "truck-escarpment" };

/**
 * Follows the carousel pattern of the ARIA Authoring Practices Guide. Without JavaScript, the carousel is a scrollable
 * row.
 */
export function Carousel({ scenes }: { scenes: (typeof about)["story"]["scenes"] }) {
  const carousel = useRef<HTMLDivElement>(null);
  const row = useRef<HTMLOListElement>(null);
  const motion = useMotion();
  const [{ index, isPlaying }, setState] = useState({ index: 0, isPlaying: false });
  const handleChange = useCallback((index: number, isPlaying: boolean) => setState({ index, isPlaying }), []);
  return (
    <div
      ref={carousel}
      {...(motion && { role: "region", "aria-roledescription": "carousel", "aria-label": "Scenes from our story" })}
    >
      <ol
        ref={row}
        aria-live={motion ? (isPlaying ? "off" : "polite") : undefined}
        // Keyboard users must be able to focus and scroll the row.
        tabIndex={motion ? 0 : undefined}
        className="carousel scripted:[scrollbar-width:none] flex snap-x snap-mandatory overflow-x-auto scroll-smooth gap-x-4 md:not-scripted:grid md:not-scripted:grid-cols-6 md:not-scripted:gap-y-8 md:not-scripted:overflow-x-clip"
      >
        {scenes.map((scene, position) => (
          <li
            key={scene.id}
            aria-hidden={(motion && position !== index) || undefined}
            className="w-[85%] shrink-0 snap-start snap-always scripted:w-full md:not-scripted:col-span-2 md:not-scripted:w-auto md:not-scripted:nth-[-n+2]:col-span-3"
          >
            <div {...(motion && getSlideProps(position, scenes.length))}>
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
            </div>
          </li>
        ))}
      </ol>
      <div className="-mx-3 mt-3 hidden min-h-11 items-center justify-between scripted:flex">
        {motion && (
          <motion.CarouselControls
            carousel={carousel}
            list={row}
            itemName="scene"
            count={scenes.length}
            onChange={handleChange}
          />
        )}
      </div>
    </div>
  );
}

const getSlideProps = (position: number, count: number) => ({
  role: "group",
  "aria-roledescription": "slide",
  "aria-label": `${position + 1} of ${count}`,
});
