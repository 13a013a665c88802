import { ActForm, Folded, type RefusedAct, showing, useAct } from "~/components/act-form";
import { Field, SelectField, TextField } from "~/components/field";
import { SubmitButton } from "~/components/form";
import { Card } from "~/components/ui/card";
import type { OpenedShipment } from "~/models/desk.server";
import { lastStage, STAGES } from "~/models/shipment";

export type SectionProps = {
  shipment: OpenedShipment & { hasOlder: boolean };
  answer: RefusedAct | undefined;
  request: string;
};

/** Moves the shipment on, or puts it where it really is. */
export function MoveForm({ shipment, answer, request, search }: SectionProps & { search: string }) {
  return (
    <Card title="Stage">
      {shipment.stage < lastStage && <Move shipment={shipment} answer={answer} request={request} search={search} />}
      <Correct shipment={shipment} answer={answer} request={request} />
    </Card>
  );
}

function Move({ shipment, answer, request, search }: SectionProps & { search: string }) {
  const unchecked = shipment.documents.filter(({ uploaded, verified }) => uploaded && !verified).length;
  const { id, act, fields } = useAct("move", answer, ["location", "note"]);
  return (
    <ActForm
      id={id}
      act={act}
      seen={shipment.version}
      request={request}
      action={`/desk/shipments/${shipment.id}/move${search}`}
      className="px-4 py-3"
    >
      <Field field={fields.location} label="Location" optional autoComplete="off" />
      <TextField field={fields.note} label="Note to the client" rows={2} />
      {unchecked > 0 && (
        <p className="mb-3 text-sm text-with-us">
          {unchecked === 1 ? "1 document is" : `${unchecked} documents are`} not checked yet.
        </p>
      )}
      <SubmitButton pending="Moving…">Move to {STAGES[shipment.stage]}</SubmitButton>
    </ActForm>
  );
}

function Correct({ shipment, answer, request }: SectionProps) {
  const { id, act, fields, refused } = useAct("correct", answer, ["stage", "reason"]);
  const stages = STAGES.map((name, index) => ({ value: String(index + 1), words: `${index + 1} ${name}` }));
  return (
    <Folded title="Correct the stage" open={refused !== undefined}>
      <ActForm id={id} act={act} seen={shipment.version} request={request}>
        <SelectField
          field={showing(fields.stage, refused, String(shipment.stage))}
          label="The stage it is really at"
          options={stages}
        />
        <TextField field={fields.reason} label="Reason" rows={2} mandatory />
        <SubmitButton look="plain" pending="Saving…">
          Correct the stage
        </SubmitButton>
      </ActForm>
    </Folded>
  );
}
