/** The desk's review page shows PDF files and pictures. A browser cannot show HEIC and TIFF, so the server converts both. */
import { buffer } from "node:stream/consumers";
import { z } from "zod";
import type { Download } from "../lib/http/transfer-slots.server.ts";
import type { UserError } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { parseOrUserError } from "../lib/supabase/result.server.ts";
import { DownloadableFile, openStoredFile, readFilePart, toFileError } from "./document-file.server.ts";
import { FILE_TYPES } from "./file-type.server.ts";
import { pdfSignature } from "./pdf-file.server.ts";
import { mayHavePdfScript } from "./pdf-script.server.ts";
import { convertToJpeg } from "./picture-conversion.server.ts";
import { getMaxPixels, headBytes, readPictureSizes } from "./picture-size.server.ts";
import { runStaffAction } from "./staff.server.ts";

type DocumentView = { kind: "pdf" | "picture"; pages: number } | { problem: string };

export const ViewedFile = z.object({ storage_path: z.string().nullable(), media_type: z.string().nullable() });

const pdfType = "application/pdf";
const convertedTypes = ["image/heic", "image/tiff"];
const isShownType = (type: string) => type === pdfType || type.startsWith("image/");

/**
 * True if the file starts as a file of its type. PDF viewers also open a PDF after 1,023 other bytes, but such a file can
 * also be a web page. Only spaces, zero bytes and a byte order mark may precede a PDF that the desk shows.
 */
function startsAsType(start: Uint8Array, mediaType: string): boolean {
  const text = Buffer.from(start.subarray(0, 1024)).toString("latin1");
  if (mediaType === pdfType) return text.replace(/^(?:\xef\xbb\xbf)?[\s\0]*/, "").startsWith(pdfSignature);
  const type = FILE_TYPES.find((type) => type.mediaType === mediaType);
  return type?.signatures.some((signature) => text.startsWith(signature, type.bytesBefore?.[0])) ?? false;
}

export async function describeDocumentView(
  serviceRole: AppSupabaseClient,
  { storage_path, media_type }: z.infer<typeof ViewedFile>,
): Promise<DocumentView> {
  const mediaType = media_type ?? "";
  const label = FILE_TYPES.find((type) => type.mediaType === mediaType)?.label;
  if (!isShownType(mediaType))
    return { problem: `Browsers cannot show ${label ? `a ${label} file` : "a file of this type"}. Download the file.` };
  const read = (start: number, length: number) => readFilePart(serviceRole, storage_path ?? "", start, length);
  try {
    const head = await read(0, headBytes);
    if (!startsAsType(head, mediaType))
      return {
        problem: `This file is not an ordinary ${label} file. To protect you, this page does not show the file. Ask the client for a new file.`,
      };
    if (mediaType === pdfType) return { kind: "pdf", pages: 1 };
    const sizes = await readPictureSizes(mediaType, head, read);
    const maxPixels = getMaxPixels(mediaType);
    const tooLarge = sizes.find(({ width, height }) => width * height > maxPixels);
    if (!tooLarge) return { kind: "picture", pages: Math.max(1, sizes.length) };
    const [width, height, most] = [tooLarge.width, tooLarge.height, maxPixels].map((n) => n.toLocaleString("en"));
    return {
      problem: `This picture has ${width} × ${height} pixels. This page shows only pictures with up to ${most} pixels. Download the file, or ask the client for a smaller picture.`,
    };
  } catch (error) {
    return { problem: toFileError(error as Error).reason };
  }
}

const notShownError: UserError = { reason: "This page cannot show the file. Download the file instead.", status: 415 };

type ViewRequest = { id: string; shipment: string; page: number; signal: AbortSignal };

/** Records the access in the audit log, then opens the file for the review page. HEIC and TIFF become JPEG. */
export async function openViewForStaff(
  supabase: AppSupabaseClient,
  serviceRole: AppSupabaseClient,
  { id, shipment, page, signal }: ViewRequest,
): Promise<Download | UserError> {
  const args = { document_id: id, shipment_id: shipment, is_view: true };
  const action = await runStaffAction(supabase, "open_document", args);
  if ("reason" in action) return action;
  const record = parseOrUserError(DownloadableFile, action.result);
  if ("reason" in record) return record;
  const mediaType = record.media_type ?? "";
  if (!isShownType(mediaType)) return notShownError;
  const file = await openStoredFile(serviceRole, record);
  if ("reason" in file) return file;
  if (!startsAsType(file.start, mediaType)) return notShownError;
  const name = record.file_name ?? record.name;
  const { size, content } = file;
  if (mediaType === pdfType) {
    const bytes = await buffer(content);
    return (await mayHavePdfScript(bytes)) ? notShownError : createView(name, mediaType, bytes);
  }
  if (!convertedTypes.includes(mediaType)) return { name, mediaType, size, content, isView: true };
  const jpeg = await convertToJpeg({ content, mediaType, page }, signal);
  return "reason" in jpeg ? jpeg : createView(`${name}.jpg`, "image/jpeg", jpeg);
}

function createView(name: string, mediaType: string, bytes: Buffer): Download {
  const content = (async function* () {
    yield bytes;
  })();
  return { name, mediaType, size: bytes.length, content, isView: true };
}
