import type { Server } from "node:http";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { DataDirError } from "../../supabase/contract/data-dir.ts";
import { ConfigurationError, readSettings, type Settings, setBackendAccess } from "../lib/http/env.server.ts";
import { logConsole } from "../lib/http/log.server.ts";
import { type EmbeddedBackend, startEmbeddedBackend } from "./embedded-backend.ts";
import { endChild, ignoreOutputErrors, stopOnSignals } from "./lifetime.ts";
import { ensureBuild, runFramework, serverBuildFile } from "./start/build.ts";
import { checkBeforeStart, getMetricsAddress, listen } from "./start/preflight.ts";
import { announceStop } from "./web/health.ts";

const isDev = process.argv.includes("--dev");
// The scripts in package.json pass the process ID of npm as --parent.
const parentPid = /^--parent=(\d+)$/m.exec(process.argv.join("\n"))?.[1];

ignoreOutputErrors();
start().catch((error: Error) => {
  console.error(error instanceof ConfigurationError || error instanceof DataDirError ? error.message : error);
  process.exit(1);
});

async function start(): Promise<void> {
  let embedded: EmbeddedBackend | null = null;
  let stopSite: (() => Promise<void>) | null = null;
  stopOnSignals(parentPid ? Number(parentPid) : null, async () => {
    await stopSite?.();
    await embedded?.stop();
  });
  const settings = readSettings();
  await checkBeforeStart(settings);
  if (!isDev) await ensureBuild();
  const backend = settings.backend ? null : startEmbeddedBackend(settings);
  // Loads the site's modules while the backend starts.
  const site = isDev ? null : importSite();
  // Prevents an unhandled rejection if the backend fails first. `await site` throws the same error.
  site?.catch(() => undefined);
  if (backend) {
    embedded = await backend;
    setBackendAccess(embedded.access, embedded.sessionSecret);
  }
  try {
    stopSite = site ? await serveSite(settings, await site) : await runDevServer(settings);
    if (embedded) await (await import("./start/welcome.ts")).printWelcome(settings);
    else console.log(`The site is at ${settings.origin}`);
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
}

async function importSite() {
  const [{ createSite }, { startBackgroundJobs }] = await Promise.all([
    import("./web/server.ts"),
    import("./web/background-jobs.ts"),
    import(pathToFileURL(serverBuildFile).href),
    import("./start/welcome.ts"),
  ]);
  return { createSite, startBackgroundJobs };
}

/**
 * Starts the site. Returns a function that stops the site. Health checks start to fail `deadlines.stopNotice`
 * milliseconds before the stop.
 */
async function serveSite(
  settings: Settings,
  { createSite, startBackgroundJobs }: Awaited<ReturnType<typeof importSite>>,
): Promise<() => Promise<void>> {
  const server = await createSite();
  await listen(server, { ...settings, variable: "PORT" });
  const metrics = settings.metricsPort ? await serveMetrics(settings.metricsPort) : null;
  logConsole();
  process.on("unhandledRejection", (reason) => console.error(reason));
  const stopJobs = startBackgroundJobs();
  return async () => {
    announceStop();
    const jobs = stopJobs();
    await wait(settings.deadlines.stopNotice);
    await Promise.all([
      jobs,
      new Promise<void>((resolve) => {
        // Without this setting, a connection stays open for the whole keep-alive time after its last response.
        server.keepAliveTimeout = 1;
        server.close(() => resolve());
        setTimeout(() => server.closeAllConnections(), settings.deadlines.drain).unref();
      }),
    ]);
    metrics?.close();
  };
}

async function serveMetrics(port: number): Promise<Server> {
  const { createMetricsServer } = await import("./web/metrics.ts");
  const server = createMetricsServer();
  await listen(server, getMetricsAddress(port));
  return server;
}

async function runDevServer({ port, host }: Settings): Promise<() => Promise<void>> {
  const args = ["dev", "--port", String(port), "--strictPort", "--host", host];
  const child = runFramework(args, "development", "inherit");
  child.once("exit", () => process.kill(process.pid, "SIGTERM"));
  return () => endChild(child);
}
