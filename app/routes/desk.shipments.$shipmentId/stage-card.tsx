import { stageOptions } from "~/components/desk/stage-options";
import { Field, SelectField, TextField } from "~/components/forms/field";
import { SubmitButton } from "~/components/forms/form";
import { FormDisclosure, IntentForm, useIntentForm } from "~/components/forms/intent-form";
import { TextLink } from "~/components/ui/button";
import { Card } from "~/components/ui/card";
import type { DeskShipmentView } from "~/models/desk.server";
import { describeOpenItems, getOpenItems, lastStage, lastWithdrawableStage, STAGES } from "~/models/shipment";

export type ShipmentSectionProps = { shipment: DeskShipmentView };

export type ShipmentCardProps = ShipmentSectionProps & { search: string };

export function StageCard({ shipment, search }: ShipmentCardProps) {
  return (
    <Card title="Stage">
      {shipment.stage < lastStage && <NextStageForm shipment={shipment} search={search} />}
      <StageCorrection shipment={shipment} />
      {shipment.stage <= lastWithdrawableStage && (
        <p className="px-4 pb-2">
          <TextLink to={`/desk/shipments/${shipment.id}/withdraw${search}`} className="text-sm">
            Withdraw shipment
          </TextLink>
        </p>
      )}
    </Card>
  );
}

function NextStageForm({ shipment, search }: ShipmentCardProps) {
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
  const { intent, fields, rejected } = useIntentForm("correct", ["stage", "reason", "confirmed"], {
    stored: { stage: String(shipment.stage) },
  });
  const items = getOpenItems(shipment.stage, listOpenItems(shipment), Number(fields.stage.value));
  const question = fields.confirmed.errors && describeOpenItems(items);
  return (
    <FormDisclosure title="Correct the stage" open={rejected !== undefined}>
      <IntentForm intent={intent} expectedVersion={shipment.version} idempotent>
        <SelectField field={fields.stage} label="New stage" options={stageOptions} />
        <TextField field={fields.reason} label="Reason" rows={2} mandatory />
        {question && (
          <p id={fields.confirmed.id} className="mb-3 text-sm font-semibold text-attention">
            {question}
            <input type="hidden" name="confirmed" value={JSON.stringify(items)} />
          </p>
        )}
        <SubmitButton look="plain">{question ? "Correct the stage anyway" : "Correct the stage"}</SubmitButton>
      </IntentForm>
    </FormDisclosure>
  );
}

function listOpenItems({ documents, payments }: ShipmentSectionProps["shipment"]) {
  return {
    missing: documents.flatMap(({ uploaded, name }) => (uploaded ? [] : [name])).sort(),
    due: payments.flatMap(({ item, charge }) =>
      charge && !charge.isPaid ? [{ item, currency: charge.currency, amount: charge.amount }] : [],
    ),
  };
}
