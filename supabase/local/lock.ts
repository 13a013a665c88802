/** One backend per data directory: two PGlite processes on one directory lose rows without a word. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";

export type RunningBackend = { pid: number; url: string | null };

const fileIn = (dataDir: string) => path.join(dataDir, "backend.lock");

/** The backend that is running on a data directory, or null. Its url is null until it answers requests. */
export function runningBackend(dataDir: string): RunningBackend | null {
  try {
    const holder = JSON.parse(readFileSync(fileIn(dataDir), "utf8")) as RunningBackend;
    return holder.pid !== process.pid && isBackend(holder.pid) ? holder : null;
  } catch {
    return null;
  }
}

/**
 * Takes the data directory for this process. Throws when another backend has it.
 * Returns functions that publish the url and give the directory back.
 */
export function lock(dataDir: string) {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const holder = runningBackend(dataDir);
  if (holder) throw new Error(`The data in ${dataDir} is in use by process ${holder.pid}: end that one first.`);
  const write = (url: string | null, flag: "w" | "wx") =>
    writeFileSync(fileIn(dataDir), JSON.stringify({ pid: process.pid, url } satisfies RunningBackend), {
      flag,
      mode: 0o600,
    });
  rmSync(fileIn(dataDir), { force: true });
  write(null, "wx");
  return {
    publish: (url: string) => write(url, "w"),
    release: () => rmSync(fileIn(dataDir), { force: true }),
  };
}

/** Whether a process is alive and, where /proc tells, is a backend and not a stranger with a used number. */
function isBackend(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(path.join("supabase", "local", "main"));
  } catch {
    return true;
  }
}
