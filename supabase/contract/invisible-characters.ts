/**
 * Matches text that has only printable ASCII characters. Most texts do. This check is much faster than a search for
 * other characters.
 */
const printableAscii = /^[ -~]*$/;
/**
 * Matches controls (C0, C1), direction marks, invisible characters, line separators, and blanks other than the space.
 */
const invisibleCharacters = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/**
 * Returns the text with an escape such as `\u202e` for each invisible character, so that text cannot control a terminal
 * or add lines to a log. JSON stays valid, because these characters occur only in its strings.
 */
export function escapeInvisible(text: string): string {
  if (printableAscii.test(text)) return text;
  return text.replace(invisibleCharacters, (character) =>
    Array.from({ length: character.length }, (_, index) => {
      return `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`;
    }).join(""),
  );
}
