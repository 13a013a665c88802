import { useIsLite } from "~/components/site/art";

/** The drawing overflows its svg element up to the window's edges. The overflow does not make the page scroll. */
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
