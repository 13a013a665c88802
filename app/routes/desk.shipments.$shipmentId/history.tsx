import { TextField } from "~/components/forms/field";
import { SubmitButton } from "~/components/forms/form";
import { IntentForm, useIntentForm } from "~/components/forms/intent-form";
import { Card } from "~/components/ui/card";
import { eastAfricaTime } from "~/lib/dates";
import { noHistoryText } from "~/models/shipment";
import type { ShipmentSectionProps } from "./stage-card";

export function History({ shipment }: ShipmentSectionProps) {
  const { intent, fields } = useIntentForm("note", ["note"]);
  return (
    <Card title="History that the client sees">
      <IntentForm intent={intent} idempotent className="border-b border-line px-4 pt-3 pb-4">
        <TextField field={fields.note} label="Note to the client" rows={2} mandatory />
        <SubmitButton look="plain" pending="Sending…">
          Send note
        </SubmitButton>
      </IntentForm>
      {shipment.tracking_events.length === 0 ? (
        <p className="px-4 py-3 text-sm text-quiet">{noHistoryText}</p>
      ) : (
        <ol className="ruled text-sm">
          {shipment.tracking_events.map((event, index) => (
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
        <p className="border-t border-line px-4 py-2 text-sm text-quiet">The client also sees older entries.</p>
      )}
    </Card>
  );
}
