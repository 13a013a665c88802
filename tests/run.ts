/**
 * npm test: the type check, the unit, database and route tests, and the journeys in a browser; then how many passed.
 * Everything runs on ports and data of its own, beside a site that may be running.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { ensureBuild } from "../app/server/build.ts";
import { ensureBrowser } from "./support/browser.ts";
import { freePort } from "./support/ports.ts";

type Count = { passed: number; failed: number };

const root = path.resolve(import.meta.dirname, "..");
const work = mkdtempSync(path.join(tmpdir(), "portal-tests-"));
const bin = (name: string) => path.join(root, "node_modules", name);

const counts: Count[] = [typeCheck(), vitest(), await journeys()];
rmSync(work, { recursive: true, force: true });
const sum = (pick: (count: Count) => number) => counts.reduce((total, count) => total + pick(count), 0);
console.log(`\n${sum((count) => count.passed)} passed, ${sum((count) => count.failed)} failed`);
process.exit(sum((count) => count.failed) > 0 ? 1 : 0);

function typeCheck(): Count {
  const generated = run(bin("@react-router/dev/bin.js"), ["typegen"]);
  const clean = generated && run(bin("typescript/bin/tsc"), []);
  return clean ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

function vitest(): Count {
  const report = path.join(work, "vitest.json");
  const ran = run(bin("vitest/vitest.mjs"), [
    "run",
    "--config=tests/vitest.config.ts",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
  ]);
  const { numPassedTests = 0, numFailedTests = 0 } = read<Record<string, number>>(report) ?? {};
  // A file that cannot be loaded fails the run without a failed test.
  return { passed: numPassedTests, failed: numFailedTests || (ran ? 0 : 1) };
}

async function journeys(): Promise<Count> {
  ensureBrowser();
  ensureBuild();
  const report = path.join(work, "playwright.json");
  const ran = run(bin("@playwright/test/cli.js"), ["test", "--reporter=list,json"], {
    E2E_PORT: String(await freePort()),
    E2E_BACKEND_PORT: String(await freePort()),
    E2E_DATA_DIR: path.join(work, "data"),
    PLAYWRIGHT_JSON_OUTPUT_NAME: report,
  });
  const { expected = 0, unexpected = 0, flaky = 0 } = read<{ stats: Record<string, number> }>(report)?.stats ?? {};
  return { passed: expected, failed: unexpected + flaky || (ran ? 0 : 1) };
}

function run(script: string, args: string[], env: Record<string, string> = {}): boolean {
  const { NODE_ENV: _, ...inherited } = process.env;
  const { status } = spawnSync(process.execPath, [script, ...args], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...inherited, ...env },
  });
  return status === 0;
}

function read<T>(file: string): T | null {
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as T) : null;
}
