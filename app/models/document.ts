/** Documents of a shipment: which there are and which files they take. Goes to the browser: no library. */
import { maxFileBytes } from "../lib/forms/file-size.ts";
import type { DocumentState } from "./labels.ts";

/** The documents every shipment begins with, in the order they are shown. The database adds them. */
export const DEFAULT_DOCUMENTS = [
  "Commercial Invoice",
  "Packing List",
  "Insurance Certificate",
  "Bill of Lading",
] as const;

/** The id of the file field of a document on its page. */
export const fileFieldId = (document: string) => `file-${document}`;

/** What the client sees of a document: its file awaited, in our hands, or checked. */
export function getDocumentState(document: { uploaded: boolean; verified: boolean }): DocumentState {
  if (document.verified) return "verified";
  return document.uploaded ? "uploaded" : "missing";
}

/** Sorts documents as DEFAULT_DOCUMENTS has them, others after, by name. */
export function sortDocuments<T extends { name: string }>(documents: readonly T[]): T[] {
  const place = (name: string) => {
    const index = (DEFAULT_DOCUMENTS as readonly string[]).indexOf(name);
    return index === -1 ? DEFAULT_DOCUMENTS.length : index;
  };
  return [...documents].sort((a, b) => place(a.name) - place(b.name) || a.name.localeCompare(b.name));
}

/** The extensions of accepted files, as the `accept` attribute of a file field has them; document.server.ts has their types. */
export const acceptedExtensions =
  ".pdf,.jpg,.jpeg,.png,.webp,.heic,.tif,.tiff,.txt,.csv,.rtf,.doc,.docx,.xls,.xlsx,.odt";

/** Returns the accepted kinds of files in words. A constant would be copied into each file of script. */
export function describeAcceptedKinds(): string {
  return "PDF, photo (JPG, PNG, WebP, HEIC, TIFF), Word, Excel, ODT, RTF, CSV or text";
}

/** The extension of a file name in lower case, without the dot; "" without one. */
export function getExtension(fileName: string): string {
  return /\.([A-Za-z0-9]{1,8})$/.exec(fileName.trim())?.[1]?.toLowerCase() ?? "";
}

/** What can be done about a file over the limit; where to e-mail it stands below the documents. */
export const tooLargeHint = "Scan or photograph it at a lower quality, send fewer pages, or e-mail it to us";

/** Why a file is not taken, as far as its name and its size in bytes tell; null when they are fine. */
export function getFileProblem({ name, size }: { name: string; size: number }): string | null {
  if (size === 0) return "This file is empty. Choose another one.";
  if (size > maxFileBytes) return `This file is over 10 MB. ${tooLargeHint}.`;
  if (!acceptedExtensions.split(",").includes(`.${getExtension(name)}`))
    return `We take ${describeAcceptedKinds()}. Choose a file of one of these kinds.`;
  return null;
}

/** Photos over this many bytes are made smaller before they are sent, where script runs. */
const largePhotoBytes = 2 * 1024 * 1024;

/** Whether a file is a photo that is worth making smaller, and of a kind every browser can read. */
export function isLargePhoto({ name, size }: { name: string; size: number }): boolean {
  return size > largePhotoBytes && ["jpg", "jpeg", "png", "webp"].includes(getExtension(name));
}
