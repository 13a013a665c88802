/**
 * Run with `npm test`. Runs lint, the type check and all tests in parallel phases, then prints the slowest tests,
 * failures and totals. The tests use their own ports and data, so a site can run at the same time.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { ensureChromium, ensureFirefox } from "./support/browser-programs.ts";
import { copyFirstStartDataDir, getFirstStartDataDir } from "./support/first-start-data.ts";
import { freePort } from "./support/free-port.ts";
import { ensurePostgres } from "./support/postgres-server.ts";
import { readPlaywrightReport, readVitestReport, type TestRunResult } from "./support/test-reports.ts";

const root = path.resolve(import.meta.dirname, "..");
const workDir = mkdtempSync(path.join(tmpdir(), "portal-tests-"));
const resolveBin = (name: string) => path.join(root, "node_modules", name);

// The installation of missing programs runs in parallel with the first phases.
const postgresReady = deferRejection(ensurePostgres());
const chromiumReady = deferRejection(ensureChromium());
// If Firefox is missing, only the tests in Firefox fail, with an error that names the missing browser.
const firefoxReady = ensureFirefox().catch(() => undefined);
// In a new clone of the repository, this step also builds the site.
const firstStartReady = deferRejection(getFirstStartDataDir());

const results = await Promise.all([
  runPhases([
    ["unit and database tests", () => runVitest("unit", "database"), [postgresReady]],
    ["route tests", () => runVitest("routes", "pglite"), [firstStartReady]],
    ["process tests", () => runVitest("process"), [firstStartReady, postgresReady]],
  ]),
  runPhases([
    ["lint", () => runScript("lint")],
    ["type check", runTypeCheck],
    ["journeys", runPlaywright, [firstStartReady, chromiumReady]],
    ["settings tests and journeys in Firefox", () => runVitest("settings", "firefox"), [firstStartReady, firefoxReady]],
  ]),
]);
rmSync(workDir, { recursive: true, force: true });
printSummary(results.flat());
process.exit(results.flat().some(({ failed }) => failed.length > 0) ? 1 : 0);

type Phase = [name: string, job: () => Promise<TestRunResult>, requirements?: Promise<unknown>[]];

/**
 * Runs phases in sequence. Each phase starts when its requirements are ready. A rejected requirement or job counts as
 * one failure.
 */
async function runPhases(phases: Phase[]): Promise<TestRunResult[]> {
  const results: TestRunResult[] = [];
  for (const [name, job, requirements = []] of phases) {
    const startedAt = performance.now();
    const result = await Promise.all(requirements)
      .then(job)
      .catch((error: Error) => createCheckResult(`${name}\n${error.message}`, false));
    console.log(`\n${name}: ${formatSeconds(performance.now() - startedAt)}\n`);
    results.push(result);
  }
  return results;
}

function printSummary(results: TestRunResult[]): void {
  const slowest = results.flatMap(({ durations }) => durations).sort((a, b) => b.ms - a.ms);
  const failed = results.flatMap((result) => result.failed);
  console.log("\nThe slowest tests:");
  for (const { name, ms } of slowest.slice(0, 20)) console.log(`${formatSeconds(ms).padStart(8)}  ${name}`);
  for (const failure of failed) console.log(`\nFAILED ${failure}`);
  for (const journey of results.flatMap(({ flaky = [] }) => flaky))
    console.log(`\nFLAKY (failed first, then passed): ${journey}`);
  console.log(`\n${results.reduce((total, { passed }) => total + passed, 0)} passed, ${failed.length} failed`);
}

async function runScript(name: string): Promise<TestRunResult> {
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  return createCheckResult(`npm run ${name}`, await runProgram(npm, ["run", "--silent", name]));
}

/** Runs the type check after lint, because lint generates the types of the routes. */
async function runTypeCheck(): Promise<TestRunResult> {
  const succeeded = await runProgram(process.execPath, [resolveBin("typescript/bin/tsc")]);
  return createCheckResult("npm run typecheck", succeeded);
}

function createCheckResult(name: string, succeeded: boolean): TestRunResult {
  return { passed: succeeded ? 1 : 0, failed: succeeded ? [] : [name], durations: [] };
}

async function runVitest(...projects: string[]): Promise<TestRunResult> {
  const file = path.join(workDir, `${projects.join("-")}.json`);
  const args = ["--config=tests/vitest.config.ts", ...projects.map((name) => `--project=${name}`)];
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`, "--maxWorkers=2"];
  const succeeded = await runProgram(process.execPath, [resolveBin("vitest/vitest.mjs"), "run", ...args, ...reporters]);
  return readVitestReport(file, succeeded, projects.join(", "));
}

async function runPlaywright(): Promise<TestRunResult> {
  const file = path.join(workDir, "playwright.json");
  const dataDir = await copyFirstStartDataDir();
  const succeeded = await runProgram(
    process.execPath,
    [resolveBin("@playwright/test/cli.js"), "test", "--reporter=list,json"],
    {
      E2E_PORT: String(await freePort()),
      E2E_BACKEND_PORT: String(await freePort()),
      E2E_DATA_DIR: dataDir,
      PLAYWRIGHT_JSON_OUTPUT_NAME: file,
    },
  );
  rmSync(dataDir, { recursive: true, force: true });
  return readPlaywrightReport(file, succeeded);
}

/** Runs a program. Returns true if the program's exit code is 0. */
async function runProgram(program: string, args: string[], env: Record<string, string> = {}): Promise<boolean> {
  const { NODE_ENV: _, ...inherited } = process.env;
  const child = spawn(program, args, {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...inherited, ...env },
  });
  const [code] = await once(child, "exit");
  return code === 0;
}

/** Returns `job`. If `job` rejects before the caller awaits `job`, the process still continues. */
function deferRejection<T>(job: Promise<T>): Promise<T> {
  job.catch(() => undefined);
  return job;
}

function formatSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
