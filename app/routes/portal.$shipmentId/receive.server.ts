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
      const reason = form.status === 413 ? tooLarge(form.reason) : form.reason;
      return notReceived(known?.id ?? null, "Upload failed", reason, form.status);
    }
    const document = shipment.documents.find(({ id }) => id === form.get("document"));
    const file = form.get("file");
    if (!document) return notReceived(null, "Upload failed", "Choose the document that the file belongs to.", 400);
    if (!(file instanceof File) || (file.name === "" && file.size === 0)) {
      return notReceived(document.id, "No file selected.", undefined, 400);
    }
    return receiveContent(client, shipment.id, document, {
      name: file.name,
      content: new Uint8Array(await file.arrayBuffer()),
    });
  });
}

/** Stores the bytes of a document's file, however they came, and says so; or why not. */
export async function receiveContent(
  client: Client,
  shipmentId: string,
  document: Shipment["documents"][number],
  file: { name: string; content: Uint8Array },
): Promise<Received> {
  const failed = await uploadDocument(client, { ...document, shipmentId }, file).catch((error: unknown) => ({
    ...refusalOfThrown(error),
    title: "Upload failed",
  }));
  if (failed) return notReceived(document.id, failed.title, failed.reason, failed.status);
  return received(document);
}

/** What is said of a document whose file is stored. */
export function received({ id, name }: Shipment["documents"][number]): Received {
  const toast: Toast = { title: `${name} uploaded`, description: "We check it next.", variant: "default" };
  return { document: id, toast, status: 200 };
}

/** A file over the limit, which `reason` names: what can be done about it. */
export function tooLarge(reason: string): string {
  return `${reason} ${ifTooLarge}: ${theCompany.offices[0]?.email}.`;
}

function notReceived(document: string | null, title: string, reason: string | undefined, status: number): Received {
  return { document, toast: failure(title, reason), status };
}
