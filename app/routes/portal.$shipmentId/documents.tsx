import { BadgeCheck, CircleAlert, FileCheck } from "lucide-react";
import { Form } from "react-router";
import { fileButtonLook, inputLook, SubmitButton } from "~/components/form";
import { Card } from "~/components/ui/card";
import type { Toast } from "~/lib/flash";
import { acceptedFiles, acceptedKinds, type DocumentState, documentState } from "~/models/document";

/** What the upload action answers when it took no file: for which document, when that is known, and why. */
export type UploadRefused = { document: string | null; toast: Toast };

/** The id of the file field of a document. */
export const fileFieldId = (document: string) => `file-${document}`;

type Document = { id: string; name: string; uploaded: boolean; verified: boolean };

const marks: Record<DocumentState, { icon: typeof BadgeCheck; text: string; colour: string }> = {
  missing: { icon: CircleAlert, text: "Not uploaded", colour: "text-needs-you" },
  uploaded: { icon: FileCheck, text: "Uploaded, we check it next", colour: "text-with-us" },
  verified: { icon: BadgeCheck, text: "Verified", colour: "text-done" },
};

/** Each document with its state, and an upload form while its file is awaited. */
export function Documents({ documents, refused }: { documents: Document[]; refused: UploadRefused | undefined }) {
  return (
    <Card title="Documents">
      <ul className="divide-y divide-line">
        {documents.map((document) => (
          <DocumentRow
            key={document.id}
            document={document}
            refused={refused?.document === document.id ? refused : undefined}
          />
        ))}
      </ul>
      <p className="border-t border-line px-4 py-3 text-sm text-quiet">Up to 10 MB each: {acceptedKinds}.</p>
    </Card>
  );
}

function DocumentRow({ document, refused }: { document: Document; refused: UploadRefused | undefined }) {
  const state = documentState(document);
  const { icon: Mark, text, colour } = marks[state];
  const id = fileFieldId(document.id);
  return (
    <li className="px-4 py-3">
      <div className="flex items-center gap-3">
        <Mark aria-hidden className={`size-5 shrink-0 ${colour}`} />
        <div>
          <p className="font-semibold">{document.name}</p>
          <p className={`text-sm ${colour}`}>{text}</p>
        </div>
      </div>
      {state === "missing" && (
        <Form method="post" encType="multipart/form-data" noValidate className="mt-3">
          <input type="hidden" name="document" value={document.id} />
          <label htmlFor={id} className="sr-only">
            File for the {document.name}
          </label>
          {refused && (
            <p id={`${id}-error`} className="mb-1 text-sm font-semibold text-failure">
              {refused.toast.description ?? refused.toast.title}
            </p>
          )}
          <div className="flex flex-wrap gap-2">
            <input
              id={id}
              name="file"
              type="file"
              accept={acceptedFiles}
              aria-invalid={refused ? true : undefined}
              aria-describedby={refused ? `${id}-error` : undefined}
              className={`${inputLook} ${fileButtonLook} flex-1 basis-52`}
            />
            <SubmitButton look="plain" pending="Uploading…">
              Upload
              <span className="sr-only"> the {document.name}</span>
            </SubmitButton>
          </div>
        </Form>
      )}
    </li>
  );
}
