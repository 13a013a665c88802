/** Comma-separated values (RFC 4180), streamed page by page, so that a long list is nowhere at once. */

/**
 * One line of cells, quoted. A cell that a spreadsheet would take for a formula gets an apostrophe before it: what a client
 * typed runs nothing (OWASP, CSV injection).
 */
export function csvLine(cells: string[]): string {
  const quoted = cells.map((cell) => `"${cell.replace(formulaStart, "$1'").replaceAll('"', '""')}"`);
  return `${quoted.join(",")}\r\n`;
}

/** Where a formula may begin: a cell, and what is one where semicolons or tabs part cells; quotes may be taken off there. */
const formulaStart = /((?:^|[;\t\r\n])[\s"\p{Cf}]*)(?=[=+\-@＝＋－＠])|^(?=[\t\r])/gu;

/** The mark that makes spreadsheets read UTF-8. */
export const byteOrderMark = "\ufeff";

/** A column of a table: its head, and the text of a row's cell. */
export type CsvColumn<Row> = [head: string, format: (row: Row) => string];

/**
 * A download of all rows. `next` fetches the rows after one, null for the first; an empty page is the end. The first page
 * is fetched before the answer begins, so that a refusal is an answer of its own; one later cuts the download off.
 */
export async function createCsvResponse<Row>(
  name: string,
  columns: CsvColumn<Row>[],
  next: (last: Row | null) => Promise<Row[]>,
): Promise<Response> {
  let rows = await next(null);
  const encoder = new TextEncoder();
  let before = byteOrderMark + csvLine(columns.map(([head]) => head));
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const last = rows.at(-1);
      const lines = rows.map((row) => csvLine(columns.map(([, format]) => format(row))));
      controller.enqueue(encoder.encode(before + lines.join("")));
      before = "";
      if (!last) return controller.close();
      rows = await next(last);
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
