import { z } from "zod";
import type { UserError } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { parseResult } from "../lib/supabase/result.server.ts";
import { DeskDocument } from "./desk.server.ts";
import { queryDocumentReview } from "./desk-query.server.ts";
import { ViewedFile } from "./document-view.server.ts";
import { ShipmentRecord } from "./shipment-fields.server.ts";

/** `count` is the number of documents to check, without the opened document, and at most 100. */
const NextDocument = z.object({
  id: z.string(),
  shipment_id: z.string(),
  name: z.string(),
  shipment_name: z.string(),
  count: z.number(),
});
type NextDocument = z.infer<typeof NextDocument>;

const OpenedDocument = z.object({
  document: DeskDocument,
  file: ViewedFile,
  shipment: ShipmentRecord,
  client: z.object({ id: z.string(), name: z.string() }),
  next: NextDocument.nullable(),
});

export const DocumentReviewPage = z.object({ opened: OpenedDocument.nullable() });
export type DocumentReviewPage = z.infer<typeof DocumentReviewPage>;

export const getReviewPath = (shipment: string, document: string) =>
  `/desk/shipments/${shipment}/documents/${document}`;

export async function findNextDocument(
  supabase: AppSupabaseClient,
  shipment: string,
  document: string,
): Promise<{ shipmentName: string; next: NextDocument | null } | UserError> {
  const query = queryDocumentReview(shipment, document);
  const page = query ? parseResult(DocumentReviewPage, await query(supabase)) : { opened: null };
  if ("reason" in page) return page;
  const { opened } = page;
  return opened
    ? { shipmentName: opened.shipment.name, next: opened.next }
    : { reason: "Document not found.", status: 404 };
}
