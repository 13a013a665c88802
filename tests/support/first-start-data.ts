/** The data of a first start of the site, with its demo: made once in a run, copied by whoever needs one. */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { ensureBuild } from "../../app/server/start/build.ts";
import { freePort } from "./free-port.ts";
import { SiteProcess } from "./site-process.ts";

/** Before the tests of a project: a fresh build, and the data for the processes that vitest starts. */
export default async function setup() {
  await ensureBuild();
  await getFirstStartDataDir();
}

/** The folder of the data; it goes when this process ends. Processes that this one starts find it in STARTED_DATA. */
export function getFirstStartDataDir(): Promise<string> {
  // Several vitest projects call this, each with its own copy of this module: the promise is kept on `process`.
  const here = process as typeof process & { firstStart?: Promise<string> };
  const { STARTED_DATA } = process.env;
  here.firstStart ??= STARTED_DATA ? Promise.resolve(STARTED_DATA) : runFirstStart();
  return here.firstStart;
}

/** A copy in a folder of its own, which is the caller's to remove. */
export async function copyFirstStartDataDir(): Promise<string> {
  const dataDir = mkdtempSync(path.join(tmpdir(), "data-"));
  cpSync(await getFirstStartDataDir(), dataDir, { recursive: true });
  return dataDir;
}

async function runFirstStart(): Promise<string> {
  const dataDir = mkdtempSync(path.join(tmpdir(), "started-"));
  process.once("exit", () => rmSync(dataDir, { recursive: true, force: true }));
  const port = await freePort();
  const place = { PORT: String(port), BACKEND_PORT: String(await freePort()), DATA_DIR: dataDir };
  const site = new SiteProcess(port, place);
  await site.waitForIntroduction();
  await site.stop("SIGTERM");
  process.env.STARTED_DATA = dataDir;
  return dataDir;
}
