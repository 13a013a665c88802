import { RouteMark } from "./route-mark";

/** components.css shows this screen until `main`, a later sibling, has content. */
export function Splash({ tagline }: { tagline: string }) {
  return (
    <div aria-hidden className="splash">
      <RouteMark className="w-18" />
      {tagline}
    </div>
  );
}
