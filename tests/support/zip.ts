/** Reads a ZIP archive with its central directory and checks each entry (APPNOTE.TXT 6.3.10). */
import { crc32, inflateRawSync } from "node:zlib";

const zipSignatures = { end: 0x06054b50, central: 0x02014b50, local: 0x04034b50 };
/** The bit in an entry's flags that is set if the entry's name is in UTF-8. */
const utf8Flag = 0x800;

/**
 * Returns the files of an archive by name. Throws if the archive is incomplete or differs from its central directory.
 */
export function unzip(archive: Buffer): Map<string, Buffer> {
  const end = archive.length - 22;
  if (archive.readUInt32LE(end) !== zipSignatures.end) throw new Error("The archive has no end");
  const count = archive.readUInt16LE(end + 10);
  const files = new Map<string, Buffer>();
  let at = archive.readUInt32LE(end + 16);
  for (let index = 0; index < count; index += 1) {
    const { name, content, next } = readEntry(archive, at);
    if (files.has(name)) throw new Error(`${name} is in the archive twice`);
    files.set(name, content);
    at = next;
  }
  if (at !== end) throw new Error("The directory of the archive has another length");
  return files;
}

/** Reads an entry of the central directory. Returns the entry's file, and the position of the next entry. */
function readEntry(archive: Buffer, at: number) {
  if (archive.readUInt32LE(at) !== zipSignatures.central) throw new Error(`No entry at ${at}`);
  const [flags, method] = [archive.readUInt16LE(at + 8), archive.readUInt16LE(at + 10)];
  const [sum, packed, size] = [16, 20, 24].map((offset) => archive.readUInt32LE(at + offset));
  const [nameLength = 0, extraLength = 0, commentLength = 0] = [28, 30, 32].map((offset) =>
    archive.readUInt16LE(at + offset),
  );
  const local = archive.readUInt32LE(at + 42);
  const name = archive.subarray(at + 46, at + 46 + nameLength);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: names without the flag are ASCII
  if (!(flags & utf8Flag) && !/^[\x00-\x7f]*$/.test(name.toString("latin1")))
    throw new Error(`${name} is in no known code`);
  if (archive.readUInt32LE(local) !== zipSignatures.local) throw new Error(`${name} is not where the directory says`);
  const [localName, localExtra] = [archive.readUInt16LE(local + 26), archive.readUInt16LE(local + 28)];
  if (!archive.subarray(local + 30, local + 30 + localName).equals(name)) throw new Error(`${name} has two names`);
  const begin = local + 30 + localName + localExtra;
  const stored = archive.subarray(begin, begin + (packed ?? 0));
  const content = method === 0 ? stored : inflateRawSync(stored);
  if (content.length !== size || crc32(content) !== sum) throw new Error(`${name} is damaged`);
  return { name: name.toString("utf8"), content, next: at + 46 + nameLength + extraLength + commentLength };
}
