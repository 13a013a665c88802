/** Container numbers by ISO 6346: three letters of the owner, U, J or Z, six digits, and a check digit. */

/** The most container numbers of a shipment, and the most characters in which they are typed. */
export const maxContainers = 20;
export const maxContainerCharacters = 1000;

/** The index of each character is its value. Values skip the multiples of 11. */
const characterValues = "0123456789A?BCDEFGHIJK?LMNOPQRSTU?VWXYZ";

export function getCheckDigit(number: string): number {
  const characters = [...number.slice(0, 10)];
  const sum = characters.reduce(
    (total, character, place) => total + characterValues.indexOf(character) * 2 ** place,
    0,
  );
  return (sum % 11) % 10;
}

const numberPattern = /^[A-Z]{3}[UJZ]\d{7}$/;
const numberForm = "A container number is four letters, the last of them U, J or Z, and seven digits.";

/**
 * Finds the container numbers in a text as people paste it: in any case, with spaces and hyphens, one per line or with commas,
 * or as rows of a spreadsheet with other cells. Each number is returned once. `problem` names every entry that is wrong.
 */
export function parseContainerNumbers(text: string): { numbers: string[]; problem?: string } {
  const lines = text.split(/[\n,;|]/).filter((line) => /[\p{L}\p{N}]/u.test(line));
  // A heading of a column has no digits.
  const rows = lines.length > 1 && !/\d/.test(lines[0] ?? "") ? lines.slice(1) : lines;
  const [numbers, unknown, wrong] = [new Set<string>(), [] as string[], [] as string[]];
  for (const row of rows) {
    const found = row.split("\t").flatMap(findNumbers);
    if (found.length === 0) unknown.push(shorten(row.trim().replace(/\s+/g, " ")));
    for (const number of found) numbers.add(number);
  }
  for (const number of numbers) {
    const digit = getCheckDigit(number);
    if (Number(number.at(-1)) !== digit) wrong.push(`The last digit of ${number} should be ${digit}.`);
  }
  const notNumbers = unknown.length > 0 && `Not a container number: ${unknown.slice(0, 5).join(", ")}. ${numberForm}`;
  const problem = [notNumbers, ...wrong.slice(0, 5)].filter(Boolean).join(" ");
  return problem ? { numbers: [...numbers], problem } : { numbers: [...numbers] };
}

/** Returns the numbers of a cell, or none if a part of it is no number. */
function findNumbers(cell: string): string[] {
  const compact = cell
    .normalize("NFKC")
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]/gu, "");
  const parts = compact.match(/\P{N}+\p{N}*|\p{N}+/gu) ?? [];
  return parts.every((part) => numberPattern.test(part)) ? parts : [];
}

const shorten = (text: string) => (text.length > 20 ? `${text.slice(0, 20)}…` : text);
