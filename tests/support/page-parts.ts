/** Reads the links and lists of a page, and the cells of a CSV file. */
import { getText, type ParsedPage } from "./test-app.ts";

/** A valid UUID that is not the ID of any record. */
export const unknownId = "0b51e3a8-0000-4000-8000-000000000000";

/** Returns the URL of the first link with `text`, or undefined. */
export function getHref(page: ParsedPage, text: string): string | undefined {
  return page
    .all("main a")
    .find((link) => getText(link) === text)
    ?.getAttribute("href");
}

export function listLinkAddresses(page: ParsedPage, selector: string): string[] {
  return page.all(selector).map((link) => link.getAttribute("href") ?? "");
}

export const listButtons = (page: ParsedPage) => page.all("button").map(getText);

/** Returns the rows of a CSV file (RFC 4180). The first row is the heading. */
export async function readCsv(response: Response): Promise<string[][]> {
  const lines: string[][] = [[]];
  for (const [, cell = "", end] of (await response.text()).matchAll(/"((?:[^"]|"")*)"(,|\r\n)/g)) {
    lines.at(-1)?.push(cell.replaceAll('""', '"'));
    if (end !== ",") lines.push([]);
  }
  return lines.slice(0, -1);
}

export const shipmentLinks = "main section[aria-labelledby=shipments-title] li a";

export const listShipmentNames = (page: ParsedPage) =>
  page.all(shipmentLinks).map((link) => getText(link.querySelector("span")));
