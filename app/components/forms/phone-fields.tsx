import { PHONE_COUNTRY_LABELS } from "~/models/phone";
import { Field, SelectField } from "./field";
import type { FormField } from "./form";

export function PhoneFields({
  fields,
  autoComplete,
}: {
  fields: Record<"phone" | "country", FormField>;
  autoComplete: string;
}) {
  return (
    <>
      <SelectField field={fields.country} label="Country" options={Object.entries(PHONE_COUNTRY_LABELS)} />
      <Field
        field={fields.phone}
        label="Telephone number"
        hint="For example 0722 123456"
        type="tel"
        optional
        autoComplete={autoComplete}
      />
    </>
  );
}
