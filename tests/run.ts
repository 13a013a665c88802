/**
 * npm test: lint, the type check, the unit, database, route and process tests, and the journeys in Chromium and Firefox;
 * then the slowest tests, what failed, and how many passed. Everything runs on ports and data of its own, beside a site
 * that may be running. Two lanes, none of which waits for the other, so that one works while the other waits.
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

// Installations run one at a time, beside the checks.
const postgresReady = deferRejection(ensurePostgres());
const chromiumReady = deferRejection(ensureChromium());
// Without Firefox its journeys fail with a message of their own, and the route tests still run.
const firefoxReady = ensureFirefox().catch(() => undefined);
// What a newcomer does: in a fresh clone this start builds the site.
const firstStartReady = deferRejection(getFirstStartDataDir());

const laneResults = await Promise.all([
  runPhases([
    ["unit and database tests", () => runVitest("unit", "database"), [postgresReady]],
    ["route tests", () => runVitest("routes", "pglite"), [firstStartReady]],
    ["process tests", () => runVitest("process"), [firstStartReady, postgresReady]],
  ]),
  runPhases([
    ["lint", () => runScript("lint")],
    ["type check", runTypeCheck],
    ["settings, journeys in Firefox", () => runVitest("settings", "firefox"), [firstStartReady, firefoxReady]],
    ["journeys", runPlaywright, [firstStartReady, chromiumReady]],
  ]),
]);
rmSync(workDir, { recursive: true, force: true });
const results = laneResults.flat();
const slowest = results.flatMap(({ durations: took }) => took).sort((one, other) => other.ms - one.ms);
console.log("\nThe slowest:");
for (const { name, ms } of slowest.slice(0, 20)) console.log(`${formatSeconds(ms).padStart(8)}  ${name}`);
const failed = results.flatMap((outcome) => outcome.failed);
for (const failure of failed) console.log(`\nFAILED ${failure}`);
for (const journey of results.flatMap(({ flaky = [] }) => flaky))
  console.log(`\nFLAKY, passed at the second try: ${journey}`);
console.log(`\n${results.reduce((total, { passed }) => total + passed, 0)} passed, ${failed.length} failed`);
process.exit(failed.length > 0 ? 1 : 0);

type Phase = [name: string, job: () => Promise<TestRunResult>, needs?: Promise<unknown>[]];

/** Runs phases one after another, each when its needs are met. One that cannot run counts as one failure. */
async function runPhases(phases: Phase[]): Promise<TestRunResult[]> {
  const done: TestRunResult[] = [];
  for (const [name, job, needs = []] of phases) {
    const since = performance.now();
    const outcome = await Promise.all(needs)
      .then(job)
      .catch((error: Error): TestRunResult => ({ passed: 0, failed: [`${name}\n${error.message}`], durations: [] }));
    console.log(`\n${name}: ${formatSeconds(performance.now() - since)}\n`);
    done.push(outcome);
  }
  return done;
}

/** Runs a script of package.json that fails if it finds a fault. */
async function runScript(name: string): Promise<TestRunResult> {
  const clean = await runProgram(process.platform === "win32" ? "npm.cmd" : "npm", ["run", "--silent", name]);
  return clean ? { passed: 1, failed: [], durations: [] } : { passed: 0, failed: [`npm run ${name}`], durations: [] };
}

/** The types of the routes are there: lint has made them. */
async function runTypeCheck(): Promise<TestRunResult> {
  const clean = await runProgram(process.execPath, [resolveBin("typescript/bin/tsc")]);
  return clean ? { passed: 1, failed: [], durations: [] } : { passed: 0, failed: ["npm run typecheck"], durations: [] };
}

async function runVitest(...projects: string[]): Promise<TestRunResult> {
  const file = path.join(workDir, `${projects.join("-")}.json`);
  const args = ["--config=tests/vitest.config.ts", ...projects.map((name) => `--project=${name}`)];
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`, "--maxWorkers=2"];
  const ran = await runProgram(process.execPath, [resolveBin("vitest/vitest.mjs"), "run", ...args, ...reporters]);
  return readVitestReport(file, ran, projects.join(", "));
}

async function runPlaywright(): Promise<TestRunResult> {
  const file = path.join(workDir, "playwright.json");
  const dataDir = await copyFirstStartDataDir();
  const ran = await runProgram(
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
  return readPlaywrightReport(file, ran);
}

/** Runs a program. Returns whether it ended well. */
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

/** A job that is awaited later: its rejection is handled there, and must not count as unhandled before. */
function deferRejection<T>(job: Promise<T>): Promise<T> {
  job.catch(() => undefined);
  return job;
}

function formatSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
