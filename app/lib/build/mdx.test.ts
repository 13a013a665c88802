import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { compileMdx } from "./mdx.ts";

const folder = mkdtempSync(path.join(tmpdir(), "mdx-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function compileText(text: string) {
  const file = path.join(folder, `${crypto.randomUUID()}.mdx`);
  writeFileSync(file, text);
  return compileMdx(file);
}

test("A compiled table aligns its columns with CSS classes, because the Content-Security-Policy blocks inline styles.", async () => {
  const { html } = await compileText("| A | B | C |\n| --- | :-: | --: |\n| 1 | 2 | 3 |\n");
  expect(html).not.toMatch(/style=|align="/);
  const cells = html.match(/<t[hd] [^>]*data-label="(.)"[^>]*>./g) ?? [];
  expect(cells.map((cell) => /align-\w+/.exec(cell)?.[0])).toEqual([undefined, "align-center", "align-right"]);
});

test("Each heading of a compiled text has a unique id without the heading's number.", async () => {
  const { html, headings } = await compileText("## 1. Who we are\n\n## Who *we* are\n\n## 2. Ünïts & fees\n");
  expect(headings.map(({ id }) => id)).toEqual(["who-we-are", "who-we-are-1", "ünïts--fees"]);
  expect(headings[1]?.text).toBe("Who we are");
  for (const { id } of headings) expect(html).toContain(`<h2 id="${id}">`);
});

test("A compiled text contains the value of company.name in place of {company.name}, escaped for HTML.", async () => {
  const { html, words } = await compileText("{company.name}, {company.tax_pin}\n");
  expect(html).toBe("<p>Mizigo Clearing &amp; Forwarding, SAMPLE-PIN-0000</p>");
  expect(words).toBe(5);
});

test("The compilation of a text with invalid MDX fails.", async () => {
  await expect(compileText("A { that nobody closes\n")).rejects.toThrow(/mdx/i);
});
