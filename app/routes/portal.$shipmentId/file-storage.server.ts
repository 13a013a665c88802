import type { RouterContextProvider } from "react-router";
import type { Viewer } from "~/lib/auth/viewer.server";
import { readUpload } from "~/lib/forms/form-data.server";
import { createErrorToast } from "~/lib/forms/rejected-form.server";
import type { Toast } from "~/lib/http/toast";
import { type UserError, userErrorFromThrown } from "~/lib/http/user-error.server";
import { tooLargeHint } from "~/models/document";
import { uploadDocument } from "~/models/document.server";

/** `documentId` is null if the form names no document of this shipment. `status` is 200 if the file is stored. */
export type StoreFileResult = { documentId: string | null; toast: Toast; status: number };

export type UploadResult = Pick<StoreFileResult, "toast" | "status">;

type UploadTarget = { id: string; documents: { id: string; name: string }[] };

/** Throws a response for the error page if the request contains no upload form. */
export function storeUploadedFile(
  context: Readonly<RouterContextProvider>,
  client: Viewer,
  shipment: UploadTarget,
  request: Request,
): Promise<StoreFileResult> {
  return readUpload(request, context, client.id, async (form) => {
    if (!(form instanceof FormData)) {
      const id = form.fields.get("document");
      const document = shipment.documents.find((item) => item.id === id);
      const reason = form.status === 413 ? explainTooLarge(form.reason) : form.reason;
      return { documentId: document?.id ?? null, ...createFailedResult({ reason, status: form.status }) };
    }
    const document = shipment.documents.find(({ id }) => id === form.get("document"));
    const file = form.get("file");
    if (!document) return { documentId: null, ...createFailedResult(noDocumentError) };
    if (!(file instanceof File) || (file.name === "" && file.size === 0)) {
      return { documentId: document.id, toast: createErrorToast("No file selected."), status: 400 };
    }
    return storeFileContent(client, shipment.id, document, {
      name: file.name,
      content: new Uint8Array(await file.arrayBuffer()),
    });
  });
}

export async function storeFileContent(
  client: Viewer,
  shipmentId: string,
  document: UploadTarget["documents"][number],
  file: { name: string; content: Uint8Array },
): Promise<StoreFileResult> {
  const failed = await uploadDocument(client, { ...document, shipmentId }, file).catch((error: unknown) => ({
    ...userErrorFromThrown(error),
    title: "Upload failed" as const,
  }));
  if (!failed) return createStoredResult(document);
  return { documentId: document.id, toast: createErrorToast(failed.title, failed.reason), status: failed.status };
}

export function createStoredResult({ id, name }: UploadTarget["documents"][number]): StoreFileResult {
  const toast: Toast = { title: `${name} uploaded`, description: "We will check your file.", variant: "default" };
  return { documentId: id, toast, status: 200 };
}

export function explainTooLarge(reason: string): string {
  return `${reason} ${tooLargeHint}`;
}

export function createFailedResult({ reason, status }: UserError): UploadResult {
  return { toast: createErrorToast("Upload failed", reason), status };
}

export const noDocumentError: UserError = { reason: "Choose the document that the file belongs to.", status: 400 };

export const noShipmentError: UserError = { reason: "Shipment not found.", status: 404 };
