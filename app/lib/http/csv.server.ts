import type { Download } from "./transfer-slots.server.ts";

/** Returns a line as in RFC 4180. An apostrophe prevents a spreadsheet from running a formula (OWASP: CSV injection). */
export function csvLine(cells: string[]): string {
  const quoted = cells.map((cell) => `"${cell.replace(formulaStart, "$1'").replaceAll('"', '""')}"`);
  return `${quoted.join(",")}\r\n`;
}

/** Spreadsheets also detect formulas after blanks, after quotation marks, and after characters that split a cell. */
const formulaStart = /((?:^|[;\t\r\n])[\s"\p{Cf}]*)(?=[=+\-@＝＋－＠])|^(?=[\t\r])/gu;

/** Spreadsheets read a file as UTF-8 only if the file starts with this mark. */
export const byteOrderMark = "\ufeff";

export type CsvColumn<Row> = [heading: string, format: (row: Row) => string];

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
