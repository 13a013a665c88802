/** What a client reads of a document: its state, and its file. */

import { shortDay, shortTime } from "../lib/dates.ts";
import { formatFileSize } from "../lib/forms/file-size.ts";
import { getDocumentState } from "./document.ts";

/** The columns it is told from; times in ISO 8601, `file_size` in bytes. */
type DescribedDocument = {
  id: string;
  name: string;
  uploaded: boolean;
  verified: boolean;
  rejected_at: string | null;
  rejection_reason: string | null;
  file_name: string | null;
  file_size: number | null;
  uploaded_at: string | null;
  version: number;
};

const stateTexts = { missing: "Not uploaded", uploaded: "Uploaded, we check it next", verified: "Verified" } as const;

/**
 * A document in words: "Sent back 12 May: page 2 is unreadable", and its file as "invoice-2291.pdf, 212 KB, 14:05 EAT". A
 * file from before names were kept goes by its document's. `address` is where the file of this `shipment` is opened and
 * taken back, with `search`, the filter of the list beside it. `timeOf` writes its time.
 */
export function describeDocument(document: DescribedDocument, shipment: string, search: string, timeOf = shortTime) {
  const { id, name, rejected_at, rejection_reason, file_name, file_size, uploaded_at, version } = document;
  const state = getDocumentState(document);
  const words = rejected_at ? `Sent back ${shortDay(rejected_at)}: ${rejection_reason}` : stateTexts[state];
  const file = [file_name ?? name, file_size && formatFileSize(file_size), uploaded_at && timeOf(uploaded_at)];
  return {
    id,
    name,
    state,
    words,
    file: document.uploaded ? file.filter(Boolean).join(", ") : null,
    address: `/portal/${shipment}/documents/${id}${search}`,
    version,
  };
}
