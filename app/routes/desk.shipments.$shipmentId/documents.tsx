import { ActForm, ReasonForm, type RefusedAct, useAct } from "~/components/act-form";
import { Look } from "~/components/desk/look";
import { SubmitButton } from "~/components/form";
import { buttonLook } from "~/components/ui/button";
import { Card } from "~/components/ui/card";
import { eastAfricaTime } from "~/lib/dates";
import { inWords } from "~/lib/file-size";
import type { DeskDocument } from "~/models/desk.server";
import { documentState } from "~/models/document";
import { lastStage } from "~/models/shipment";
import type { SectionProps } from "./move-form";

const states = {
  missing: { words: "Not uploaded", colour: "text-needs-you" },
  uploaded: { words: "To check", colour: "text-with-us" },
  verified: { words: "Verified", colour: "text-done" },
};

/** The documents: opened, verified, sent back. */
export function Documents({ shipment, answer, request }: SectionProps) {
  return (
    <div id="documents">
      <Card title="Documents">
        <ul className="ruled">
          {shipment.documents.map((document) => (
            <Row
              key={document.id}
              page={`/desk/shipments/${shipment.id}`}
              document={document}
              isClosed={shipment.stage === lastStage}
              answer={answer}
              request={request}
            />
          ))}
        </ul>
      </Card>
    </div>
  );
}

type RowProps = {
  page: string;
  document: DeskDocument;
  isClosed: boolean;
  answer: RefusedAct | undefined;
  request: string;
};

function Row({ page, document, isClosed, answer, request }: RowProps) {
  const state = documentState(document);
  const verify = useAct("verify", answer, [], document.id);
  const form = {
    of: ` the ${document.name}`,
    on: { document: document.id },
    seen: document.version,
    request,
    answer,
  };
  return (
    <li id={`document-${document.id}`} className="scroll-mt-4 target:bg-sunken">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-4 py-3">
        <div className="min-w-0">
          <p className="font-semibold">{document.name} </p>
          <p className={`text-sm ${states[state].colour}`}>
            {document.sent_back_at ? "Sent back, waiting for another file" : states[state].words}{" "}
          </p>
          {document.uploaded && (
            <p className="text-sm wrap-anywhere text-quiet">
              {[
                document.file_name,
                document.file_size && inWords(document.file_size),
                document.uploaded_at && eastAfricaTime(document.uploaded_at),
              ]
                .filter(Boolean)
                .join(", ")}
            </p>
          )}
          {document.sent_back_at && (
            <p className="text-sm wrap-anywhere text-quiet">
              Sent back {eastAfricaTime(document.sent_back_at)}: {document.sent_back_reason}
            </p>
          )}
        </div>
        {document.uploaded && (
          <div className="flex flex-wrap gap-2">
            <a href={`${page}/documents/${document.id}`} className={buttonLook()}>
              Open<span className="sr-only"> the {document.name}</span>
            </a>
            {document.media_type?.startsWith("image/") && (
              <Look src={`${page}/documents/${document.id}`} name={document.name} />
            )}
            {state === "uploaded" && (
              <ActForm id={verify.id} act="verify" seen={document.version} request={request}>
                <input type="hidden" name="document" value={document.id} />
                <SubmitButton pending="Checking…">
                  Verify<span className="sr-only"> the {document.name}</span>
                </SubmitButton>
              </ActForm>
            )}
          </div>
        )}
      </div>
      {state === "uploaded" && !isClosed && (
        <ReasonForm
          act="send-back"
          title="Send back"
          hint="The client reads this, such as: page 2 is unreadable"
          {...form}
        />
      )}
      {state === "verified" && <ReasonForm act="unverify" title="Take the verification back" {...form} />}
    </li>
  );
}
