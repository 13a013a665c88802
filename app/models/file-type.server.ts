import type { UserError } from "../lib/http/user-error.server.ts";
import { getFileProblem } from "./document.ts";
import {
  cfbSignature,
  decodeText,
  isAvif,
  isCompleteHeic,
  isCompleteJpeg,
  isCompleteTiff,
  isMarkup,
  isRawPhoto,
  listParts,
  lockedPart,
  zipSignature,
} from "./file-content.server.ts";
import { isCompletePdf, needsPassword, pdfSignature } from "./pdf-file.server.ts";

export type FileType = {
  label: string;
  /** A file name without any of these extensions gets the first extension. */
  extensions: readonly [string, ...string[]];
  mediaType: string;
  signatures: readonly string[];
  /** The least and the greatest number of bytes before the signature. */
  bytesBefore?: readonly [number, number];
  part?: RegExp;
  isOtherType?: (content: Buffer) => boolean;
  isComplete?: (content: Buffer) => boolean;
  isLocked?: (content: Buffer) => boolean;
};

/** PDF readers look for the signature in the first 1024 bytes of a file. */
const searchedBytes = 1024;
const openXml = "application/vnd.openxmlformats-officedocument";
const openDocument = "application/vnd.oasis.opendocument";
const heicBrands = ["heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs", "mif1", "msf1"];

const csv: FileType = { label: "CSV", extensions: ["csv"], mediaType: "text/csv", signatures: [] };
const text: FileType = { label: "text", extensions: ["txt"], mediaType: "text/plain", signatures: [] };

const officeTypes = (
  [
    ["Word", "doc", "application/msword", cfbSignature, /^WordDocument$/m],
    ["Word", "docx", `${openXml}.wordprocessingml.document`, zipSignature, /^word\/document\d*\.xml$/m],
    ["Excel", "xls", "application/vnd.ms-excel", cfbSignature, /^(?:Workbook|Book)$/m],
    ["Excel", "xlsx", `${openXml}.spreadsheetml.sheet`, zipSignature, /^xl\/workbook\d*\.xml$/m],
    ["ODT", "odt", `${openDocument}.text`, zipSignature, /^application\/vnd\.oasis\.opendocument\.text$/m],
    [
      "ODS",
      "ods",
      `${openDocument}.spreadsheet`,
      zipSignature,
      /^application\/vnd\.oasis\.opendocument\.spreadsheet$/m,
    ],
  ] as const
).map(
  ([label, extension, mediaType, signature, part]): FileType => ({
    ...{ label, mediaType, part },
    extensions: [extension],
    signatures: [signature],
  }),
);

/**
 * The npm package file-type cannot replace this list. The package misses a PDF that starts with other bytes, and
 * cannot distinguish Word from Excel in old and large files.
 */
export const FILE_TYPES: readonly FileType[] = [
  {
    label: "PDF",
    extensions: ["pdf"],
    mediaType: "application/pdf",
    signatures: [pdfSignature],
    bytesBefore: [0, searchedBytes - pdfSignature.length],
    isComplete: isCompletePdf,
    isLocked: needsPassword,
  },
  {
    label: "JPG",
    extensions: ["jpg", "jpeg", "jpe", "jfif", "pjpeg", "pjp"],
    mediaType: "image/jpeg",
    signatures: ["\xff\xd8\xff"],
    isComplete: isCompleteJpeg,
  },
  {
    label: "PNG",
    extensions: ["png"],
    mediaType: "image/png",
    signatures: ["\x89PNG\r\n\x1a\n"],
    isComplete: (content) => content.includes("IEND"),
  },
  {
    label: "WebP",
    extensions: ["webp"],
    mediaType: "image/webp",
    signatures: ["WEBPVP8"],
    bytesBefore: [8, 8],
    isComplete: (content) => content.readUInt32LE(4) + 8 <= content.length,
  },
  {
    label: "HEIC",
    extensions: ["heic", "heif", "hif"],
    mediaType: "image/heic",
    signatures: heicBrands.map((brand) => `ftyp${brand}`),
    bytesBefore: [4, 4],
    isOtherType: isAvif,
    isComplete: isCompleteHeic,
  },
  {
    label: "TIFF",
    extensions: ["tif", "tiff"],
    mediaType: "image/tiff",
    signatures: ["II*\0", "MM\0*"],
    isOtherType: isRawPhoto,
    isComplete: isCompleteTiff,
  },
  ...officeTypes,
  {
    label: "RTF",
    extensions: ["rtf"],
    mediaType: "application/rtf",
    signatures: ["{\\rtf"],
    // A byte order mark (3 bytes) or line breaks can precede the signature.
    bytesBefore: [0, 8],
    isComplete: (content) => /\}[\s\0]*$/.test(content.subarray(-64).toString("latin1")),
  },
  csv,
  text,
];

