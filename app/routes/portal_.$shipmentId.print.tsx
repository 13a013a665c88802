import { Title } from "~/components/site/title";
import { requireViewer } from "~/lib/auth/viewer.server";
import { eastAfricaTime } from "~/lib/dates";
import { describeStorage } from "~/models/arrival.server";
import { companyDetails } from "~/models/content.server";
import { describeDocument } from "~/models/document.server";
import { getNextAction } from "~/models/portal.server";
import { lastStage, listPayments, shortId } from "~/models/shipment";
import { listNumbers } from "~/models/shipment-fields.server";
import type { Route } from "./+types/portal_.$shipmentId.print";
import { HowToPay } from "./portal.$shipmentId/payments";
import { requireShipment } from "./portal.$shipmentId/require-shipment.server";

export const handle = { bare: true };

export { middleware } from "./portal";

export async function loader({ context, params, url }: Route.LoaderArgs) {
  const client = requireViewer(context);
  const shipment = await requireShipment(context, params.shipmentId, url);
  const { id, name, stage, status, created_at, changed_at, documents, tracking_events } = shipment;
  const office = companyDetails.offices[0];
  const storage = describeStorage(shipment);
  const { items, hasUnpaid } = listPayments(shipment);
  return {
    company: [companyDetails.name, office?.address, office?.phone, office?.email],
    facts: [
      ["Shipment number", id],
      ...listNumbers(shipment),
      ["Client", client.fullName || client.email],
      ["Created", eastAfricaTime(created_at)],
      ["Last change", eastAfricaTime(changed_at)],
      ["Stage", `${stage} of ${lastStage}, ${status}`],
      ["Next step", getNextAction(shipment).text],
      ...(storage ? [["Free storage", storage.text]] : []),
    ],
    name,
    shortId: shortId(id),
    documents: documents.map((document) => describeDocument(document, id, eastAfricaTime)),
    charges: items.filter(({ id }) => shipment.charges.some(({ item }) => item === id)),
    phone: hasUnpaid && office?.phone,
    events: tracking_events.slice(0, maxEvents).map(({ id, status, location, note, created_at }) => ({
      id,
      words: [status, location, note && shortenNote(note)].filter(Boolean).join(", "),
      at: eastAfricaTime(created_at),
    })),
    hasMore: tracking_events.length > maxEvents,
    printed: eastAfricaTime(new Date().toISOString()),
  };
}

/** With at most this number of events, the printed page fits on one sheet of A4. */
const maxEvents = 12;
const shortenNote = (note: string) => (note.length > 120 ? `${note.slice(0, 119)}…` : note);

export { noFormAction as action } from "~/lib/http/file-route.server";

export default function PrintPage({ loaderData }: Route.ComponentProps) {
  const { company, facts, name, shortId, documents, charges, phone, events, hasMore, printed } = loaderData;
  return (
    <div className="text-sm">
      <Title>{`${name} (${shortId})`}</Title>
      <p className="mb-4 border-b border-line pb-2 text-quiet">{company.filter(Boolean).join(" · ")}</p>
      <h1 className="mb-3 text-xl wrap-anywhere">{name}</h1>
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
        {facts.map(([term, words]) => (
          <div key={term} className="contents">
            <dt className="text-quiet">{term}</dt>
            <dd className="wrap-anywhere">{words}</dd>
          </div>
        ))}
      </dl>
      <Section
        title="Documents"
        rows={documents.map(({ name, words, file }) => [name, [words, file].filter(Boolean).join(". ")])}
      />
      {charges.length > 0 && <Section title="Payments" rows={charges.map(({ name, words }) => [name, words])} />}
      {phone && (
        <p className="mt-1">
          <HowToPay phone={phone} />
        </p>
      )}
      {events.length > 0 && <Section title="Tracking History" rows={events.map(({ at, words }) => [at, words])} />}
      <p className="mt-4 border-t border-line pt-2 text-quiet">
        Printed {printed}.{hasMore && " Earlier events are in the portal."}
      </p>
    </div>
  );
}

function Section({ title, rows }: { title: string; rows: string[][] }) {
  return (
    <>
      <h2 className="mt-4 mb-1 text-base font-semibold">{title}</h2>
      <dl className="grid grid-cols-[2fr_5fr] gap-x-4 gap-y-1">
        {rows.map(([term, words], index) => (
          <div key={`${index} ${term}`} className="contents">
            <dt>{term}</dt>
            <dd className="wrap-anywhere text-quiet">{words}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
