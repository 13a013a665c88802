/**
 * What has arrived of large files, kept until they are whole: so that an upload goes on where its line broke, whichever
 * process it comes to next.
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import { type Refusal, refusalOf, refusalOfThrown } from "../lib/refusal.server.ts";
import type { Backend } from "../lib/supabase.server.ts";
import { sha256Of } from "./document-file.server.ts";

/** A file on its way: of whom, to which document, and what it is said to be. `sha256` in base 16. */
export type Announced = { account: string; shipment: string; document: string; size: number; sha256: string };

/**
 * Bytes [from, to) of a file, as the object's name tells. A part of the same name has the same bytes, so that of two tabs
 * that send the same file none is in the other's way; where their parts overlap, they agree, or the hash is not the file's.
 */
type Part = { name: string; from: number; to: number; at: string };

/**
 * What one account may have on its way, in bytes, in files and in parts of one file: more than a file has that comes over a
 * line which falls silent at every moment, so that nobody loses what has arrived.
 */
const mostBytes = 30 * 1024 * 1024;
const mostFiles = 20;
const mostParts = 1000;
/** In milliseconds. */
const keptFor = 24 * 60 * 60 * 1000;
/** Parts read at once; names in one call to remove. */
const readAtOnce = 4;
const removedAtOnce = 100;

const Kept = z.array(z.object({ name: z.string(), at: z.string() }));

/** The folder of an upload: the same file for the same document has the same one, in another tab and after a login too. */
export function folderOf({ account, shipment, document, size, sha256 }: Announced): string {
  const upload = createHash("sha256")
    .update(JSON.stringify([account, shipment, document, size, sha256]))
    .digest("hex");
  return `${account}/${upload}/`;
}

/** How many bytes of a file are there, from its first on. */
export async function bytesThere(company: Backend, file: Announced): Promise<number | Refusal> {
  const kept = await keptParts(company, file.account);
  return "reason" in kept ? kept : contiguous(partsOf(kept, file), file.size);
}

/**
 * Makes room for a file before more of it arrives, and answers like `bytesThere`: drops the account's parts of more than a
 * day ago, and whole uploads, the oldest first, that leave no room for this one, in bytes or in files.
 */
export async function makeRoom(company: Backend, file: Announced): Promise<number | Refusal> {
  const kept = await keptParts(company, file.account, { all: true });
  if ("reason" in kept) return kept;
  const [old, fresh] = [kept.filter(isOld), kept.filter((part) => !isOld(part))];
  const own = partsOf(fresh, file);
  const there = contiguous(own, file.size);
  const isFlooded = own.length > mostParts || bytesOf(own) + file.size - there > mostBytes;
  const dropped = isFlooded ? [...old, ...own] : old;
  const waiting = others(fresh, file);
  let bytes = bytesOf(fresh) + file.size - there;
  for (const [at, parts] of waiting.entries()) {
    if (bytes <= mostBytes && waiting.length - at < mostFiles) break;
    bytes -= bytesOf(parts);
    dropped.push(...parts);
  }
  await removeParts(
    company,
    dropped.map(({ name }) => name),
  );
  return isFlooded ? 0 : there;
}

/**
 * A file put together from its parts, or how many bytes of it are there when that is not all. Parts that are not the file
 * that was said are dropped, and that is refused.
 */
export async function wholeFile(
  company: Backend,
  file: Announced,
): Promise<Uint8Array<ArrayBuffer> | number | Refusal> {
  const kept = await keptParts(company, file.account);
  if ("reason" in kept) return kept;
  const parts = partsOf(kept, file);
  const there = contiguous(parts, file.size);
  if (there < file.size) return there;
  const content = new Uint8Array(file.size);
  const rest = parts.values();
  const read = async (): Promise<void> => {
    for (const { name, from } of rest) {
      const { data, error } = await company.storage.from("parts").download(name);
      if (error) throw error;
      content.set(new Uint8Array(await data.arrayBuffer()).subarray(0, file.size - from), from);
    }
  };
  try {
    await Promise.all(Array.from({ length: readAtOnce }, read));
  } catch (error) {
    return refusalOfThrown(error);
  }
  if (sha256Of(content) === file.sha256) return content;
  await dropParts(company, file);
  return { reason: "This file did not arrive as it was sent. Send it again.", status: 400 };
}

/** Drops the parts of a file. One that stays because the store does not answer goes with those of a day ago. */
export async function dropParts(company: Backend, file: Announced): Promise<void> {
  const kept = await keptParts(company, file.account, { all: true });
  if (!("reason" in kept))
    await removeParts(
      company,
      partsOf(kept, file).map(({ name }) => name),
    ).catch(() => undefined);
}

/** The names of all parts from before yesterday at this time, or of all of one account. Throws. */
export async function pastParts(company: Backend, account?: string): Promise<string[]> {
  const before = new Date(Date.now() - keptFor).toISOString();
  const { data, error, status } = await company.rpc("kept_parts", account ? { account } : { before });
  if (error) throw new Error(refusalOf({ ...error, status }).reason);
  return Kept.parse(data).map(({ name }) => name);
}

async function keptParts(company: Backend, account: string, { all = false } = {}): Promise<Part[] | Refusal> {
  const { data, error, status } = await company.rpc("kept_parts", { account });
  if (error) return refusalOf({ ...error, status });
  const kept = Kept.safeParse(data);
  if (!kept.success) return refusalOfThrown(kept.error);
  const parts = kept.data.flatMap(({ name, at }) => {
    const [, from, length] = /\/(\d+)-(\d+)$/.exec(name) ?? [];
    return from && length ? [{ name, at, from: Number(from), to: Number(from) + Number(length) }] : [];
  });
  return all ? parts : parts.filter((part) => !isOld(part));
}

const isOld = ({ at }: { at: string }) => Date.parse(at) < Date.now() - keptFor;
const bytesOf = (parts: Part[]) => parts.reduce((sum, { from, to }) => sum + to - from, 0);

/** The parts of each other file, the one that waits the longest for its next part first. */
function others(kept: Part[], file: Announced): Part[][] {
  const folders = new Map<string, Part[]>();
  for (const part of kept) {
    const folder = part.name.slice(0, part.name.lastIndexOf("/") + 1);
    if (folder !== folderOf(file)) folders.set(folder, [...(folders.get(folder) ?? []), part]);
  }
  const lastOf = (parts: Part[]) => parts.at(-1)?.at ?? "";
  return [...folders.values()].sort((a, b) => lastOf(a).localeCompare(lastOf(b)));
}

/** The parts of one file, by their place in it. */
function partsOf(kept: Part[], file: Announced): Part[] {
  const folder = folderOf(file);
  return kept
    .filter(({ name, to }) => name.startsWith(folder) && to <= file.size)
    .sort((a, b) => a.from - b.from || a.to - b.to);
}

/** How far parts in their order reach from byte 0 without a gap. */
function contiguous(parts: Part[], size: number): number {
  let there = 0;
  for (const { from, to } of parts) if (from <= there) there = Math.max(there, to);
  return Math.min(there, size);
}

/** Removes parts by their names; how many. Throws. */
export async function removeParts(company: Backend, names: string[]): Promise<number> {
  for (let next = 0; next < names.length; next += removedAtOnce) {
    const { error } = await company.storage.from("parts").remove(names.slice(next, next + removedAtOnce));
    if (error) throw new Error(refusalOf(error).reason);
  }
  return names.length;
}
