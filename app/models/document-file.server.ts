/** The stored files of documents: opened after the database has judged who asks, and given out as downloads. */
import { createHash } from "node:crypto";
import { create as createContentDisposition } from "content-disposition";
import { z } from "zod";
import type { MiddlewareArgs } from "../lib/auth/viewer.server.ts";
import { env } from "../lib/http/env.server.ts";
import { acquireDownloadSlot, type TransferSlot } from "../lib/http/transfer-slots.server.ts";
import { toUserError, type UserError, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { runStaffAction } from "./staff-action.server.ts";

/** A document's file: its path, and what was recorded to detect a changed file. */
type RecordedFile = { storage_path: string | null; storage_version: string | null; sha256: string | null };

/** The columns of CountedFile. */
export const recordedFileColumns = "storage_path, storage_version, sha256";

/**
 * The bytes of a document's file, checked against the recorded hash or, without one, the stored object's version. A
 * refusal when the file differs or is gone.
 */
export async function readStoredFile(
  backend: AppSupabaseClient,
  { storage_path, storage_version, sha256 }: RecordedFile,
): Promise<{ content: Uint8Array; sha256: string; version: string } | UserError> {
  const bucket = backend.storage.from("documents");
  // Read before the bytes, which have this version if the object still has it later.
  const object = await bucket.info(storage_path ?? "");
  if (object.error) return toFileError(object.error);
  const file = await bucket.download(storage_path ?? "");
  if (file.error) return toFileError(file.error);
  const content = new Uint8Array(await file.data.arrayBuffer());
  const { version } = object.data;
  const hash = hashSha256(content);
  if (sha256 ? hash !== sha256 : version !== storage_version) return changedFileError;
  return { content, sha256: hash, version };
}

const changedFileError: UserError = { reason: "The stored file is not the one that was uploaded.", status: 409 };

function toFileError(error: { name: string; message: string; statusCode?: string }): UserError {
  return error.statusCode === "404" ? changedFileError : toUserError(error);
}

/** In base 16. */
export function hashSha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** What the database tells of a file that somebody may open. */
export const DownloadableFile = z.object({
  name: z.string(),
  storage_path: z.string(),
  storage_version: z.string().nullable(),
  sha256: z.string().nullable(),
  file_name: z.string().nullable(),
  media_type: z.string().nullable(),
});
export type DownloadableFile = z.infer<typeof DownloadableFile>;

/**
 * A document's file for a colleague, checked; that it was opened is in the log before its bytes are read with the company's
 * handle: no colleague's token reads the bucket. A refusal when it is not the one, or the document is of another shipment.
 */
export async function openFileForStaff(
  backend: AppSupabaseClient,
  company: AppSupabaseClient,
  document: { id: string; shipment: string },
  actor_name?: string,
) {
  const args = { document_id: document.id, shipment_id: document.shipment, actor_name };
  const opened = await runStaffAction(backend, "open_document", args);
  if ("reason" in opened) return opened;
  const counted = DownloadableFile.safeParse(opened.result);
  if (!counted.success) return userErrorFromThrown(counted.error);
  const file = await readStoredFile(company, counted.data);
  return "reason" in file ? file : { ...counted.data, content: file.content };
}

/**
 * Answers an account with a stored file of `open`, which has a place from before it is read until its reader has it. A
 * refusal when there is no place, or of `open`.
 */
export async function respondWithFile(
  { request, context }: Pick<MiddlewareArgs, "request" | "context">,
  account: string,
  open: () => Promise<Parameters<typeof createFileResponse>[0] | UserError>,
): Promise<Response | UserError> {
  const place = acquireDownloadSlot(context, account);
  if ("reason" in place) return place;
  const opened = await open().catch(userErrorFromThrown);
  if (!("reason" in opened)) return createFileResponse(opened, request, place);
  place.release();
  return opened;
}

/**
 * A file as a download under its own name, which no browser opens as a page of this site, and nothing keeps. Its `place` is
 * released when the reader of `request` has all of it, or is gone.
 */
export function createFileResponse(
  file: { content: Uint8Array; name: string; file_name: string | null; media_type: string | null },
  request: Request,
  place: TransferSlot,
) {
  return new Response(createFileStream(file.content, request, place), {
    headers: {
      "Content-Type": file.media_type ?? "application/octet-stream",
      "Content-Length": String(file.content.length),
      "Content-Disposition": createContentDisposition(file.file_name ?? file.name),
      "Content-Security-Policy": "sandbox; default-src 'none'",
      "Cache-Control": "private, no-store",
    },
  });
}

/** In bytes: what is handed over at once. */
const streamChunkBytes = 65_536;
/** In seconds: how long a reader may be slower than SLOWEST_KIB. */
const slowReaderGraceSeconds = 60;

function createFileStream(
  content: Uint8Array,
  { method, signal }: Request,
  { release }: TransferSlot,
): ReadableStream<Uint8Array> | null {
  if (method === "HEAD" || signal.aborted) {
    release();
    return null;
  }
  signal.addEventListener("abort", release);
  const { bytesPerSecond } = env().limits;
  const began = performance.now();
  let sent = 0;
  return new ReadableStream(
    {
      pull(controller) {
        const seconds = (performance.now() - began) / 1000;
        if (seconds > slowReaderGraceSeconds && sent < seconds * bytesPerSecond) {
          release();
          return controller.error(new Error("The reader is too slow."));
        }
        controller.enqueue(content.subarray(sent, sent + streamChunkBytes));
        sent += streamChunkBytes;
        if (sent < content.length) return;
        controller.close();
        release();
      },
      cancel: release,
    },
    // Nothing is read ahead of who asks.
    { highWaterMark: 0 },
  );
}
