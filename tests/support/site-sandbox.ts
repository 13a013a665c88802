/** Creates ports and a data directory for a test file, with functions that start and use a site. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { buffer, text } from "node:stream/consumers";
import { findRunningBackend } from "../../supabase/contract/lock.ts";
import { createSiteEnvironment } from "./environment.ts";
import { copyFirstStartDataDir } from "./first-start-data.ts";
import { freePort } from "./free-port.ts";
import { killProcess, type ProcessCommand, root, runningProcesses, SiteProcess } from "./site-process.ts";
import { createNetworkBrowser, origin } from "./test-app.ts";

export { demoClient as demoCredentials } from "../../app/server/start/demo.ts";

/** Reserves two ports and a data directory. Returns functions that use the ports and the data directory. */
export async function createSiteSandbox(
  environment: Record<string, string> = {},
  data: "started before" | "new" = "started before",
) {
  const dataDir =
    data === "started before" ? await copyFirstStartDataDir() : mkdtempSync(path.join(tmpdir(), "process-"));
  const port = await freePort();
  const backendPort = await freePort();
  return {
    dataDir,
    port,
    backendPort,
    /** Starts a process of the site with additional environment variables. Returns before the site is ready. */
    start: (more: Record<string, string> = {}, from?: ProcessCommand) =>
      new SiteProcess(
        port,
        {
          PORT: String(port),
          BACKEND_PORT: String(backendPort),
          DATA_DIR: dataDir,
          APP_ORIGIN: origin,
          ...environment,
          ...more,
        },
        from,
      ),
    staff: (words: string[], more: Record<string, string> = {}, cwd = root) =>
      runStaffCommand(words, { DATA_DIR: dataDir, APP_ORIGIN: origin, ...environment, ...more }, cwd),
    browser: () => createNetworkBrowser(port),
    /** Sends bytes on one connection. Returns all bytes that the server sends before it closes the connection. */
    async raw(...bytes: (string | Uint8Array)[]): Promise<string> {
      const socket = connect(port, "127.0.0.1");
      for (const part of bytes) socket.write(part);
      return (await buffer(socket)).toString("latin1");
    },
    socket: (): Socket => connect(port, "127.0.0.1"),
    backendPid: () => findRunningBackend(dataDir)?.pid ?? null,
    /** Kills the running processes of the sandbox and deletes the data directory. */
    async leave() {
      const backend = findRunningBackend(dataDir)?.pid;
      for (const child of runningProcesses) child.kill("SIGKILL");
      await Promise.all([...runningProcesses].map((child) => once(child, "exit")));
      if (backend) killProcess(backend);
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function runStaffCommand(words: string[], environment: Record<string, string>, cwd: string) {
  const child = spawn(process.execPath, ["app/server/run.js", "staff", ...words], {
    cwd,
    env: createSiteEnvironment(environment),
    stdio: ["ignore", "pipe", "pipe"],
  });
  runningProcesses.add(child);
  child.once("exit", () => runningProcesses.delete(child));
  const ended = once(child, "close");
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await ended;
  return { stdout, stderr, code: child.exitCode };
}
