import { Art, useIsLite } from "~/components/site/art";

/** The stations with their places on the drawing of 1200 by 420, from the port inland. */
const stations = [
  { name: "Mombasa", x: 462, y: 330, below: true },
  { name: "Nairobi", x: 606, y: 215, below: false },
  { name: "Malaba", x: 696, y: 254, below: true },
  { name: "Kampala", x: 784, y: 254, below: false },
  { name: "Kigali", x: 876, y: 230, below: false },
  { name: "Bujumbura", x: 966, y: 280, below: true },
  { name: "Juba", x: 1058, y: 295, below: true },
  { name: "Goma", x: 1146, y: 236, below: false },
];

/**
 * The route line from the quay at dusk to the lakes. Its stations are named in the drawing where there is room, and on
 * a line of their own below it on phones; read aloud, they are one list.
 */
export function HeroDrawing() {
  return (
    <>
      {!useIsLite() && <Drawing />}
      <ol
        aria-label="Stations of our line"
        className="mt-2 grid grid-cols-[repeat(4,auto)] gap-y-3 text-center text-xs font-semibold md:sr-only"
      >
        {stations.map(({ name }) => (
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
        aria-hidden="true"
        className="absolute inset-0 hidden size-full overflow-visible fill-ink text-xs font-semibold md:block"
      >
        {stations.map(({ name, x, y, below }) => (
          <text
            key={name}
            x={`${(x / 12).toFixed(1)}%`}
            y={`${(y / 4.2).toFixed(1)}%`}
            dy={below ? 26 : -15}
            textAnchor="middle"
          >
            {name}
          </text>
        ))}
      </svg>
    </div>
  );
}

/** Sea and land beyond the edges of the drawing, on screens wider than it. Ink outside an svg adds nothing to scroll. */
function Surroundings() {
  return (
    <svg viewBox="0 0 1200 420" aria-hidden="true" className="absolute inset-0 hidden w-full overflow-visible md:block">
      <use href="/art/hero.svg#around" />
    </svg>
  );
}
