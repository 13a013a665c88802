/** Parsers for the arguments of the staff commands. */
import { userInfo } from "node:os";
import process from "node:process";
import { InvalidArgumentError } from "commander";
import { emailAddress } from "../../models/contact.ts";
import { collapseBlanks } from "./output.ts";

/** A whole number from 1 to 1000. */
export function parseCount(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > 1000)
    throw new InvalidArgumentError("Give a number from 1 to 1000.");
  return number;
}

/** The number of a stage. */
export function parseStage(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > 10)
    throw new InvalidArgumentError("Give a stage from 1 to 10.");
  return number;
}

/** An amount of money above nothing, with at most two decimals. */
export function parseAmount(text: string): number {
  if (!/^\d{1,11}(\.\d{1,2})?$/.test(text) || Number(text) === 0)
    throw new InvalidArgumentError("Give an amount such as 12500 or 12500.50.");
  return Number(text);
}

/** A calendar day as YYYY-MM-DD, returned unchanged. */
export function parseDay(text: string): string {
  const read = new Date(`${text}T00:00:00Z`);
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || Number.isNaN(read.getTime()) || !read.toISOString().startsWith(text))
    throw new InvalidArgumentError("Give a day such as 2040-12-31.");
  return text;
}

/** An e-mail address, as the site's forms take it. */
export function parseEmail(text: string): string {
  const address = emailAddress.safeParse(text);
  if (!address.success) throw new InvalidArgumentError("Give one e-mail address.");
  return address.data;
}

/** A parser for texts of 1 to `length` characters: trimmed, and each row of blanks made one. */
export function createTextParser(length: number) {
  return (text: string): string => {
    const trimmed = collapseBlanks(text.trim());
    if (trimmed.length < 1 || trimmed.length > length)
      throw new InvalidArgumentError(`Give 1 to ${length} characters.`);
    return trimmed;
  };
}

/** The name of the operating system's user. In a container its number may have no name. */
export function getOsUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.()}`;
  }
}
