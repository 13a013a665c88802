/** Stores the bytes of large files in chunks while they arrive, so that they survive a lost connection and a restart. */
import { toUserError, type UserError } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { getUploadFolder, type PendingUpload } from "./resumable-upload.server.ts";

/** In bytes. The bucket has the same maximum. */
const maxChunkBytes = 256 * 1024;
const minChunkBytes = 16 * 1024;
/** In milliseconds without new bytes, after which the received bytes are stored. */
const idleFlushMs = 500;
/** The requests in progress in this process, by upload folder. */
const activeUploads = new Map<string, { stop: AbortController; done: Promise<unknown> }>();

/**
 * Stops the previous request for the same file in this process, waits for its end, then runs `task`. The previous
 * connection may be lost without the server noticing. The next request aborts the signal.
 */
export async function runUploadExclusively<T>(
  file: PendingUpload,
  task: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const folder = getUploadFolder(file);
  const previous = activeUploads.get(folder);
  previous?.stop.abort();
  const stop = new AbortController();
  const done = Promise.resolve(previous?.done.catch(() => undefined)).then(() => task(stop.signal));
  const current = { stop, done };
  activeUploads.set(folder, current);
  try {
    return await done;
  } finally {
    if (activeUploads.get(folder) === current) activeUploads.delete(folder);
  }
}

/**
 * Stores the bytes of a body from the file's byte `from` on, until it ends, breaks off or the signal is aborted. Returns an
 * error if more bytes arrive than announced or the store rejects a chunk. Stored chunks stay in every case.
 */
export async function storeChunks(
  company: AppSupabaseClient,
  file: PendingUpload,
  from: number,
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<UserError | null> {
  const reader = body.getReader();
  const stop = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  let waiting: Uint8Array[] = [];
  let size = 0;
  let offset = from;
  let storing = Promise.resolve();
  const store = (minBytes: number) => {
    if (size < minBytes) return;
    const [chunkOffset, bytes] = [offset, Buffer.concat(waiting, size)];
    offset += size;
    waiting = [];
    size = 0;
    storing = storing.then(() => putChunk(company, file, chunkOffset, bytes));
    storing.catch(stop);
  };
  let idleTimer: NodeJS.Timeout | undefined;
  let isTooMuch = false;
  for (;;) {
    // A body that breaks off ends like a complete one: its bytes are stored.
    const { value } = await reader.read().catch(() => ({ value: undefined }));
    clearTimeout(idleTimer);
    isTooMuch = value !== undefined && offset + size + value.length > file.size;
    if (!value || isTooMuch) break;
    for (let rest = value; rest.length > 0; ) {
      const part = rest.subarray(0, maxChunkBytes - size);
      waiting.push(part);
      size += part.length;
      rest = rest.subarray(part.length);
      store(maxChunkBytes);
    }
    idleTimer = setTimeout(store, idleFlushMs, minChunkBytes);
  }
  // Only the last chunk of the file may be short: a connection that breaks often would fill the bucket.
  store(offset + size === file.size ? 1 : minChunkBytes);
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
  // Another tab may have stored the same chunk. Without upsert, hosted Supabase rejects a large duplicate before it has read
  // the body, and then never answers the next request on that connection.
  const { error } = await company.storage
    .from("upload-chunks")
    .upload(name, bytes, { contentType: "application/octet-stream", upsert: true });
  if (error) throw error;
}
