import { RouteMark } from "./route-mark";

/** What stands on the screen while the page is still on its way; app.css says when. `main` has to follow as its sibling. */
export function Splash({ tagline }: { tagline: string }) {
  return (
    <div aria-hidden className="splash">
      <RouteMark className="w-18" />
      {tagline}
    </div>
  );
}
