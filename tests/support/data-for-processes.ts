import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { readSettings } from "../../app/lib/env.server.ts";
import { ensureBuild } from "../../app/server/build.ts";
import { startEmbedded } from "../../app/server/embedded.ts";
import { freePort } from "./ports.ts";

/** Before the tests of the processes: a fresh build, and data that had its first start, to be copied. */
export default async function setup() {
  ensureBuild();
  const dataDir = mkdtempSync(path.join(tmpdir(), "started-"));
  const { stop } = await startEmbedded({ ...readSettings(), dataDir, backendPort: await freePort() });
  await stop();
  process.env.STARTED_DATA = dataDir;
  return () => rmSync(dataDir, { recursive: true, force: true });
}
