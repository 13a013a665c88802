import type { Download } from "./transfer-slots.server.ts";

/**
 * Returns a CSV line (RFC 4180). An apostrophe prevents spreadsheets from running a formula (OWASP, CSV injection). The
 * formula ="0711" prevents spreadsheets from reading the text 0711 as a number.
 */
export function csvLine(cells: (string | number)[]): string {
  return `${cells.map((cell) => `"${protectCell(cell).replaceAll('"', '""')}"`).join(",")}\r\n`;
}

function protectCell(cell: string | number): string {
  if (typeof cell === "number") return String(cell);
  return valuePattern.test(cell) ? `="${cell}"` : cell.replace(formulaStart, "'");
}

const valuePattern =
  /^(?!\d{4}-\d\d-\d\d\b)(?:\d[\d .,:]*(?:e[-+]?\d+)?%?|\d{1,4}(?:[-/]\d{1,4}){1,2}(?: [\d :]*)?|(?:\d[\d ./-]*)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[ ./-]*\d*|true|false)$/i;

/**
 * Spreadsheets also detect formulas after blanks, after quotation marks, and after characters that split a cell. The
 * pattern looks for the formula's sign first, so that the matching time grows only linearly with the cell's length.
 */
const formulaStart = /(?=[=+\-@＝＋－＠])(?<=(?:^|[;\t\r\n])[\s"\p{Cf}]*)|^(?=[\t\r](?![\s"\p{Cf}]*[=+\-@＝＋－＠]))/gu;

/** Spreadsheets read a file as UTF-8 only if the file starts with a byte order mark. */
export const byteOrderMark = "\ufeff";

export type CsvColumn<Row> = [heading: string, format: (row: Row) => string | number];

/** Throws if the first call of `loadRowsAfter` fails. An error of a later call aborts the download. */
export async function createCsvDownload<Row>(
  name: string,
  columns: CsvColumn<Row>[],
  loadRowsAfter: (last: Row | null) => Promise<Row[]>,
): Promise<Download> {
  const firstRows = await loadRowsAfter(null);
  const encoder = new TextEncoder();
  async function* encodeLines() {
    yield encoder.encode(byteOrderMark + csvLine(columns.map(([heading]) => heading)));
    for (let rows = firstRows; rows.length > 0; rows = await loadRowsAfter(rows.at(-1) ?? null))
      yield encoder.encode(rows.map((row) => csvLine(columns.map(([, format]) => format(row)))).join(""));
  }
  return { name, mediaType: "text/csv; charset=utf-8", content: encodeLines() };
}
