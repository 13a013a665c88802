/** The folder of the embedded backend's data: what is in it, that nobody else reads it, and words for what is wrong. */
import { accessSync, chmodSync, constants, lstatSync, mkdirSync, readdirSync, statSync } from "node:fs";
import path from "node:path";

/** The data directory cannot be used; the message is one line for the person who set it. */
export class DataDirError extends Error {}

const files = ["keys.json", "backend.lock"];
const folders = ["database", "objects", "outbox"];
/** These with what is written beside them, and what a backup and a restore leave for a while. */
const ours = /^(keys\.json|backend\.lock|database|objects|outbox|backup\.json|restoring)(\.|$)/;

const reasons: Record<string, string> = {
  EEXIST: "it or a part of its path is a file",
  ENOTDIR: "it or a part of its path is a file",
  EACCES: "this user may not read and write there",
  EPERM: "this user may not write there",
  EROFS: "its file system can only be read",
  ENOSPC: "its disk is full",
  EDQUOT: "its disk is full",
};

/** Makes the folder if there is none. Throws a DataDirError when it is none, or nothing can be kept in it. */
export function openDataDir(dataDir: string): void {
  inWords(dataDir, () => {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    for (const name of [...files, ...folders]) {
      const place = path.join(dataDir, name);
      const stats = statSync(place, { throwIfNoEntry: false });
      if (!stats || stats.isDirectory() === folders.includes(name)) continue;
      throw new DataDirError(`${place} is a ${stats.isDirectory() ? "folder" : "file"}: move it away.`);
    }
  });
}

/** Does a job on the data directory; what the system refuses is thrown as a DataDirError. */
export function inWords<T>(dataDir: string, job: () => T): T {
  try {
    return job();
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (!code || !syscall) throw error;
    throw new DataDirError(`DATA_DIR cannot be ${dataDir}: ${reasons[code] ?? code}.`, { cause: error });
  }
}

/**
 * Leaves the rights of everything the programs keep there to this user alone. The folder's own are left as they are
 * where it holds anything else: it may be somebody's home.
 */
export function closeToOthers(dataDir: string): void {
  const names = readdirSync(dataDir);
  for (const name of names) if (ours.test(name)) close(path.join(dataDir, name));
  if (names.every((name) => ours.test(name))) withdraw(dataDir, statSync(dataDir).mode);
}

function close(place: string): void {
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (!stats || stats.isSymbolicLink()) return;
  if (stats.isDirectory()) for (const name of readdirSync(place)) close(path.join(place, name));
  withdraw(place, stats.mode);
}

function withdraw(place: string, mode: number): void {
  if (!(mode & 0o077)) return;
  try {
    chmodSync(place, mode & 0o700);
  } catch (error) {
    // What belongs to another user is theirs to close.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") throw error;
  }
}
