import { promisify } from "node:util";
import { inflate } from "node:zlib";

/** PDF viewers run scripts of a PDF in spite of the response's Content-Security-Policy, also with `sandbox`. */
const scriptEntry = /\/JavaScript|\/JS\s*(?:[(<]|\d+\s+\d+\s+R)/;
const maxInflatedBytes = 32 * 1024 * 1024;
const inflateAsync = promisify(inflate);

const unescapeNames = (text: string) =>
  text.replace(/#([0-9A-Fa-f]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

// A larger file could block the server. Such a file can only be downloaded.
const maxEscapes = 50_000;
const maxStreams = 10_000;
const maxHeaderLength = 4096;

function hasManyEscapes(text: string): boolean {
  const escapes = /#[0-9A-Fa-f]{2}/g;
  for (let count = 0; escapes.exec(text); count += 1) if (count === maxEscapes) return true;
  return false;
}

const countObjectStreams = (text: string) => text.split("/ObjStm").length - 1;

/**
 * True if the PDF may contain a script. Also true if the server cannot read one of the PDF's object streams, or if
 * reading the PDF would need too much time. The time grows only linearly with the size of the file.
 */
export async function mayHavePdfScript(content: Buffer): Promise<boolean> {
  const raw = content.toString("latin1");
  if (hasManyEscapes(raw)) return true;
  const text = unescapeNames(raw);
  if (scriptEntry.test(text)) return true;
  let unreadCount = countObjectStreams(text);
  if (unreadCount > 0 && text.includes("/Encrypt")) return true;
  let [left, streamCount, position] = [maxInflatedBytes, 0, 0];
  for (const { index } of unreadCount > 0 ? raw.matchAll(/(?<!end)stream\r?\n/g) : []) {
    if (index < position) continue;
    streamCount += 1;
    const before = raw.slice(Math.max(position, index - maxHeaderLength), index);
    const start = before.lastIndexOf(" obj");
    if (start === -1 || streamCount > maxStreams) return true;
    const header = unescapeNames(before.slice(start));
    const count = countObjectStreams(header);
    if (count === 0) continue;
    const begin = raw.indexOf("\n", index) + 1;
    position = content.indexOf("endstream", begin);
    if (position === -1) return true;
    const objects = await readObjectStream(content.subarray(begin, position), header, left);
    if (objects === null || hasManyEscapes(objects) || scriptEntry.test(unescapeNames(objects))) return true;
    left -= objects.length;
    unreadCount -= count;
  }
  return unreadCount !== 0;
}

/** Returns null if the stream has another filter than Flate, or if its content is damaged or too large. */
async function readObjectStream(stream: Buffer, header: string, maxOutputLength: number) {
  const filter = /\/Filter\s*\[?\s*\/(\w+)\s*(?:\]|\/|>>)/.exec(header)?.[1];
  if (/\/DecodeParms|\/F\s*\(/.test(header) || (filter !== "FlateDecode" && header.includes("/Filter"))) return null;
  if (!filter) return stream.toString("latin1");
  return inflateAsync(stream, { maxOutputLength }).then(
    (objects) => objects.toString("latin1"),
    () => null,
  );
}
