import type { RouterContextProvider } from "react-router";
import type { Viewer } from "~/lib/auth/viewer.server";
import { readUpload } from "~/lib/forms/form-data.server";
import { createErrorToast, type ErrorTitle } from "~/lib/forms/rejected-form.server";
import type { Toast } from "~/lib/http/toast";
import { userErrorFromThrown } from "~/lib/http/user-error.server";
import { companyDetails } from "~/models/content.server";
import { tooLargeHint } from "~/models/document";
import { uploadDocument } from "~/models/document.server";

/** `documentId` is null if unknown. `status` is 200 if the file is stored. */
export type StoreFileResult = { documentId: string | null; toast: Toast; status: number };

type UploadTarget = { id: string; documents: { id: string; name: string }[] };

/** Throws a response for the error page if the request is no upload form. */
export function storeUploadedFile(
  context: Readonly<RouterContextProvider>,
  client: Viewer,
  shipment: UploadTarget,
  request: Request,
): Promise<StoreFileResult> {
  return readUpload(request, context, client.id, async (form) => {
    if (!(form instanceof FormData)) {
      const id = form.fields.get("document");
      const known = shipment.documents.find((document) => document.id === id);
      const reason = form.status === 413 ? explainTooLarge(form.reason) : form.reason;
      return createRejectedResult(known?.id ?? null, "Upload failed", reason, form.status);
    }
    const document = shipment.documents.find(({ id }) => id === form.get("document"));
    const file = form.get("file");
    if (!document)
      return createRejectedResult(null, "Upload failed", "Choose the document that the file belongs to.", 400);
    if (!(file instanceof File) || (file.name === "" && file.size === 0)) {
      return createRejectedResult(document.id, "No file selected.", undefined, 400);
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
  if (failed) return createRejectedResult(document.id, failed.title, failed.reason, failed.status);
  return createStoredResult(document);
}

export function createStoredResult({ id, name }: UploadTarget["documents"][number]): StoreFileResult {
  const toast: Toast = { title: `${name} uploaded`, description: "We check it next.", variant: "default" };
  return { documentId: id, toast, status: 200 };
}

export function explainTooLarge(reason: string): string {
  return `${reason} ${tooLargeHint}: ${companyDetails.offices[0]?.email}.`;
}

function createRejectedResult(
  document: string | null,
  title: ErrorTitle,
  reason: string | undefined,
  status: number,
): StoreFileResult {
  return { documentId: document, toast: createErrorToast(title, reason), status };
}
