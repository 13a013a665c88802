/** Text that somebody else typed, for terminals and logs. */

/** Most texts have nothing else, and are found so in a fraction of the time. */
const printableAscii = /^[ -~]*$/;
/** Controls (C0, C1), direction marks and invisible characters, line separators, and blanks other than the space. */
const invisibleCharacters = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/**
 * The text with every such character as `\u202e`: it stays on its line, moves no cursor and reads in the order it was
 * typed. JSON stays the same JSON, as these characters stand in its strings only.
 */
export function escapeInvisible(text: string): string {
  if (printableAscii.test(text)) return text;
  return text.replace(invisibleCharacters, (character) =>
    Array.from({ length: character.length }, (_, at) => {
      return `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
    }).join(""),
  );
}
