import { toUserError, type UserError } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { getUploadFolder, type PendingUpload } from "./resumable-upload.server.ts";

/** The bucket has the same maximum. */
const maxChunkBytes = 256 * 1024;
const minChunkBytes = 16 * 1024;
/** Milliseconds without new bytes, after which the received bytes are stored. */
const idleFlushMs = 500;
const activeUploads = new Map<string, { stop: AbortController; done: Promise<unknown> }>();

/** The server may not detect a lost connection, so the next request for the file stops the previous one. */
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

export async function storeChunks(
  serviceRole: AppSupabaseClient,
  file: PendingUpload,
  from: number,
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<UserError | null> {
  const reader = body.getReader();
  const stop = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  let pending: Uint8Array[] = [];
  let size = 0;
  let offset = from;
  let storing = Promise.resolve();
  const store = (minBytes: number) => {
    if (size < minBytes) return;
    const [chunkOffset, bytes] = [offset, Buffer.concat(pending, size)];
    offset += size;
    pending = [];
    size = 0;
    storing = storing.then(() => putChunk(serviceRole, file, chunkOffset, bytes));
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
    for (let remaining = value; remaining.length > 0; ) {
      const part = remaining.subarray(0, maxChunkBytes - size);
      pending.push(part);
      size += part.length;
      remaining = remaining.subarray(part.length);
      store(maxChunkBytes);
    }
    idleTimer = setTimeout(store, idleFlushMs, minChunkBytes);
  }
  // Only the last chunk of the file may be short: a connection that breaks often would fill the bucket.
  store(offset + size === file.size ? 1 : minChunkBytes);
  const storeError = await storing.then(
    () => null,
    (error: Error) => toUserError(error),
  );
  if (isTooMuch) stop();
  return (
    storeError ?? (isTooMuch ? { reason: "More of this file came than was said. Send it again.", status: 413 } : null)
  );
}

async function putChunk(
  serviceRole: AppSupabaseClient,
  file: PendingUpload,
  from: number,
  bytes: Uint8Array,
): Promise<void> {
  const name = `${getUploadFolder(file)}${from}-${bytes.length}`;
  // Another tab may have stored this chunk. Without upsert, hosted Supabase then never responds again on the
  // connection.
  const { error } = await serviceRole.storage
    .from("upload-chunks")
    .upload(name, bytes, { contentType: "application/octet-stream", upsert: true });
  if (error) throw error;
}