export function formatChoices(choices: Iterable<string>): string {
  return new Intl.ListFormat("en-GB", { type: "disjunction" }).format(choices);
}

const isPhoto = ({ mediaType }: FileType) => mediaType.startsWith("image/");
const photoLabel = `photo (${formatChoices(FILE_TYPES.filter(isPhoto).map(({ label }) => label))})`;

export const acceptedLabels = formatChoices(
  new Set(FILE_TYPES.map((type) => (isPhoto(type) ? photoLabel : type.label))),
);

export function listExtensions(types: readonly FileType[]): string[] {
  return types.flatMap(({ extensions }) => extensions.map((extension) => `.${extension}`));
}

const allExtensions = new Set(FILE_TYPES.flatMap(({ extensions }) => extensions));

export function getExtension(fileName: string): string {
  return /\.([A-Za-z0-9]{1,8})$/.exec(fileName.trim())?.[1]?.toLowerCase() ?? "";
}

/** Returns `scan.png` for a PNG named `scan.jpg`, and `scan.pdf` for a PDF named `scan.` or `scan.pdf.pdf`. */
export function withExtension(fileName: string, type: FileType): string {
  const name = fileName.replace(/[.\s]+$/, "");
  const extension = getExtension(name);
  if (!allExtensions.has(extension)) return `${name || "file"}.${type.extensions[0]}`;
  const stem = name.slice(0, -extension.length - 1);
  const isRight = (ending: string) => type.extensions.includes(ending);
  return isRight(extension) && !isRight(getExtension(stem)) ? name : withExtension(stem, type);
}

const createError = (reason: string): UserError => ({ reason, status: 400 });

export const unknownTypeError = createError(`Choose a ${acceptedLabels} file.`);
const incompleteError = createError("This file is incomplete. Save or download the file again, then choose it.");
const lockedError = createError(
  "This file is locked with a password. Save the file without a password, then choose the new file.",
);
const macroError = createError(
  "This file can contain macros. Save the file as .docx, .xlsx or PDF, then choose the new file.",
);
const markupError = createError(
  "We cannot accept a web page, an email or an XML file. Save the content as .xlsx or PDF, then choose the new file.",
);

const lockedParts = new RegExp(`^${lockedPart}$|encryption-data`, "m");
const macroParts =
  /vbaProject|macroEnabled\.main|^(?:Basic\/script-lc\.xml|Scripts\/(?:python|javascript|beanshell)\/|Macros$|_VBA_PROJECT_CUR$)/m;

/** Returns the file type of the content. The file name decides only between CSV and other text. */
export function detectFileType(fileName: string, bytes: Uint8Array): FileType | UserError {
  const problem = getFileProblem({ size: bytes.length });
  if (problem) return createError(problem);
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return findBySignature(content) ?? detectText(fileName, content);
}

function findBySignature(content: Buffer): FileType | UserError | undefined {
  const head = content.toString("latin1", 0, searchedBytes);
  const start = Math.min(...FILE_TYPES.map((type) => findSignature(head, type)));
  if (start === Infinity) return undefined;
  const parts = listParts(content);
  if (parts === null) return incompleteError;
  const type = FILE_TYPES.find(
    (type) =>
      findSignature(head, type) === start &&
      (type.part?.test(parts) ?? true) &&
      !(type.isOtherType?.(content) ?? false),
  );
  if (lockedParts.test(parts)) return lockedError;
  if (macroParts.test(parts)) return macroError;
  if (!type) return unknownTypeError;
  if (type.isComplete && !type.isComplete(content)) return incompleteError;
  return type.isLocked?.(content) ? lockedError : type;
}

function findSignature(head: string, { signatures, bytesBefore: [least, most] = [0, 0] }: FileType): number {
  const positions = signatures.map((signature) => head.slice(least, most + signature.length).indexOf(signature));
  const found = positions.filter((position) => position !== -1);
  return Math.min(...found.map((position) => least + position));
}

function detectText(fileName: string, content: Buffer): FileType | UserError {
  const decoded = decodeText(content);
  if (decoded === null) return unknownTypeError;
  if (isMarkup(decoded)) return markupError;
  return getExtension(fileName.replace(/[.\s]+$/, "")) === "csv" ? csv : text;
}
