/** Text typed into forms, without invisible characters. The database has the same rules. */
import { z } from "zod";

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get in
const forbiddenInOneLine = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of them but tab and line breaks
const forbiddenInSeveralLines = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

/** What somebody sees: no blank, no sign that joins or directs others, and none of the fillers that count as letters. */
const visibleCharacter = /(?![\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0])[^\p{Z}\p{Cc}\p{Cf}\p{Mn}]/u;
/** A text of which nobody would see anything counts as none. */
const emptyIfInvisible = (text: string) => (visibleCharacter.test(text) ? text : "");

/**
 * A field of one line, trimmed: no control characters, line separators or direction overrides, which can forge what a
 * screen, a mail or a list shows. `missing` is the message when the field is absent.
 */
export const oneLine = (missing: string) =>
  z
    .string(missing)
    .trim()
    .refine(
      (text) => !forbiddenInOneLine.test(text),
      "This holds a character that cannot be seen, such as a line break. Type it again.",
    )
    .overwrite(emptyIfInvisible);

/** A field of several lines, trimmed: like oneLine, but line breaks and tabs are allowed. */
export const severalLines = (missing: string) =>
  z
    .string(missing)
    .trim()
    .refine(
      (text) => !forbiddenInSeveralLines.test(text),
      "This holds a character that cannot be seen. Type it again, or paste it as plain text.",
    )
    .overwrite(emptyIfInvisible);
