/** Locks a data directory, because two PGlite processes in one directory lose rows without an error. */
import { existsSync, linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { DataDirError, openDataDir, rethrowAsDataDirError } from "./data-dir.ts";

/** `site` is the parent process, with which the backend ends. */
export type LockHolder = { pid: number; url: string | null; site?: number };

const lockFile = (dataDir: string) => path.join(dataDir, "backend.lock");

/** Returns the backend that holds the data directory, or null. Its url is null until it listens. */
export function findRunningBackend(dataDir: string): LockHolder | null {
  try {
    const holder = JSON.parse(readFileSync(lockFile(dataDir), "utf8")) as LockHolder;
    return holder.pid !== process.pid && isLockingProgram(holder.pid) ? holder : null;
  } catch {
    return null;
  }
}

/** Returns true if the holder is ending because its site died. Throws if it still runs after 500 ms. */
export async function waitUntilUnlocked(dataDir: string): Promise<boolean> {
  const deadline = Date.now() + 500;
  for (;;) {
    const holder = findRunningBackend(dataDir);
    if (!holder) return false;
    if (holder.site && !isAlive(holder.site)) return true;
    if (Date.now() > deadline) throw dataDirInUseError(dataDir, holder.pid);
    await setTimeout(50);
  }
}

/** Locks the data directory for this process. Throws if another process holds or claims it. */
export function lockDataDir(dataDir: string, site?: number) {
  openDataDir(dataDir);
  const holder = findRunningBackend(dataDir);
  if (holder) throw dataDirInUseError(dataDir, holder.pid);
  const draft = `${lockFile(dataDir)}.${process.pid}`;
  const write = (url: string | null) =>
    writeFileSync(draft, JSON.stringify({ pid: process.pid, url, site } satisfies LockHolder), { mode: 0o600 });
  rethrowAsDataDirError(dataDir, () => {
    try {
      write(null);
      takeLockFile(dataDir, draft);
    } finally {
      rmSync(draft, { force: true });
    }
  });
  return {
    publish: (url: string) => {
      write(url);
      renameSync(draft, lockFile(dataDir));
    },
    release: () => rmSync(lockFile(dataDir), { force: true }),
  };
}

/** A backup is unpacked here. The folder remains only after an interrupted restore. */
export const restoreFolder = (dataDir: string) => path.join(dataDir, "restoring");

/** Throws if a restore was interrupted. */
export function assertRestoreFinished(dataDir: string): void {
  if (!existsSync(restoreFolder(dataDir))) return;
  throw new DataDirError(`A restore into ${dataDir} was cut off: move that folder away and restore again.`);
}

/** Retries lockDataDir for `milliseconds`. */
export async function lockDataDirWithin(milliseconds: number, dataDir: string, site: number) {
  const deadline = Date.now() + milliseconds;
  for (;;) {
    try {
      return lockDataDir(dataDir, site);
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await setTimeout(50);
    }
  }
}

/** Links the draft to the lock's name, which only one process can. Removes a dead process's lock first. */
function takeLockFile(dataDir: string, draft: string): void {
  if (tryLink(draft, lockFile(dataDir))) return;
  // Each process writes its claim before it reads others, so that one of two sees the other's claim.
  const claim = `${lockFile(dataDir)}.claim.${process.pid}`;
  writeFileSync(claim, "", { mode: 0o600 });
  try {
    waitForClaims(dataDir);
    const holder = findRunningBackend(dataDir);
    if (holder) throw dataDirInUseError(dataDir, holder.pid);
    rmSync(lockFile(dataDir), { force: true });
    if (!tryLink(draft, lockFile(dataDir))) throw dataDirInUseError(dataDir, findRunningBackend(dataDir)?.pid ?? 0);
  } finally {
    rmSync(claim, { force: true });
  }
}

/** A process holds a claim for one or two milliseconds. */
const claimTimeoutMs = 1000;

/** The claim with the lowest process id waits for the others; the others throw. */
function waitForClaims(dataDir: string): void {
  const deadline = Date.now() + claimTimeoutMs;
  for (;;) {
    const otherPids = readdirSync(dataDir).flatMap((name) => {
      const pid = Number(/^backend\.lock\.claim\.(\d+)$/.exec(name)?.[1]);
      if (!pid || pid === process.pid) return [];
      if (isLockingProgram(pid)) return [pid];
      rmSync(path.join(dataDir, name), { force: true });
      return [];
    });
    if (otherPids.length === 0) return;
    if (Math.min(...otherPids) < process.pid || Date.now() > deadline)
      throw new DataDirError(`The data in ${dataDir} is being taken by another start: try again.`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
  }
}

/** False if the name is taken. */
function tryLink(file: string, name: string): boolean {
  try {
    linkSync(file, name);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function dataDirInUseError(dataDir: string, pid: number): Error {
  return new DataDirError(`The data in ${dataDir} is in use by process ${pid}: end that one first.`);
}

/** The backend, and the staff commands that copy data directories. */
const lockingPrograms = [path.join("programs", "backend.js"), path.join("app", "server", "run.js")];

/** Reads the command line where /proc exists, because process ids are reused. */
function isLockingProgram(pid: number): boolean {
  if (!isAlive(pid)) return false;
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
    return lockingPrograms.some((program) => command.includes(program));
  } catch {
    return true;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
