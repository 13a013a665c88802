import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { ensureBuild } from "../../app/server/build.ts";
import { bareEnvironment } from "./environment.ts";
import { freePort } from "./ports.ts";

/** Before the tests of the processes: a fresh build, and the data of a first start with its demo, to be copied. */
export default async function setup() {
  ensureBuild();
  const dataDir = mkdtempSync(path.join(tmpdir(), "started-"));
  const ports = { PORT: String(await freePort()), BACKEND_PORT: String(await freePort()) };
  const site = spawn(process.execPath, ["--import", "tsx", "app/server/start.ts"], {
    cwd: path.resolve(import.meta.dirname, "../.."),
    env: bareEnvironment({ ...ports, DATA_DIR: dataDir }),
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  for await (const text of site.stdout.setEncoding("utf8")) {
    output += text;
    if (output.includes("Mails go to")) break;
  }
  const ended = once(site, "exit");
  site.kill("SIGTERM");
  await ended;
  process.env.STARTED_DATA = dataDir;
  return () => rmSync(dataDir, { recursive: true, force: true });
}
