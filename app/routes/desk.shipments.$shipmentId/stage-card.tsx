import { stageOptions } from "~/components/desk/stage-options";
import { Field, SelectField, TextField } from "~/components/forms/field";
import { SubmitButton } from "~/components/forms/form";
import { FormDisclosure, IntentForm, useIntentForm } from "~/components/forms/intent-form";
import { Card } from "~/components/ui/card";
import type { DeskShipmentView } from "~/models/desk.server";
import { lastStage, STAGES } from "~/models/shipment";

export type ShipmentSectionProps = { shipment: DeskShipmentView };

type StageCardProps = ShipmentSectionProps & { search: string };

export function StageCard({ shipment, search }: StageCardProps) {
  return (
    <Card title="Stage">
      {shipment.stage < lastStage && <NextStageForm shipment={shipment} search={search} />}
      <StageCorrection shipment={shipment} />
    </Card>
  );
}

function NextStageForm({ shipment, search }: StageCardProps) {
  const unchecked = shipment.documents.filter(({ uploaded, verified }) => uploaded && !verified).length;
  const { intent, fields } = useIntentForm("move", ["location", "note"]);
  return (
    <IntentForm
      intent={intent}
      expectedVersion={shipment.version}
      idempotent
      action={`/desk/shipments/${shipment.id}/move${search}`}
      className="px-4 py-3"
    >
      <Field field={fields.location} label="Location" optional autoComplete="off" />
      <TextField field={fields.note} label="Note to the client" rows={2} />
      {unchecked > 0 && (
        <p className="mb-3 text-sm text-with-us">
          {unchecked === 1 ? "1 document to check" : `${unchecked} documents to check`}
        </p>
      )}
      <SubmitButton pending="Moving…">Move to {STAGES[shipment.stage]}</SubmitButton>
    </IntentForm>
  );
}

function StageCorrection({ shipment }: ShipmentSectionProps) {
  const { intent, fields, rejected } = useIntentForm("correct", ["stage", "reason"], {
    stored: { stage: String(shipment.stage) },
  });
  return (
    <FormDisclosure title="Correct the stage" open={rejected !== undefined}>
      <IntentForm intent={intent} expectedVersion={shipment.version} idempotent>
        <SelectField field={fields.stage} label="New stage" options={stageOptions} />
        {shipment.stage < lastStage && shipment.due && (
          <label className="mb-5 flex min-h-11 items-center gap-2 text-sm">
            <input type="checkbox" name="confirmDue" value="yes" className="size-5 shrink-0" />
            <span>{shipment.due} Close the shipment anyway</span>
          </label>
        )}
        <TextField field={fields.reason} label="Reason" rows={2} mandatory />
        <SubmitButton look="plain">Correct the stage</SubmitButton>
      </IntentForm>
    </FormDisclosure>
  );
}
