import { formatAmountsDue, type OpenItems } from "~/models/shipment";

/** Names what a team member must confirm. */
export function OpenItemList({ id, items: { missing, due } }: { id: string; items: OpenItems }) {
  return (
    <div id={id}>
      {due.length > 0 && <p className="mb-4 font-semibold text-attention">{formatAmountsDue(due)}</p>}
      {missing.length > 0 && (
        <>
          <p>These documents are missing:</p>
          <ul className="mb-6 list-disc pl-6">
            {missing.map((document) => (
              <li key={document}>{document}</li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
