// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters show that a file is not text, except 26 at the end of a DOS text
const controlCharacters = /[\u0000-\u0008\u000b\u000e-\u0019\u001b-\u001f]|\u001a(?!$)/;

/** Returns null if the content is not text. Reads UTF-8 as Latin-1: the checked characters are the same in both. */
export function decodeText(content: Buffer): string | null {
  const decoded = decode(content);
  return decoded === null || controlCharacters.test(decoded) ? null : decoded;
}

function decode(content: Buffer): string | null {
  const start = content.toString("latin1", 0, 4);
  // UTF-16 starts with a byte order mark or has a zero byte in each of its first letters.
  const isLittleEndian = /^(?:\xff\xfe|[^\0]\0[^\0]\0)/.test(start);
  if (!isLittleEndian && !/^(?:\xfe\xff|\0[^\0]\0[^\0])/.test(start)) return content.toString("latin1");
  try {
    return new TextDecoder(isLittleEndian ? "utf-16le" : "utf-16be", { fatal: true }).decode(content);
  } catch {
    return null;
  }
}

/** HTML, SVG and other XML start with a tag, a comment or a declaration. */
const markup = /^(?:\xef\xbb\xbf)?\s*<(?:[!?]|[a-z][a-z0-9:]*[\s/>])/i;

/** True for HTML, XML, web archives and emails. Web archives and emails start with MIME headers. */
export function isMarkup(text: string): boolean {
  const [head = ""] = text.slice(0, 4096).split(/\r?\n\r?\n/, 1);
  return markup.test(text) || /^MIME-Version:/im.test(head);
}
