/** When a program of ours ends: on a signal, and with the npm that runs it; not with those who read what it prints. */
import process from "node:process";
import { isatty } from "node:tty";

/** How often to look whether the parent is still there, in milliseconds. */
const lookEvery = 500;

/** Goes on when a pipe or a terminal is closed: what is printed from then on is lost. */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
}

/**
 * Calls `stop` once and exits with 0: on SIGINT and SIGTERM; when the process `parent` is gone, whose signal did not
 * come; on SIGHUP, which a closed terminal sends, if a terminal is attached. Without one (nohup, a service) nobody
 * meant us, and the parent may have ended by the same signal: Node forgets that nohup told it to ignore it.
 */
export function endWith(parent: number | null, stop: () => Promise<void>): void {
  const hasTerminal = [0, 1, 2].some((stream) => isatty(stream));
  const look = parent === null ? undefined : setInterval(() => process.ppid === parent || end(), lookEvery).unref();
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
