/** One `npm start` under test. No test library is imported here: files that run by themselves use it too. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { createSiteEnvironment } from "./environment.ts";

export const root = path.resolve(import.meta.dirname, "../..");

/** The processes that were started and still live. */
export const runningProcesses = new Set<ChildProcess>();

/** Ends a process at once, if it is there. */
export function killProcess(pid: number | null): void {
  // 0 would kill the whole process group.
  if (!pid) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

/** Whether a process runs; a zombie, not yet waited for by its parent, has an empty command line. */
export const isAlive = (pid: number | null | undefined) =>
  existsSync(`/proc/${pid}`) && readFileSync(`/proc/${pid}/cmdline`, "utf8") !== "";

/** The folder a site is started in, and what Node is told. */
export type ProcessCommand = { cwd: string; args: string[] };
const npmStartCommand: ProcessCommand = { cwd: root, args: ["app/server/run.js", "start"] };

/** One `npm start`, and everything that it and its backend print. */
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

  /** Waits for the first answer of the site and its backend. */
  async waitUntilReady(): Promise<void> {
    await this.waitUntil(async () => (await fetch(`http://127.0.0.1:${this.port}/readyz`).catch(() => null))?.ok);
  }

  /** Waits for the first answer of the site, whatever its backend does. */
  async waitUntilListening(): Promise<void> {
    await this.waitUntil(async () => (await fetch(`http://127.0.0.1:${this.port}/healthz`).catch(() => null))?.ok);
  }

  /** Waits for the words for a newcomer, which a start ends with. */
  async waitForIntroduction(): Promise<void> {
    await this.waitUntil(() => this.output.includes("Mails go to"));
  }

  private async waitUntil(isSo: () => unknown): Promise<void> {
    while (!(await isSo())) {
      if (this.hasEnded) throw new Error(`The site ended too early:\n${this.output}`);
      await setTimeout(100);
    }
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Sends a signal and waits for the end: the exit code, or the signal that ended it, and the milliseconds it took. */
  async stop(signal: NodeJS.Signals): Promise<{ code: number | string | null; ms: number }> {
    if (this.hasEnded) return { code: await this.waitForExit(), ms: 0 };
    const sent = performance.now();
    this.child.kill(signal);
    return { code: await this.waitForExit(), ms: performance.now() - sent };
  }

  /** Waits for the end and the last of the output. */
  async waitForExit(): Promise<number | string | null> {
    if (!this.hasEnded) await once(this.child, "close");
    return this.child.exitCode ?? this.child.signalCode;
  }

  /** The lines that are JSON. */
  get jsonLines(): Record<string, unknown>[] {
    return this.output
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line));
  }
}
