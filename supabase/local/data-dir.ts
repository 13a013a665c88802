/** The folder of the embedded backend's data: its contents, its permissions, and messages for what is wrong. */
import { accessSync, chmodSync, constants, lstatSync, mkdirSync, readdirSync, statSync } from "node:fs";
import path from "node:path";

/** The data directory cannot be used; the message is one line for the person who set it. */
export class DataDirError extends Error {}

/** The root of the project, from here and from the compiled program (app/server/run.js). */
export const projectRoot = path.resolve(import.meta.dirname, "../..");

const dataFileNames = ["keys.json", "backend.lock", "demo-lead.json"];
const dataFolderNames = ["database", "objects", "outbox"];
/** Those, their temporary copies, and the temporary files of a backup and a restore. */
const dataEntryPattern =
  /^(keys\.json|backend\.lock|demo-lead\.json|database|objects|outbox|backup\.json|restoring)(\.|$)/;

const reasonByErrorCode: Record<string, string> = {
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
  rethrowAsDataDirError(dataDir, () => {
    createFolder(path.resolve(dataDir));
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    for (const name of [...dataFileNames, ...dataFolderNames]) {
      const place = path.join(dataDir, name);
      const stats = statSync(place, { throwIfNoEntry: false });
      if (!stats || stats.isDirectory() === dataFolderNames.includes(name)) continue;
      throw new DataDirError(`${place} is a ${stats.isDirectory() ? "folder" : "file"}: move it away.`);
    }
  });
}

/** One folder at a time: where nothing can be made, as under /proc, Node's recursive mkdir never returns. */
function createFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  if (path.dirname(folder) !== folder) createFolder(path.dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another start may have made it meanwhile.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

/** Runs a job on the data directory; an error of a system call is thrown as a DataDirError. */
export function rethrowAsDataDirError<T>(dataDir: string, job: () => T): T {
  try {
    return job();
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (!code || !syscall) throw error;
    throw new DataDirError(`DATA_DIR cannot be ${dataDir}: ${reasonByErrorCode[code] ?? code}.`, { cause: error });
  }
}

/**
 * Removes the permissions of group and others from everything the programs keep there, and from the folder itself
 * unless it holds anything else: it may be a home directory.
 */
export function restrictPermissions(dataDir: string): void {
  const names = readdirSync(dataDir);
  for (const name of names) if (dataEntryPattern.test(name)) restrictEntry(path.join(dataDir, name));
  if (names.every((name) => dataEntryPattern.test(name))) restrictMode(dataDir, statSync(dataDir).mode);
}

function restrictEntry(place: string): void {
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (!stats || stats.isSymbolicLink()) return;
  if (stats.isDirectory()) for (const name of readdirSync(place)) restrictEntry(path.join(place, name));
  restrictMode(place, stats.mode);
}

function restrictMode(place: string, mode: number): void {
  if (!(mode & 0o077)) return;
  try {
    chmodSync(place, mode & 0o700);
  } catch (error) {
    // Only the owner of a file may change its permissions.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") throw error;
  }
}
