import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { readSettings, setBackendAccess } from "../../app/lib/http/env.server.ts";
import { startEmbeddedBackend } from "../../app/server/embedded-backend.ts";
import { ensureBuild } from "../../app/server/start/build.ts";
import { createDatabase, runAsSuperuser } from "./database.ts";
import { cheapPasswordHashes, longDeadlines } from "./environment.ts";
import { freePort } from "./free-port.ts";
import { startPostgres } from "./postgres-server.ts";

/**
 * Before the route tests and the journeys in Firefox: a fresh build, and one embedded backend on a PostgreSQL server of
 * its own, which answers twice as fast as PGlite. The journeys in Chromium and the process tests use PGlite.
 */
export default function setup(): Promise<() => Promise<void>> {
  // Two vitest projects call this, each with its own copy of this module: the promise is kept on `process`.
  const here = process as typeof process & { backendForRoutes?: Promise<() => Promise<void>> };
  here.backendForRoutes ??= startRoutesBackend();
  return here.backendForRoutes;
}

async function startRoutesBackend() {
  await ensureBuild();
  execFileSync(process.execPath, ["app/server/run.js"]);
  const server = await startPostgres();
  const dataDir = mkdtempSync(path.join(tmpdir(), "routes-"));
  const database = await createDatabase(server.url);
  process.env.DATABASE_URL = database.url;
  // Stays, for what tests arrange past the backend.
  process.env.TESTS_DATABASE_URL = database.url;
  Object.assign(process.env, cheapPasswordHashes);
  process.env.DATA_DIR = dataDir;
  process.env.BACKEND_PORT = String(await freePort());
  // Tests send more forms a minute than a person; the tests of the limits set their own.
  process.env.WRITES_PER_MINUTE = "100000";
  process.env.TRUSTED_PROXIES = "127.0.0.1";
  // Long deadlines, for a busy machine; the tests of a hanging backend set their own.
  Object.assign(process.env, longDeadlines);
  const embedded = await startEmbeddedBackend(readSettings());
  // On a PostgreSQL server the backend does not seed the demo.
  await runAsSuperuser(server.url, readFileSync("supabase/seed.sql", "utf8"), database.name);
  setBackendAccess(embedded.access, embedded.sessionSecret);
  return async () => {
    await embedded.stop();
    server.remove();
    rmSync(dataDir, { recursive: true, force: true });
  };
}
