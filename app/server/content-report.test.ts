import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(path.join(tmpdir(), "content-report-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("Faulty content files, other files and subfolders do not stop the report.", async () => {
  for (const name of ["app/server", "app/lib", "content/data/old.yaml", "content/blog/old", "supabase/templates/old"])
    mkdirSync(path.join(folder, name), { recursive: true });
  for (const name of ["app/server/content-report.ts", "app/lib/dates.ts"])
    copyFileSync(path.join(root, name), path.join(folder, name));
  symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"));
  const files = {
    "content/data/notes.txt": "check_by: 2026-10-31",
    "content/data/unclosed.yaml": "vat: [1, 2\nlevy: {",
    "content/data/alias.yaml": "vat: *rate\nlevy: { check_by: 2026-10-31 }",
    "content/data/day.yaml": "vat: { check_by: 1 Jan 2026 }\nlevy: { check_by: 2026-13-32 }",
    "content/data/rates.yaml": "vat:\n  - check_by: 2026-10-31",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  const { findFiguresToCheck, findSamples } = await import(path.join(folder, "app/server/content-report.ts"));
  expect(findFiguresToCheck("2026-11-01")).toEqual([
    "content/data/alias.yaml: levy: the check of this figure was due on 31 October 2026",
    "content/data/rates.yaml: vat: 0: the check of this figure was due on 31 October 2026",
  ]);
  expect(findSamples()).toEqual([]);
});
