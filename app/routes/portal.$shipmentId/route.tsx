import { data, Link } from "react-router";
import { Problems } from "~/components/form";
import { RouteLine } from "~/components/portal/route-line";
import { Title } from "~/components/title";
import { storageTariff, theCompany } from "~/lib/content.server";
import { dayInEastAfrica } from "~/lib/dates";
import { redirectWithFlash } from "~/lib/flash.server";
import { thrown } from "~/lib/refusal.server";
import { requireClient } from "~/lib/session.server";
import { chargeWords, lastStage, pageAsked, shortId } from "~/models/shipment";
import { getShipment } from "~/models/shipment.server";
import { moveOf } from "~/models/stage.server";
import { storageWords } from "~/models/storage";
import type { Route } from "./+types/route";
import { Documents } from "./documents";
import { Payments } from "./payments";
import { receiveFile } from "./receive.server";
import { Tracking } from "./tracking";
import { fileFieldId, type UploadRefused } from "./upload";

export async function loader({ context, params, url }: Route.LoaderArgs) {
  const shipment = await theShipment(context, params.shipmentId, pageAsked(url));
  const { charges, arrival, ...shown } = shipment;
  return {
    shipment: shown,
    step: moveOf(shipment),
    mail: theCompany.offices[0]?.email,
    charges: Object.fromEntries(charges.map((charge) => [charge.item, chargeWords(charge)])),
    storage: arrival && shipment.stage < cargoLeft ? storageOf(arrival) : null,
  };
}

/** From this stage on the cargo is not in storage any more. */
const cargoLeft = 9;

function storageOf({ day, free_until, size }: { day: string; free_until: string; size: number }): string {
  const today = dayInEastAfrica(new Date());
  return storageWords({ arrived: day, freeUntil: free_until, size }, storageTariff, today);
}

/** Takes the file of one document. */
export async function action({ request, context, params }: Route.ActionArgs) {
  const client = requireClient(context);
  const shipment = await theShipment(context, params.shipmentId);
  const { document, toast, status } = await receiveFile(context, client, shipment, request);
  if (status !== 200) return data({ document, toast } satisfies UploadRefused, { status });
  return redirectWithFlash(context, `/portal/${shipment.id}`, toast);
}

/** The shipment of this page; throws the same 404 for a stranger's and an unknown one. */
async function theShipment(context: Route.LoaderArgs["context"], id: string, page?: number) {
  const shipment = await getShipment(requireClient(context), id, page);
  if (!shipment) throw data("Not found", { status: 404 });
  if ("reason" in shipment) throw thrown(shipment);
  return shipment;
}

export default function ShipmentPage({ loaderData, actionData }: Route.ComponentProps) {
  const { shipment, step, mail, charges, storage } = loaderData;
  const { stage, documents } = shipment;
  const isClosed = stage === lastStage;
  const problems = problemsOf(actionData, isClosed ? [] : documents);
  return (
    <>
      <Title refused={problems.length > 0 || actionData?.document === null}>{shipment.name}</Title>
      <Problems answer={actionData} problems={problems} />
      <Link to="/portal" className="inline-flex min-h-11 items-center text-sm underline lg:hidden print:hidden">
        All shipments
      </Link>
      <h1 className="text-xl">{shipment.name}</h1>
      <dl className="mt-1 mb-6 flex flex-wrap gap-x-6 gap-y-1 text-sm text-quiet">
        <div className="flex gap-2">
          <dt>Shipment</dt>
          <dd className="font-mono text-ink">{shortId(shipment.id)}</dd>
        </div>
        <div className="flex gap-2">
          <dt>AWB/BL</dt>
          <dd className="font-mono text-ink">{shipment.awb ?? "N/A"}</dd>
        </div>
      </dl>
      <RouteLine stage={stage} status={shipment.status} step={step} />
      {storage && <p className="mt-4 text-sm">{storage}</p>}
      <div className="mt-8 grid items-start gap-6 xl:grid-cols-[3fr_2fr]">
        <Documents documents={documents} isClosed={isClosed} mail={mail} refused={actionData} />
        <div className="grid content-start gap-6">
          <div className="print:hidden">
            <Payments shipmentId={shipment.id} charges={charges} />
          </div>
          <Tracking events={shipment.tracking_events} />
        </div>
      </div>
    </>
  );
}

/** The problem with a link to its field; a document that takes no file any more has none. */
function problemsOf(refused: UploadRefused | undefined, documents: { id: string; uploaded: boolean }[]) {
  if (!refused || !documents.some(({ id, uploaded }) => id === refused.document && !uploaded)) return [];
  return [{ id: fileFieldId(refused.document ?? ""), text: refused.toast.description ?? refused.toast.title }];
}
