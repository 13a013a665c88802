/**
 * Matches texts of printable ASCII characters. Most texts match, and need no slower search for invisible characters.
 */
const printableAscii = /^[ -~]*$/;
/** Matches control, direction and other invisible characters, line separators, and blanks other than the space. */
const invisibleCharacters = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/** Escapes invisible characters, as in `\u202e`, so that a text cannot control a terminal or split a log line. */
export function escapeInvisible(text: string): string {
  if (printableAscii.test(text)) return text;
  return text.replace(invisibleCharacters, (character) =>
    Array.from({ length: character.length }, (_, index) => {
      return `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`;
    }).join(""),
  );
}
