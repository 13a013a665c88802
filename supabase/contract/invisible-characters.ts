/** Matches most texts, and much faster than a search for invisible characters. */
const printableAscii = /^[ -~]*$/;
/** Controls (C0, C1), direction marks and invisible characters, line separators, and blanks other than the space. */
const invisibleCharacters = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/**
 * Returns the text with invisible characters as `\u202e`, so that text cannot control a terminal or add lines to a log.
 * JSON stays valid, because these characters occur only in its strings.
 */
export function escapeInvisible(text: string): string {
  if (printableAscii.test(text)) return text;
  return text.replace(invisibleCharacters, (character) =>
    Array.from({ length: character.length }, (_, index) => {
      return `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`;
    }).join(""),
  );
}
