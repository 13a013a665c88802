/** Which kinds of files a document takes, told by their ending and their content. */
import { fileTypeFromBuffer } from "file-type";
import type { UserError } from "../lib/http/user-error.server.ts";
import { getExtension, getFileProblem } from "./document.ts";

/** Accepted files: media type by extension. The bucket accepts the same types. */
export const FILE_TYPES: Readonly<Record<string, string>> = {
  pdf: "application/pdf",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  png: "image/png",
  webp: "image/webp",
  heic: "image/heic",
  tif: "image/tiff",
  tiff: "image/tiff",
  txt: "text/plain",
  csv: "text/csv",
  rtf: "application/rtf",
  doc: "application/msword",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  xls: "application/vnd.ms-excel",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  odt: "application/vnd.oasis.opendocument.text",
};

/** What the signature of a file with this extension may be. Text has none. */
const signatures: Readonly<Record<string, readonly string[]>> = {
  pdf: ["application/pdf"],
  jpg: ["image/jpeg"],
  jpeg: ["image/jpeg"],
  png: ["image/png"],
  webp: ["image/webp"],
  heic: ["image/heic", "image/heif", "image/heic-sequence", "image/heif-sequence"],
  tif: ["image/tiff"],
  tiff: ["image/tiff"],
  rtf: ["application/rtf"],
  doc: ["application/x-cfb"],
  xls: ["application/x-cfb"],
  docx: ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", "application/zip"],
  xlsx: ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "application/zip"],
  odt: ["application/vnd.oasis.opendocument.text", "application/zip"],
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: they show that a file is not text
const controlCharacters = /[\u0000-\u0008\u000b\u000e-\u001f]/;

/**
 * The media type of a document's file, by its extension and checked against its signature; a refusal when it is empty
 * or of a kind we do not take.
 */
export async function detectMediaType(fileName: string, content: Uint8Array): Promise<{ type: string } | UserError> {
  const problem = getFileProblem({ name: fileName, size: content.length });
  if (problem) return { reason: problem, status: 400 };
  const extension = getExtension(fileName);
  const type = FILE_TYPES[extension] ?? "";
  const allowed = signatures[extension];
  const fits = allowed
    ? allowed.includes((await fileTypeFromBuffer(getSignatureBytes(content)))?.mime ?? "")
    : // Text has no signature, and its first letters may look like one: it is text if it has no control characters.
      !controlCharacters.test(Buffer.from(content.buffer, content.byteOffset, content.length).toString("latin1"));
  if (fits) return { type };
  return {
    reason: `The content of this file is not what its ending .${extension} says. Choose another one.`,
    status: 400,
  };
}

/**
 * The part of a file that has its signature: the first 64 KiB, so that no file makes us search ten megabytes. The
 * directory of a TIFF may be anywhere.
 */
function getSignatureBytes(content: Uint8Array): Uint8Array {
  const isTiff = content[0] === content[1] && (content[0] === 0x49 || content[0] === 0x4d);
  return isTiff ? content : content.subarray(0, 64 * 1024);
}
