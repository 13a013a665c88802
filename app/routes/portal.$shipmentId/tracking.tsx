import { Card } from "~/components/ui/card";
import { eastAfricaTime } from "~/lib/dates";
import { noHistoryText } from "~/models/shipment";
import type { Route } from "./+types/route";

export function Tracking({ shipment: { tracking_events: events } }: Route.ComponentProps["loaderData"]) {
  return (
    <Card title="Tracking History">
      {events.length === 0 ? (
        <p className="px-4 py-3 text-quiet">{noHistoryText}</p>
      ) : (
        <ol className="px-4 py-3">
          {events.map((event, index) => (
            <li key={event.id} className="relative border-l-2 border-line pb-5 pl-5 last:border-transparent last:pb-0">
              <span
                aria-hidden
                className={`absolute top-1.5 -left-[7px] size-3 rounded-full border-2 ${
                  index === 0 ? "border-action bg-action" : "border-edge bg-raised"
                }`}
              />
              <p className="font-semibold">
                {event.status}
                {index === 0 && <span className="sr-only"> (latest)</span>}
              </p>
              {event.note && <p className="wrap-anywhere whitespace-pre-line">{event.note}</p>}
              <p className="text-sm text-quiet tabular-nums">
                {event.location && `${event.location}, `}
                <time dateTime={event.created_at}>{eastAfricaTime(event.created_at)}</time>
              </p>
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}
