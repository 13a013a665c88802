import { Form } from "react-router";
import { Field, SelectField } from "~/components/forms/field";
import type { FormField } from "~/components/forms/form";
import { Button } from "~/components/ui/button";
import { type COST_FIELDS, IMPORT_CURRENCIES, IMPORT_KINDS } from "~/models/cost";
import type { CitedRates } from "~/models/cost.server";

const numberFieldProps = { inputMode: "decimal", autoComplete: "off" } as const;
const includedHint = (item: string) => `Enter 0 if the price includes the ${item}`;

export function CostForm(props: {
  id: string;
  fields: Record<(typeof COST_FIELDS)[number], FormField>;
  rates: CitedRates;
  onType: (values: Record<string, string>) => void;
}) {
  const { id, fields, rates, onType } = props;
  const excise = rates.excise_duty;
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
        label="What do you import?"
        options={Object.entries(IMPORT_KINDS)}
        prompt="Choose one"
      />
      {/* Browsers without :has() show these fields for all goods. */}
      <div className="group-[:not(:has([value=car]:checked))]/cost:hidden">
        <Field
          field={fields.registered}
          label="First registration"
          hint="Cars only. Month and year on the foreign logbook, such as 04/2021"
          inputMode="numeric"
          autoComplete="off"
        />
        <SelectField
          field={fields.excise}
          label="Excise duty on the car"
          hint={`Cars only. ${excise.engine_sizes}`}
          options={excise.percents.map((percent) => [String(percent), `${percent}%`])}
          prompt="Choose one"
        />
      </div>
      <SelectField field={fields.currency} label="Currency" options={IMPORT_CURRENCIES} />
      <Field
        field={fields.value}
        label="Price of the goods"
        hint="Price on the seller's invoice"
        {...numberFieldProps}
      />
      <Field field={fields.freight} label="Freight to Kenya" hint={includedHint("freight")} {...numberFieldProps} />
      <Field field={fields.insurance} label="Insurance" hint={includedHint("insurance")} {...numberFieldProps} />
      <div className="group-[:has([value=KES]:checked)]/cost:hidden">
        <Field
          field={fields.rate}
          label="Exchange rate"
          hint="How many KES you pay for 1 unit of the invoice currency, such as 129.50 for USD 1. Use this week's rate from the Kenya Revenue Authority. Leave this field empty if the invoice is in KES"
          {...numberFieldProps}
        />
        <a
          href="https://www.kra.go.ke/"
          target="_blank"
          rel="noreferrer"
          className="-mt-4 mb-4 inline-flex min-h-11 items-center text-sm underline"
        >
          Exchange rates of the Kenya Revenue Authority<span className="sr-only"> (opens in a new tab)</span>
        </a>
      </div>
      <Field
        field={fields.duty}
        label="Import duty (%)"
        hint={`If you leave this field empty, we use ${rates.import_duty.percent}%, or ${rates.car_import_duty.percent}% for a car. The customs code (HS code) of your goods decides the rate`}
        {...numberFieldProps}
      />
      <Button look="action" className="w-full">
        Calculate
      </Button>
    </Form>
  );
}
