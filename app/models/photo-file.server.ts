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

/** True for an AVIF picture, even if the file's main type names only the container format. */
export function isAvif(content: Buffer): boolean {
  return content.subarray(8, content.readUInt32BE(0)).includes("avif");
}

/** True if the file contains its image data. Some phones add other bytes after the image data. */
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
