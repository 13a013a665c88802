import { BadgeCheck, CircleAlert, FileCheck, type IconNode } from "lucide";
import { useEffect, useRef } from "react";
import { Form } from "react-router";
import { Button, buttonLook } from "~/components/ui/button";
import { Card } from "~/components/ui/card";
import { Icon } from "~/components/ui/icon";
import { useWhenIdle } from "~/components/when-idle";
import { acceptedKinds, type DocumentState } from "~/models/document";
import { UploadForm, type UploadRefused } from "./upload";
import { cancelAll, isSending, useIsSending } from "./uploads";

/** A document as its row says it: `words` tell its state, `file` its file, opened at `address`. */
type Document = {
  id: string;
  name: string;
  state: DocumentState;
  words: string;
  file: string | null;
  address: string;
  version: number;
};

const marks: Record<DocumentState, [icon: IconNode, colour: string]> = {
  missing: [CircleAlert, "text-needs-you"],
  uploaded: [FileCheck, "text-with-us"],
  verified: [BadgeCheck, "text-done"],
};

/**
 * Each document with its state, and an upload form while its file is awaited; a closed shipment asks for none. `mail` is
 * where larger files go.
 */
export function Documents(props: {
  documents: Document[];
  isClosed: boolean;
  mail: string | undefined;
  refused: UploadRefused | undefined;
}) {
  const { documents, isClosed, mail, refused } = props;
  const sending = useIsSending();
  const AskBeforeLeaving = useWhenIdle(() => import("./leaving"));
  return (
    <Card title="Documents">
      {AskBeforeLeaving && <AskBeforeLeaving sending={sending} isSending={isSending} cancelAll={cancelAll} />}
      <ul className="ruled">
        {documents.map((document) => (
          <DocumentRow
            key={document.id}
            document={document}
            isClosed={isClosed}
            refused={refused?.document === document.id ? refused : undefined}
          />
        ))}
      </ul>
      {!isClosed && documents.some(({ state }) => state === "missing") && (
        <p className="border-t border-line px-4 py-3 text-sm text-quiet print:hidden">
          Up to 10 MB each: {acceptedKinds}. Larger files:{" "}
          <a className="underline" href={`mailto:${mail}`}>
            {mail}
          </a>
          .
          {AskBeforeLeaving && (
            <span className="hidden pointer-fine:inline"> A file can also be dropped on its row.</span>
          )}
        </p>
      )}
    </Card>
  );
}

function DocumentRow(props: { document: Document; isClosed: boolean; refused: UploadRefused | undefined }) {
  const { document, isClosed, refused } = props;
  const { name, state, words, file, address, version } = document;
  const [mark, colour] = marks[state];
  const field = useRef<HTMLInputElement>(null);
  const title = useRef<HTMLParagraphElement>(null);
  const before = useRef(state);
  useEffect(() => {
    // The form that had the focus is gone: the focus moves to the document's name.
    if (before.current !== state && window.document.activeElement === window.document.body) title.current?.focus();
    before.current = state;
  }, [state]);
  return (
    <li className="px-4 py-3 -outline-offset-4 data-over:outline-2 data-over:outline-dashed data-over:outline-action">
      <div className="flex flex-wrap items-center gap-3">
        <Icon of={mark} className={`size-5 shrink-0 ${colour}`} />
        <div className="flex-1 basis-40">
          <p ref={title} tabIndex={-1} className="font-semibold">
            {name}
          </p>
          <p className={`text-sm wrap-anywhere ${colour}`}>{words}</p>
          {file && <p className="text-sm wrap-anywhere text-quiet">{file}</p>}
        </div>
        {file && (
          <Form
            method="post"
            action={address}
            preventScrollReset
            className="flex flex-wrap gap-2 md:flex-col md:items-end print:hidden"
          >
            <a href={address} className={buttonLook()}>
              Open<span className="sr-only"> the {name}</span>
            </a>
            {state === "uploaded" && !isClosed && (
              <Button name="seen" value={version} look="quiet">
                Take it back<span className="sr-only">: the {name}</span>
              </Button>
            )}
          </Form>
        )}
      </div>
      {state === "missing" && !isClosed && <UploadForm document={document} refused={refused} field={field} />}
    </li>
  );
}
