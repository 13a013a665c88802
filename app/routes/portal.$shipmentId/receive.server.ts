/** Taking the file of a document, whichever address it was posted to. */
import type { RouterContextProvider } from "react-router";
import { failure } from "~/lib/answer.server";
import { theCompany } from "~/lib/content.server";
import type { Toast } from "~/lib/flash";
import { readUpload } from "~/lib/form.server";
import { refusalOfThrown } from "~/lib/refusal.server";
import type { Client } from "~/lib/session.server";
import { ifTooLarge } from "~/models/document";
import { uploadDocument } from "~/models/document.server";

/** The outcome: the document's id if known, the toast, and the status, 200 when the file is stored. */
export type Received = { document: string | null; toast: Toast; status: number };

type Shipment = { id: string; documents: { id: string; name: string }[] };

/**
 * Stores the file of an upload form (`document` and `file`) of a shipment of the client's, or says why not.
 * Throws an answer for the error page when the request is no such form.
 */
export function receiveFile(
  context: Readonly<RouterContextProvider>,
  client: Client,
  shipment: Shipment,
  request: Request,
): Promise<Received> {
  return readUpload(request, context, client.id, async (form) => {
    if (!(form instanceof FormData)) {
      const id = form.typed.get("document");
      const known = shipment.documents.find((document) => document.id === id);
      const reason =
        form.status === 413 ? `${form.reason} ${ifTooLarge}: ${theCompany.offices[0]?.email}.` : form.reason;
      return notReceived(known?.id ?? null, "Upload failed", reason, form.status);
    }
    const document = shipment.documents.find(({ id }) => id === form.get("document"));
    const file = form.get("file");
    if (!document) return notReceived(null, "Upload failed", "Choose the document that the file belongs to.", 400);
    if (!(file instanceof File) || (file.name === "" && file.size === 0)) {
      return notReceived(document.id, "No file selected.", undefined, 400);
    }
    const failed = await uploadDocument(client, { ...document, shipmentId: shipment.id }, file).catch(
      (error: unknown) => ({ ...refusalOfThrown(error), title: "Upload failed" }),
    );
    if (failed) return notReceived(document.id, failed.title, failed.reason, failed.status);
    const toast: Toast = { title: `${document.name} uploaded`, description: "We check it next.", variant: "default" };
    return { document: document.id, toast, status: 200 };
  });
}

function notReceived(document: string | null, title: string, reason: string | undefined, status: number): Received {
  return { document, toast: failure(title, reason), status };
}
