/** The folder of the embedded backend's data: its contents, its permissions, and messages for what is wrong. */
import { accessSync, chmodSync, constants, lstatSync, mkdirSync, readdirSync, statSync } from "node:fs";
import path from "node:path";

/** The data directory cannot be used; the message is one line for the person who set it. */
export class DataDirError extends Error {}

/** The root of the project, from here and from the compiled program (app/server/run.js). */
export const projectRoot = path.resolve(import.meta.dirname, "../..");

const files = ["keys.json", "backend.lock", "demo-lead.json"];
const folders = ["database", "objects", "outbox"];
/** Those, their temporary copies, and the temporary files of a backup and a restore. */
const ours = /^(keys\.json|backend\.lock|demo-lead\.json|database|objects|outbox|backup\.json|restoring)(\.|$)/;

const reasons: Record<string, string> = {
  EEXIST: "it or a part of its path is a file",
  ENOTDIR: "it or a part of its path is a file",
  ENOENT: "no folder can be made there",
  EACCES: "this user may not read and write there",
  EPERM: "this user may not write there",
  EROFS: "its file system can only be read",
  ENOSPC: "its disk is full",
  EDQUOT: "its disk is full",
};

/** Makes the folder if there is none. Throws a DataDirError when the path or an entry is unusable. */
export function openDataDir(dataDir: string): void {
  inWords(dataDir, () => {
    makeFolder(path.resolve(dataDir));
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    for (const name of [...files, ...folders]) {
      const place = path.join(dataDir, name);
      const stats = statSync(place, { throwIfNoEntry: false });
      if (!stats || stats.isDirectory() === folders.includes(name)) continue;
      throw new DataDirError(`${place} is a ${stats.isDirectory() ? "folder" : "file"}: move it away.`);
    }
  });
}

/** One folder at a time: where nothing can be made, as under /proc, Node's recursive mkdir never returns. */
function makeFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  if (path.dirname(folder) !== folder) makeFolder(path.dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another start may have made it meanwhile.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

/** Runs a job on the data directory; an error of a system call is thrown as a DataDirError. */
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
 * Removes the permissions of group and others from everything the programs keep there, and from the folder itself
 * unless it holds anything else: it may be a home directory.
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
    // Only the owner of a file may change its permissions.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") throw error;
  }
}
