/** The bytes of large files as they arrive: stored in parts at once, so that neither a broken line nor a restart takes them. */
import { toUserError, type UserError } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { getUploadFolder, type PendingUpload } from "./resumable-upload.server.ts";

/** In bytes: the largest part, as the bucket has it, and the least that is worth keeping when no more comes. */
const maxChunkBytes = 256 * 1024;
const minChunkBytes = 16 * 1024;
/** In milliseconds: after this much silence what has come is kept, as the line may be gone without a word. */
const idleFlushMs = 500;
/** What this process does with a file on its way, by its folder. */
const activeUploads = new Map<string, { stop: AbortController; done: Promise<unknown> }>();

/**
 * Acts on a file when the request before it for the same file has ended here, which is told to: its line is gone, though
 * the connection may not know. `act` hears of the next one by its signal.
 */
export async function runUploadExclusively<T>(file: PendingUpload, act: (next: AbortSignal) => Promise<T>): Promise<T> {
  const folder = getUploadFolder(file);
  const before = activeUploads.get(folder);
  before?.stop.abort();
  const stop = new AbortController();
  const done = Promise.resolve(before?.done.catch(() => undefined)).then(() => act(stop.signal));
  const mine = { stop, done };
  activeUploads.set(folder, mine);
  try {
    return await done;
  } finally {
    if (activeUploads.get(folder) === mine) activeUploads.delete(folder);
  }
}

/**
 * Stores what arrives of a file from byte `from` on, as it arrives, until the body ends, its line breaks or `next` is
 * aborted. What was stored stays, also when more came than was said or the store refuses, which is answered.
 */
export async function storeChunks(
  company: AppSupabaseClient,
  file: PendingUpload,
  from: number,
  body: ReadableStream<Uint8Array>,
  next: AbortSignal,
): Promise<UserError | null> {
  const reader = body.getReader();
  const stop = () => void reader.cancel().catch(() => undefined);
  next.addEventListener("abort", stop);
  if (next.aborted) stop();
  let waiting: Uint8Array[] = [];
  let size = 0;
  let at = from;
  let storing = Promise.resolve();
  const store = (least: number) => {
    if (size < least) return;
    const [begin, bytes] = [at, Buffer.concat(waiting, size)];
    at += size;
    waiting = [];
    size = 0;
    storing = storing.then(() => putChunk(company, file, begin, bytes));
    storing.catch(stop);
  };
  let quiet: NodeJS.Timeout | undefined;
  let isTooMuch = false;
  for (;;) {
    // What came of a body that breaks off counts.
    const { value } = await reader.read().catch(() => ({ value: undefined }));
    clearTimeout(quiet);
    isTooMuch = value !== undefined && at + size + value.length > file.size;
    if (!value || isTooMuch) break;
    for (let rest = value; rest.length > 0; ) {
      const fits = rest.subarray(0, maxChunkBytes - size);
      waiting.push(fits);
      size += fits.length;
      rest = rest.subarray(fits.length);
      store(maxChunkBytes);
    }
    quiet = setTimeout(store, idleFlushMs, minChunkBytes);
  }
  // Only the end of the file may be short: no crumbs of a line that breaks all the time.
  store(at + size === file.size ? 1 : minChunkBytes);
  const failed = await storing.then(
    () => null,
    (error: Error) => toUserError(error),
  );
  if (isTooMuch) stop();
  return failed ?? (isTooMuch ? { reason: "More of this file came than was said. Send it again.", status: 413 } : null);
}

async function putChunk(
  company: AppSupabaseClient,
  file: PendingUpload,
  from: number,
  bytes: Uint8Array,
): Promise<void> {
  const name = `${getUploadFolder(file)}${from}-${bytes.length}`;
  // It may be there, from another tab or by an answer that was lost, with the same bytes: over it, as the real store answers a
  // duplicate of a quarter MiB before it has read it, and the next request on that connection never.
  const { error } = await company.storage
    .from("upload-chunks")
    .upload(name, bytes, { contentType: "application/octet-stream", upsert: true });
  if (error) throw error;
}
