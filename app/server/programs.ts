import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { getChildEnvironment } from "../lib/http/env.server.ts";

/** Debian installs the programs of PostgreSQL in this folder, outside PATH. */
const debianPostgres = "/usr/lib/postgresql";

export function findProgram(names: string[], folders: string[] = []): string | null {
  const all = [...folders, ...(getChildEnvironment().PATH ?? "").split(path.delimiter)];
  return all.flatMap((folder) => names.map((name) => path.resolve(folder, name))).find(isExecutable) ?? null;
}

/** Returns the path of the newest version, because newer versions can also dump databases of older servers. */
export function findPostgres(name: string): string | null {
  const versions = existsSync(debianPostgres) ? readdirSync(debianPostgres).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = versions.map((version) => path.join(debianPostgres, version, "bin"));
  return findProgram([name], folders);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
