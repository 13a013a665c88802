/** A container number has three letters for the owner, then U, J or Z, six digits and a check digit (ISO 6346). */

import { foldCode } from "../lib/forms/text-fields.ts";

export const maxContainers = 20;
/** The maximum length of the typed text. The text may contain spaces and other cells of a spreadsheet. */
export const maxContainerCharacters = 1000;

/** A character's value is its index in this text. "?" fills the indexes 11, 22 and 33, which ISO 6346 does not use. */
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
const numberForm = "A container number has four letters and seven digits. The fourth letter is U, J or Z.";

/** Returns each container number of a pasted text once. Commas, line breaks and spreadsheet cells separate numbers. */
export function parseContainerNumbers(text: string): { numbers: string[]; problem?: string } {
  const lines = foldCode(text)
    .split(/[\n,;|\u060c\u061b]/)
    .filter((line) => /[\p{L}\p{N}]/u.test(line));
  // A first line without digits is the heading of a column.
  const rows = lines.length > 1 && !/\d/.test(lines[0] ?? "") ? lines.slice(1) : lines;
  const [numbers, unknown, wrong] = [new Set<string>(), [] as string[], [] as string[]];
  for (const row of rows) {
    const found = row.split("\t").flatMap(findNumbers);
    if (found.length === 0) unknown.push(shorten(row.trim().replace(/\s+/g, " ")));
    for (const number of found) numbers.add(number);
  }
  for (const number of numbers) {
    const digit = getCheckDigit(number);
    if (Number(number.at(-1)) !== digit)
      wrong.push(`Compare ${number} with your document, because a letter or digit is wrong.`);
  }
  const notNumbers = unknown.length > 0 && `Invalid container number: ${unknown.slice(0, 5).join(", ")}. ${numberForm}`;
  const problem = [notNumbers, ...wrong.slice(0, 5)].filter(Boolean).join(" ");
  return problem ? { numbers: [...numbers], problem } : { numbers: [...numbers] };
}

function findNumbers(cell: string): string[] {
  const compact = cell.toUpperCase().replace(/[^\p{L}\p{N}]/gu, "");
  const parts = compact.match(/\P{N}+\p{N}*|\p{N}+/gu) ?? [];
  return parts.every((part) => numberPattern.test(part)) ? parts : [];
}

const shorten = (text: string) => (text.length > 20 ? `${text.slice(0, 20)}…` : text);
