import { Handshake, Sprout, TrainFront, Waypoints } from "lucide";
import { Icon } from "~/components/ui/icon";
import type { about } from "~/models/content.server";

/** The icons have the order of the highlights in content/data/about.yaml. */
const icons = [Handshake, Waypoints, TrainFront, Sprout];

export function Highlights({ highlights }: { highlights: (typeof about)["highlights"] }) {
  return (
    <div className="mt-20 grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
      {highlights.map((highlight, index) => {
        const drawing = icons[index] ?? Waypoints;
        return (
          <section
            key={highlight.title}
            className="flex gap-4 rounded-label border border-line bg-raised p-5 sm:flex-col"
          >
            <Icon of={drawing} className="size-7 shrink-0 text-action" strokeWidth={1.5} />
            <div>
              <h2 className="text-lg">{highlight.title}</h2>
              <p className="mt-1 max-w-prose text-sm text-quiet">{highlight.description}</p>
            </div>
          </section>
        );
      })}
    </div>
  );
}
