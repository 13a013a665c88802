import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { afterEach, beforeEach, expect, test } from "vitest";
import { backendKeys } from "../../tests/support/backend-keys.ts";
import { getFirstStartDataDir } from "../../tests/support/first-start-data.ts";
import type { BackendProcessOptions, BackendProcessReport } from "./backend-process.ts";
import { projectRoot } from "./data-dir.ts";
import { findRunningBackend, lockDataDir } from "./lock.ts";

let dataDir: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  dataDir = path.join(mkdtempSync(path.join(tmpdir(), "lock-")), "data");
});
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => endChild(child, "SIGKILL")));
  rmSync(path.dirname(dataDir), { recursive: true, force: true });
});

test("Locking a data directory creates the directory and a lock file with the process id. Unlocking deletes the lock file.", () => {
  expect(findRunningBackend(dataDir)).toBeNull();
  const { publish, release } = lockDataDir(dataDir);
  expect(readLock()).toEqual({ pid: process.pid, url: null });
  publish("http://127.0.0.1:54321");
  expect(readLock()).toEqual({ pid: process.pid, url: "http://127.0.0.1:54321" });
  release();
  expect(readdirSync(dataDir)).toEqual([]);
});

test("A second backend with the same data directory can start only after the first backend has ended.", async () => {
  // Copies an existing database, because creating a database takes seconds.
  cpSync(await getFirstStartDataDir(), dataDir, { recursive: true });
  const first = launchBackend();
  const ready = await first.report;
  expect(ready).toEqual({ ready: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) });
  const url = "ready" in ready ? ready.ready : "";
  expect(findRunningBackend(dataDir)).toEqual({ pid: first.child.pid, url, site: process.pid });
  expect(() => lockDataDir(dataDir)).toThrow(`process ${first.child.pid}`);

  const second = await launchBackend().report;
  expect(second).toEqual({ failed: expect.stringContaining(`process ${first.child.pid}`) });
  expect(findRunningBackend(dataDir)?.pid).toBe(first.child.pid);

  await endChild(first.child, "SIGTERM");
  expect(first.child.exitCode).toBe(0);
  expect(findRunningBackend(dataDir)).toBeNull();
  expect(readdirSync(dataDir)).not.toContain("backend.lock");
  lockDataDir(dataDir);
  expect(readLock().pid).toBe(process.pid);
});

test("A new process takes over the data directory's lock from a killed backend.", async () => {
  const child = spawnFakeBackend();
  writeLock({ pid: child.pid, url: "http://127.0.0.1:1" });
  expect(findRunningBackend(dataDir)?.pid).toBe(child.pid);
  await endChild(child, "SIGKILL");
  expect(findRunningBackend(dataDir)).toBeNull();
  lockDataDir(dataDir);
  expect(readLock()).toEqual({ pid: process.pid, url: null });
});

test("A data directory cannot be locked while a staff command copies the directory.", () => {
  const child = spawnFakeBackend(path.join("app", "server", "run.js"));
  writeLock({ pid: child.pid, url: null });
  expect(() => lockDataDir(dataDir)).toThrow(`in use by process ${child.pid}`);
});

test("A new process takes over a lock file whose process id now belongs to another program.", () => {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  children.push(child);
  writeLock({ pid: child.pid, url: null });
  expect(findRunningBackend(dataDir)).toBeNull();
  lockDataDir(dataDir);
  expect(readLock().pid).toBe(process.pid);
});

test.each(["", "{", "null", '{"pid":"x"}', "12"])(
  "A new process takes over a lock file that contains %j.",
  (content) => {
    writeLock(content);
    expect(findRunningBackend(dataDir)).toBeNull();
    lockDataDir(dataDir);
    expect(readLock().pid).toBe(process.pid);
  },
);

test("A process that takes over a stale lock file deletes the claim file of a dead process.", async () => {
  const child = spawnFakeBackend();
  await endChild(child, "SIGKILL");
  writeLock({ pid: child.pid, url: null });
  writeFileSync(path.join(dataDir, `backend.lock.claim.${child.pid}`), "");
  lockDataDir(dataDir);
  expect(readdirSync(dataDir)).toEqual(["backend.lock"]);
  expect(readLock().pid).toBe(process.pid);
});

