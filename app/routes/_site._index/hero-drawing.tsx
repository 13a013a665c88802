import { Art, useIsLite } from "~/components/site/art";

/** From the port inland. */
const stations = ["Mombasa", "Nairobi", "Malaba", "Kampala", "Kigali", "Bujumbura", "Juba", "Goma"];

/**
 * The route line from the quay at dusk to the lakes. Its stations are named in the drawing where there is room, and on
 * a line of their own below it on phones; read aloud, they are one list. The names in the drawing have a place in percent
 * and are as large as the page's letters.
 */
export function HeroDrawing() {
  return (
    <>
      {!useIsLite() && <Drawing />}
      <ol
        aria-label="Stations of our line"
        className="mt-2 grid grid-cols-[repeat(4,auto)] gap-y-3 text-center text-xs font-semibold md:sr-only"
      >
        {stations.map((name) => (
          <li
            key={name}
            className="relative pt-5 before:absolute before:inset-x-0 before:top-2 before:h-[3px] before:bg-action after:absolute after:top-[3px] after:left-1/2 after:-ml-[6.5px] after:size-[13px] after:rounded-full after:border-3 after:border-action after:bg-surface"
          >
            {name}
          </li>
        ))}
      </ol>
    </>
  );
}

function Drawing() {
  return (
    <div className="pointer-events-none relative -mx-4 mt-6 md:mx-0 lg:-mt-10">
      <Surroundings />
      <Art name="hero" className="relative block w-full" />
      <svg
        width="0"
        height="0"
        aria-hidden="true"
        className="absolute inset-0 hidden size-full overflow-visible fill-ink text-xs font-semibold md:block"
      >
        <use href="/art/hero.svg#names" width="100%" height="100%" />
      </svg>
    </div>
  );
}

/**
 * Sea and land beyond the edges of the drawing, on screens wider than it; nothing without CSS. Overflow of an svg does
 * not make the page scroll.
 */
function Surroundings() {
  return (
    <svg
      viewBox="0 0 1200 420"
      width="0"
      height="0"
      aria-hidden="true"
      className="absolute inset-0 hidden w-full overflow-visible md:block"
    >
      <use href="/art/hero.svg#around" />
    </svg>
  );
}
