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
 * Prepares the route tests and the browser tests in Firefox. Builds the site and starts one embedded backend on its own
 * PostgreSQL server, which is twice as fast as PGlite. The browser tests in Chromium and the process tests use PGlite.
 */
export default function setup(): Promise<() => Promise<void>> {
  // Stores the promise on `process`, because two Vitest projects each have their own copy of this module.
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
  // Tests use this URL to change the database without the backend.
  process.env.TESTS_DATABASE_URL = database.url;
  Object.assign(process.env, cheapPasswordHashes);
  process.env.DATA_DIR = dataDir;
  process.env.BACKEND_PORT = String(await freePort());
  // Tests send more forms per minute than a client. Tests of rate limits set their own limit.
  process.env.WRITES_PER_MINUTE = "100000";
  process.env.TRUSTED_PROXIES = "127.0.0.1";
  // A busy machine needs long deadlines. Tests of a hanging backend set their own deadlines.
  Object.assign(process.env, longDeadlines);
  const embedded = await startEmbeddedBackend(readSettings());
  // On a PostgreSQL server, the backend does not create the demo data.
  await runAsSuperuser(server.url, readFileSync("supabase/seed.sql", "utf8"), database.name);
  setBackendAccess(embedded.access, embedded.sessionSecret);
  return async () => {
    await embedded.stop();
    server.remove();
    rmSync(dataDir, { recursive: true, force: true });
  };
}
