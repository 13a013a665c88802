import { DescribedFields } from "~/components/forms/described-fields";
import { Field } from "~/components/forms/field";
import { SubmitButton } from "~/components/forms/form";
import { IntentForm, useIntentForm } from "~/components/forms/intent-form";
import { TextLink } from "~/components/ui/button";
import { Card } from "~/components/ui/card";
import type { ShipmentCardProps } from "./stage-card";

export function Cargo({ shipment, search }: ShipmentCardProps) {
  const numbers = useIntentForm("numbers", [...shipment.numbers.map(({ name }) => name), "reason"]);
  const hasNumbers = shipment.numbers.some(({ stored }) => stored);
  return (
    <Card title="Cargo">
      <IntentForm intent="numbers" expectedVersion={shipment.version} idempotent className="px-4 pt-3 pb-4">
        <DescribedFields descriptions={shipment.numbers} fields={numbers.fields} rejected={numbers.rejected} />
        {hasNumbers && (
          <>
            <input type="hidden" name="hasNumbers" value="1" />
            <Field field={numbers.fields.reason} label="Reason for the change" autoComplete="off" />
          </>
        )}
        <SubmitButton look="plain">Save numbers</SubmitButton>
      </IntentForm>
      <p id="storage" className="border-t border-line px-4 py-2 text-sm">
        {shipment.arrival}{" "}
        <TextLink to={`/desk/shipments/${shipment.id}/arrival${search}`}>
          {shipment.arrival ? "Change arrival" : "Add arrival"}
        </TextLink>
      </p>
    </Card>
  );
}
