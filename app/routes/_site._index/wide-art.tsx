import { useIsLite } from "~/components/site/art";

/** The overflow of an svg element reaches the edges of the window without making the page scroll. */
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
