/** Where PostgreSQL's own programs are: in PATH, or where Debian keeps them out of it. */
import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import path from "node:path";
import process from "node:process";

const debian = "/usr/lib/postgresql";

/** The newest of a program such as "pg_dump", or null. A newer one reads an older server. */
export function postgresProgram(name: string): string | null {
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => path.join(debian, version, "bin")),
    ...(process.env.PATH ?? "").split(path.delimiter),
  ];
  return folders.map((folder) => path.join(folder, name)).find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
