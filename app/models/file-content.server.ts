import { inflateRawSync } from "node:zlib";

/** Most Office files are ZIP or CFB containers. The names of the parts inside the container show the file type. */
export const zipSignature = "PK\x03\x04";
export const cfbSignature = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

export const lockedPart = "EncryptedPackage";

const manifests = ["[Content_Types].xml", "mimetype", "META-INF/manifest.xml"];

/** Limits the bytes that are read of each name, so that long names do not slow down the search. */
const longestPartName = 60;

/** Returns the names of a container's parts as lines, "" for another file, or null for an incomplete container. */
export function listParts(content: Buffer): string | null {
  const start = content.toString("latin1", 0, 8);
  if (start.startsWith(zipSignature)) return listZipParts(content);
  return start === cfbSignature ? listCfbParts(content) : "";
}

/** Returns the names of a ZIP file's entries and the text of its manifests as lines, or null for an incomplete file. */
function listZipParts(content: Buffer): string | null {
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
function listCfbParts(content: Buffer): string | null {
  try {
    const file = openCompoundFile(content);
    const names = new Set<string>();
    const [root] = file.entries;
    const waiting = root ? [root.readUInt32LE(76)] : [];
    for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
      const entry = file.entries[index];
      const name = entry?.toString("utf16le", 0, Math.max(0, entry.readUInt16LE(64) - 2));
      // All names in a file differ, so a repeated name means that the entries form a cycle.
      if (!entry || name === undefined || names.has(name)) continue;
      names.add(name);
      // Streams under 4096 bytes are inside the mini stream, which this function does not read.
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

/** True if the first picture in the file is complete. Phones may append a video or more pictures. */
export function isCompleteJpeg(content: Buffer): boolean {
  const [startOfScan, endOfImage] = [0xda, Buffer.from([0xff, 0xd9])];
  let at = 2;
  while (at + 4 <= content.length && content[at] === 0xff) {
    if (content[at + 1] === startOfScan) return content.includes(endOfImage, at);
    // Bytes of 0xff may fill the space before a marker.
    at += content[at + 1] === 0xff ? 1 : 2 + content.readUInt16BE(at + 2);
  }
  return false;
}

/** True for an AVIF picture, even if the file's major brand is only that of the container format, such as mif1. */
export function isAvif(content: Buffer): boolean {
  return content.subarray(8, content.readUInt32BE(0)).includes("avif");
}

/** True if the file contains all image data. Some phones add other bytes after the image data. */
export function isCompleteHeic(content: Buffer): boolean {
  const imageData = Buffer.from("mdat").readUInt32BE();
  for (let at = 0; at + 16 <= content.length; ) {
    const length = content.readUInt32BE(at);
    const size = length === 1 ? Number(content.readBigUInt64BE(at + 8)) : length || content.length - at;
    if (content.readUInt32BE(at + 4) === imageData) return at + size <= content.length;
    at += Math.max(size, 8);
  }
  return false;
}

export function isCompleteTiff(content: Buffer): boolean {
  return readTiffTags(content) !== null;
}

/** True for a camera's raw photo, whose file starts like a TIFF. */
export function isRawPhoto(content: Buffer): boolean {
  const [subDirectories, dngVersion] = [330, 50706];
  const tags = readTiffTags(content);
  return content.toString("latin1", 8, 10) === "CR" || !!(tags?.has(subDirectories) || tags?.has(dngVersion));
}

function readTiffTags(content: Buffer): Set<number> | null {
  const isLittleEndian = content[0] === 0x49;
  const read = (at: number) => (isLittleEndian ? content.readUInt16LE(at) : content.readUInt16BE(at));
  try {
    const directory = isLittleEndian ? content.readUInt32LE(4) : content.readUInt32BE(4);
    const count = read(directory);
    return new Set(Array.from({ length: count }, (_, index) => read(directory + 2 + 12 * index)));
  } catch {
    return null;
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters show that a file is not text, but a DOS text file may end with character 26
const controlCharacters = /[\u0000-\u0008\u000b\u000e-\u0019\u001b-\u001f]|\u001a(?!$)/;

/** Returns the text, or null for binary content. Decodes UTF-8 as Latin-1, which is enough to find markup. */
export function decodeText(content: Buffer): string | null {
  const decoded = decode(content);
  return decoded === null || controlCharacters.test(decoded) ? null : decoded;
}

function decode(content: Buffer): string | null {
  const start = content.toString("latin1", 0, 4);
  // UTF-16 text starts with a byte order mark, or with letters that each contain a zero byte.
  const isLittleEndian = /^(?:\xff\xfe|[^\0]\0[^\0]\0)/.test(start);
  if (!isLittleEndian && !/^(?:\xfe\xff|\0[^\0]\0[^\0])/.test(start)) return content.toString("latin1");
  try {
    return new TextDecoder(isLittleEndian ? "utf-16le" : "utf-16be", { fatal: true }).decode(content);
  } catch {
    return null;
  }
}

const markup = /^(?:\xef\xbb\xbf)?\s*<(?:[!?]|[a-z][a-z0-9:]*[\s/>])/i;

/** True for HTML, XML, web archives and emails. Web archives and emails start with MIME headers. */
export function isMarkup(text: string): boolean {
  const [head = ""] = text.slice(0, 4096).split(/\r?\n\r?\n/, 1);
  return markup.test(text) || /^MIME-Version:/im.test(head);
}
