import { Field, TextField } from "./field";
import type { FormField, RejectedForm } from "./form";
import { withStoredValue } from "./intent-form";

/** A field that the server describes. `stored` is the saved text; with `rows` the field has several lines. */
export type FieldDescription = {
  name: string;
  label: string;
  hint?: string;
  stored?: string;
  rows?: number;
  isRequired?: boolean;
};

/** After a rejected form, each field shows the stored text if something else was typed. */
export function DescribedFields<Name extends string>(props: {
  descriptions: readonly (FieldDescription & { name: Name })[];
  fields: Record<Name, FormField>;
  rejected: RejectedForm | undefined;
}) {
  const { descriptions, fields, rejected } = props;
  return descriptions.map(({ name, label, hint, stored, rows, isRequired }) => {
    const isChanged = rejected && stored !== undefined && fields[name].value !== stored;
    const text = {
      field: withStoredValue(fields[name], rejected, stored ?? ""),
      label,
      hint: isChanged ? `Stored: ${stored || "none"}` : hint,
    };
    if (rows) return <TextField key={name} {...text} rows={rows} />;
    return <Field key={name} {...text} optional={!isRequired} autoComplete="off" spellCheck={false} />;
  });
}
