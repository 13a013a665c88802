import type { FieldMetadata } from "@conform-to/react";
import { Field } from "./form";

/** The field for a six-digit code of an authenticator. */
export function CodeField({ field }: { field: FieldMetadata<string> }) {
  return (
    <Field
      field={field}
      label="6-digit code"
      hint="From your authenticator app; spaces do no harm"
      inputMode="numeric"
      autoComplete="one-time-code"
      spellCheck={false}
    />
  );
}
