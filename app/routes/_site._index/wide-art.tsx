import { useIsLite } from "~/components/site/art";

/**
 * A part of a drawing that goes on beyond its own edges, to those of the window: overflow of an svg does not make the
 * page scroll. Decoration that is nothing without CSS, and absent from lighter pages.
 */
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
