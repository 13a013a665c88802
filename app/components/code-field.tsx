import { Field } from "./field";
import type { FormField } from "./form";

/** The field for a six-digit code of an authenticator. */
export function CodeField({ field }: { field: FormField }) {
  return (
    <Field
      field={field}
      fresh
      label="6-digit code"
      hint="From your authenticator app; spaces do no harm"
      inputMode="numeric"
      autoComplete="one-time-code"
      spellCheck={false}
    />
  );
}
