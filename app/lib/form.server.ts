/** Reading a posted form within limits. */
import {
  MaxFileSizeExceededError,
  MaxTotalSizeExceededError,
  MultipartParseError,
  parseMultipartRequest,
} from "@remix-run/multipart-parser";
import { data } from "react-router";
import { maxFileSize } from "./file-size.ts";

const maxFormSize = 64 * 1024;

/** A file over the limit. `form` is what came before it; the file's content was not kept. */
export class FileTooLarge extends Error {
  constructor(readonly form: FormData) {
    super("This file is over 10 MB.");
  }
}

/** The form of a request, as readUpload reads it; a file over the limit is a 413 for the error page. */
export async function readForm(request: Request): Promise<FormData> {
  return readUpload(request).catch((error: unknown) => {
    throw error instanceof FileTooLarge ? data(error.message, { status: 413 }) : error;
  });
}

/**
 * The form of a request: urlencoded up to 64 KiB, or multipart with one file up to 10 MiB. Fields whose names no form
 * of ours has are left out: brackets and double underscores mean something to the form library.
 * Throws FileTooLarge, or a 400, 413 or 415 for the error page.
 */
export async function readUpload(request: Request): Promise<FormData> {
  const type = (request.headers.get("Content-Type") ?? "").split(";")[0]?.trim().toLowerCase();
  if (type === "application/x-www-form-urlencoded") return readUrlEncoded(request);
  if (type !== "multipart/form-data") throw data("Only forms can be sent here.", { status: 415 });
  return readMultipart(request);
}

const isFieldName = (name: string | undefined): name is string => /^[A-Za-z][A-Za-z0-9-]{0,63}$/.test(name ?? "");

async function readMultipart(request: Request): Promise<FormData> {
  const form = new FormData();
  let files = 0;
  try {
    const limits = { maxFileSize, maxTotalSize: maxFileSize + maxFormSize, maxParts: 20 };
    for await (const part of parseMultipartRequest(request, limits)) {
      if (!isFieldName(part.name)) continue;
      if (!part.isFile) {
        form.append(part.name, part.text);
      } else if (part.filename || part.size > 0) {
        // A file field nobody filled arrives as an empty file without a name.
        files += 1;
        if (files > 1) throw data("Send one file at a time.", { status: 400 });
        form.append(part.name, new File([part.arrayBuffer], part.filename ?? "", { type: part.mediaType ?? "" }));
      }
    }
    return form;
  } catch (error) {
    if (error instanceof MaxFileSizeExceededError || error instanceof MaxTotalSizeExceededError) {
      throw new FileTooLarge(form);
    }
    if (error instanceof MultipartParseError) throw data("The form arrived damaged.", { status: 400 });
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
  for (const [name, value] of new URLSearchParams(Buffer.concat(chunks).toString("utf8"))) {
    if (isFieldName(name)) form.append(name, value);
  }
  return form;
}
