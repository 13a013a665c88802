/** The stored files of documents: opened after the database has judged who asks, and given out as downloads. */
import { createHash } from "node:crypto";
import { z } from "zod";
import { env } from "../lib/env.server.ts";
import { type Refusal, refusalOf, refusalOfThrown } from "../lib/refusal.server.ts";
import type { MiddlewareArgs } from "../lib/session.server.ts";
import type { Backend } from "../lib/supabase.server.ts";
import { type Place, takePlaceToSend } from "../lib/uploads.server.ts";
import { act } from "./desk-act.server.ts";

/** A document's file: its path, and what was recorded to detect a changed file. */
type CountedFile = { storage_path: string | null; storage_version: string | null; sha256: string | null };

/** The columns of CountedFile. */
export const countedFile = "storage_path, storage_version, sha256";

/**
 * The bytes of a document's file, checked against the recorded hash or, without one, the stored object's version. A
 * refusal when the file differs or is gone.
 */
export async function openFile(
  backend: Backend,
  { storage_path, storage_version, sha256 }: CountedFile,
): Promise<{ content: Uint8Array; sha256: string; version: string } | Refusal> {
  const bucket = backend.storage.from("documents");
  // Read before the bytes, which have this version if the object still has it later.
  const object = await bucket.info(storage_path ?? "");
  if (object.error) return fileRefusal(object.error);
  const file = await bucket.download(storage_path ?? "");
  if (file.error) return fileRefusal(file.error);
  const content = new Uint8Array(await file.data.arrayBuffer());
  const { version } = object.data;
  const hash = sha256Of(content);
  if (sha256 ? hash !== sha256 : version !== storage_version) return notTheFile;
  return { content, sha256: hash, version };
}

const notTheFile: Refusal = { reason: "The stored file is not the one that was uploaded.", status: 409 };

function fileRefusal(error: { name: string; message: string; statusCode?: string }): Refusal {
  return error.statusCode === "404" ? notTheFile : refusalOf(error);
}

/** In base 16. */
export function sha256Of(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** What the database tells of a file that somebody may open. */
export const OpenableFile = z.object({
  name: z.string(),
  storage_path: z.string(),
  storage_version: z.string().nullable(),
  sha256: z.string().nullable(),
  file_name: z.string().nullable(),
  media_type: z.string().nullable(),
});
export type OpenableFile = z.infer<typeof OpenableFile>;

/**
 * A document's file for a colleague, checked; that it was opened is in the log before its bytes are read with the company's
 * handle: no colleague's token reads the bucket. A refusal when it is not the one, or the document is of another shipment.
 */
export async function openForCompany(
  backend: Backend,
  company: Backend,
  document: { id: string; shipment: string },
  by_name?: string,
) {
  const args = { document_id: document.id, shipment_id: document.shipment, by_name };
  const opened = await act(backend, "open_document", args);
  if ("reason" in opened) return opened;
  const counted = OpenableFile.safeParse(opened.answer);
  if (!counted.success) return refusalOfThrown(counted.error);
  const file = await openFile(company, counted.data);
  return "reason" in file ? file : { ...counted.data, content: file.content };
}

/**
 * Answers an account with a stored file of `open`, which has a place from before it is read until its reader has it. A
 * refusal when there is no place, or of `open`.
 */
export async function sendFile(
  { request, context }: Pick<MiddlewareArgs, "request" | "context">,
  account: string,
  open: () => Promise<Parameters<typeof fileAnswer>[0] | Refusal>,
): Promise<Response | Refusal> {
  const place = takePlaceToSend(context, account);
  if ("reason" in place) return place;
  const opened = await open().catch(refusalOfThrown);
  if (!("reason" in opened)) return fileAnswer(opened, request, place);
  place.release();
  return opened;
}

/**
 * A file as a download under its own name, which no browser opens as a page of this site, and nothing keeps. Its `place` is
 * released when the reader of `request` has all of it, or is gone.
 */
export function fileAnswer(
  file: { content: Uint8Array; name: string; file_name: string | null; media_type: string | null },
  request: Request,
  place: Place,
) {
  const name = file.file_name ?? file.name;
  const ascii = name.replace(/[^ -~]|["\\]/g, "_");
  return new Response(bodyOf(file.content, request, place), {
    headers: {
      "Content-Type": file.media_type ?? "application/octet-stream",
      "Content-Length": String(file.content.length),
      "Content-Disposition": `attachment; filename="${ascii}"; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)}`,
      "Content-Security-Policy": "sandbox; default-src 'none'",
      "Cache-Control": "private, no-store",
    },
  });
}

/** In bytes: what is handed over at once. */
const piece = 65_536;
/** In seconds: how long a reader may be slower than SLOWEST_KIB. */
const patience = 60;

function bodyOf(
  content: Uint8Array,
  { method, signal }: Request,
  { release }: Place,
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
        if (seconds > patience && sent < seconds * bytesPerSecond) {
          release();
          return controller.error(new Error("The reader is too slow."));
        }
        controller.enqueue(content.subarray(sent, sent + piece));
        sent += piece;
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
