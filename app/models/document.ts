/** Browsers load this file, so it imports no library. */
import { maxFileBytes } from "../lib/forms/file-size.ts";

/** The database adds these documents to each new shipment. */
export const DEFAULT_DOCUMENTS = [
  "Commercial Invoice",
  "Packing List",
  "Insurance Certificate",
  "Bill of Lading",
] as const;

export const fileFieldId = (document: string) => `file-${document}`;

export const documentStateLabels = {
  missing: "Not uploaded",
  uploaded: "Uploaded. We are checking your file",
  verified: "Verified",
} as const;
export type DocumentState = keyof typeof documentStateLabels;

export function getDocumentState(document: { uploaded: boolean; verified: boolean }): DocumentState {
  if (document.verified) return "verified";
  return document.uploaded ? "uploaded" : "missing";
}

export function sortDocuments<T extends { name: string }>(documents: readonly T[]): T[] {
  const rank = (name: string) => {
    const index = (DEFAULT_DOCUMENTS as readonly string[]).indexOf(name);
    return index === -1 ? DEFAULT_DOCUMENTS.length : index;
  };
  return [...documents].sort((a, b) => rank(a.name) - rank(b.name) || a.name.localeCompare(b.name));
}

/** For the `accept` attribute of a file field. FILE_TYPES in document-file.server.ts has the media types. */
export const acceptedExtensions =
  ".pdf,.jpg,.jpeg,.png,.webp,.heic,.tif,.tiff,.txt,.csv,.rtf,.doc,.docx,.xls,.xlsx,.odt";

export function getExtension(fileName: string): string {
  return /\.([A-Za-z0-9]{1,8})$/.exec(fileName.trim())?.[1]?.toLowerCase() ?? "";
}

export const tooLargeHint =
  "Take the photo again at a lower quality, or send the file on WhatsApp with your shipment number.";

export function getFileProblem({ name, size }: { name: string; size: number }): string | null {
  if (size === 0) return "This file is empty. Choose another file.";
  if (size > maxFileBytes) return `This file is over 10 MB. ${tooLargeHint}`;
  if (!acceptedExtensions.split(",").includes(`.${getExtension(name)}`))
    return "Choose a PDF, photo, Word, Excel or text file.";
  return null;
}

const largePhotoBytes = 500 * 1024;

/** True for a photo that the page's script resizes before the upload. Every browser can decode these types. */
export function isLargePhoto({ name, size }: { name: string; size: number }): boolean {
  return size > largePhotoBytes && ["jpg", "jpeg", "png", "webp"].includes(getExtension(name));
}
