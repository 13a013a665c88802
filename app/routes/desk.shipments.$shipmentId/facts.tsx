import { ActForm, Folded, showing, useAct } from "~/components/act-form";
import { Field, SelectField } from "~/components/field";
import { SubmitButton } from "~/components/form";
import { Card } from "~/components/ui/card";
import { calendarDate } from "~/lib/dates";
import { PLACES } from "~/models/desk";
import type { SectionProps } from "./move-form";

const places = Object.entries(PLACES).map(([value, words]) => ({ value, words }));
const sizes = [
  { value: "20", words: "20 ft" },
  { value: "40", words: "40 ft" },
];

/** The number of the cargo's paper, and its arrival. */
export function Facts({ shipment, answer, request }: SectionProps) {
  const { arrival, version } = shipment;
  const awb = useAct("awb", answer, ["awb", "reason"]);
  const arrived = useAct("arrival", answer, ["place", "day", "size"]);
  return (
    <Card title="Cargo">
      <ActForm id={awb.id} act="awb" seen={version} request={request} className="px-4 pt-3 pb-4">
        <Field
          field={showing(awb.fields.awb, awb.refused, shipment.awb ?? "")}
          label="AWB/BL"
          optional
          autoComplete="off"
          spellCheck={false}
        />
        {shipment.awb && (
          <>
            <input type="hidden" name="stands" value="1" />
            <Field field={awb.fields.reason} label="Reason for the change" autoComplete="off" />
          </>
        )}
        <SubmitButton look="plain" pending="Saving…">
          Save AWB/BL
        </SubmitButton>
      </ActForm>
      <div id="storage" className="border-t border-line">
        {arrival && (
          <p className="px-4 pt-3 text-sm">
            {PLACES[arrival.place]}, {arrival.size} ft, arrived {calendarDate(arrival.day)}. Free storage until{" "}
            {calendarDate(arrival.free_until)}.
          </p>
        )}
        <Folded title={arrival ? "Change the arrival" : "The cargo has arrived"} open={arrived.refused !== undefined}>
          <p className="mb-3 text-sm text-quiet">
            Domestic import containers alone: the client is shown their free days. Nothing for cargo in transit.
          </p>
          <ActForm id={arrived.id} act="arrival" seen={version} request={request}>
            <SelectField
              field={showing(arrived.fields.place, arrived.refused, arrival?.place ?? "")}
              label="Place"
              options={places}
              prompt="Choose the place"
            />
            <Field
              field={showing(arrived.fields.day, arrived.refused, arrival?.day ?? "")}
              label="Day of arrival"
              type="date"
            />
            <SelectField
              field={showing(arrived.fields.size, arrived.refused, arrival ? String(arrival.size) : "")}
              label="Container"
              options={sizes}
              prompt="Choose the size"
            />
            <SubmitButton look="plain" pending="Saving…">
              Save arrival
            </SubmitButton>
          </ActForm>
        </Folded>
      </div>
    </Card>
  );
}
