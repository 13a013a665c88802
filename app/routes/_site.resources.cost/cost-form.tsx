import { Form } from "react-router";
import { Field, SelectField } from "~/components/forms/field";
import type { FormField } from "~/components/forms/form";
import { Button } from "~/components/ui/button";
import { type COST_FIELDS, IMPORT_CURRENCIES, IMPORT_KINDS } from "~/models/cost";

const numberFieldProps = { inputMode: "decimal", autoComplete: "off" } as const;
const includedHint = "0 if the price includes it";

export function CostForm(props: {
  id: string;
  fields: Record<(typeof COST_FIELDS)[number], FormField>;
  classes: number[];
  onType: (values: Record<string, string>) => void;
}) {
  const { id, fields, classes, onType } = props;
  return (
    <Form
      action="/resources/cost#sum"
      id={id}
      noValidate
      onChange={({ currentTarget }) =>
        onType(Object.fromEntries(new FormData(currentTarget)) as Record<string, string>)
      }
      className="group/cost print:hidden"
    >
      <SelectField
        field={fields.what}
        label="What do you bring in?"
        options={Object.entries(IMPORT_KINDS)}
        prompt="Choose one"
      />
      {/* Browsers without :has() always show these fields. */}
      <div className="group-[:not(:has([value=car]:checked))]/cost:hidden">
        <Field
          field={fields.registered}
          label="First registered"
          hint="Cars only: year and month, such as 2021-04"
          inputMode="numeric"
          autoComplete="off"
        />
        <SelectField
          field={fields.excise}
          label="Excise duty of the car"
          hint="Cars only: by engine and fuel"
          options={classes.map((percent) => [String(percent), `${percent}%`])}
          prompt="Choose one"
        />
      </div>
      <SelectField field={fields.currency} label="Currency of the next three amounts" options={IMPORT_CURRENCIES} />
      <Field field={fields.value} label="Price of the goods" hint="As the seller invoices it" {...numberFieldProps} />
      <Field field={fields.freight} label="Freight to Kenya" hint={includedHint} {...numberFieldProps} />
      <Field field={fields.insurance} label="Insurance" hint={includedHint} {...numberFieldProps} />
      <div className="group-[:has([value=KES]:checked)]/cost:hidden">
        <Field
          field={fields.rate}
          label="Exchange rate"
          hint="Shillings for one of the currency. Customs uses the rate that KRA publishes. Not needed for KES"
          {...numberFieldProps}
        />
      </div>
      <Field
        field={fields.duty}
        label="Import duty in percent"
        hint="25 for most finished goods. Your tariff code decides"
        {...numberFieldProps}
      />
      <Button look="action" className="w-full">
        Work it out
      </Button>
    </Form>
  );
}
