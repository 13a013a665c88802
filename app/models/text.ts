/** Text as people type it into forms, without what nobody can see in it. The database has the rule of one line too. */
import { z } from "zod";

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get in
const notInOneLine = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of them but tab and line breaks
const notInLines = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

/**
 * A field of one line, trimmed: no control characters, no separators of lines, and nothing that turns the direction of
 * the text after it, all of which forge what a screen, a mail or a list shows. `missing` is said when it is not there.
 */
export const oneLine = (missing: string) =>
  z
    .string(missing)
    .trim()
    .refine(
      (text) => !notInOneLine.test(text),
      "This holds a character that cannot be seen, such as a line break. Type it again.",
    );

/** A field of several lines, trimmed: as one line is, with line breaks and tabs. */
export const severalLines = (missing: string) =>
  z
    .string(missing)
    .trim()
    .refine(
      (text) => !notInLines.test(text),
      "This holds a character that cannot be seen. Type it again, or paste it as plain text.",
    );
