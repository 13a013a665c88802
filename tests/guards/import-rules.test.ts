import { spawnSync } from "node:child_process";
import path from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { root } from "./texts.ts";

/**
 * Existing imports that violate a rule of .dependency-cruiser.js, as "importing file → imported file". Add no entries.
 */
const knownViolations: Record<string, string[]> = {
  "models-import-no-http": ["app/models/portal.server.ts → app/lib/http/redirect.server.ts"],
  "components-import-no-routes": ["app/components/site/quote-panel.tsx → app/routes/actions.quote.tsx"],
  "site-portal-and-desk-components-are-apart": [
    "app/components/site/auth-page.tsx → app/components/portal/route-line.tsx",
  ],
  "shared-components-import-no-section": [
    "app/components/forms/code-field.tsx → app/components/site/office-phone.tsx",
    "app/components/offline/index.ts → app/components/site/site-data.ts",
    "app/components/offline/offline-cache.ts → app/components/site/site-data.ts",
  ],
  "backend-imports-no-app": ["supabase/local/backend.test.ts → app/server/start/demo-lead.ts"],
};

type Violation = { from: string; to: string; rule: { name: string }; cycle?: { name: string }[] };

function findViolations(): Record<string, string[]> {
  const program = path.join(root, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs");
  const args = [program, "app", "supabase", "tests", "--output-type=json"];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 });
  expect(stderr).toBe("");
  const { violations, totalDependenciesCruised } = JSON.parse(stdout).summary;
  expect(totalDependenciesCruised).toBeGreaterThan(1000);
  const found: Record<string, string[]> = {};
  for (const { from, to, rule, cycle } of violations as Violation[]) {
    const names = cycle?.map(({ name }) => name) ?? [`${from} → ${to}`];
    found[rule.name] = [...new Set([...(found[rule.name] ?? []), ...names])].sort();
  }
  return found;
}

test("All imports follow the rules of .dependency-cruiser.js, except for the known violations.", () => {
  expect(findViolations()).toEqual(knownViolations);
});
