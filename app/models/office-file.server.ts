/** Several Office types use the same container, ZIP or CFB. The names of the container's parts show the type. */
import { inflateRawSync } from "node:zlib";

export const zipSignature = "PK\x03\x04";
export const cfbSignature = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

export const lockedPart = "EncryptedPackage";

const manifests = ["[Content_Types].xml", "mimetype", "META-INF/manifest.xml"];

/** In bytes. Only the start of a longer name is read, so that long names do not slow down the search. */
const longestPartName = 60;

/** Returns the names of a ZIP file's entries and the text of its manifests as lines, or null for an incomplete file. */
export function listZipParts(content: Buffer): string | null {
  const end = content.lastIndexOf("PK\x05\x06");
  if (end === -1 || end + 22 > content.length) return null;
  const lines: string[] = [];
  const unread = new Set(manifests);
  let at = content.readUInt32LE(end + 16);
  for (let left = content.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (at + 46 > content.length) return null;
    const endOfName = at + 46 + content.readUInt16LE(at + 28);
    const name = content.toString("utf8", at + 46, Math.min(endOfName, at + 46 + longestPartName));
    lines.push(name);
    if (unread.delete(name)) lines.push(readZipEntry(content, at));
    at = endOfName + content.readUInt16LE(at + 30) + content.readUInt16LE(at + 32);
  }
  return lines.join("\n");
}

function readZipEntry(content: Buffer, at: number): string {
  try {
    const local = content.readUInt32LE(at + 42);
    const start = local + 30 + content.readUInt16LE(local + 26) + content.readUInt16LE(local + 28);
    const packed = content.subarray(start, start + content.readUInt32LE(at + 20));
    const isStored = content.readUInt16LE(at + 10) === 0;
    return (isStored ? packed : inflateRawSync(packed, { maxOutputLength: 1024 * 1024 })).toString("latin1");
  } catch {
    return "";
  }
}

const firstSpecialSector = 0xfffffffa;
const entryBytes = 128;

/** Returns the names in the root of a compound file ([MS-CFB]) as lines, or null for an incomplete file. */
export function listCfbParts(content: Buffer): string | null {
  try {
    const file = openCompoundFile(content);
    const names = new Set<string>();
    const [root] = file.entries;
    const waiting = root ? [root.readUInt32LE(76)] : [];
    for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
      const entry = file.entries[index];
      const name = entry?.toString("utf16le", 0, Math.max(0, entry.readUInt16LE(64) - 2));
      // Names are unique, so a name that occurs again belongs to a cycle.
      if (!entry || name === undefined || names.has(name)) continue;
      names.add(name);
      // Shorter streams are inside the mini stream, which this function does not read.
      const isOwnStream = entry.readUInt32LE(120) >= 4096;
      const stream = content.subarray(isOwnStream ? file.getPosition(entry.readUInt32LE(116)) : content.length);
      if (isEncryptedStream(name, stream)) names.add(lockedPart);
      const [leftSibling, rightSibling] = [entry.readUInt32LE(68), entry.readUInt32LE(72)];
      waiting.push(leftSibling, rightSibling);
    }
    return [...names].join("\n");
  } catch {
    return null;
  }
}

function openCompoundFile(content: Buffer): { entries: Buffer[]; getPosition: (sector: number) => number } {
  const sectorBytes = content.readUInt16LE(30) === 12 ? 4096 : 512;
  const numbersPerSector = sectorBytes / 4;
  const getPosition = (sector: number) => (sector + 1) * sectorBytes;
  const readNumbers = (at: number, length: number) =>
    Array.from({ length }, (_, index) => content.readUInt32LE(at + 4 * index));
  const tables = readNumbers(76, 109);
  const maxTables = Math.ceil(content.length / sectorBytes / numbersPerSector);
  for (let sector = content.readUInt32LE(68); sector < firstSpecialSector && tables.length < maxTables + 109; ) {
    tables.push(...readNumbers(getPosition(sector), numbersPerSector - 1));
    sector = content.readUInt32LE(getPosition(sector + 1) - 4);
  }
  const next = tables
    .filter((sector) => sector < firstSpecialSector)
    .slice(0, maxTables)
    .flatMap((sector) => readNumbers(getPosition(sector), numbersPerSector));
  const freeSector = 0xffffffff;
  const lastSector = next.findLastIndex((sector) => sector !== freeSector);
  if (getPosition(lastSector) >= content.length) throw new RangeError("The file ends before its last sector.");
  const entries: Buffer[] = [];
  const maxEntries = content.length / entryBytes;
  for (let sector = content.readUInt32LE(48); sector < firstSpecialSector && entries.length < maxEntries; ) {
    for (let at = getPosition(sector); at < getPosition(sector + 1); at += entryBytes)
      entries.push(content.subarray(at, at + entryBytes));
    sector = next[sector] ?? freeSector;
  }
  return { entries, getPosition };
}

function isEncryptedStream(name: string, stream: Buffer): boolean {
  if (name === "WordDocument") return ((stream[11] ?? 0) & 1) === 1;
  if (name !== "Workbook" && name !== "Book") return false;
  const [filePass, sheetList] = [0x2f, 0x85];
  for (let at = 0; at + 4 <= Math.min(stream.length, 4096); at += 4 + stream.readUInt16LE(at + 2)) {
    const record = stream.readUInt16LE(at);
    if (record === filePass || record === sheetList) return record === filePass;
  }
  return false;
}
