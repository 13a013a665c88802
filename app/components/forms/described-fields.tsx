import { Field, TextField } from "./field";
import type { FormField, RejectedForm } from "./form";

/** `stored` is the value in the database. */
export type FieldDescription = {
  name: string;
  label: string;
  hint?: string;
  stored?: string;
  rows?: number;
  isRequired?: boolean;
};

/** After a rejected submission, the hint of each changed field shows the value in the database. */
export function DescribedFields<Name extends string>(props: {
  descriptions: readonly (FieldDescription & { name: Name })[];
  fields: Record<Name, FormField>;
  rejected: RejectedForm | undefined;
}) {
  const { descriptions, fields, rejected } = props;
  return descriptions.map(({ name, label, hint, stored, rows, isRequired }) => {
    const isChanged = rejected && stored !== undefined && fields[name].value !== stored;
    const text = {
      field: rejected?.result ? fields[name] : { ...fields[name], value: stored ?? "" },
      label,
      hint: isChanged ? `Saved value: ${stored || "none"}` : hint,
    };
    if (rows) return <TextField key={name} {...text} rows={rows} />;
    return <Field key={name} {...text} optional={!isRequired} autoComplete="off" spellCheck={false} />;
  });
}
