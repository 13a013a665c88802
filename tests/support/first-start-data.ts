/** Creates the data directory of a first start with demo data once per test run, and copies it for tests. */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { ensureBuild } from "../../app/server/start/build.ts";
import { freePort } from "./free-port.ts";
import { SiteProcess } from "./site-process.ts";

/** Builds the site and creates the data directory before the tests of a Vitest project. */
export default async function setup() {
  await ensureBuild();
  await getFirstStartDataDir();
}

/** Returns the data directory, which exists until this process ends. Child processes get its path in STARTED_DATA. */
export function getFirstStartDataDir(): Promise<string> {
  // Stores the promise on `process`, because each Vitest project has its own copy of this module.
  const shared = process as typeof process & { firstStart?: Promise<string> };
  const { STARTED_DATA } = process.env;
  shared.firstStart ??= STARTED_DATA ? Promise.resolve(STARTED_DATA) : runFirstStart();
  return shared.firstStart;
}

/** Returns a copy of the data directory. The caller must delete the copy. */
export async function copyFirstStartDataDir(): Promise<string> {
  const dataDir = mkdtempSync(path.join(tmpdir(), "data-"));
  cpSync(await getFirstStartDataDir(), dataDir, { recursive: true });
  return dataDir;
}

async function runFirstStart(): Promise<string> {
  const dataDir = mkdtempSync(path.join(tmpdir(), "started-"));
  process.once("exit", () => rmSync(dataDir, { recursive: true, force: true }));
  const port = await freePort();
  const settings = { PORT: String(port), BACKEND_PORT: String(await freePort()), DATA_DIR: dataDir };
  const site = new SiteProcess(port, settings);
  await site.waitForIntroduction();
  await site.stop("SIGTERM");
  process.env.STARTED_DATA = dataDir;
  return dataDir;
}
