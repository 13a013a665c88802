import { RouteMark } from "./route-mark";

/** Covers the screen while the page is loading; parts.css says when. `main` has to follow as its sibling. */
export function Splash({ tagline }: { tagline: string }) {
  return (
    <div aria-hidden className="splash">
      <RouteMark className="w-18" />
      {tagline}
    </div>
  );
}
