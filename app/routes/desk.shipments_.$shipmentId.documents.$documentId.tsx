import { randomUUID } from "node:crypto";
import { data, redirectDocument } from "react-router";
import { createDeskIntents } from "~/actions/desk-intents.server";
import { unverify, verify } from "~/actions/document.server";
import { leadToNextDocument, requestNewFileWithReason } from "~/actions/document-review.server";
import { FileViewer } from "~/components/desk/file-viewer";
import { reviewIds, useReviewKeys } from "~/components/desk/review-keys";
import { TextField } from "~/components/forms/field";
import { ErrorSummary, SubmitButton } from "~/components/forms/form";
import { getIntentErrors, IntentForm, ReasonForm, useIntentForm } from "~/components/forms/intent-form";
import { Title } from "~/components/site/title";
import { ButtonLink, buttonClass, TextLink } from "~/components/ui/button";
import { Card } from "~/components/ui/card";
import { type Fact, FactList } from "~/components/ui/fact-list";
import { useIsHydrated } from "~/components/ui/hydration";
import { getStaffPage } from "~/lib/auth/staff.server";
import { eastAfricaTime } from "~/lib/dates";
import { formatFileSize } from "~/lib/forms/file-size";
import { handleIntent } from "~/lib/forms/intent-form.server";
import { isDataRequest } from "~/lib/http/headers.server";
import { areaNotFound } from "~/lib/http/user-error.server";
import { serviceRoleClient } from "~/lib/supabase/client.server";
import { deskDocumentStateLabels, REJECTION_REASONS } from "~/models/desk-labels";
import { getDocumentState } from "~/models/document";
import { DocumentReviewPage, getReviewPath } from "~/models/document-review.server";
import { describeDocumentView } from "~/models/document-view.server";
import { lastStage } from "~/models/shipment";
import { isUuid } from "~/models/shipment.server";
import { listNumbers } from "~/models/shipment-fields.server";
import type { Route } from "./+types/desk.shipments_.$shipmentId.documents.$documentId";

export const handle = { showsFiles: true };

export { revalidateAfterConflict as shouldRevalidate } from "~/lib/browser/revalidate";

export async function loader({ request, context, params, url }: Route.LoaderArgs) {
  if (!isUuid(params.shipmentId) || !isUuid(params.documentId)) throw areaNotFound("desk");
  const { opened } = await getStaffPage(context, DocumentReviewPage);
  if (!opened) throw areaNotFound("desk");
  // Only the security policy of this page allows files. A client-side navigation would use the previous page's policy.
  if (isDataRequest(request) && !isReviewPage(request.headers.get("Referer")))
    throw redirectDocument(url.pathname + url.search);
  const { document, file, shipment, client, next } = opened;
  const page = getReviewPath(shipment.id, document.id);
  const view = document.uploaded ? await describeDocumentView(serviceRoleClient(), file) : null;
  const pages = view && "kind" in view ? view.pages : 1;
  const pageNumber = Math.min(pages, Math.max(1, Math.trunc(Number(url.searchParams.get("page"))) || 1));
  return {
    ...{ document, client, page, view, pages, pageNumber },
    shipment: { id: shipment.id, name: shipment.name, isClosed: shipment.stage === lastStage },
    facts: listFacts(opened),
    next: next && { ...next, path: getReviewPath(next.shipment_id, next.id) },
    idempotencyKey: randomUUID(),
  };
}

const isReviewPage = (referer: string | null) => /\/documents\/[^/?]+(?:\?.*)?$/.test(referer ?? "");

function listFacts({ document, shipment }: NonNullable<DocumentReviewPage["opened"]>): [label: string, text: string][] {
  const { file_name, file_size, uploaded_at } = document;
  return [
    ...listNumbers(shipment),
    ["Stage", `${shipment.stage}/${lastStage} ${shipment.status}`],
    ...(document.uploaded
      ? ([
          ["File", file_name ?? document.name],
          ["Size", file_size ? formatFileSize(file_size) : "Unknown"],
          ["Uploaded", uploaded_at ? eastAfricaTime(uploaded_at) : "Unknown"],
        ] as [string, string][])
      : []),
  ];
}

export async function action({ request, context, params }: Route.ActionArgs) {
  const { shipmentId, documentId } = params;
  if (!isUuid(shipmentId) || !isUuid(documentId)) throw data("Not found", { status: 404 });
  const intents = createDeskIntents(
    { verify, reject: requestNewFileWithReason, unverify },
    { shipment: shipmentId, document: documentId },
  );
  const page = getReviewPath(shipmentId, documentId);
  return handleIntent(request, context, page, leadToNextDocument(intents, shipmentId, documentId));
}

export default function ReviewPage(props: Route.ComponentProps) {
  // Without the key, text typed for one document would appear in the forms of the next document.
  return <Review key={props.loaderData.document.id} {...props} />;
}

