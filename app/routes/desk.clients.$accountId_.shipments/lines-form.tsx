import { TextField } from "~/components/forms/field";
import { SubmitButton } from "~/components/forms/form";
import { IntentForm, useIntentForm } from "~/components/forms/intent-form";

export function LinesForm({ typed, maxLines }: { typed: string; maxLines: number }) {
  const { intent, fields } = useIntentForm("open-several", ["lines"], { stored: { lines: typed } });
  return (
    <IntentForm intent={intent} idempotent className="px-4 py-3">
      <TextField
        field={fields.lines}
        label="One shipment in each line"
        hint={`Name; AWB/BL; containers. You can paste rows of a spreadsheet, or separate the parts with tabs, semicolons or commas. At most ${maxLines} lines.`}
        rows={10}
        mandatory
      />
      <SubmitButton look="plain" pending="Checking…">
        Check the lines
      </SubmitButton>
    </IntentForm>
  );
}
