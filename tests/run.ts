/**
 * npm test: the type check, the unit, database, route and process tests, and the journeys in a browser; then what failed
 * and how many passed. Everything runs on ports and data of its own, beside a site that may be running.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { stripVTControlCharacters } from "node:util";
import type { JSONReport, JSONReportSpec, JSONReportSuite } from "@playwright/test/reporter";
import type { JsonTestResults } from "vitest/node";
import { ensureBuild } from "../app/server/build.ts";
import { ensureBrowser } from "./support/browser.ts";
import { freePort } from "./support/ports.ts";

/** How many tests passed, and the name and the first error of each that did not. */
type Outcome = { passed: number; failed: string[] };

const root = path.resolve(import.meta.dirname, "..");
const work = mkdtempSync(path.join(tmpdir(), "portal-tests-"));
const bin = (name: string) => path.join(root, "node_modules", name);

const outcomes: Outcome[] = [typeCheck(), vitest(), await journeys()];
rmSync(work, { recursive: true, force: true });
const failed = outcomes.flatMap((outcome) => outcome.failed);
for (const failure of failed) console.log(`\nFAILED ${failure}`);
console.log(`\n${outcomes.reduce((total, { passed }) => total + passed, 0)} passed, ${failed.length} failed`);
process.exit(failed.length > 0 ? 1 : 0);

function typeCheck(): Outcome {
  const generated = run(bin("@react-router/dev/bin.js"), ["typegen"]);
  const clean = generated && run(bin("typescript/bin/tsc"), []);
  return clean ? { passed: 1, failed: [] } : { passed: 0, failed: ["type check"] };
}

function vitest(): Outcome {
  const file = path.join(work, "vitest.json");
  const ran = run(bin("vitest/vitest.mjs"), [
    "run",
    "--config=tests/vitest.config.ts",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${file}`,
  ]);
  const report = read<JsonTestResults>(file);
  const failed = (report?.testResults ?? []).flatMap(({ name, message, status, assertionResults }) => {
    const where = path.relative(root, name);
    const tests = assertionResults
      .filter((test) => test.status === "failed")
      .map(({ fullName, failureMessages }) => `${where} › ${fullName}\n${beginning(failureMessages?.[0])}`);
    // A file that cannot be loaded fails without a failed test.
    return tests.length === 0 && status === "failed" ? [`${where}\n${beginning(message)}`] : tests;
  });
  return {
    passed: report?.numPassedTests ?? 0,
    failed: failed.length > 0 || ran ? failed : ["vitest, by its exit code"],
  };
}

async function journeys(): Promise<Outcome> {
  try {
    ensureBrowser();
  } catch (error) {
    return { passed: 0, failed: [(error as Error).message] };
  }
  await ensureBuild();
  const file = path.join(work, "playwright.json");
  const ran = run(bin("@playwright/test/cli.js"), ["test", "--reporter=list,json"], {
    E2E_PORT: String(await freePort()),
    E2E_BACKEND_PORT: String(await freePort()),
    E2E_DATA_DIR: path.join(work, "data"),
    PLAYWRIGHT_JSON_OUTPUT_NAME: file,
  });
  const report = read<JSONReport>(file);
  const failed = (report?.suites ?? []).flatMap(specsOf).flatMap((spec) =>
    spec.tests
      .filter(({ status }) => status === "unexpected" || status === "flaky")
      .map(({ projectName, results }) => {
        const error = results.find((result) => result.error)?.error;
        return `${spec.file} › ${spec.title} [${projectName}]\n${beginning(error?.message)}`;
      }),
  );
  failed.push(...(report?.errors ?? []).map(({ message }) => `journeys\n${beginning(message)}`));
  return {
    passed: report?.stats.expected ?? 0,
    failed: failed.length > 0 || ran ? failed : ["journeys, by their exit code"],
  };
}

function specsOf(suite: JSONReportSuite): JSONReportSpec[] {
  return [...suite.specs, ...(suite.suites ?? []).flatMap(specsOf)];
}

/** The first lines of what a test said, without colours. */
function beginning(message = ""): string {
  return stripVTControlCharacters(message).split("\n").slice(0, 20).join("\n");
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
