import { data, Link } from "react-router";
import { ErrorSummary } from "~/components/forms/form";
import { Title } from "~/components/site/title";
import { TextLink } from "~/components/ui/button";
import { dialogLinkProps } from "~/components/ui/dialog";
import { requireViewer } from "~/lib/auth/viewer.server";
import { redirectWithToast } from "~/lib/http/toast.server";
import { describeStorage } from "~/models/arrival.server";
import { companyDetails } from "~/models/content.server";
import { fileFieldId } from "~/models/document";
import { describeDocument, uploadHints } from "~/models/document.server";
import { getNextAction, getNextActionButton, listSearch, shipmentPath, stages } from "~/models/portal.server";
import { isWithdrawableByClient, lastStage, listPayments, shortId } from "~/models/shipment";
import { listNumbers } from "~/models/shipment-fields.server";
import type { Route } from "./+types/route";
import { Documents } from "./documents";
import { storeUploadedFile } from "./file-storage.server";
import { Payments } from "./payments";
import { requireShipment } from "./require-shipment.server";
import { RouteLine } from "./route-line";
import { Tracking } from "./tracking";
import type { RejectedUpload } from "./upload-form";
import { useUploadProblems } from "./upload-queue";

export async function loader({ context, params, url }: Route.LoaderArgs) {
  const shipment = await requireShipment(context, params.shipmentId, url);
  const { id, name, stage, status, documents, tracking_events } = shipment;
  const search = listSearch(url);
  return {
    search,
    shipment: {
      id,
      name,
      stage,
      status,
      numbers: [["Shipment number", shortId(id)], ...listNumbers(shipment)],
      tracking_events,
      documents: documents.map((document) => describeDocument(document, id)),
    },
    nextAction: getNextAction(shipment),
    button: getNextActionButton(shipment),
    isWithdrawable: isWithdrawableByClient(shipment),
    stageTexts: stages.map(({ name, text }) => `${name}: ${text}`),
    hints: uploadHints,
    email: companyDetails.offices[0]?.email,
    payments: listPayments(shipment),
    storage: describeStorage(shipment),
  };
}

export async function action({ request, context, params, url }: Route.ActionArgs) {
  const client = requireViewer(context);
  const shipment = await requireShipment(context, params.shipmentId);
  const { documentId, toast, status } = await storeUploadedFile(context, client, shipment, request);
  if (status !== 200) return data({ document: documentId, toast } satisfies RejectedUpload, { status });
  return redirectWithToast(context, shipmentPath(shipment.id, url), toast);
}

export default function ShipmentPage(props: Route.ComponentProps) {
  const { loaderData, actionData } = props;
  const { search, shipment, payments, storage } = loaderData;
  const problems = useUploadErrors(actionData, shipment.stage === lastStage ? [] : shipment.documents);
  return (
    <>
      <Title rejected={problems.length > 0}>{shipment.name}</Title>
      <ErrorSummary actionData={actionData} problems={problems} />
      <TextLink to={`/portal${search}`} className="text-sm lg:hidden print:hidden">
        All shipments
      </TextLink>
      <h1 className="text-xl">{shipment.name}</h1>
      <dl className="mt-1 flex flex-wrap gap-x-6 gap-y-1 text-sm text-quiet">
        {shipment.numbers.map(([label, number]) => (
          <div key={label} className="flex flex-wrap gap-x-2">
            <dt className="shrink-0">{label}</dt>
            <dd className="font-mono text-ink">{number}</dd>
          </div>
        ))}
      </dl>
      <p className="mb-3 flex flex-wrap gap-x-5 text-sm print:hidden [&>a]:py-3 [&>a]:underline">
        {shipment.stage === 1 && (
          <Link to={`change${search}`} {...dialogLinkProps}>
            Change
          </Link>
        )}{" "}
        <Link to={`share${search}`} {...dialogLinkProps}>
          Share
        </Link>{" "}
        <a href={`/portal/${shipment.id}/print`}>Print</a>{" "}
        {loaderData.isWithdrawable && (
          <Link to={`withdraw${search}`} {...dialogLinkProps}>
            Withdraw shipment
          </Link>
        )}
      </p>
      <RouteLine {...loaderData} />
      {storage && (
        <p
          className={`mt-4 rounded-label border border-line bg-raised px-4 py-3 text-sm ${storage.isUrgent ? "font-semibold text-attention" : ""}`}
        >
          {storage.text}
        </p>
      )}
      <div className="mt-8 grid items-start gap-6 xl:grid-cols-[3fr_2fr]">
        <Documents {...props} />
        <div className="grid content-start gap-6">
          <div className="print:hidden">
            <Payments action={`/portal/${shipment.id}/payments${search}`} {...payments} />
          </div>
          <Tracking {...loaderData} />
        </div>
      </div>
    </>
  );
}

/** Links an error to the file field of its document, or to the list of documents if the document has no file field. */
function useUploadErrors(rejected: RejectedUpload | undefined, documents: { id: string; state: string }[]) {
  const ids = documents.flatMap(({ id, state }) => (state === "missing" ? [id] : []));
  const chosenFiles = useUploadProblems(ids);
  const errors = [...chosenFiles].flatMap(([id, text]) => (text === null ? [] : [{ id: fileFieldId(id), text }]));
  if (!rejected || chosenFiles.has(rejected.document ?? "")) return errors;
  const { document, toast } = rejected;
  const id = document && ids.includes(document) ? fileFieldId(document) : "documents";
  return [{ id, text: toast.description ?? toast.title }, ...errors];
}
