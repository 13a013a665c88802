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
    <svg
      viewBox="0 0 1200 420"
      aria-hidden="true"
      className="absolute inset-0 hidden w-full overflow-visible fill-line stroke-line md:block"
    >
      <g stroke="none">
        <path opacity=".38" d="M1 314l-80 13H1zM1199 236l11 10 38-54 12-3 90 62 80-24 90 40 300-20 900 40v60H1199z" />
        <path opacity=".5" d="M1 322H-1500v8H1z" />
        <path className="fill-sunken" d="M1 402C-120 412-260 392-420 396S-900 412-1500 400V327H1z" />
        <path d="M1199 243.500C1260 262 1290 292 1360 292S1500 262 1580 262 1800 310 2000 306 2400 270 2700 280V370C2300 330 1900 420 1560 392 1440 382 1320 362 1199 356z" />
        <path
          className="fill-edge"
          opacity=".16"
          d="M1199 243.500Q1230 252 1256 268 1240 320 1290 363 1240 358 1199 356z"
        />
      </g>
      <path
        fill="none"
        strokeWidth="1.5"
        d="M-46 341H0M-180 356h70M-90 372h60M-260 382h50M-330 346h90M1 416C-120 426-260 406-420 410S-900 426-1500 414M1199 372C1320 378 1440 398 1560 408 1900 436 2300 346 2700 386"
      />
    </svg>
  );
}
