import { RouteMark } from "./route-mark";

/** components.css shows it while the page loads; `main` must follow as a sibling. */
export function Splash({ tagline }: { tagline: string }) {
  return (
    <div aria-hidden className="splash">
      <RouteMark className="w-18" />
      {tagline}
    </div>
  );
}
