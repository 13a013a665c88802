import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { isatty } from "node:tty";
import { backendCloseTimeoutMs } from "../../supabase/contract/backend-process.ts";

const parentCheckMs = 500;

/** Prevents a closed pipe or terminal from ending the process. */
export function ignoreOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
}

/** Calls `stop` and exits on SIGINT, SIGTERM, SIGHUP or the parent's end. Ignores SIGHUP without a terminal (nohup). */
export function stopOnSignals(parent: number | null, stop: () => Promise<void>): void {
  const hasTerminal = [0, 1, 2].some((stream) => isatty(stream));
  const parentWatch =
    parent === null ? undefined : setInterval(() => process.ppid === parent || end(), parentCheckMs).unref();
  let ending = false;
  async function end(): Promise<void> {
    if (ending) return;
    ending = true;
    clearInterval(parentWatch);
    await stop();
    process.exit(0);
  }
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, end);
  process.on("SIGHUP", () => (hasTerminal ? end() : clearInterval(parentWatch)));
}

/**
 * Sends SIGTERM and waits until the process has ended. Sends SIGKILL if the process is still running after the longest
 * time that the backend needs to close.
 */
export async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const killTimer = setTimeout(() => child.kill("SIGKILL"), backendCloseTimeoutMs);
  child.kill("SIGTERM");
  await once(child, "exit");
  clearTimeout(killTimer);
}
