/** The database has the same rules in private.is_one_line, private.is_plain_text and private.is_visible. */
import { z } from "zod";

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds forbidden characters
const forbiddenInOneLine = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds forbidden characters
const forbiddenInSeveralLines = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

/** The lookahead excludes invisible filler characters that Unicode classifies as letters or symbols. */
const visibleCharacter = /(?![\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0])[^\p{Z}\p{Cc}\p{Cf}\p{Mn}]/u;
const emptyIfInvisible = (text: string) => (visibleCharacter.test(text) ? text : "");

/** Rejects control characters and direction overrides, which can disguise a text on a screen or in an email. */
export const oneLine = (missing: string) =>
  z
    .string(missing)
    .trim()
    .refine((text) => !forbiddenInOneLine.test(text), "Remove line breaks and special characters, then try again.")
    .overwrite(emptyIfInvisible);

export const severalLines = (missing: string) =>
  z
    .string(missing)
    .trim()
    .refine((text) => !forbiddenInSeveralLines.test(text), "Remove special characters, then try again.")
    .overwrite(emptyIfInvisible);
