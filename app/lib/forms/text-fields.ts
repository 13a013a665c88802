/** The database functions private.is_plain_text, private.is_one_line and private.is_visible check the same rules. */
import { z } from "zod";

const lineBreak = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g;

/** Does not match joiners, which Arabic and Indian scripts and emoji need, or the variation selectors of emoji. */
const invisibleCharacter = /(?<![^ -~])[\u200c\u200d]|(?![\t\n\u200c\u200d]|\p{VS})[\p{Cc}\p{DI}\ufff9-\ufffb]/gu;

/** The lookahead excludes invisible filler characters that Unicode classifies as letters or symbols. */
const visibleCharacter = /(?![\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0])[^\p{Z}\p{Cc}\p{Cf}\p{Mn}]/u;

/**
 * Shortens each series of combining marks to 30, as in Unicode's Stream-Safe Text Format, and normalises the text. The
 * time for normalising grows with the square of the length of such a series.
 */
function normalize(text: string, form: "NFC" | "NFKC"): string {
  return text.replace(/(\p{M}{30})\p{M}+/gu, "$1").normalize(form);
}

export const normalizeLineBreaks = (text: string) => text.replace(lineBreak, "\n");

function cleanText(text: string): string {
  const cleaned = normalizeLineBreaks(text).replace(invisibleCharacter, "").trim();
  return visibleCharacter.test(cleaned) ? normalize(cleaned, "NFC") : "";
}

const joinLines = (text: string) => text.replace(/\s+/g, " ");

export const toOneLine = (text: string) => joinLines(cleanText(text));

/** Replaces dashes, apostrophes, spaces and digits of all scripts by ASCII characters, but preserves line breaks. */
export function foldCode(text: string): string {
  return foldDigits(cleanText(text).replace(/[`\u00b4\u02b9\u02bb-\u02bf\u02c8\u2018-\u201b\u2032\ua78b\ua78c]/g, "'"));
}

export function foldDigits(text: string): string {
  return normalize(text, "NFKC")
    .replace(/\p{DI}/gu, "")
    .replace(/[\p{Pd}\u02d7\u2043\u2212\u2500\u2796\u30fc]/gu, "-")
    .replace(/\p{Nd}/gu, toAsciiDigit);
}

function toAsciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1;
  return String(value);
}

/** Normalises the password as RFC 8265 (OpaqueString) says, because devices encode some letters differently. */
export const normalizePassword = (password: string) => normalize(password.replace(/\p{Zs}/gu, " "), "NFC");

export const severalLines = (missing: string) => z.string(missing).overwrite(cleanText);

export const oneLine = (missing: string) => z.string(missing).overwrite(toOneLine);

export const codeLine = (missing: string) => z.string(missing).overwrite(foldCode).overwrite(joinLines);
