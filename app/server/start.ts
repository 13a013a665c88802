/**
 * npm start and npm run dev: from a clone to a running site. Builds when needed, starts the embedded backend when
 * SUPABASE_URL is not set, and says how to get in.
 */
import { spawn } from "node:child_process";
import type { Server } from "node:http";
import process from "node:process";
import { pathToFileURL } from "node:url";
import {
  adoptBackend,
  ConfigurationError,
  environmentForChild,
  readSettings,
  type Settings,
} from "../lib/env.server.ts";
import { logConsole } from "../lib/log.server.ts";
import { ensureBuild, frameworkCli, serverBuild } from "./build.ts";
import { type Embedded, startEmbedded } from "./embedded.ts";

start(process.argv.includes("--dev")).catch((error: Error) => {
  console.error(error instanceof ConfigurationError ? error.message : error);
  process.exit(1);
});

async function start(dev: boolean): Promise<void> {
  const settings = readSettings();
  if (!dev) ensureBuild();
  let embedded: Embedded | null = null;
  let stopSite: (() => Promise<void>) | null = null;
  stopOnSignal(async () => {
    await stopSite?.();
    await embedded?.stop();
  });
  const backend = settings.backend ? null : startEmbedded(settings);
  // What the site is made of is read while the backend starts.
  const site = dev ? null : prepare();
  // Its failure is met where it is waited for, if the backend lets it come to that.
  site?.catch(() => undefined);
  if (backend) {
    embedded = await backend;
    adoptBackend(embedded.access, embedded.sessionSecret);
  }
  try {
    stopSite = site ? await serve(settings, await site) : await develop(settings);
    if (embedded) await (await import("./introduction.ts")).introduce(settings);
    else console.log(`The site is at ${settings.origin}`);
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
}

/** Reads the code of the server and of the build. Returns what makes a server of them, once there is a backend. */
async function prepare() {
  const [{ createSite }] = await Promise.all([
    import("./http.ts"),
    import(pathToFileURL(serverBuild).href),
    import("./introduction.ts"),
  ]);
  return createSite;
}

/** Serves the build. Returns how to stop: no new requests, a while for those in flight, then the rest is cut. */
async function serve(
  settings: Settings,
  createSite: Awaited<ReturnType<typeof prepare>>,
): Promise<() => Promise<void>> {
  const server = await createSite();
  await listen(server, settings);
  logConsole();
  process.on("unhandledRejection", (reason) => console.error(reason));
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeIdleConnections();
      setTimeout(() => server.closeAllConnections(), settings.deadlines.drain).unref();
    });
}

function listen(server: Server, { port, host }: Settings): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const known: Record<string, string> = {
        EADDRINUSE: `Port ${port} is taken: set PORT to another one.`,
        EACCES: `Port ${port} may not be used by this user: set PORT to one above 1023.`,
        EADDRNOTAVAIL: `This machine has no address ${host}: set HOST to one it has.`,
        ENOTFOUND: `This machine has no address ${host}: set HOST to one it has.`,
      };
      reject(new ConfigurationError(known[error.code ?? ""] ?? error.message));
    });
    server.listen(port, host, resolve);
  });
}

/** Runs the framework's development server, which reloads on every change. */
async function develop({ port, host }: Settings): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, [frameworkCli, "dev", "--port", String(port), "--strictPort", "--host", host], {
    stdio: "inherit",
    env: { ...environmentForChild(), NODE_ENV: "development" },
  });
  child.once("exit", () => process.kill(process.pid, "SIGTERM"));
  return () =>
    new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      child.once("exit", () => resolve());
      child.kill("SIGTERM");
    });
}

function stopOnSignal(stop: () => Promise<void>): void {
  let stopping = false;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, async () => {
      if (stopping) return;
      stopping = true;
      await stop();
      process.exit(0);
    });
  }
}
