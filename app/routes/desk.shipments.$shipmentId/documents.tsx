import { ActForm, Folded, type RefusedAct, useAct } from "~/components/desk/act-form";
import { TextField } from "~/components/field";
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
  return (
    <li>
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-4 py-3">
        <div className="min-w-0">
          <p className="font-semibold">{document.name} </p>
          <p className={`text-sm ${states[state].colour}`}>{states[state].words} </p>
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
        <WithReason
          act="send-back"
          title="Send back"
          document={document}
          answer={answer}
          request={request}
          hint="Its client reads this, such as: page 2 is unreadable"
        />
      )}
      {state === "verified" && (
        <WithReason
          act="unverify"
          title="Take the verification back"
          document={document}
          answer={answer}
          request={request}
        />
      )}
    </li>
  );
}

function WithReason(props: {
  act: string;
  title: string;
  hint?: string;
  document: DeskDocument;
  answer: RefusedAct | undefined;
  request: string;
}) {
  const { act, title, hint, document, answer, request } = props;
  const { id, fields, refused } = useAct(act, answer, ["reason"], document.id);
  const name = <span className="sr-only"> the {document.name}</span>;
  return (
    <Folded
      open={refused !== undefined}
      title={
        <span>
          {title}
          {name}
        </span>
      }
    >
      <ActForm id={id} act={act} seen={document.version} request={request}>
        <input type="hidden" name="document" value={document.id} />
        <TextField field={fields.reason} label="Reason" hint={hint} rows={2} mandatory />
        <SubmitButton look="plain" pending="Saving…">
          {title}
          {name}
        </SubmitButton>
      </ActForm>
    </Folded>
  );
}
