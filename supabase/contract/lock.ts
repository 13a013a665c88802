/** Locks a data directory, because two PGlite processes on one directory lose rows without an error. */
import { linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { DataDirError, openDataDir, rethrowAsDataDirError } from "./data-dir.ts";

/** The process that has locked a data directory. If the site started the process, `site` is the site's process ID. */
export type LockHolder = { pid: number; url: string | null; site?: number };

const lockFile = (dataDir: string) => path.join(dataDir, "backend.lock");

/**
 * Returns the other process that uses a data directory, or null. Its `url` is null until a backend accepts requests.
 */
export function findRunningBackend(dataDir: string): LockHolder | null {
  try {
    const holder = JSON.parse(readFileSync(lockFile(dataDir), "utf8")) as LockHolder;
    return holder.pid !== process.pid && isLockingProgram(holder.pid) ? holder : null;
  } catch {
    return null;
  }
}

/**
 * Returns false when the data directory is unlocked, and true if its backend will end soon because the site has died.
 * Throws a DataDirError if the directory is still locked after 500 ms.
 */
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

/** Locks a data directory. `site` is the process ID of the site. Throws a DataDirError if the directory is locked. */
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

/** Creates the lock file as a hard link, which only one process can create. Replaces a dead process's lock file. */
function takeLockFile(dataDir: string, draft: string): void {
  if (tryLink(draft, lockFile(dataDir))) return;
  // Each process writes a claim file before it looks for the claim files of other processes. If two processes claim
  // the lock, at least one process therefore sees both files.
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

/** A claim file normally exists for one or two milliseconds. */
const claimTimeoutMs = 1000;

/** Waits until no other process has a claim file. Throws after a timeout, or if the other process has a lower ID. */
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
      throw new DataDirError(`Another process is locking ${dataDir} at the same time. Try again.`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
  }
}

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
  return new DataDirError(`The data in ${dataDir} is in use by process ${pid}. Stop this process first.`);
}

/** The programs that lock data directories: the backend, and the staff commands for backups. */
const lockingPrograms = [path.join("programs", "backend.js"), path.join("app", "server", "run.js")];

/** True if the process is alive and runs one of `lockingPrograms`. Without /proc, true for every living process. */
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
