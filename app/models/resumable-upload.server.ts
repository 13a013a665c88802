/**
 * What has arrived of large files, kept until they are whole: so that an upload goes on where its line broke, whichever
 * process it comes to next.
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import { toUserError, type UserError, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { hashSha256 } from "./document-file.server.ts";

/** A file on its way: of whom, to which document, and what it is said to be. `sha256` in base 16. */
export type PendingUpload = { account: string; shipment: string; document: string; size: number; sha256: string };

/**
 * Bytes [from, to) of a file, as the object's name tells. A part of the same name has the same bytes, so that of two tabs
 * that send the same file none is in the other's way; where their parts overlap, they agree, or the hash is not the file's.
 */
type UploadChunk = { name: string; from: number; to: number; at: string };

/**
 * What one account may have on its way, in bytes, in files and in parts of one file: more than a file has that comes over a
 * line which falls silent at every moment, so that nobody loses what has arrived.
 */
const maxPendingBytes = 30 * 1024 * 1024;
const maxPendingFiles = 20;
const maxChunksPerFile = 1000;
/** In milliseconds. */
const chunkLifetimeMs = 24 * 60 * 60 * 1000;
/** Parts read at once; names in one call to remove. */
const parallelReads = 4;
const chunksPerDelete = 100;

const StoredChunks = z.array(z.object({ name: z.string(), created_at: z.string() }));

/** The folder of an upload: the same file for the same document has the same one, in another tab and after a login too. */
export function getUploadFolder({ account, shipment, document, size, sha256 }: PendingUpload): string {
  const upload = createHash("sha256")
    .update(JSON.stringify([account, shipment, document, size, sha256]))
    .digest("hex");
  return `${account}/${upload}/`;
}

/** How many bytes of a file are there, from its first on. */
export async function countReceivedBytes(company: AppSupabaseClient, file: PendingUpload): Promise<number | UserError> {
  const kept = await listStoredChunks(company, file.account);
  return "reason" in kept ? kept : countContiguousBytes(selectChunks(kept, file), file.size);
}

/**
 * Makes room for a file before more of it arrives, and answers like `bytesThere`: drops the account's parts of more than a
 * day ago, and whole uploads, the oldest first, that leave no room for this one, in bytes or in files.
 */
export async function freeSpaceForUpload(company: AppSupabaseClient, file: PendingUpload): Promise<number | UserError> {
  const kept = await listStoredChunks(company, file.account, { all: true });
  if ("reason" in kept) return kept;
  const [old, fresh] = [kept.filter(isExpired), kept.filter((part) => !isExpired(part))];
  const own = selectChunks(fresh, file);
  const there = countContiguousBytes(own, file.size);
  const isFlooded = own.length > maxChunksPerFile || sumBytes(own) + file.size - there > maxPendingBytes;
  const dropped = isFlooded ? [...old, ...own] : old;
  const waiting = listOtherUploads(fresh, file);
  let bytes = sumBytes(fresh) + file.size - there;
  for (const [at, parts] of waiting.entries()) {
    if (bytes <= maxPendingBytes && waiting.length - at < maxPendingFiles) break;
    bytes -= sumBytes(parts);
    dropped.push(...parts);
  }
  await deleteChunks(
    company,
    dropped.map(({ name }) => name),
  );
  return isFlooded ? 0 : there;
}

/**
 * A file put together from its parts, or how many bytes of it are there when that is not all. Parts that are not the file
 * that was said are dropped, and that is refused.
 */
export async function assembleFile(
  company: AppSupabaseClient,
  file: PendingUpload,
): Promise<Uint8Array<ArrayBuffer> | number | UserError> {
  const kept = await listStoredChunks(company, file.account);
  if ("reason" in kept) return kept;
  const parts = selectChunks(kept, file);
  const there = countContiguousBytes(parts, file.size);
  if (there < file.size) return there;
  const content = new Uint8Array(file.size);
  const rest = parts.values();
  const read = async (): Promise<void> => {
    for (const { name, from } of rest) {
      const { data, error } = await company.storage.from("upload-chunks").download(name);
      if (error) throw error;
      content.set(new Uint8Array(await data.arrayBuffer()).subarray(0, file.size - from), from);
    }
  };
  try {
    await Promise.all(Array.from({ length: parallelReads }, read));
  } catch (error) {
    return userErrorFromThrown(error);
  }
  if (hashSha256(content) === file.sha256) return content;
  await deleteUploadChunks(company, file);
  return { reason: "This file did not arrive as it was sent. Send it again.", status: 400 };
}

