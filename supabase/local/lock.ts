/** One backend per data directory: two PGlite processes on one directory lose rows without a word. */
import { existsSync, linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { DataDirError, openDataDir, rethrowAsDataDirError } from "./data-dir.ts";

/** The process that holds a data directory; `site` is the process with which the backend ends. */
export type LockHolder = { pid: number; url: string | null; site?: number };

const lockFile = (dataDir: string) => path.join(dataDir, "backend.lock");

/** The backend that is running on a data directory, or null. Its url is null until it answers requests. */
export function findRunningBackend(dataDir: string): LockHolder | null {
  try {
    const holder = JSON.parse(readFileSync(lockFile(dataDir), "utf8")) as LockHolder;
    return holder.pid !== process.pid && isLockingProgram(holder.pid) ? holder : null;
  } catch {
    return null;
  }
}

/**
 * Throws when a backend still holds the data directory after 500 ms. Returns true when its site has died, so that it
 * will end soon; false when no backend holds the directory.
 */
export async function waitUntilUnlocked(dataDir: string): Promise<boolean> {
  const patience = Date.now() + 500;
  for (;;) {
    const holder = findRunningBackend(dataDir);
    if (!holder) return false;
    if (holder.site && !isAlive(holder.site)) return true;
    // A site that is shutting down has until then to finish.
    if (Date.now() > patience) throw dataDirInUseError(dataDir, holder.pid);
    await setTimeout(50);
  }
}

/**
 * Takes the data directory for this process, which ends with `site`. Throws when another backend has it, or is just
 * taking it. Returns functions that publish the url and give the directory back.
 */
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

/** The folder in which a backup is unpacked; where it is left, a restore was cut off in the middle. */
export const restoreFolder = (dataDir: string) => path.join(dataDir, "restoring");

/** Throws when the data directory holds half of a backup. */
export function assertRestoreFinished(dataDir: string): void {
  if (!existsSync(restoreFolder(dataDir))) return;
  throw new DataDirError(`A restore into ${dataDir} was cut off: move that folder away and restore again.`);
}

/** Takes the data directory like `lock`, and waits up to so many milliseconds for a holder that is just ending. */
export async function lockDataDirWithin(milliseconds: number, dataDir: string, site: number) {
  const patience = Date.now() + milliseconds;
  for (;;) {
    try {
      return lockDataDir(dataDir, site);
    } catch (error) {
      if (Date.now() > patience) throw error;
      await setTimeout(50);
    }
  }
}

/** Links the draft to the lock's name, which only one process can; a lock left by a dead process is removed first. */
function takeLockFile(dataDir: string, draft: string): void {
  if (tryLink(draft, lockFile(dataDir))) return;
  // Each process writes its claim before it reads the others': of two at once, at least one sees the other's claim.
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

/** How long to wait for the claims of others to go, in milliseconds; a process holds a claim for one or two. */
const claimTimeoutMs = 1000;

/** Returns once no other living process claims the lock. The one with the lowest number waits; the others give way. */
function waitForClaims(dataDir: string): void {
  const end = Date.now() + claimTimeoutMs;
  for (;;) {
    const others = readdirSync(dataDir).flatMap((name) => {
      const pid = Number(/^backend\.lock\.claim\.(\d+)$/.exec(name)?.[1]);
      if (!pid || pid === process.pid) return [];
      if (isLockingProgram(pid)) return [pid];
      rmSync(path.join(dataDir, name), { force: true });
      return [];
    });
    if (others.length === 0) return;
    if (Math.min(...others) < process.pid || Date.now() > end)
      throw new DataDirError(`The data in ${dataDir} is being taken by another start: try again.`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
  }
}

/** Gives a file a second name; false when that name is taken. */
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

/** The programs that lock data directories: the backend, and the staff commands that copy them. */
const lockingPrograms = [path.join("programs", "backend.js"), path.join("app", "server", "run.js")];

/** Whether a process is alive and, where /proc can tell, runs one of `holders`: process ids are used again. */
function isLockingProgram(pid: number): boolean {
  if (!isAlive(pid)) return false;
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
    return lockingPrograms.some((holder) => command.includes(holder));
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
