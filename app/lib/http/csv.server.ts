/** RFC 4180. Spreadsheets would run a cell that starts like a formula (OWASP, CSV injection). */
export function csvLine(cells: string[]): string {
  const quoted = cells.map((cell) => `"${cell.replace(formulaStart, "$1'").replaceAll('"', '""')}"`);
  return `${quoted.join(",")}\r\n`;
}

/** A formula may start after a blank or quotation mark, or where a spreadsheet splits the cell. */
const formulaStart = /((?:^|[;\t\r\n])[\s"\p{Cf}]*)(?=[=+\-@＝＋－＠])|^(?=[\t\r])/gu;

/** Spreadsheets read UTF-8 only after this mark. */
export const byteOrderMark = "\ufeff";

export type CsvColumn<Row> = [head: string, format: (row: Row) => string];

/** The first call of `loadRowsAfter` may throw. An error of a later call breaks off the file. */
export async function createCsvResponse<Row>(
  name: string,
  columns: CsvColumn<Row>[],
  loadRowsAfter: (last: Row | null) => Promise<Row[]>,
): Promise<Response> {
  let rows = await loadRowsAfter(null);
  const encoder = new TextEncoder();
  let prefix = byteOrderMark + csvLine(columns.map(([head]) => head));
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
