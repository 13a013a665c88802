import { fileTypeFromBuffer } from "file-type";
import type { UserError } from "../lib/http/user-error.server.ts";
import { getExtension, getFileProblem } from "./document.ts";

/** By extension. The bucket accepts the same types. */
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

export async function detectMediaType(fileName: string, content: Uint8Array): Promise<{ type: string } | UserError> {
  const problem = getFileProblem({ name: fileName, size: content.length });
  if (problem) return { reason: problem, status: 400 };
  const extension = getExtension(fileName);
  const type = FILE_TYPES[extension] ?? "";
  const allowed = signatures[extension];
  const fits = allowed
    ? allowed.includes((await fileTypeFromBuffer(getSignatureBytes(content)))?.mime ?? "")
    : // The first letters of a text may look like a signature, so only control characters count.
      !controlCharacters.test(Buffer.from(content.buffer, content.byteOffset, content.length).toString("latin1"));
  if (fits) return { type };
  return {
    reason: `The content of this file is not what its ending .${extension} says. Choose another one.`,
    status: 400,
  };
}

/** Reading 64 KiB limits the work for each file. Only the directory of a TIFF may be anywhere. */
function getSignatureBytes(content: Uint8Array): Uint8Array {
  const isTiff = content[0] === content[1] && (content[0] === 0x49 || content[0] === 0x4d);
  return isTiff ? content : content.subarray(0, 64 * 1024);
}
