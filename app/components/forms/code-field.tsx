import { OfficePhone } from "../site/office-phone";
import { Field, SelectField } from "./field";
import type { FormField } from "./form";

export function CodeField({ field }: { field: FormField }) {
  return (
    <Field
      field={field}
      clearOnError
      label="6-digit code"
      hint="6 digits from your authenticator app, with or without spaces"
      inputMode="numeric"
      autoComplete="one-time-code"
      spellCheck={false}
    />
  );
}

export function SecondFactorFields(props: {
  factors: readonly string[];
  fields: Record<"factor" | "code", FormField>;
}) {
  const { factors, fields } = props;
  return (
    <>
      {factors.length > 1 && <SelectField field={fields.factor} label="Authenticator app" options={factors} />}
      {factors.length > 0 && <CodeField field={fields.code} />}
    </>
  );
}

export function LostAuthenticatorHelp() {
  return (
    <p className="mt-6 text-quiet">
      Lost your phone? Call <OfficePhone />. We check your identity, then remove the authenticator app from your
      account.
    </p>
  );
}
