import { useSiteData } from "~/components/site/site-data";

const sizes = [
  { prefix: "hero", width: 1200, height: 420 },
  { prefix: "services-banner", width: 1200, height: 300 },
  { prefix: "stage-", width: 48, height: 48 },
  { prefix: "industry-", width: 64, height: 64 },
];

export function useIsLite(): boolean {
  return useSiteData()?.lite ?? false;
}

/** Unlike `<img>`, the `<use>` element lets the theme's CSS variables colour the drawing. */
export function Art({ name, label, className = "w-full" }: { name: string; label?: string; className?: string }) {
  if (useIsLite()) return null;
  const { width, height } = sizes.find(({ prefix }) => name.startsWith(prefix)) ?? { width: 640, height: 360 };
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