test("A process cannot take over a stale lock file while another process takes over the same lock file.", async () => {
  const dead = spawnFakeBackend();
  await endChild(dead, "SIGKILL");
  writeLock({ pid: dead.pid, url: null });
  const claimant = spawnFakeBackend();
  writeFileSync(path.join(dataDir, `backend.lock.claim.${claimant.pid}`), "");
  expect(() => lockDataDir(dataDir)).toThrow("Another process is locking");
  expect(readLock().pid).toBe(dead.pid);
  expect(readdirSync(dataDir).sort()).toEqual(["backend.lock", `backend.lock.claim.${claimant.pid}`]);
});

test("Only one of four parallel processes locks a data directory, both without a lock file and with a stale lock file.", async () => {
  const dead = spawnFakeBackend();
  await endChild(dead, "SIGKILL");
  const rounds = 25;
  const successCounts = await raceForLocks(2 * rounds, (folder, index) => {
    if (index >= rounds) writeLock({ pid: dead.pid, url: null }, folder);
  });
  expect(successCounts).toEqual(Array(2 * rounds).fill(1));
});

function launchBackend(): { child: ChildProcess; report: Promise<BackendProcessReport> } {
  const child = fork(path.join(projectRoot, "dist/programs/backend.js"), {
    cwd: projectRoot,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  children.push(child);
  child.send({
    dataDir,
    port: 0,
    siteUrl: "http://127.0.0.1:3000",
    emailFrom: { name: "The company", address: "office@company.example" },
    smtpUrl: null,
    databaseUrl: null,
    ...backendKeys,
  } satisfies BackendProcessOptions);
  return { child, report: once(child, "message").then(([report]) => report as BackendProcessReport) };
}

/** Starts an idle process whose command line contains the path `program`. */
function spawnFakeBackend(program = path.join("dist", "programs", "backend.js")): ChildProcess {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", program], { stdio: "ignore" });
  children.push(child);
  return child;
}

/**
 * Lets four processes lock each of `rounds` folders at the same moment, after `prepare` has prepared the folder.
 * Returns for each folder the number of processes that locked the folder.
 */
async function raceForLocks(rounds: number, prepare: (folder: string, index: number) => void): Promise<number[]> {
  const folders = Array.from({ length: rounds }, (_, index) => path.join(dataDir, String(index)));
  for (const [index, folder] of folders.entries()) prepare(folder, index);
  const script = path.join(path.dirname(dataDir), "locker.mjs");
  writeFileSync(
    script,
    `import { lockDataDir } from ${JSON.stringify(path.join(import.meta.dirname, "lock.ts"))};
     const sleeping = new Int32Array(new SharedArrayBuffer(4));
     process.once("message", ({ folders, start, step }) => {
       const successCounts = folders.map((folder, index) => {
         const at = start + index * step;
         // Sleeps until 2 ms before the start time, then busy-waits.
         Atomics.wait(sleeping, 0, 0, Math.max(0, at - 2 - Date.now()));
         while (Date.now() < at);
         try { lockDataDir(folder); return 1; } catch { return 0; }
       });
       process.send(successCounts);
     });
     process.send("here");
     setInterval(() => {}, 1000);`,
  );
  const lockers = Array.from({ length: 4 }, () => {
    const child = fork(script, [path.join("dist", "programs", "backend.js")], {
      cwd: projectRoot,
      execArgv: ["--import", "tsx"],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    children.push(child);
    return child;
  });
  await Promise.all(lockers.map((locker) => once(locker, "message")));
  const start = Date.now() + 100;
  const results = await Promise.all(
    lockers.map(async (locker) => {
      const result = once(locker, "message");
      locker.send({ folders, start, step: 10 });
      return (await result)[0] as number[];
    }),
  );
  return folders.map((_, index) => results.reduce((sum, successCounts) => sum + (successCounts[index] ?? 0), 0));
}

async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill(signal);
  await ended;
}

function writeLock(content: unknown, folder = dataDir): void {
  lockDataDir(folder).release();
  writeFileSync(path.join(folder, "backend.lock"), typeof content === "string" ? content : JSON.stringify(content));
}

function readLock() {
  return JSON.parse(readFileSync(path.join(dataDir, "backend.lock"), "utf8")) as { pid: number; url: string | null };
}
