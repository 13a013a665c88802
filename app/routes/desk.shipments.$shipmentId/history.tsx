import { ActForm, useAct } from "~/components/act-form";
import { TextField } from "~/components/field";
import { SubmitButton } from "~/components/form";
import { Card } from "~/components/ui/card";
import { eastAfricaTime } from "~/lib/dates";
import type { SectionProps } from "./move-form";

/** What the client reads about the shipment, and a note to add to it. */
export function History({ shipment, answer, request }: SectionProps) {
  const { id, act, fields } = useAct("note", answer, ["note"]);
  return (
    <Card title="What the client sees">
      <ActForm id={id} act={act} request={request} className="border-b border-line px-4 pt-3 pb-4">
        <TextField field={fields.note} label="Note to the client" rows={2} mandatory />
        <SubmitButton look="plain" pending="Sending…">
          Send note
        </SubmitButton>
      </ActForm>
      {shipment.events.length === 0 ? (
        <p className="px-4 py-3 text-sm text-quiet">No tracking information available yet.</p>
      ) : (
        <ol className="ruled text-sm">
          {shipment.events.map((event, index) => (
            <li key={`${event.created_at} ${index}`} className="px-4 py-2">
              <p className="font-semibold">{event.status} </p>
              {event.note && <p className="wrap-anywhere whitespace-pre-line">{event.note} </p>}
              <p className="text-quiet tabular-nums">
                {[event.location, eastAfricaTime(event.created_at)].filter(Boolean).join(", ")}
              </p>
            </li>
          ))}
        </ol>
      )}
      {shipment.hasOlder && (
        <p className="border-t border-line px-4 py-2 text-sm text-quiet">The client sees older ones too.</p>
      )}
    </Card>
  );
}
