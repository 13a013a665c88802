import { createCipheriv, createHash } from "node:crypto";

export const pdfSignature = "%PDF-";

/** True if no object follows the last cross-reference table. In an incomplete PDF, objects follow the last table. */
export function isCompletePdf(content: Buffer): boolean {
  const table = content.lastIndexOf("startxref");
  return table !== -1 && !content.includes(" obj", table);
}

/** True if the PDF opens only with a password (ISO 32000-2, 7.6.4). Many encrypted PDFs only restrict printing. */
export function needsPassword(content: Buffer): boolean {
  const text = content.toString("latin1");
  const encryption = findEncryption(text);
  if (encryption === "") return false;
  if (!/\/Filter\s*\/Standard\b/.test(encryption)) return true;
  const owner = readString(encryption, /\/O\s*(?=[(<])/);
  const user = readString(encryption, /\/U\s*(?=[(<])/);
  const id = readString(findLast(text, "/ID", /^\/ID\s*\[\s*[(<]/), /\[\s*/);
  const revision = readNumber(encryption, /\/R\s+(\d+)/);
  if (revision >= 5) return !hashEmptyPassword(user.subarray(32, 40), revision).equals(user.subarray(0, 32));
  const permissions = Buffer.alloc(4);
  permissions.writeInt32LE(readNumber(encryption, /\/P\s+(-?\d+)/) | 0);
  const seed = [paddedEmptyPassword, owner.subarray(0, 32), permissions, id];
  if (revision >= 4 && /\/EncryptMetadata\s+false/.test(encryption)) seed.push(Buffer.alloc(4, 0xff));
  // Tries all key lengths, because PDF files state the key length in several ways.
  return !keyLengths.some((length) => isUserKey(deriveKey(seed, length, revision), user, id, revision));
}

const keyLengths = Array.from({ length: 12 }, (_, index) => 5 + index);

const paddedEmptyPassword = Buffer.from("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a", "hex");

const hash = (algorithm: string, ...parts: Buffer[]) => createHash(algorithm).update(Buffer.concat(parts)).digest();

function findEncryption(text: string): string {
  const entry = findLast(text, "/Encrypt", /^\/Encrypt\s*(?:\d{1,10}\s+\d{1,5}\s+R|<<)/);
  const [, number, generation] = /^\/Encrypt\s*(\d{1,10})\s+(\d{1,5})\s/.exec(entry) ?? [];
  return number ? findLast(text, `${number} ${generation} obj`, /^/, /\D$/) : entry;
}

/**
 * Searches backwards for `start`. Returns up to 4 KiB from the first hit that matches `pattern` and follows a character
 * that matches `before`. Returns "" if there is no hit.
 */
function findLast(text: string, start: string, pattern: RegExp, before = /$/): string {
  let at = text.lastIndexOf(start);
  for (let tries = 0; at > 0 && tries < 100; tries += 1) {
    const found = text.slice(at, at + 4096);
    if (pattern.test(found) && before.test(text.slice(at - 1, at))) return found;
    at = text.lastIndexOf(start, at - 1);
  }
  return "";
}

const readNumber = (text: string, pattern: RegExp) => Number(pattern.exec(text)?.[1]);

const escapedCharacters: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };

/** Returns the bytes of the PDF string after `pattern`. A PDF string is hexadecimal, or in parentheses with escapes. */
function readString(text: string, pattern: RegExp): Buffer {
  const entry = pattern.exec(text);
  const written = entry ? text.slice(entry.index + entry[0].length) : "";
  const hexadecimal = /^<([\s0-9A-Fa-f]*)>/.exec(written)?.[1];
  if (hexadecimal !== undefined) return Buffer.from(hexadecimal.replace(/\s/g, ""), "hex");
  let value = "";
  let depth = 0;
  for (const [token, escaped, octal] of written.matchAll(/\\(?:([^0-7])|([0-7]{1,3}))|./gs)) {
    if (token === ")") depth -= 1;
    if (depth > 0) value += octal ? String.fromCharCode(Number.parseInt(octal, 8) & 255) : readEscape(token, escaped);
    if (token === "(") depth += 1;
    if (depth < 1) break;
  }
  return Buffer.from(value, "latin1");
}

function readEscape(token: string, escaped: string | undefined): string {
  if (escaped === undefined) return token;
  return escaped === "\n" ? "" : (escapedCharacters[escaped] ?? escaped);
}

function deriveKey(seed: Buffer[], length: number, revision: number): Buffer {
  let key = hash("md5", ...seed).subarray(0, length);
  if (revision >= 3) for (let round = 0; round < 50; round += 1) key = hash("md5", key).subarray(0, length);
  return key;
}

function isUserKey(key: Buffer, user: Buffer, id: Buffer, revision: number): boolean {
  if (revision === 2) return encryptRc4(key, paddedEmptyPassword).equals(user.subarray(0, 32));
  let expected: Buffer = hash("md5", paddedEmptyPassword, id);
  for (let round = 0; round < 20; round += 1)
    expected = encryptRc4(Buffer.from(key.map((byte) => byte ^ round)), expected);
  return expected.equals(user.subarray(0, 16));
}

/** Implements RC4, because Node has no RC4 since OpenSSL 3. */
function encryptRc4(key: Buffer, data: Buffer): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_, index) => index);
  const swap = (first: number, second: number) => {
    [state[first], state[second]] = [state[second] ?? 0, state[first] ?? 0];
  };
  let second = 0;
  for (let first = 0; first < 256; first += 1) {
    second = (second + (state[first] ?? 0) + (key[first % key.length] ?? 0)) & 255;
    swap(first, second);
  }
  second = 0;
  return Buffer.from(
    data.map((byte, index) => {
      const first = (index + 1) & 255;
      second = (second + (state[first] ?? 0)) & 255;
      swap(first, second);
      return byte ^ (state[((state[first] ?? 0) + (state[second] ?? 0)) & 255] ?? 0);
    }),
  );
}

function hashEmptyPassword(salt: Buffer, revision: number): Buffer {
  let key = hash("sha256", salt);
  if (revision === 5) return key;
  for (let round = 0, last = 0; round < 64 || last > round - 32; round += 1) {
    const cipher = createCipheriv("aes-128-cbc", key.subarray(0, 16), key.subarray(16, 32));
    // Omits `final`, because `final` would add a padding block.
    const encrypted = cipher.update(Buffer.concat(Array<Buffer>(64).fill(key)));
    const sum = encrypted.subarray(0, 16).reduce((total, byte) => total + byte, 0);
    key = hash(["sha256", "sha384", "sha512"][sum % 3] ?? "", encrypted);
    last = encrypted.at(-1) ?? 0;
  }
  return key.subarray(0, 32);
}
