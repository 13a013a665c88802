import { BadgeCheck, CircleAlert, FileCheck, type IconNode } from "lucide";
import { useEffect, useRef } from "react";
import { Card } from "~/components/ui/card";
import { Icon } from "~/components/ui/icon";
import { useWhenIdle } from "~/components/when-idle";
import { eastAfricaTime } from "~/lib/dates";
import { acceptedKinds, type DocumentState, documentState } from "~/models/document";
import { useDrop, useNoStrayDrops } from "./drop";
import { UploadForm, type UploadRefused } from "./upload";
import { cancelAll, isSending, useIsSending } from "./uploads";

type Document = {
  id: string;
  name: string;
  uploaded: boolean;
  verified: boolean;
  sent_back_at: string | null;
  sent_back_reason: string | null;
};

const marks: Record<DocumentState, { icon: IconNode; text: string; colour: string }> = {
  missing: { icon: CircleAlert, text: "Not uploaded", colour: "text-needs-you" },
  uploaded: { icon: FileCheck, text: "Uploaded, we check it next", colour: "text-with-us" },
  verified: { icon: BadgeCheck, text: "Verified", colour: "text-done" },
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
  useNoStrayDrops();
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
      {!isClosed && documents.some(({ uploaded }) => !uploaded) && (
        <p className="border-t border-line px-4 py-3 text-sm text-quiet print:hidden">
          Up to 10 MB each: {acceptedKinds}. Larger files:{" "}
          <a className="underline" href={`mailto:${mail}`}>
            {mail}
          </a>
          .<span className="hidden scripted:pointer-fine:inline"> A file can also be dropped on its row.</span>
        </p>
      )}
    </Card>
  );
}

function DocumentRow(props: { document: Document; isClosed: boolean; refused: UploadRefused | undefined }) {
  const { document, isClosed, refused } = props;
  const state = documentState(document);
  const { icon: mark, text, colour } = marks[state];
  const field = useRef<HTMLInputElement>(null);
  const name = useRef<HTMLParagraphElement>(null);
  const { isOver, handlers } = useDrop(field);
  const before = useRef(state);
  useEffect(() => {
    // The form that had the focus is gone: the focus moves to the document's name.
    if (before.current !== state && window.document.activeElement === window.document.body) name.current?.focus();
    before.current = state;
  }, [state]);
  return (
    <li
      className={`px-4 py-3 outline-2 -outline-offset-4 outline-action ${isOver ? "outline-dashed" : "outline-none"}`}
      {...handlers}
    >
      <div className="flex items-center gap-3">
        <Icon of={mark} className={`size-5 shrink-0 ${colour}`} />
        <div>
          <p ref={name} tabIndex={-1} className="font-semibold">
            {document.name}
          </p>
          <p className={`text-sm wrap-anywhere ${colour}`}>
            {document.sent_back_at
              ? `Sent back ${eastAfricaTime(document.sent_back_at)}: ${document.sent_back_reason}`
              : text}
          </p>
        </div>
      </div>
      {state === "missing" && !isClosed && <UploadForm document={document} refused={refused} field={field} />}
    </li>
  );
}
