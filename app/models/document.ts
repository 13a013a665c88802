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
  uploaded: "Uploaded, we check it next",
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

/** A function instead of a constant, which the build would copy into each script file. */
export function describeAcceptedKinds(): string {
  return "PDF, photo (JPG, PNG, WebP, HEIC, TIFF), Word, Excel, ODT, RTF, CSV or text";
}

export function getExtension(fileName: string): string {
  return /\.([A-Za-z0-9]{1,8})$/.exec(fileName.trim())?.[1]?.toLowerCase() ?? "";
}

export const tooLargeHint = "Scan or photograph it at a lower quality, send fewer pages, or e-mail it to us";

export function getFileProblem({ name, size }: { name: string; size: number }): string | null {
  if (size === 0) return "This file is empty. Choose another one.";
  if (size > maxFileBytes) return `This file is over 10 MB. ${tooLargeHint}.`;
  if (!acceptedExtensions.split(",").includes(`.${getExtension(name)}`))
    return `We take ${describeAcceptedKinds()}. Choose a file of one of these kinds.`;
  return null;
}

const largePhotoBytes = 2 * 1024 * 1024;

/** True for a photo that the page's script resizes before the upload. Every browser can decode these types. */
export function isLargePhoto({ name, size }: { name: string; size: number }): boolean {
  return size > largePhotoBytes && ["jpg", "jpeg", "png", "webp"].includes(getExtension(name));
}
