import { ReasonForm } from "~/components/forms/intent-form";
import { TextLink } from "~/components/ui/button";
import { Card } from "~/components/ui/card";
import type { ShipmentSectionProps } from "./stage-card";

type WithdrawalProps = ShipmentSectionProps & { at: string; reason: string | null };

/** Replaces all other cards with forms, because a withdrawn shipment rejects every other change. */
export function Withdrawal({ shipment, at, reason }: WithdrawalProps) {
  const files = shipment.documents.filter(({ uploaded }) => uploaded);
  return (
    <Card title="This shipment is withdrawn">
      <p className="px-4 pt-3 wrap-anywhere">
        {reason === null ? `The client withdrew this shipment on ${at}.` : `We withdrew this shipment on ${at}.`}
        {reason !== null && ` Reason: ${reason}`}
      </p>
      <p className="px-4 py-3 text-sm text-quiet">
        The shipment is in no list. We delete the shipment and its files 30 days after the withdrawal.
      </p>
      {files.length > 0 && (
        <ul className="ruled border-t border-line">
          {files.map(({ id, name }) => (
            <li key={id} className="px-4">
              <TextLink to={`/desk/shipments/${shipment.id}/documents/${id}`} reloadDocument>
                Open<span className="sr-only">:</span> {name}
              </TextLink>
            </li>
          ))}
        </ul>
      )}
      <ReasonForm
        intent="restore"
        title="Restore shipment"
        text="The shipment returns to all lists. Its share links remain ended."
        expectedVersion={shipment.version}
        idempotent
      />
    </Card>
  );
}
