import { accessSync, chmodSync, constants, existsSync, lstatSync, mkdirSync, readdirSync, statSync } from "node:fs";
import path from "node:path";

/** Thrown if the data directory is unusable. The message is one line for the operator's terminal. */
export class DataDirError extends Error {}

/** The root folder of the project. The path is also correct for the compiled programs in dist/programs. */
export const projectRoot = path.resolve(import.meta.dirname, "../..");

const dataFileNames = ["keys.json", "backend.lock", "demo-lead.json"];
const dataFolderNames = ["database", "objects", "outbox"];
/** Matches the names of all files and folders that this project creates in a data directory. */
const dataEntryPattern =
  /^(keys\.json|backend\.lock|demo-lead\.json|database|objects|outbox|backup\.json|restoring)(\.|$)/;

const reasonByErrorCode: Record<string, string> = {
  EEXIST: "this path or a part of the path is a file",
  ENOTDIR: "this path or a part of the path is a file",
  ENOENT: "the folder cannot be created",
  EACCES: "this user needs read and write access to the folder",
  EPERM: "this user cannot write to the folder",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk is full",
};

/** Creates the data directory if it is missing. Throws a DataDirError if the directory or its content is unusable. */
export function openDataDir(dataDir: string): void {
  rethrowAsDataDirError(dataDir, () => {
    createFolder(path.resolve(dataDir));
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    for (const name of [...dataFileNames, ...dataFolderNames]) {
      const entry = path.join(dataDir, name);
      const stats = statSync(entry, { throwIfNoEntry: false });
      if (!stats || stats.isDirectory() === dataFolderNames.includes(name)) continue;
      const [kind, expected] = stats.isDirectory() ? ["folder", "file"] : ["file", "folder"];
      throw new DataDirError(`${entry} must be a ${expected}, but it is a ${kind}. Move this ${kind} out of DATA_DIR.`);
    }
  });
}

/** Creates one folder at a time, because Node's recursive mkdir never returns in places such as /proc. */
function createFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  if (path.dirname(folder) !== folder) createFolder(path.dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have created the folder in the meantime.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

export function rethrowAsDataDirError<T>(dataDir: string, job: () => T): T {
  try {
    return job();
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (!code || !syscall) throw error;
    throw new DataDirError(`The site cannot use ${dataDir} as DATA_DIR: ${reasonByErrorCode[code] ?? code}.`, {
      cause: error,
    });
  }
}

/** Returns the path of a folder that exists only during a restore or after an interrupted restore. */
export const restoreFolder = (dataDir: string) => path.join(dataDir, "restoring");

export function assertRestoreFinished(dataDir: string): void {
  if (!existsSync(restoreFolder(dataDir))) return;
  throw new DataDirError(
    `A restore into ${dataDir} was interrupted. Move this folder to another place, then restore again.`,
  );
}

/** Lets only the owner open the files of a data directory. Skips other files, and directories that have other files. */
export function restrictPermissions(dataDir: string): void {
  const names = readdirSync(dataDir);
  for (const name of names) if (dataEntryPattern.test(name)) restrictEntry(path.join(dataDir, name));
  if (names.every((name) => dataEntryPattern.test(name))) restrictMode(dataDir, statSync(dataDir).mode);
}

function restrictEntry(entry: string): void {
  const stats = lstatSync(entry, { throwIfNoEntry: false });
  if (!stats || stats.isSymbolicLink()) return;
  if (stats.isDirectory()) for (const name of readdirSync(entry)) restrictEntry(path.join(entry, name));
  restrictMode(entry, stats.mode);
}

function restrictMode(entry: string, mode: number): void {
  if (!(mode & 0o077)) return;
  try {
    chmodSync(entry, mode & 0o700);
  } catch (error) {
    // Ignores the files of other users, because only the owner of a file may change its permissions.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") throw error;
  }
}
