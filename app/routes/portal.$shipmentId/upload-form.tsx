import { type FormEvent, type RefObject, useEffect, useRef } from "react";
import { Form, useLocation, useNavigate } from "react-router";
import { fileButtonClass, inputClass } from "~/components/forms/field";
import { SubmitButton } from "~/components/forms/form";
import { revalidateUntilLoaded } from "~/components/offline/connection-lost";
import { useIdleImport } from "~/components/ui/idle-import";
import { showToast } from "~/components/ui/toast-state";
import type { Toast } from "~/lib/http/toast";
import { fileFieldId } from "~/models/document";
import {
  cancelAllUploads,
  cancelUpload,
  chooseFile,
  getFileToSend,
  removeUpload,
  sendUpload,
  setSendsOriginal,
  type Upload,
  useUpload,
} from "./upload-queue";

/** `document` is null if the form contained no document ID of this shipment. */
export type RejectedUpload = { document: string | null; toast: Toast };

/** Without JavaScript, the form posts the file to the page. JavaScript sends the file in the background. */
export function UploadForm(props: {
  document: { id: string; name: string };
  accept: string;
  rejected: RejectedUpload | undefined;
  field: RefObject<HTMLInputElement | null>;
}) {
  const { document, accept, rejected, field } = props;
  const upload = useUpload(document.id);
  const button = useRef<HTMLButtonElement>(null);
  const isOnItsWay = upload !== null && upload.sentBytes !== null;
  const start = useSendUpload(document.id);
  const parts = useIdleImport(() => import("./upload-progress"));
  useSyncFileField(document.id, upload, field);
  useRestoreFocus(isOnItsWay, button);

  const submit = (event: FormEvent) => {
    // If no file is chosen, the browser submits the empty form, and the server responds with an error.
    if (!upload) return;
    event.preventDefault();
    void start();
  };
  const rejectionReason = rejected && (rejected.toast.description ?? rejected.toast.title);
  const problem = upload ? upload.problem : rejectionReason;
  const retries = upload?.problem && upload.canRetry;
  const id = fileFieldId(document.id);
  return (
    <>
      <Form
        method="post"
        encType="multipart/form-data"
        noValidate
        className="mt-3"
        hidden={isOnItsWay}
        onSubmit={submit}
      >
        <input type="hidden" name="document" value={document.id} />
        <label htmlFor={id} className="sr-only">
          File for the {document.name}
        </label>
        {problem && (
          <p id={`${id}-error`} className="mb-1 text-sm font-semibold text-failure">
            {problem}
          </p>
        )}
        <div className="flex flex-wrap gap-2">
          <input
            ref={field}
            id={id}
            name="file"
            type="file"
            accept={accept}
            // biome-ignore lint/a11y/noAutofocus: without JavaScript, `autoFocus` makes the browser scroll to the error.
            autoFocus={rejected !== undefined}
            aria-invalid={problem ? true : undefined}
            aria-describedby={problem ? `${id}-error` : undefined}
            className={`${inputClass} ${fileButtonClass} flex-1 scroll-mt-36 basis-52`}
            onChange={({ currentTarget: { files } }) =>
              files?.[0] ? chooseFile(document.id, files[0]) : removeUpload(document.id)
            }
          />
          <SubmitButton ref={button} look="plain" pending="Uploading…" sending={upload ? isOnItsWay : undefined}>
            {retries ? "Try again" : "Upload"}
            <span className="sr-only">{retries ? ` with the ${document.name}` : ` the ${document.name}`}</span>
          </SubmitButton>
        </div>
        {upload && parts && (
          <parts.Photo upload={upload} onChoose={(asChosen) => setSendsOriginal(document.id, asChosen)} />
        )}
      </Form>
      {isOnItsWay &&
        (parts ? (
          <parts.Sending
            name={document.name}
            upload={upload}
            file={getFileToSend(upload)}
            onCancel={() => cancelUpload(document.id)}
          />
        ) : (
          <p className="mt-3 text-sm text-quiet">Uploading…</p>
        ))}
    </>
  );
}

function useSendUpload(id: string): () => Promise<void> {
  const { pathname, search } = useLocation();
  const navigate = useNavigate();
  return async () => {
    const outcome = await sendUpload(id, `${pathname}/documents`);
    if (outcome?.kind === "ended") {
      cancelAllUploads();
      await navigate(`${outcome.login}?next=${encodeURIComponent(pathname + search)}`);
    } else if (outcome?.kind === "stored") {
      showToast(outcome.toast);
      await revalidateUntilLoaded();
      removeUpload(id);
    } else if (outcome?.kind === "rejected" && outcome.status === 409) {
      // Status 409: the document already has a file, from another tab or from an upload whose response was lost.
      await revalidateUntilLoaded();
    }
  };
}

/** On mount, stores a file that was chosen before hydration. Otherwise puts the stored file back into the field. */
function useSyncFileField(id: string, upload: Upload | null, field: RefObject<HTMLInputElement | null>): void {
  useEffect(() => {
    const input = field.current;
    const [picked] = input?.files ?? [];
    if (picked) chooseFile(id, picked);
    else if (input && upload) {
      const transfer = new DataTransfer();
      transfer.items.add(upload.original);
      input.files = transfer.files;
    }
  }, []);
}

/** Moves the focus to `target` if a change of `state` has removed the focused element. */
export function useRestoreFocus(state: unknown, target: RefObject<HTMLElement | null>): void {
  const previousState = useRef(state);
  useEffect(() => {
    if (previousState.current !== state && document.activeElement === document.body) target.current?.focus();
    previousState.current = state;
  }, [state, target]);
}
