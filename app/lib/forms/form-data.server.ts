import { isUtf8 } from "node:buffer";
import {
  getMultipartBoundary,
  MaxFileSizeExceededError,
  MaxTotalSizeExceededError,
  MultipartParseError,
  MultipartPart,
  parseMultipartStream,
} from "@remix-run/multipart-parser";
import { data, type RouterContextProvider } from "react-router";
import { env } from "../http/env.server.ts";
import { acquireUploadSlot } from "../http/transfer-slots.server.ts";
import type { UserError } from "../http/user-error.server.ts";

export type UploadError = UserError & { fields: FormData };

const maxFields = 100;
const maxPartHeaderBytes = 2048;
/** RFC 2046 allows at most 70 characters, and a longer boundary would make the parser slow. */
const maxBoundaryLength = 70;

/** The parser throws this error for bytes after the last boundary, although RFC 2046 says to ignore such bytes. */
const trailingDataMessage = "Unexpected data after end of stream";

/**
 * Returns the fields of a form. Skips fields whose names contain "[", "]" or "__", because Conform would interpret
 * these characters. Only the field whose name is the value of `repeated` may occur more than once.
 */
export async function readForm(request: Request, repeated?: string): Promise<FormData> {
  const fields = new FormDataBuilder(repeated);
  if (isUrlEncoded(request)) return readUrlEncoded(request, fields);
  return readMultipart(request, fields, 0);
}

/** Returns the result of `use`. Until `use` ends, the upload counts towards the sender's limit of uploads. */
export async function readUpload<Result>(
  request: Request,
  context: Readonly<RouterContextProvider>,
  account: string | undefined,
  use: (form: FormData | UploadError) => Promise<Result>,
): Promise<Result> {
  const slot = await acquireUploadSlot(request, context, account);
  if ("reason" in slot) return use({ ...slot, fields: new FormData() });
  try {
    return await use(await readUploadForm(request));
  } finally {
    slot.release();
  }
}

async function readUploadForm(request: Request): Promise<FormData | UploadError> {
  const fields = new FormDataBuilder();
  if (isUrlEncoded(request)) return readUrlEncoded(request, fields);
  const { fileBytes } = env().limits;
  return readMultipart(request, fields, fileBytes).catch((error: unknown) => {
    if (!(error instanceof FileTooLargeError)) throw error;
    return { reason: `This file is over ${fileBytes / 1024 / 1024} MB.`, status: 413, fields: fields.form };
  });
}

class FormDataBuilder {
  readonly form = new FormData();
  #count = 0;
  #bytes = 0;

  constructor(readonly repeated?: string) {}

  add(name: string | undefined, value: string | File): void {
    this.#count += 1;
    if (this.#count > maxFields)
      throw data("This form has too many fields. Reload the page, then send the form again.", { status: 400 });
    if (typeof value === "string") this.#bytes += Buffer.byteLength(value);
    if (this.#bytes > env().limits.formBytes) throw createFormTooLargeError();
    if (!isFieldName(name)) return;
    if (this.form.has(name) && name !== this.repeated)
      throw data("One field of the form was sent twice. Go back and send the form again.", { status: 400 });
    this.form.append(name, value);
  }
}

const isFieldName = (name: string | undefined): name is string => /^[A-Za-z][A-Za-z0-9-]{0,63}$/.test(name ?? "");

class FileTooLargeError extends Error {}

async function readMultipart(request: Request, fields: FormDataBuilder, fileBytes: number): Promise<FormData> {
  const type = request.headers.get("Content-Type") ?? "";
  if (getMediaType(request) !== "multipart/form-data")
    throw data("This web address accepts only forms. Go back and send the form again.", { status: 415 });
  const boundary = getMultipartBoundary(type);
  if (!boundary || boundary.length > maxBoundaryLength || !request.body) throw createDamagedFormError();
  const { formBytes } = env().limits;
  if (fileBytes === 0 && getContentLength(request) > formBytes + maxFields * maxPartHeaderBytes)
    throw createFormTooLargeError();
  const limits = {
    boundary,
    maxHeaderSize: maxPartHeaderBytes,
    maxParts: maxFields,
    maxFileSize: Math.max(fileBytes, formBytes),
    maxTotalSize: fileBytes + formBytes,
  };
  try {
    let files = 0;
    for await (const { header, content } of parseMultipartStream(request.body, limits)) {
      const part = new MultipartPart(toUtf8(header), content);
      // A file field without a chosen file arrives as an empty file without a name.
      if (part.isFile && !part.filename && part.size === 0) continue;
      if (part.isFile && fileBytes === 0)
        throw data("This form accepts only text. Go back and remove the file.", { status: 400 });
      if (part.isFile) files += 1;
      if (files > 1) throw data("Send one file at a time.", { status: 400 });
      const { name, filename = "", mediaType: type = "" } = part;
      fields.add(
        name,
        part.isFile ? new File(part.content as Uint8Array<ArrayBuffer>[], filename, { type }) : part.text,
      );
    }
    return fields.form;
  } catch (error) {
    if (error instanceof MaxFileSizeExceededError || error instanceof MaxTotalSizeExceededError) {
      throw fileBytes === 0 ? createFormTooLargeError() : new FileTooLargeError();
    }
    if (error instanceof MultipartParseError && error.message === trailingDataMessage) return fields.form;
    if (error instanceof MultipartParseError || isInvalidUtf8Error(error)) throw createDamagedFormError();
    throw error;
  }
}

/** Old programs send file names in the device's own encoding, and no header names this encoding. */
function toUtf8(header: Uint8Array): Uint8Array {
  if (isUtf8(header)) return header;
  // In Chinese encodings, bytes above 127 form pairs. In European names, such bytes are usually between ASCII letters.
  const isChinese = /^(?:[^\x80-\xff]|[\x81-\xfe][\x80-\xfe])*$/.test(Buffer.from(header).toString("latin1"));
  return Buffer.from(new TextDecoder(isChinese ? "gb18030" : "windows-1252").decode(header));
}

async function readUrlEncoded(request: Request, fields: FormDataBuilder): Promise<FormData> {
  const { formBytes } = env().limits;
  if (getContentLength(request) > formBytes) throw createFormTooLargeError();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > formBytes) throw createFormTooLargeError();
    chunks.push(chunk);
  }
  for (const [name, value] of new URLSearchParams(Buffer.concat(chunks).toString("utf8"))) fields.add(name, value);
  return fields.form;
}

function getMediaType(request: Request): string | undefined {
  return (request.headers.get("Content-Type") ?? "").split(";")[0]?.trim().toLowerCase();
}

const isUrlEncoded = (request: Request) => getMediaType(request) === "application/x-www-form-urlencoded";

const getContentLength = (request: Request) => Number(request.headers.get("Content-Length") ?? 0);

const isInvalidUtf8Error = (error: unknown) =>
  error instanceof TypeError && (error as NodeJS.ErrnoException).code === "ERR_ENCODING_INVALID_ENCODED_DATA";

const createDamagedFormError = () =>
  data("We received only part of the form. Go back and send the form again.", { status: 400 });
const createFormTooLargeError = () =>
  data("This form contains too much text. Go back and shorten the text.", { status: 413 });
