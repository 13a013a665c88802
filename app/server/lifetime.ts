/** When the site's process ends: on a signal, and with the npm that runs it; not when stdout or stderr is closed. */
import process from "node:process";
import { isatty } from "node:tty";

/** How often to look whether the parent is still there, in milliseconds. */
const parentCheckMs = 500;

/** Ignores errors of stdout and stderr, so that a closed pipe or terminal does not end the process. */
export function ignoreOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
}

/**
 * Calls `stop` once and exits with 0: on SIGINT and SIGTERM; when the process `parent` is gone; and on SIGHUP, which a
 * closed terminal sends, if a terminal is attached. Without a terminal (nohup, a service) SIGHUP is ignored, as Node
 * does not keep nohup's setting, and the parent is watched no longer, as the same signal may have ended it.
 */
export function stopOnSignals(parent: number | null, stop: () => Promise<void>): void {
  const hasTerminal = [0, 1, 2].some((stream) => isatty(stream));
  const look = parent === null ? undefined : setInterval(() => process.ppid === parent || end(), parentCheckMs).unref();
  let ending = false;
  async function end(): Promise<void> {
    if (ending) return;
    ending = true;
    clearInterval(look);
    await stop();
    process.exit(0);
  }
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, end);
  process.on("SIGHUP", () => (hasTerminal ? end() : clearInterval(look)));
}
