/** Runs `npm start` for tests. Other scripts also use this file, so the file imports no test library. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { createSiteEnvironment } from "./environment.ts";

export const root = path.resolve(import.meta.dirname, "../..");

export const runningProcesses = new Set<ChildProcess>();

/** Kills a process, or does nothing if the process has ended. */
export function killProcess(pid: number | null): void {
  // Ignores a missing process ID, because `kill` with the process ID 0 would kill the whole process group.
  if (!pid) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended by itself.
  }
}

/** True if a process is running. A zombie process has an empty command line and counts as ended. */
export const isAlive = (pid: number | null | undefined) =>
  existsSync(`/proc/${pid}`) && readFileSync(`/proc/${pid}/cmdline`, "utf8") !== "";

/** The working directory and Node's arguments for the start of a site. */
export type ProcessCommand = { cwd: string; args: string[] };
const npmStartCommand: ProcessCommand = { cwd: root, args: ["app/server/run.js", "start"] };

/** A running `npm start` with the output of the site and its backend. */
export class SiteProcess {
  output = "";
  readonly child: ChildProcess;

  constructor(
    readonly port: number,
    environment: Record<string, string>,
    { cwd, args }: ProcessCommand = npmStartCommand,
  ) {
    this.child = spawn(process.execPath, args, {
      cwd,
      env: createSiteEnvironment(environment),
      stdio: ["ignore", "pipe", "pipe"],
    });
    runningProcesses.add(this.child);
    this.child.once("exit", () => runningProcesses.delete(this.child));
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding("utf8").on("data", (printed: string) => {
        this.output += printed;
      });
    }
  }

  /** Waits until the site and its backend are ready. */
  async waitUntilReady(): Promise<void> {
    await this.waitUntil(async () => (await fetch(`http://127.0.0.1:${this.port}/readyz`).catch(() => null))?.ok);
  }

  /** Waits until the site responds, even if its backend does not respond. */
  async waitUntilListening(): Promise<void> {
    await this.waitUntil(async () => (await fetch(`http://127.0.0.1:${this.port}/healthz`).catch(() => null))?.ok);
  }

  /** Waits until `npm start` has printed its introduction for new developers. */
  async waitForIntroduction(): Promise<void> {
    await this.waitUntil(() => this.output.includes("Emails go to"));
  }

  private async waitUntil(isMet: () => unknown): Promise<void> {
    while (!(await isMet())) {
      if (this.hasEnded) throw new Error(`The site ended before the test expected it:\n${this.output}`);
      await setTimeout(100);
    }
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /**
   * Sends a signal and waits until the process ends. Returns the exit code or signal, and the duration in milliseconds.
   */
  async stop(signal: NodeJS.Signals): Promise<{ code: number | string | null; ms: number }> {
    if (this.hasEnded) return { code: await this.waitForExit(), ms: 0 };
    const sent = performance.now();
    this.child.kill(signal);
    return { code: await this.waitForExit(), ms: performance.now() - sent };
  }

  /** Waits until the process has ended and closed its output. Returns the exit code or the signal. */
  async waitForExit(): Promise<number | string | null> {
    if (!this.hasEnded) await once(this.child, "close");
    return this.child.exitCode ?? this.child.signalCode;
  }

  /** The lines of the output that contain JSON, parsed. */
  get jsonLines(): Record<string, unknown>[] {
    return this.output
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line));
  }
}
