/** Reads the sizes of pictures from their headers, so that the server never decodes a picture that is too large. */

export type PictureSize = { width: number; height: number };

type ReadBytes = (start: number, length: number) => Promise<Buffer>;

/** Decoding HEIC needs 15 bytes of memory per pixel. A phone's photo has 12 or 24 million pixels. */
export const getMaxPixels = (mediaType: string) => (mediaType === "image/heic" ? 25_000_000 : 100_000_000);

export const headBytes = 64 * 1024;
const maxTiffPages = 20;

/** Returns the size of each page of a TIFF file, or of the picture in another file. Omits sizes that it cannot read. */
export async function readPictureSizes(mediaType: string, head: Buffer, read: ReadBytes): Promise<PictureSize[]> {
  try {
    if (mediaType === "image/tiff") return await readTiffSizes(head, read);
    const size = readSize[mediaType]?.(head);
    return size ? [size] : [];
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}

const readSize: Readonly<Record<string, (head: Buffer) => PictureSize | null>> = {
  "image/png": (head) => ({ width: head.readUInt32BE(16), height: head.readUInt32BE(20) }),
  "image/jpeg": readJpegSize,
  "image/webp": readWebpSize,
  "image/heic": readHeicSize,
};

const isFrameHeader = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

function readJpegSize(head: Buffer): PictureSize | null {
  for (let at = 2; head[at] === 0xff; ) {
    const marker = head.readUInt8(at + 1);
    if (isFrameHeader(marker)) return { width: head.readUInt16BE(at + 7), height: head.readUInt16BE(at + 5) };
    at += marker === 0xff ? 1 : 2 + head.readUInt16BE(at + 2);
  }
  return null;
}

function readWebpSize(head: Buffer): PictureSize {
  const format = head.toString("latin1", 12, 16);
  if (format === "VP8X") return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 };
  if (format === "VP8 ") return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff };
  const bits = head.readUInt32LE(21);
  return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
}

/** Returns the largest size in the file, because a HEIC file also states the sizes of the tiles and the thumbnail. */
function readHeicSize(head: Buffer): PictureSize | null {
  let largest: PictureSize | null = null;
  for (let at = head.indexOf("ispe"); at !== -1 && at + 16 <= head.length; at = head.indexOf("ispe", at + 4)) {
    const size = { width: head.readUInt32BE(at + 8), height: head.readUInt32BE(at + 12) };
    if (!largest || size.width * size.height > largest.width * largest.height) largest = size;
  }
  return largest;
}

const tiffEntryBytes = 12;
const tiffTags = { width: 256, height: 257 };

async function readTiffSizes(head: Buffer, read: ReadBytes): Promise<PictureSize[]> {
  const isLittleEndian = head[0] === 0x49;
  const readNumber = (bytes: Buffer, at: number, length: number) =>
    isLittleEndian ? bytes.readUIntLE(at, length) : bytes.readUIntBE(at, length);
  const sizes: PictureSize[] = [];
  for (let start = readNumber(head, 4, 4); start !== 0 && sizes.length < maxTiffPages; ) {
    const directory = await readDirectory(start, head, read);
    const count = readNumber(directory, 0, 2);
    const values = new Map<number, number>();
    for (let entry = 2; entry < 2 + count * tiffEntryBytes; entry += tiffEntryBytes) {
      const isShort = readNumber(directory, entry + 2, 2) === 3;
      values.set(readNumber(directory, entry, 2), readNumber(directory, entry + 8, isShort ? 2 : 4));
    }
    sizes.push({ width: values.get(tiffTags.width) ?? 0, height: values.get(tiffTags.height) ?? 0 });
    start = readNumber(directory, 2 + count * tiffEntryBytes, 4);
  }
  return sizes;
}

function readDirectory(start: number, head: Buffer, read: ReadBytes): Promise<Buffer> | Buffer {
  return start + 1024 <= head.length ? head.subarray(start, start + 1024) : read(start, 1024);
}
