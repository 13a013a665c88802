/** Reading a posted form within limits. */
import {
  FormDataParseError,
  MaxFileSizeExceededError,
  MaxTotalSizeExceededError,
  MultipartParseError,
  parseFormData,
} from "@remix-run/form-data-parser";
import { data } from "react-router";

/** The largest document, in bytes: 10 MiB, as the storage bucket has it. */
export const maxFileSize = 10 * 1024 * 1024;
const maxFormSize = 64 * 1024;

/** What a browser sends for a file field over the limit: its name is known, its content was not kept. */
export class FileTooLarge extends Error {}

/**
 * The form of a request: urlencoded up to 64 KiB, or multipart with one file up to 10 MiB.
 * Throws FileTooLarge, or a 400, 413 or 415 for the error page.
 */
export async function readForm(request: Request): Promise<FormData> {
  const type = (request.headers.get("Content-Type") ?? "").split(";")[0]?.trim().toLowerCase();
  if (type === "application/x-www-form-urlencoded") return readUrlEncoded(request);
  if (type !== "multipart/form-data") throw data("Only forms can be sent here.", { status: 415 });
  try {
    return await parseFormData(request, {
      maxFiles: 1,
      maxFileSize,
      maxTotalSize: maxFileSize + maxFormSize,
      maxParts: 20,
    });
  } catch (error) {
    if (error instanceof MaxFileSizeExceededError || error instanceof MaxTotalSizeExceededError) {
      throw new FileTooLarge("The file is over 10 MiB.");
    }
    if (error instanceof FormDataParseError || error instanceof MultipartParseError) {
      throw data("The form arrived damaged.", { status: 400 });
    }
    throw error;
  }
}

async function readUrlEncoded(request: Request): Promise<FormData> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > maxFormSize) throw data("That is more text than this form takes.", { status: 413 });
    chunks.push(chunk);
  }
  const form = new FormData();
  for (const [name, value] of new URLSearchParams(Buffer.concat(chunks).toString("utf8"))) form.append(name, value);
  return form;
}
