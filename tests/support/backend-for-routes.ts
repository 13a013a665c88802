import { rmSync } from "node:fs";
import process from "node:process";
import { adoptBackend, readSettings } from "../../app/lib/env.server.ts";
import { ensureBuild } from "../../app/server/build.ts";
import { startEmbedded } from "../../app/server/embedded.ts";
import { cheapHashes, patience } from "./environment.ts";
import { copyOfFirstStart } from "./first-start.ts";
import { freePort } from "./ports.ts";

/** Before the route tests and the journeys in Firefox: a fresh build, and one embedded backend on data of its own. */
export default function setup(): Promise<() => Promise<void>> {
  // Both projects of one vitest ask for it, each with modules of its own.
  const here = process as typeof process & { backendForRoutes?: Promise<() => Promise<void>> };
  here.backendForRoutes ??= start();
  return here.backendForRoutes;
}

async function start() {
  await ensureBuild();
  const dataDir = await copyOfFirstStart();
  Object.assign(process.env, cheapHashes);
  process.env.DATA_DIR = dataDir;
  process.env.BACKEND_PORT = String(await freePort());
  // Tests send more forms a minute than a person; those of the limits themselves set it back.
  process.env.WRITES_PER_MINUTE = "100000";
  process.env.TRUSTED_PROXIES = "127.0.0.1";
  // A busy machine is no backend that hangs; tests of that set their deadlines themselves.
  Object.assign(process.env, patience);
  const embedded = await startEmbedded(readSettings());
  adoptBackend(embedded.access, embedded.sessionSecret);
  return async () => {
    await embedded.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
}