/** Drops the parts of a file. One that stays because the store does not answer goes with those of a day ago. */
export async function deleteUploadChunks(company: AppSupabaseClient, file: PendingUpload): Promise<void> {
  const kept = await listStoredChunks(company, file.account, { all: true });
  if (!("reason" in kept))
    await deleteChunks(
      company,
      selectChunks(kept, file).map(({ name }) => name),
    ).catch(() => undefined);
}

/** The names of all parts from before yesterday at this time, or of all of one account. Throws. */
export async function listDeletableChunks(company: AppSupabaseClient, account?: string): Promise<string[]> {
  const before = new Date(Date.now() - chunkLifetimeMs).toISOString();
  const { data, error, status } = await company.rpc(
    "list_upload_chunks",
    account ? { account_id: account } : { before },
  );
  if (error) throw new Error(toUserError({ ...error, status }).reason);
  return StoredChunks.parse(data).map(({ name }) => name);
}

async function listStoredChunks(
  company: AppSupabaseClient,
  account: string,
  { all = false } = {},
): Promise<UploadChunk[] | UserError> {
  const { data, error, status } = await company.rpc("list_upload_chunks", { account_id: account });
  if (error) return toUserError({ ...error, status });
  const kept = StoredChunks.safeParse(data);
  if (!kept.success) return userErrorFromThrown(kept.error);
  const parts = kept.data.flatMap(({ name, created_at: at }) => {
    const [, from, length] = /\/(\d+)-(\d+)$/.exec(name) ?? [];
    return from && length ? [{ name, at, from: Number(from), to: Number(from) + Number(length) }] : [];
  });
  return all ? parts : parts.filter((part) => !isExpired(part));
}

const isExpired = ({ at }: { at: string }) => Date.parse(at) < Date.now() - chunkLifetimeMs;
const sumBytes = (parts: UploadChunk[]) => parts.reduce((sum, { from, to }) => sum + to - from, 0);

/** The parts of each other file, the one that waits the longest for its next part first. */
function listOtherUploads(kept: UploadChunk[], file: PendingUpload): UploadChunk[][] {
  const folders = new Map<string, UploadChunk[]>();
  for (const part of kept) {
    const folder = part.name.slice(0, part.name.lastIndexOf("/") + 1);
    if (folder !== getUploadFolder(file)) folders.set(folder, [...(folders.get(folder) ?? []), part]);
  }
  const lastOf = (parts: UploadChunk[]) => parts.at(-1)?.at ?? "";
  return [...folders.values()].sort((a, b) => lastOf(a).localeCompare(lastOf(b)));
}

/** The parts of one file, by their place in it. */
function selectChunks(kept: UploadChunk[], file: PendingUpload): UploadChunk[] {
  const folder = getUploadFolder(file);
  return kept
    .filter(({ name, to }) => name.startsWith(folder) && to <= file.size)
    .sort((a, b) => a.from - b.from || a.to - b.to);
}

/** How far parts in their order reach from byte 0 without a gap. */
function countContiguousBytes(parts: UploadChunk[], size: number): number {
  let there = 0;
  for (const { from, to } of parts) if (from <= there) there = Math.max(there, to);
  return Math.min(there, size);
}

/** Removes parts by their names; how many. Throws. */
export async function deleteChunks(company: AppSupabaseClient, names: string[]): Promise<number> {
  for (let next = 0; next < names.length; next += chunksPerDelete) {
    const { error } = await company.storage.from("upload-chunks").remove(names.slice(next, next + chunksPerDelete));
    if (error) throw new Error(toUserError(error).reason);
  }
  return names.length;
}
