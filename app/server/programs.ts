/** Programs of this machine that the project calls. */
import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { getChildEnvironment } from "../lib/http/env.server.ts";

/** Where Debian keeps PostgreSQL's own programs, by version, out of PATH. */
const debianPostgres = "/usr/lib/postgresql";

/** The first of these programs, by name or path, that is in one of the folders or in PATH; null when none is. */
export function findProgram(names: string[], folders: string[] = []): string | null {
  const all = [...folders, ...(getChildEnvironment().PATH ?? "").split(path.delimiter)];
  return all.flatMap((folder) => names.map((name) => path.resolve(folder, name))).find(isExecutable) ?? null;
}

/** The newest of PostgreSQL's programs such as "pg_dump", or null. A newer one reads an older server. */
export function findPostgres(name: string): string | null {
  const versions = existsSync(debianPostgres) ? readdirSync(debianPostgres).sort((a, b) => Number(b) - Number(a)) : [];
  return findProgram(
    [name],
    versions.map((version) => path.join(debianPostgres, version, "bin")),
  );
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
