import { useSiteData } from "~/components/site/site-data";

/** Width and height of the drawings in public/art, by the beginning of their name. */
const sizes = [
  { begins: "hero", width: 1200, height: 420 },
  { begins: "services-banner", width: 1200, height: 300 },
  { begins: "stage-", width: 48, height: 48 },
  { begins: "industry-", width: 64, height: 64 },
];

/** Whether this is a lighter page: no script, no decoration. */
export function useIsLite(): boolean {
  return useSiteData()?.lite ?? false;
}

/**
 * A drawing of public/art in the colours of the theme. It is fetched as a file of its own, so that a page's HTML stays
 * small; the custom properties of the page reach into it. Without a label it is decoration. Lighter pages have none.
 */
export function Art({ name, label, className = "w-full" }: { name: string; label?: string; className?: string }) {
  if (useIsLite()) return null;
  const { width, height } = sizes.find(({ begins }) => name.startsWith(begins)) ?? { width: 640, height: 360 };
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      className={/^(hero|story|services)/.test(name) ? `scene ${className}` : className}
      role={label ? "img" : undefined}
      aria-label={label}
      aria-hidden={label ? undefined : true}
    >
      <use href={`/art/${name}.svg#art`} width={width} height={height} />
    </svg>
  );
}