function Review({ loaderData, actionData }: Route.ComponentProps) {
  const { document, shipment, client, page, view, pages, pageNumber } = loaderData;
  useReviewKeys();
  const download = `${page}/file`;
  const src = `${page}/view?version=${document.version}&page=${pageNumber}`;
  const facts: Fact[] = [
    [
      "Client",
      <TextLink key="client" to={`/desk/clients/${client.id}`} className="-my-3 wrap-anywhere">
        {client.name}
      </TextLink>,
    ],
    ...loaderData.facts.map(([label, text]): Fact => [label, text, "wrap-anywhere"]),
  ];
  return (
    <>
      <Title rejected={actionData !== undefined}>{`${document.name}: ${shipment.name}`}</Title>
      <ErrorSummary {...getIntentErrors(actionData)} />
      <h1 className="text-xl wrap-anywhere">{document.name}</h1>
      <p className="mb-3">
        <TextLink to={`/desk/shipments/${shipment.id}#document-${document.id}`} className="wrap-anywhere">
          {shipment.name}
        </TextLink>
      </p>
      <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div>
          {view && "kind" in view ? (
            <FileViewer key={src} kind={view.kind} src={src} name={document.name} download={download} />
          ) : (
            <p className="rounded-label border border-line p-4">{view?.problem ?? "This document has no file."}</p>
          )}
          {pages > 1 && <PageLinks pages={pages} current={pageNumber} />}
        </div>
        <div className="grid gap-6">
          <Decision {...loaderData} />
          <Card title="Facts">
            <FactList className="flex-col px-4 py-3" facts={facts} />
            {document.uploaded && (
              <p className="px-4 pb-4">
                <a href={download} className={buttonClass()}>
                  Download
                </a>
              </p>
            )}
          </Card>
        </div>
      </div>
    </>
  );
}

function PageLinks({ pages, current }: { pages: number; current: number }) {
  return (
    <nav aria-label="Pages of the file" className="flex flex-wrap gap-x-4">
      {Array.from({ length: pages }, (_, index) => index + 1).map((number) => (
        <TextLink
          key={number}
          to={`?page=${number}`}
          aria-current={number === current ? "page" : undefined}
          className="text-sm aria-[current=page]:font-semibold"
        >
          Page {number}
        </TextLink>
      ))}
    </nav>
  );
}

type ReviewData = Route.ComponentProps["loaderData"];

function Decision({ document, shipment, next }: ReviewData) {
  const state = getDocumentState(document);
  const { rejected } = useIntentForm("reject", []);
  const isHydrated = useIsHydrated();
  return (
    <Card title={document.rejected_at ? "New file needed" : deskDocumentStateLabels[state]}>
      <div className="px-4 pt-4">
        {document.rejected_at && (
          <p className="mb-4 wrap-anywhere">
            New file requested on {eastAfricaTime(document.rejected_at)}. Reason: {document.rejection_reason}
          </p>
        )}
        <div className="mb-4 flex flex-wrap items-center gap-3">
          {state === "uploaded" && (
            <IntentForm id={reviewIds.verify} intent="verify" expectedVersion={document.version} idempotent>
              <SubmitButton pending="Verifying…">Verify</SubmitButton>
            </IntentForm>
          )}
          {next && (
            <ButtonLink id={reviewIds.next} to={next.path}>
              Next to check
            </ButtonLink>
          )}
        </div>
        <p className="mb-4 text-sm text-quiet">
          {next ? `${next.count >= 100 ? "99+" : next.count} more to check. Next: ` : "No other documents to check."}
          {next && `${next.name}, ${next.shipment_name}`}
        </p>
        {((state === "uploaded" && !shipment.isClosed) || rejected) && <RejectionForm version={document.version} />}
        {isHydrated && <p className="mb-4 text-sm text-quiet">Keys: v verify, r request a new file, n next to check</p>}
      </div>
      {state === "verified" && (
        <ReasonForm intent="unverify" title="Undo verification" expectedVersion={document.version} idempotent />
      )}
    </Card>
  );
}

function RejectionForm({ version }: { version: number }) {
  const { intent, fields } = useIntentForm(reviewIds.reject, ["choice", "reason"]);
  return (
    <IntentForm intent={intent} expectedVersion={version} idempotent className="border-t border-line pt-4">
      <fieldset className="mb-3">
        <legend className="text-sm font-semibold">Reason for requesting a new file</legend>
        {[...REJECTION_REASONS, ""].map((reason) => (
          <label key={reason} className="flex min-h-11 items-center gap-3 text-sm">
            <input
              type="radio"
              name="choice"
              value={reason}
              defaultChecked={reason !== "" && fields.choice.value === reason}
              className="size-5 shrink-0"
            />
            {reason || "Other reason"}
          </label>
        ))}
      </fieldset>
      <TextField
        field={fields.reason}
        label="Other reason, or details"
        hint="The client sees this text. Example: page 2"
        rows={2}
      />
      <SubmitButton look="plain" pending="Requesting…">
        Request a new file
      </SubmitButton>
    </IntentForm>
  );
}
