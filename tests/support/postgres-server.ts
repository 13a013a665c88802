import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import type { TestProject } from "vitest/node";
import { findPostgres } from "../../app/server/programs.ts";
import { createBackend } from "../../supabase/local/backend.ts";
import { backendOptions } from "./backend-keys.ts";
import { createDatabase } from "./database.ts";
import { installDebianPackage } from "./debian-packages.ts";
import { freePort } from "./free-port.ts";
import { createAuthenticator, findPostgrest } from "./postgrest.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The URL of the server, without a database name. */
    postgres: string;
    /** The name of the database with all migrations. Tests copy this database. */
    migrated: string;
  }
}

/** Starts a PostgreSQL server for a Vitest project and creates a database with all migrations. */
export default async function setup(project: TestProject) {
  const server = await startPostgres();
  const { url, name } = await createDatabase(server.url);
  const objectsDir = mkdtempSync(path.join(tmpdir(), "objects-"));
  const place = { dataDir: null, databaseUrl: url, objectsDir };
  const backend = await createBackend({ ...backendOptions, ...place, deliver: async () => undefined });
  await backend.close();
  rmSync(objectsDir, { recursive: true });
  await createAuthenticator(server.url);
  if (!findPostgrest()) console.log("PostgREST is not installed. The database tests use the embedded data API.");
  project.provide("postgres", server.url);
  project.provide("migrated", name);
  return server.remove;
}

/** Starts a PostgreSQL server with its own folder and port, and with a password for the superuser. */
export async function startPostgres() {
  const initdb = await ensurePostgres();
  const bin = path.dirname(initdb);
  const folder = mkdtempSync(path.join(tmpdir(), "postgres-"));
  const data = path.join(folder, "data");
  const port = await freePort();
  const password = "p4ssw0rd-0f-th3-t3sts";

  // Starts PostgreSQL as another user, because PostgreSQL does not run as root.
  const root = process.getuid?.() === 0;
  const passwordFile = path.join(folder, "password");
  writeFileSync(passwordFile, password);
  if (root) execFileSync("chown", ["-R", "postgres:", folder]);
  const run = (program: string, args: string[]) => {
    const command = [path.join(bin, program), "-D", data, ...args];
    const [first = "", ...rest] = root
      ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", ...command]
      : command;
    execFileSync(first, rest, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  };
  run("initdb", ["-U", "postgres", "-E", "UTF8", "-A", "scram-sha-256", "-N", `--pwfile=${passwordFile}`]);

  // fsync is off, because test data must survive an immediate stop of the server, but need not survive a power failure.
  const withoutSync = "-c fsync=off -c full_page_writes=off";
  const options = `-c port=${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' ${withoutSync}`;
  const start = () => run("pg_ctl", ["-w", "-l", path.join(folder, "log"), "-o", options, "start"]);
  const stop = () => run("pg_ctl", ["-w", "-m", "immediate", "stop"]);
  start();
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}`,
    port,
    password,
    start,
    stop,
    remove: () => {
      if (existsSync(path.join(data, "postmaster.pid"))) stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Returns the path of initdb. Installs PostgreSQL if initdb is missing, the system is Debian and the user is root.
 * Throws if initdb is still missing.
 */
export async function ensurePostgres(): Promise<string> {
  const found = findPostgres("initdb");
  if (found) return found;
  await installDebianPackage("postgresql");
  const installed = findPostgres("initdb");
  if (installed) return installed;
  throw new Error("The tests need a PostgreSQL server: install Debian's postgresql, or put its initdb into PATH.");
}
