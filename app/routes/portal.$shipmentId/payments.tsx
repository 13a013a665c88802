import { Form } from "react-router";
import { answerAtOnce } from "~/components/flash";
import { Button } from "~/components/ui/button";
import { Card } from "~/components/ui/card";
import { paymentToast } from "~/models/not-yet";
import { PAYMENTS } from "~/models/shipment";

/** The three payments. Their buttons only show a toast; what the company marked as paid has none. */
export function Payments(props: { action: string; charges: Record<string, { words: string; paid: boolean }> }) {
  const { action, charges } = props;
  return (
    <Card title="Payments" id="payments">
      <ul className="ruled">
        {PAYMENTS.map((payment) => (
          <li key={payment.id} className="flex flex-wrap items-center gap-3 px-4 py-3">
            <div className="flex-1 basis-40">
              {payment.name}
              <p className="text-sm wrap-anywhere text-quiet">{charges[payment.id]?.words}</p>
            </div>
            {!charges[payment.id]?.paid && (
              <Form
                method="post"
                action={action}
                preventScrollReset
                onSubmit={(event) => answerAtOnce(event, paymentToast(payment))}
              >
                <input type="hidden" name="payment" value={payment.id} />
                <Button>
                  Pay<span className="sr-only"> {payment.name}</span>
                </Button>
              </Form>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}
