import { Field, SelectField } from "~/components/forms/field";
import { SubmitButton } from "~/components/forms/form";
import { FormDisclosure, IntentForm, ReasonForm, useIntentForm } from "~/components/forms/intent-form";
import { Card } from "~/components/ui/card";
import { CHARGE_CURRENCIES } from "~/models/desk-labels";
import type { ShipmentSectionProps } from "./stage-card";

export function Charges({ shipment }: ShipmentSectionProps) {
  return (
    <div id="payments">
      <Card title="Payments">
        <ul className="ruled">
          {shipment.payments.map((payment) => (
            <ChargeRow key={payment.item} {...payment} />
          ))}
        </ul>
      </Card>
    </div>
  );
}

type ChargeRowProps = ShipmentSectionProps["shipment"]["payments"][number];

function ChargeRow(payment: ChargeRowProps) {
  const { item, name, words, charge } = payment;
  return (
    <li>
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-4 py-3">
        <div>
          <p className="font-semibold">{name} </p>
          <p className="text-sm text-quiet tabular-nums">{words}</p>
          {charge?.note && <p className="text-sm wrap-anywhere text-quiet">{charge.note}</p>}
        </div>
        {charge && !charge.isPaid && (
          <IntentForm intent="mark-paid" values={{ item }} expectedVersion={charge.version} idempotent>
            <SubmitButton look="plain">
              Mark as paid<span className="sr-only">: {name}</span>
            </SubmitButton>
          </IntentForm>
        )}
      </div>
      <ChargeForm {...payment} />
      {charge?.isPaid && (
        <ReasonForm
          intent="mark-unpaid"
          title="Mark as unpaid"
          subject={`: ${name}`}
          values={{ item }}
          expectedVersion={charge.version}
          idempotent
        />
      )}
    </li>
  );
}

function ChargeForm({ item, name, charge }: ChargeRowProps) {
  const { intent, fields, rejected } = useIntentForm("charge", ["amount", "currency", "due", "note"], {
    target: item,
    stored: {
      amount: charge ? String(charge.amount) : "",
      currency: charge?.currency ?? "KES",
      due: charge?.due_on ?? "",
      note: charge?.note ?? "",
    },
  });
  return (
    <FormDisclosure
      open={rejected !== undefined}
      title={
        <span>
          {charge ? "Change charge" : "Add charge"}
          <span className="sr-only">: {name}</span>
        </span>
      }
    >
      <IntentForm intent={intent} values={{ item }} expectedVersion={charge?.version ?? -1} idempotent>
        <div className="grid gap-x-4 sm:grid-cols-[3fr_2fr]">
          <Field field={fields.amount} label="Amount" inputMode="decimal" autoComplete="off" />
          <SelectField field={fields.currency} label="Currency" options={CHARGE_CURRENCIES} />
          <Field field={fields.due} label="Due date" type="date" optional />
        </div>
        <Field field={fields.note} label="Note" hint="The client sees this note." optional autoComplete="off" />
        <SubmitButton look="plain">
          Save charge<span className="sr-only">: {name}</span>
        </SubmitButton>
      </IntentForm>
    </FormDisclosure>
  );
}
