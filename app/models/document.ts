/** Browsers load this file, so the file imports no library. */
import { maxFileBytes } from "../lib/forms/file-size.ts";

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

export const tooLargeHint =
  "Take the photo again at a lower quality, or send the file to us on WhatsApp with your shipment number.";

export function getFileProblem({ size, type = "" }: { size: number; type?: string }): string | null {
  if (/^(audio|video)/.test(type)) return "Choose a photo or document instead of a recording.";
  if (size === 0) return "This file is empty. Choose another file.";
  if (size > maxFileBytes) return `This file is over 10 MB. ${tooLargeHint}`;
  return null;
}

export function isViewable(mediaType: string | null): boolean {
  return /^image\/(jpeg|png|webp)$/.test(mediaType ?? "");
}

const largePhotoBytes = 500 * 1024;

export function isLargePhoto({ size, type }: { size: number; type: string }): boolean {
  return size > largePhotoBytes && isViewable(type);
}
