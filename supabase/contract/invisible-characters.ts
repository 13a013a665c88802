/** Most texts match. This check is much faster than a search for other characters. */
const printableAscii = /^[ -~]*$/;
/** Controls (C0, C1), direction marks, invisible characters, line separators, and blanks other than the space. */
const invisibleCharacters = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/** Returns JSON or text that cannot control a terminal or add lines to a log, with escapes such as `\u202e`. */
export function escapeInvisible(text: string): string {
  if (printableAscii.test(text)) return text;
  return text.replace(invisibleCharacters, (character) =>
    Array.from({ length: character.length }, (_, index) => {
      return `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`;
    }).join(""),
  );
}
