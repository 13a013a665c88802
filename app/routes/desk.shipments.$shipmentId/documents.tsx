import { SubmitButton } from "~/components/forms/form";
import { IntentForm, ReasonForm } from "~/components/forms/intent-form";
import { buttonClass, TextLink } from "~/components/ui/button";
import { Card } from "~/components/ui/card";
import { eastAfricaTime } from "~/lib/dates";
import { formatFileSize } from "~/lib/forms/file-size";
import type { DeskDocument } from "~/models/desk.server";
import { deskDocumentStateLabels } from "~/models/desk-labels";
import { getDocumentState } from "~/models/document";
import { lastStage } from "~/models/shipment";
import type { ShipmentSectionProps } from "./stage-card";

const stateColours = { missing: "text-attention", uploaded: "text-with-us", verified: "text-done" };

export function Documents({ shipment, search }: ShipmentSectionProps & { search: string }) {
  return (
    <div id="documents">
      <Card title="Documents">
        <ul className="ruled">
          {shipment.documents.map((document) => (
            <DeskDocumentRow
              key={document.id}
              page={`/desk/shipments/${shipment.id}`}
              document={document}
              search={search}
              isClosed={shipment.stage === lastStage}
            />
          ))}
        </ul>
      </Card>
    </div>
  );
}

function DeskDocumentRow(props: { page: string; document: DeskDocument; search: string; isClosed: boolean }) {
  const { page, document, search, isClosed } = props;
  const state = getDocumentState(document);
  const form = {
    subject: `: ${document.name}`,
    values: { document: document.id },
    expectedVersion: document.version,
    idempotent: true,
  };
  return (
    <li id={`document-${document.id}`} className="scroll-mt-4 target:bg-sunken">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-4 py-3">
        <div className="min-w-0">
          <p className="font-semibold">{document.name} </p>
          <p className={`text-sm ${stateColours[state]}`}>
            {document.rejected_at ? "New file needed" : deskDocumentStateLabels[state]}{" "}
          </p>
          {document.uploaded && (
            <p className="text-sm wrap-anywhere text-quiet">
              {[
                document.file_name,
                document.file_size && formatFileSize(document.file_size),
                document.uploaded_at && eastAfricaTime(document.uploaded_at),
              ]
                .filter(Boolean)
                .join(", ")}
              {document.added && `. ${document.added}`}
            </p>
          )}
          {document.rejected_at && (
            <p className="text-sm wrap-anywhere text-quiet">
              New file requested on {eastAfricaTime(document.rejected_at)}. Reason: {document.rejection_reason}
            </p>
          )}
        </div>
        {document.uploaded && (
          <div className="flex flex-wrap gap-2">
            <a href={`${page}/documents/${document.id}`} className={buttonClass()}>
              Review<span className="sr-only">: {document.name}</span>
            </a>
            {state === "uploaded" && (
              <IntentForm intent="verify" values={form.values} expectedVersion={document.version} idempotent>
                <SubmitButton pending="Verifying…">
                  Verify<span className="sr-only">: {document.name}</span>
                </SubmitButton>
              </IntentForm>
            )}
          </div>
        )}
        {!isClosed && (state === "missing" || (state === "uploaded" && document.added)) && (
          <TextLink
            to={`${page}/${state === "missing" ? "add" : "remove"}-file/${document.id}${search}`}
            className="text-sm"
          >
            {state === "missing" ? "Add a file" : "Remove file"}
            <span className="sr-only">: {document.name}</span>
          </TextLink>
        )}
      </div>
      {state === "uploaded" && !isClosed && (
        <ReasonForm
          intent="reject"
          title="Request a new file"
          hint="The client sees this reason. Example: page 2 is unreadable"
          {...form}
        />
      )}
      {state === "verified" && <ReasonForm intent="unverify" title="Undo verification" {...form} />}
    </li>
  );
}
