/** What the company's command takes from its line. */
import { userInfo } from "node:os";
import process from "node:process";
import { InvalidArgumentError } from "commander";
import { oneBlank } from "./printed.ts";

/** A whole number from 1 to 1000. */
export function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > 1000)
    throw new InvalidArgumentError("Give a number from 1 to 1000.");
  return number;
}

/** A day of the calendar, as it is written. */
export function day(text: string): string {
  const read = new Date(`${text}T00:00:00Z`);
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || Number.isNaN(read.getTime()) || !read.toISOString().startsWith(text))
    throw new InvalidArgumentError("Give a day such as 2040-12-31.");
  return text;
}

/** A text of so many characters at most, without blanks that nobody sees. */
export function upTo(length: number) {
  return (text: string): string => {
    const trimmed = oneBlank(text.trim());
    if (trimmed.length < 1 || trimmed.length > length)
      throw new InvalidArgumentError(`Give 1 to ${length} characters.`);
    return trimmed;
  };
}

/** The user of this computer. A container may run as a number that has no name. */
export function thisUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.()}`;
  }
}
