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
import { ensureBrowser, ensureFirefox } from "./support/browser.ts";
import { copyOfFirstStart, firstStart } from "./support/first-start.ts";
import { freePort } from "./support/ports.ts";
import { ensurePostgres } from "./support/postgres-server.ts";
import { type Outcome, readPlaywright, readVitest } from "./support/reports.ts";

const root = path.resolve(import.meta.dirname, "..");
const work = mkdtempSync(path.join(tmpdir(), "portal-tests-"));
const bin = (name: string) => path.join(root, "node_modules", name);

// Installations run one at a time, beside the checks.
const postgres = begun(ensurePostgres());
const chromium = begun(ensureBrowser());
// Without Firefox its journeys fail with a message of their own, and the route tests still run.
const firefox = ensureFirefox().catch(() => undefined);
// What a newcomer does: in a fresh clone this start builds the site.
const started = begun(firstStart());

const lanes = await Promise.all([
  inTurn([
    ["unit and database tests", () => vitest("unit", "database"), [postgres]],
    ["route tests", () => vitest("routes", "pglite"), [started]],
    ["process tests", () => vitest("process"), [started, postgres]],
  ]),
  inTurn([
    ["lint", () => script("lint")],
    ["type check", typeCheck],
    ["settings, journeys in Firefox", () => vitest("settings", "firefox"), [started, firefox]],
    ["journeys", journeys, [started, chromium]],
  ]),
]);
rmSync(work, { recursive: true, force: true });
const outcomes = lanes.flat();
const slowest = outcomes.flatMap(({ took }) => took).sort((one, other) => other.ms - one.ms);
console.log("\nThe slowest:");
for (const { name, ms } of slowest.slice(0, 20)) console.log(`${inSeconds(ms).padStart(8)}  ${name}`);
const failed = outcomes.flatMap((outcome) => outcome.failed);
for (const failure of failed) console.log(`\nFAILED ${failure}`);
console.log(`\n${outcomes.reduce((total, { passed }) => total + passed, 0)} passed, ${failed.length} failed`);
process.exit(failed.length > 0 ? 1 : 0);

type Phase = [name: string, job: () => Promise<Outcome>, needs?: Promise<unknown>[]];

/** Runs phases one after another, each when its needs are met. One that cannot run counts as one failure. */
async function inTurn(phases: Phase[]): Promise<Outcome[]> {
  const done: Outcome[] = [];
  for (const [name, job, needs = []] of phases) {
    const since = performance.now();
    const outcome = await Promise.all(needs)
      .then(job)
      .catch((error: Error): Outcome => ({ passed: 0, failed: [`${name}\n${error.message}`], took: [] }));
    console.log(`\n${name}: ${inSeconds(performance.now() - since)}\n`);
    done.push(outcome);
  }
  return done;
}

/** Runs a script of package.json that fails if it finds a fault. */
async function script(name: string): Promise<Outcome> {
  const clean = await run(process.platform === "win32" ? "npm.cmd" : "npm", ["run", "--silent", name]);
  return clean ? { passed: 1, failed: [], took: [] } : { passed: 0, failed: [`npm run ${name}`], took: [] };
}

/** The types of the routes are there: lint has made them. */
async function typeCheck(): Promise<Outcome> {
  const clean = await run(process.execPath, [bin("typescript-7/bin/tsc")]);
  return clean ? { passed: 1, failed: [], took: [] } : { passed: 0, failed: ["npm run typecheck"], took: [] };
}

async function vitest(...projects: string[]): Promise<Outcome> {
  const file = path.join(work, `${projects.join("-")}.json`);
  const args = ["--config=tests/vitest.config.ts", ...projects.map((name) => `--project=${name}`)];
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`, "--maxWorkers=2"];
  const ran = await run(process.execPath, [bin("vitest/vitest.mjs"), "run", ...args, ...reporters]);
  return readVitest(file, ran, projects.join(", "));
}

async function journeys(): Promise<Outcome> {
  const file = path.join(work, "playwright.json");
  const dataDir = await copyOfFirstStart();
  const ran = await run(process.execPath, [bin("@playwright/test/cli.js"), "test", "--reporter=list,json"], {
    E2E_PORT: String(await freePort()),
    E2E_BACKEND_PORT: String(await freePort()),
    E2E_DATA_DIR: dataDir,
    PLAYWRIGHT_JSON_OUTPUT_NAME: file,
  });
  rmSync(dataDir, { recursive: true, force: true });
  return readPlaywright(file, ran);
}

/** Runs a program. Returns whether it ended well. */
async function run(program: string, args: string[], env: Record<string, string> = {}): Promise<boolean> {
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
function begun<T>(job: Promise<T>): Promise<T> {
  job.catch(() => undefined);
  return job;
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
