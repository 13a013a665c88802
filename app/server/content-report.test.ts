import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { stringify } from "yaml";

const root = path.resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(path.join(tmpdir(), "content-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const figure = { source: "Act", check_by: "2026-10-31" };
const company = {
  name: "Mizigo Clearing & Forwarding",
  founded: 1993,
  offices: [
    { address: "Sample House, Nairobi", phone: "+254 700 000 001", email: "nairobi@mizigo.example" },
    { address: "Kilindini Road, Mombasa", phone: "+254 722 700 123", email: "mombasa@clearing.co.ke" },
  ],
  chat_phone: "254700000001",
  licence: "SAMPLE-CAL-0000",
};
const files = {
  "content/data/company.yaml": stringify(company),
  "content/data/about.yaml":
    "founded: 1993 # sample\nsince: >- # sample\n  Here since\n  1993\nstats:\n  - value: 36000 # sample\n    suffix: +\n",
  "content/data/home.yaml": stringify({ texts: ["Laboratory samples", "Resamples and minerals outbound."] }),
  "content/data/cost.yaml": stringify({ vat: figure, levy: { ...figure, check_by: "2999-12-31" } }),
  "content/data/rates.yaml": stringify({ vat: [figure] }),
  "content/blog/draft.mdx": "---\ntitle: Draft\nplaceholder: true\n---\nFull content\n",
  "content/blog/done.mdx": `---\n${stringify({ title: "Done", figures: figure })}---\nNot a placeholder: true\n`,
  "supabase/config.toml": 'admin_email = "no-reply@mizigo.example"\n',
  "supabase/templates/invite.html": "<p>Hello,</p>\nCall +254 700 000 001</p>\n",
  // The report must continue after a file that has faulty content, or a type other than YAML, MDX, TOML and HTML.
  "content/data/notes.txt": "check_by: 2026-10-31",
  "content/data/unclosed.yaml": "vat: [1, 2\nlevy: {",
  "content/data/alias.yaml": "vat: *rate\nlevy: { check_by: 2026-10-31 }",
  "content/data/day.yaml": "vat: { check_by: 1 Jan 2026 }\nlevy: { check_by: 2026-13-32 }",
};
let printed = "";
beforeAll(async () => {
  for (const name of ["app/server", "app/lib", "content/data/old.yaml", "content/blog/old", "supabase/templates/old"])
    mkdirSync(path.join(folder, name), { recursive: true });
  for (const name of ["app/server/content.ts", "app/server/content-report.ts", "app/lib/dates.ts"])
    copyFileSync(path.join(root, name), path.join(folder, name));
  symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"));
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
  await import(path.join(folder, "app/server/content.ts"));
  printed = log.mock.calls.join("\n");
  log.mockRestore();
});
const listLines = (pattern: RegExp) =>
  printed.split("\n").filter((line) => /^(content|supabase)\//.test(line) && pattern.test(line));

test("The command npm run content lists only sample values, not real values or texts that contain the word sample.", () => {
  expect(listLines(/^(?!.*figure was due)/).sort()).toEqual([
    "content/blog/draft.mdx: write the text of this article",
    ...["founded: 1993", "since: Here since 1993", "stats.0.value: 36000"].map(
      (at) => `content/data/about.yaml: ${at}`,
    ),
    "content/data/company.yaml: chat_phone: 254700000001",
    "content/data/company.yaml: licence: SAMPLE-CAL-0000",
    "content/data/company.yaml: name: Mizigo Clearing & Forwarding",
    "content/data/company.yaml: offices.0.address: Sample House, Nairobi",
    "content/data/company.yaml: offices.0.email: nairobi@mizigo.example",
    "content/data/company.yaml: offices.0.phone: +254 700 000 001",
    "supabase/config.toml: admin_email: no-reply@mizigo.example",
    "supabase/templates/invite.html: Call +254 700 000 001</p>",
  ]);
  expect(printed).toContain("\n12 sample values to replace");
});

test("The command npm run content lists and counts the figures whose check-by day has passed.", async () => {
  expect(
    listLines(/: the check of this figure was due on 31 October 2026$/).map((line) => line.split(": the")[0]),
  ).toEqual([
    "content/data/alias.yaml: levy",
    "content/data/cost.yaml: vat",
    "content/data/rates.yaml: vat: 0",
    "content/blog/done.mdx: figures",
  ]);
  expect(printed).toContain("\n4 figures to check.");
  const { findFiguresToCheck } = await import(path.join(folder, "app/server/content-report.ts"));
  expect([findFiguresToCheck("2026-10-31"), findFiguresToCheck("2026-11-01").length]).toEqual([[], 4]);
});
