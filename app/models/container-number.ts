/** Container numbers by ISO 6346: three letters of the owner, U, J or Z, six digits, and a check digit. */

/** The index of each character is its value. Values skip the multiples of 11. */
const characterValues = "0123456789A?BCDEFGHIJK?LMNOPQRSTU?VWXYZ";

/** Returns the check digit for the first ten characters of a container number. */
export function getCheckDigit(number: string): number {
  const characters = [...number.slice(0, 10)];
  const sum = characters.reduce(
    (total, character, place) => total + characterValues.indexOf(character) * 2 ** place,
    0,
  );
  return (sum % 11) % 10;
}

/**
 * Finds the container numbers in a text, as people paste it: with spaces, hyphens or commas anywhere, in any case. The same
 * number is returned once. `problem` is the message for the first one that is wrong.
 */
export function parseContainerNumbers(text: string): { numbers: string[]; problem?: string } {
  const compact = text
    .normalize("NFKC")
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]/gu, "");
  const numbers = [...new Set(compact.match(/\P{N}+\p{N}*|\p{N}+/gu))];
  for (const number of numbers) {
    if (!/^[A-Z]{3}[UJZ]\d{7}$/.test(number)) {
      const shown = number.length > 20 ? `${number.slice(0, 20)}…` : number;
      return {
        numbers,
        problem: `${shown} is not a container number, which is four letters, the last of them U, J or Z, and seven digits.`,
      };
    }
    const digit = getCheckDigit(number);
    if (Number(number.at(-1)) !== digit)
      return { numbers, problem: `The last digit of ${number} should be ${digit}. Check the number.` };
  }
  return { numbers };
}
