import { Art, useIsLite } from "~/components/site/art";

const stations = ["Mombasa", "Nairobi", "Malaba", "Kampala", "Kigali", "Bujumbura", "Juba", "Goma"];

export function HeroDrawing() {
  const isLite = useIsLite();
  return (
    <>
      {!isLite && <Drawing />}
      <ol aria-label="Cities we serve" className={isLite ? "mt-6 flex flex-wrap gap-x-4 text-sm" : "sr-only"}>
        {stations.map((name) => (
          <li key={name}>{name}</li>
        ))}
      </ol>
    </>
  );
}

function Drawing() {
  return (
    <>
      <div className="pointer-events-none relative -mx-4 mt-6 md:mx-0 lg:-mt-10">
        {/* Extends the drawing to the edges of the window if the window is wider than the page. */}
        <WideArt part="hero.svg#around" viewBox="0 0 1200 420" className="absolute inset-0 hidden md:block" />
        <Art name="hero" className="relative block w-full" />
        <StationNames part="names" className="absolute inset-0 hidden size-full md:block" />
      </div>
      <div className="-mx-4 md:hidden">
        <StationNames part="phone" className="block h-36 w-full" />
      </div>
    </>
  );
}

/** A viewBox would scale the text with the drawing, so this svg element has no viewBox. */
function StationNames({ part, className }: { part: string; className: string }) {
  return (
    <svg
      width="0"
      height="0"
      aria-hidden="true"
      className={`overflow-visible fill-ink text-xs font-semibold ${className}`}
    >
      <use href={`/art/hero-stations.svg#${part}`} width="100%" height="100%" />
    </svg>
  );
}

/** The drawing extends beyond its svg element to the window's edges without causing horizontal scrolling. */
export function WideArt({ part, viewBox, className }: { part: string; viewBox: string; className: string }) {
  if (useIsLite()) return null;
  return (
    <svg
      viewBox={viewBox}
      preserveAspectRatio="xMidYMax slice"
      width="0"
      height="0"
      aria-hidden="true"
      className={`scene w-full overflow-visible ${className}`}
    >
      <use href={`/art/${part}`} />
    </svg>
  );
}
