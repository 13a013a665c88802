import type { RouterContextProvider } from "react-router";
import type { Viewer } from "~/lib/auth/viewer.server";
import { readUpload } from "~/lib/forms/form-data.server";
import { createErrorToast } from "~/lib/forms/rejected-form.server";
import type { Toast } from "~/lib/http/toast";
import { type UserError, userErrorFromThrown } from "~/lib/http/user-error.server";
import { tooLargeHint } from "~/models/document";
import { uploadDocument } from "~/models/document.server";

/** `status` is an HTTP status. Only a stored file has the status 200. */
export type UploadResult = { toast: Toast; status: number };

type UploadTarget = { id: string; documents: { id: string; name: string }[] };

/**
 * `documentId` in the result is null if the form contains no document ID of this shipment. Throws a response for the
 * error page if the request contains no upload form.
 */
export function storeUploadedFile(
  context: Readonly<RouterContextProvider>,
  client: Viewer,
  shipment: UploadTarget,
  request: Request,
): Promise<UploadResult & { documentId: string | null }> {
  return readUpload(request, context, client.id, async (form) => {
    const fields = form instanceof FormData ? form : form.fields;
    const document = shipment.documents.find(({ id }) => id === fields.get("document"));
    const store = async (): Promise<UploadResult> => {
      if (!(form instanceof FormData)) {
        const reason = form.status === 413 ? explainTooLarge(form.reason) : form.reason;
        return createFailedResult({ reason, status: form.status });
      }
      if (!document) return createFailedResult(noDocumentError);
      const file = form.get("file");
      if (!(file instanceof File) || (file.name === "" && file.size === 0))
        return { toast: createErrorToast("No file selected."), status: 400 };
      const content = new Uint8Array(await file.arrayBuffer());
      return storeFileContent(client, shipment.id, document, { name: file.name, content });
    };
    return { documentId: document?.id ?? null, ...(await store()) };
  });
}

export async function storeFileContent(
  client: Viewer,
  shipmentId: string,
  document: UploadTarget["documents"][number],
  file: { name: string; content: Uint8Array },
): Promise<UploadResult> {
  const failed = await uploadDocument(client, { ...document, shipmentId }, file).catch((error: unknown) => ({
    ...userErrorFromThrown(error),
    title: "Upload failed" as const,
  }));
  if (!failed) return createStoredResult(document);
  return { toast: createErrorToast(failed.title, failed.reason), status: failed.status };
}

export function createStoredResult({ name }: { name: string }): UploadResult {
  const toast: Toast = { title: `${name} uploaded`, description: "We will check your file.", variant: "default" };
  return { toast, status: 200 };
}

export function explainTooLarge(reason: string): string {
  return `${reason} ${tooLargeHint}`;
}

export function createFailedResult({ reason, status }: UserError): UploadResult {
  return { toast: createErrorToast("Upload failed", reason), status };
}

export const noDocumentError: UserError = { reason: "Choose the document that the file belongs to.", status: 400 };

export const noShipmentError: UserError = { reason: "Shipment not found.", status: 404 };
