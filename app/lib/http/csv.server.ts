/**
 * Returns a CSV line (RFC 4180). An apostrophe prevents a spreadsheet from running a formula (OWASP: CSV injection).
 */
export function csvLine(cells: string[]): string {
  const quoted = cells.map((cell) => `"${cell.replace(formulaStart, "$1'").replaceAll('"', '""')}"`);
  return `${quoted.join(",")}\r\n`;
}

/** Spreadsheets also detect formulas after blanks, after quotation marks, and after characters that separate cells. */
const formulaStart = /((?:^|[;\t\r\n])[\s"\p{Cf}]*)(?=[=+\-@＝＋－＠])|^(?=[\t\r])/gu;

/** Spreadsheets read a file as UTF-8 only if the file starts with this mark. */
export const byteOrderMark = "\ufeff";

export type CsvColumn<Row> = [heading: string, format: (row: Row) => string];

/** Throws if the first call of `loadRowsAfter` fails. An error of a later call aborts the download. */
export async function createCsvResponse<Row>(
  name: string,
  columns: CsvColumn<Row>[],
  loadRowsAfter: (last: Row | null) => Promise<Row[]>,
): Promise<Response> {
  let rows = await loadRowsAfter(null);
  const encoder = new TextEncoder();
  let prefix = byteOrderMark + csvLine(columns.map(([heading]) => heading));
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const last = rows.at(-1);
      const lines = rows.map((row) => csvLine(columns.map(([, format]) => format(row))));
      controller.enqueue(encoder.encode(prefix + lines.join("")));
      prefix = "";
      if (!last) return controller.close();
      rows = await loadRowsAfter(last);
      if (rows.length === 0) controller.close();
    },
  });
  return new Response(body, {
    headers: {
      "Content-Type": "text/csv; charset=utf-8",
      "Content-Disposition": `attachment; filename="${name}"`,
      "Cache-Control": "private, no-store",
    },
  });
}
