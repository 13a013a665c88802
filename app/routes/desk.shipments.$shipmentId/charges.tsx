import { ActForm, Folded, ReasonForm, type RefusedAct, showing, useAct } from "~/components/act-form";
import { Field, SelectField } from "~/components/field";
import { SubmitButton } from "~/components/form";
import { Card } from "~/components/ui/card";
import { calendarDate, eastAfricaTime } from "~/lib/dates";
import type { DeskCharge } from "~/models/desk.server";
import { CURRENCIES, PAYMENTS } from "~/models/shipment";
import type { SectionProps } from "./move-form";

/** What the client is to pay for each item. */
export function Charges({ shipment, answer, request }: SectionProps) {
  return (
    <div id="payments">
      <Card title="Payments">
        <ul className="ruled">
          {PAYMENTS.map(({ id, name }) => (
            <Row
              key={id}
              item={id}
              name={name}
              charge={shipment.charges.find(({ item }) => item === id)}
              answer={answer}
              request={request}
            />
          ))}
        </ul>
      </Card>
    </div>
  );
}

type RowProps = {
  item: string;
  name: string;
  charge: DeskCharge | undefined;
  answer: RefusedAct | undefined;
  request: string;
};

function Row({ item, name, charge, answer, request }: RowProps) {
  const paid = useAct("paid", answer, [], item);
  return (
    <li>
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-4 py-3">
        <div>
          <p className="font-semibold">{name} </p>
          <p className="text-sm text-quiet tabular-nums">{stateOf(charge)}</p>
          {charge?.note && <p className="text-sm wrap-anywhere text-quiet">{charge.note}</p>}
        </div>
        {charge && !charge.paid_at && (
          <ActForm id={paid.id} act="paid" seen={charge.version} request={request}>
            <input type="hidden" name="item" value={item} />
            <SubmitButton look="plain" pending="Saving…">
              Mark as paid<span className="sr-only"> for {name}</span>
            </SubmitButton>
          </ActForm>
        )}
      </div>
      <SetCharge item={item} name={name} charge={charge} answer={answer} request={request} />
      {charge?.paid_at && (
        <ReasonForm
          act="unpaid"
          title="Mark as not paid"
          of={` for ${name}`}
          on={{ item }}
          seen={charge.version}
          request={request}
          answer={answer}
        />
      )}
    </li>
  );
}

function stateOf(charge: DeskCharge | undefined): string {
  if (!charge) return "Nothing is charged yet";
  const sum = `${charge.currency} ${charge.amount.toLocaleString("en-KE", { minimumFractionDigits: 2 })}`;
  if (charge.paid_at) return `${sum}, paid ${eastAfricaTime(charge.paid_at)}`;
  return charge.due_on ? `${sum}, due ${calendarDate(charge.due_on)}` : `${sum}, due`;
}

function SetCharge({ item, name, charge, answer, request }: RowProps) {
  const { id, act, fields, refused } = useAct("charge", answer, ["amount", "currency", "due", "note"], item);
  return (
    <Folded
      open={refused !== undefined}
      title={
        <span>
          {charge ? "Change" : "Charge"}
          <span className="sr-only"> the {name}</span>
        </span>
      }
    >
      <ActForm id={id} act={act} seen={charge?.version ?? -1} request={request}>
        <input type="hidden" name="item" value={item} />
        <div className="grid gap-x-4 sm:grid-cols-[3fr_2fr]">
          <Field
            field={showing(fields.amount, refused, charge ? String(charge.amount) : "")}
            label="Amount"
            inputMode="decimal"
            autoComplete="off"
          />
          <SelectField
            field={showing(fields.currency, refused, charge?.currency ?? "KES")}
            label="Currency"
            options={CURRENCIES}
          />
          <Field field={showing(fields.due, refused, charge?.due_on ?? "")} label="Due day" type="date" optional />
        </div>
        <Field
          field={showing(fields.note, refused, charge?.note ?? "")}
          label="Note"
          hint="For the client, such as the number of our invoice"
          optional
          autoComplete="off"
        />
        <SubmitButton look="plain" pending="Saving…">
          Save<span className="sr-only"> the {name}</span>
        </SubmitButton>
      </ActForm>
    </Folded>
  );
}
