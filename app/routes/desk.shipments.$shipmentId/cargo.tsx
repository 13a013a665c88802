import { DescribedFields } from "~/components/forms/described-fields";
import { Field, SelectField } from "~/components/forms/field";
import { SubmitButton } from "~/components/forms/form";
import { FormDisclosure, IntentForm, useIntentForm } from "~/components/forms/intent-form";
import { Card } from "~/components/ui/card";
import { calendarDate } from "~/lib/dates";
import { CONTAINER_SIZES, STORAGE_LOCATIONS } from "~/models/desk-labels";
import type { ShipmentSectionProps } from "./stage-card";

export function Cargo({ shipment }: ShipmentSectionProps) {
  const { arrival, version } = shipment;
  const numbers = useIntentForm("numbers", [...shipment.numbers.map(({ name }) => name), "reason"]);
  const arrived = useIntentForm("arrival", ["storageLocation", "day", "size"], {
    stored: arrival
      ? { storageLocation: arrival.storage_location, day: arrival.day, size: String(arrival.size) }
      : undefined,
  });
  const hasNumbers = shipment.numbers.some(({ stored }) => stored);
  return (
    <Card title="Cargo">
      <IntentForm intent="numbers" expectedVersion={version} idempotent className="px-4 pt-3 pb-4">
        <DescribedFields descriptions={shipment.numbers} fields={numbers.fields} rejected={numbers.rejected} />
        {hasNumbers && (
          <>
            <input type="hidden" name="hasNumbers" value="1" />
            <Field field={numbers.fields.reason} label="Reason for the change" autoComplete="off" />
          </>
        )}
        <SubmitButton look="plain">Save numbers</SubmitButton>
      </IntentForm>
      <div id="storage" className="border-t border-line">
        {arrival && (
          <p className="px-4 pt-3 text-sm">
            {arrival.size} ft container, arrived at {STORAGE_LOCATIONS[arrival.storage_location]} on{" "}
            {calendarDate(arrival.day)}. Free storage until {calendarDate(arrival.free_storage_ends_on)}.
          </p>
        )}
        <FormDisclosure title={arrival ? "Change arrival" : "Add arrival"} open={arrived.rejected !== undefined}>
          <p className="mb-3 text-sm text-quiet">
            This form is for import containers. The client sees when free storage ends.
          </p>
          <IntentForm intent="arrival" expectedVersion={version} idempotent>
            <SelectField
              field={arrived.fields.storageLocation}
              label="Port or ICD"
              options={Object.entries(STORAGE_LOCATIONS)}
              prompt="Choose the port or ICD"
            />
            <Field field={arrived.fields.day} label="Arrival date" type="date" />
            <SelectField
              field={arrived.fields.size}
              label="Container size"
              options={Object.entries(CONTAINER_SIZES)}
              prompt="Choose the size"
            />
            <SubmitButton look="plain">Save arrival</SubmitButton>
          </IntentForm>
        </FormDisclosure>
      </div>
    </Card>
  );
}
