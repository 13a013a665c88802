import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { ensureBuild } from "../../app/server/build.ts";
import { freePort } from "./ports.ts";
import { SiteProcess } from "./site-process.ts";

/** Before the tests of the processes: a fresh build, and the data of a first start with its demo, to be copied. */
export default async function setup() {
  ensureBuild();
  const dataDir = mkdtempSync(path.join(tmpdir(), "started-"));
  const port = await freePort();
  const site = new SiteProcess(port, {
    PORT: String(port),
    BACKEND_PORT: String(await freePort()),
    DATA_DIR: dataDir,
  });
  await site.introduced();
  await site.end("SIGTERM");
  process.env.STARTED_DATA = dataDir;
  return () => rmSync(dataDir, { recursive: true, force: true });
}
