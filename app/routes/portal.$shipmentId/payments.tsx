import type { ReactNode } from "react";
import { Form } from "react-router";
import { OfficePhone } from "~/components/site/office-phone";
import { Button } from "~/components/ui/button";
import { Card } from "~/components/ui/card";
import { showToastInsteadOfSubmit } from "~/components/ui/toast-state";
import type { listPayments } from "~/models/shipment";

export function HowToPay({ phone }: { phone: ReactNode }) {
  return <>Pay only to the account on our signed invoice. Not sure? Call {phone}.</>;
}

export function Payments({ action, items, hasUnpaid }: { action: string } & ReturnType<typeof listPayments>) {
  return (
    <Card title="Payments" id="payments">
      <ul className="ruled">
        {items.map(({ id, name, words, toast }) => (
          <li key={id} className="flex flex-wrap items-center gap-3 px-4 py-3">
            <div className="flex-1 basis-40">
              {name}
              <p className="text-sm wrap-anywhere text-quiet">{words}</p>
            </div>
            {toast && (
              <Form
                method="post"
                action={action}
                preventScrollReset
                onSubmit={(event) => showToastInsteadOfSubmit(event, { ...toast })}
              >
                <input type="hidden" name="payment" value={id} />
                <Button>
                  Pay<span className="sr-only"> {name}</span>
                </Button>
              </Form>
            )}
          </li>
        ))}
      </ul>
      {hasUnpaid && (
        <p className="border-t border-line px-4 py-3 text-sm text-quiet">
          <HowToPay phone={<OfficePhone />} />
        </p>
      )}
    </Card>
  );
}
