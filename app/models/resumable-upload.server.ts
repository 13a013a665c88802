/** The bucket upload-chunks stores the received bytes, so that any process of the site can continue an upload. */
import { hash } from "node:crypto";
import pLimit from "p-limit";
import { z } from "zod";
import { toUserError, type UserError, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { dataOrThrow, parseResult } from "../lib/supabase/result.server.ts";

export type PendingUpload = { account: string; shipment: string; document: string; size: number; sha256: string };

/** The bytes of a file from `from` to `to` - 1. Chunks may overlap if two tabs upload the same file. */
type UploadChunk = { name: string; from: number; to: number; createdAt: string };

const maxPendingBytes = 30 * 1024 * 1024;
const maxPendingFiles = 20;
/** No normal upload has so many chunks, even on a connection that breaks often. */
const maxChunksPerFile = 1000;
const chunkLifetimeMs = 24 * 60 * 60 * 1000;
const parallelReads = 4;
const chunksPerDelete = 100;
/** The bucket upload-chunks has the same limit. */
const maxChunkBytes = 256 * 1024;
export const chunkMemoryBytes = 4 * maxChunkBytes;
const minChunkBytes = 16 * 1024;
/** If no bytes arrive for this time, the received bytes are stored. */
const idleFlushMs = 500;

const StoredChunks = z.array(z.object({ name: z.string(), created_at: z.string() }));

/** Returns the folder of a file's chunks, which is the same in every tab and session of the account. */
export function getUploadFolder({ account, shipment, document, size, sha256 }: PendingUpload): string {
  return `${account}/${hash("sha256", JSON.stringify([account, shipment, document, size, sha256]))}/`;
}

export async function countReceivedBytes(serviceRole: AppSupabaseClient, file: PendingUpload) {
  const stored = await listStoredChunks(serviceRole, file.account);
  return "reason" in stored ? stored : countContiguousBytes(selectChunks(stored, file), file.size);
}

/** Deletes expired chunks, and old uploads over the account's limits. Returns the number of stored bytes of `file`. */
export async function freeSpaceForUpload(serviceRole: AppSupabaseClient, file: PendingUpload) {
  const stored = await listStoredChunks(serviceRole, file.account);
  if ("reason" in stored) return stored;
  const [expired, fresh] = [stored.filter(isExpired), stored.filter((chunk) => !isExpired(chunk))];
  const ownChunks = selectChunks(fresh, file);
  const received = countContiguousBytes(ownChunks, file.size);
  const isFlooded = ownChunks.length > maxChunksPerFile || sumBytes(ownChunks) + file.size - received > maxPendingBytes;
  const deletable = isFlooded ? [...expired, ...ownChunks] : expired;
  const otherUploads = listOtherUploads(fresh, file);
  let bytes = sumBytes(fresh) + file.size - received;
  for (const [index, chunks] of otherUploads.entries()) {
    if (bytes <= maxPendingBytes && otherUploads.length - index < maxPendingFiles) break;
    bytes -= sumBytes(chunks);
    deletable.push(...chunks);
  }
  await deleteChunks(serviceRole, listNames(deletable));
  return isFlooded ? 0 : received;
}

/** Returns the file, or the number of received bytes if bytes are missing. Deletes all chunks if the hash is wrong. */
export async function assembleFile(
  serviceRole: AppSupabaseClient,
  file: PendingUpload,
): Promise<Uint8Array<ArrayBuffer> | number | UserError> {
  const stored = await listStoredChunks(serviceRole, file.account);
  if ("reason" in stored) return stored;
  const chunks = selectChunks(stored, file);
  const received = countContiguousBytes(chunks, file.size);
  if (received < file.size) return received;
  const content = new Uint8Array(file.size);
  try {
    await pLimit(parallelReads).map(chunks, async ({ name, from }) => {
      const { data, error } = await serviceRole.storage.from("upload-chunks").download(name);
      if (error) throw error;
      content.set(new Uint8Array(await data.arrayBuffer()).subarray(0, file.size - from), from);
    });
  } catch (error) {
    return userErrorFromThrown(error);
  }
  if (hash("sha256", content) === file.sha256) return content;
  await deleteUploadChunks(serviceRole, file);
  return { reason: "The file was damaged during the upload. Upload the file again.", status: 400 };
}

/** Ignores errors, because a background job deletes expired chunks later. */
export async function deleteUploadChunks(serviceRole: AppSupabaseClient, file: PendingUpload): Promise<void> {
  const stored = await listStoredChunks(serviceRole, file.account);
  if ("reason" in stored) return;
  await deleteChunks(serviceRole, listNames(selectChunks(stored, file))).catch(() => undefined);
}

export async function listDeletableChunks(serviceRole: AppSupabaseClient, account?: string): Promise<string[]> {
  const before = new Date(Date.now() - chunkLifetimeMs).toISOString();
  const chunks = await serviceRole.rpc("list_upload_chunks", account ? { account_id: account } : { before });
  return listNames(StoredChunks.parse(dataOrThrow(chunks)));
}

async function listStoredChunks(serviceRole: AppSupabaseClient, account: string) {
  const stored = parseResult(StoredChunks, await serviceRole.rpc("list_upload_chunks", { account_id: account }));
  if ("reason" in stored) return stored;
  return stored.flatMap(({ name, created_at: createdAt }) => {
    const [, from, length] = /\/(\d+)-(\d+)$/.exec(name) ?? [];
    return from && length ? [{ name, createdAt, from: Number(from), to: Number(from) + Number(length) }] : [];
  });
}

const isExpired = ({ createdAt }: UploadChunk) => Date.parse(createdAt) < Date.now() - chunkLifetimeMs;
const listNames = (chunks: { name: string }[]) => chunks.map(({ name }) => name);
const sumBytes = (chunks: UploadChunk[]) => chunks.reduce((sum, { from, to }) => sum + to - from, 0);

function listOtherUploads(stored: UploadChunk[], file: PendingUpload): UploadChunk[][] {
  const folders = new Map<string, UploadChunk[]>();
  for (const chunk of stored) {
    const folder = chunk.name.slice(0, chunk.name.lastIndexOf("/") + 1);
    if (folder !== getUploadFolder(file)) folders.set(folder, [...(folders.get(folder) ?? []), chunk]);
  }
  const lastTime = (chunks: UploadChunk[]) => chunks.at(-1)?.createdAt ?? "";
  return [...folders.values()].sort((a, b) => lastTime(a).localeCompare(lastTime(b)));
}

function selectChunks(stored: UploadChunk[], file: PendingUpload): UploadChunk[] {
  const folder = getUploadFolder(file);
  return stored
    .filter((chunk) => chunk.name.startsWith(folder) && chunk.to <= file.size && !isExpired(chunk))
    .sort((a, b) => a.from - b.from || a.to - b.to);
}

function countContiguousBytes(chunks: UploadChunk[], size: number): number {
  let received = 0;
  for (const { from, to } of chunks) if (from <= received) received = Math.max(received, to);
  return Math.min(received, size);
}

export async function deleteChunks(serviceRole: AppSupabaseClient, names: string[]): Promise<number> {
  for (let start = 0; start < names.length; start += chunksPerDelete) {
    const bucket = serviceRole.storage.from("upload-chunks");
    dataOrThrow(await bucket.remove(names.slice(start, start + chunksPerDelete)));
  }
  return names.length;
}

const activeUploads = new Map<string, { stop: AbortController; done: Promise<unknown> }>();

/** A new request stops the previous request for the same file, because the server can miss a lost connection. */
export async function runUploadExclusively<T>(file: PendingUpload, task: (signal: AbortSignal) => Promise<T>) {
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
    // A lost connection counts as the end of the body, so that the received bytes are stored.
    const { value } = await reader.read().catch(() => ({ value: undefined }));
    clearTimeout(idleTimer);
    isTooMuch = value !== undefined && offset + size + value.length > file.size;
    if (!value || isTooMuch) break;
    for (let remaining = value; remaining.length > 0; ) {
      const part = remaining.subarray(0, maxChunkBytes - size);
      pending.push(part);
      size += part.length;
      remaining = remaining.subarray(part.length);
      // Waits for the storage. Otherwise the whole file could collect in memory.
      if (size === maxChunkBytes) await storing.catch(() => undefined);
      store(maxChunkBytes);
    }
    idleTimer = setTimeout(store, idleFlushMs, minChunkBytes);
  }
  // Only a file's last chunk may be under `minChunkBytes`. Otherwise a bad connection would create countless chunks.
  store(offset + size === file.size ? 1 : minChunkBytes);
  const storeError = await storing.then(() => null, toUserError);
  if (!isTooMuch) return storeError;
  stop();
  return storeError ?? { reason: "The file is larger than expected. Upload the file again.", status: 413 };
}

async function putChunk(serviceRole: AppSupabaseClient, file: PendingUpload, from: number, bytes: Uint8Array) {
  const name = `${getUploadFolder(file)}${from}-${bytes.length}`;
  await serviceRole.rpc("count_upload_chunk", { account_id: file.account }).throwOnError();
  // Without upsert, hosted Supabase does not respond if another tab has stored the same chunk.
  const { error } = await serviceRole.storage
    .from("upload-chunks")
    .upload(name, bytes, { contentType: "application/octet-stream", upsert: true });
  if (error) throw error;
}
