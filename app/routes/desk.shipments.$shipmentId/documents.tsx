import { useState } from "react";
import { SubmitButton } from "~/components/forms/form";
import { IntentForm, ReasonForm } from "~/components/forms/intent-form";
import { Button, buttonClass } from "~/components/ui/button";
import { Card } from "~/components/ui/card";
import { useIsHydrated } from "~/components/ui/hydration";
import { eastAfricaTime } from "~/lib/dates";
import { formatFileSize } from "~/lib/forms/file-size";
import type { DeskDocument } from "~/models/desk.server";
import { deskDocumentStateLabels } from "~/models/desk-labels";
import { getDocumentState, isViewable } from "~/models/document";
import { lastStage } from "~/models/shipment";
import type { ShipmentSectionProps } from "./stage-card";

const stateColours = { missing: "text-attention", uploaded: "text-with-us", verified: "text-done" };

export function Documents({ shipment }: ShipmentSectionProps) {
  return (
    <div id="documents">
      <Card title="Documents">
        <ul className="ruled">
          {shipment.documents.map((document) => (
            <DeskDocumentRow
              key={document.id}
              page={`/desk/shipments/${shipment.id}`}
              document={document}
              isClosed={shipment.stage === lastStage}
            />
          ))}
        </ul>
      </Card>
    </div>
  );
}

function DeskDocumentRow({ page, document, isClosed }: { page: string; document: DeskDocument; isClosed: boolean }) {
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
              Open<span className="sr-only">: {document.name}</span>
            </a>
            {isViewable(document.media_type) && (
              <DocumentPreview src={`${page}/documents/${document.id}`} name={document.name} />
            )}
            {state === "uploaded" && (
              <IntentForm intent="verify" values={form.values} expectedVersion={document.version} idempotent>
                <SubmitButton pending="Verifying…">
                  Verify<span className="sr-only">: {document.name}</span>
                </SubmitButton>
              </IntentForm>
            )}
          </div>
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

/** Loads the preview only after a click, because the server records each opened file in the audit log. */
function DocumentPreview({ src, name }: { src: string; name: string }) {
  const isHydrated = useIsHydrated();
  const [isShown, setShown] = useState(false);
  const [isBroken, setBroken] = useState(false);
  if (!isHydrated) return null;
  return (
    <>
      <Button type="button" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
        {isShown ? "Hide preview" : "Preview"}
        <span className="sr-only">: {name}</span>
      </Button>
      {isShown && !isBroken && (
        <img src={src} alt={`Preview: ${name}`} className="w-full" onError={() => setBroken(true)} />
      )}
      {isShown && isBroken && <p className="w-full text-sm">We cannot show a preview. Open the file instead.</p>}
    </>
  );
}
