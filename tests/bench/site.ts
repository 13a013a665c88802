/** Starts the measured servers: our site, @react-router/serve with a build, and a plain node:http server. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { freePort } from "../support/free-port.ts";

const root = path.resolve(import.meta.dirname, "../..");

export type BenchSite = {
  port: number;
  child: ChildProcess;
  /** Milliseconds from the start to the first response. */
  startupMs: number;
};

/**
 * Returns Node's arguments for starting the site of a checkout. Older checkouts have no run.js and start from source.
 */
function getStartArgs(checkout: string): string[] {
  const { scripts } = JSON.parse(readFileSync(path.join(checkout, "package.json"), "utf8")) as {
    scripts: { start: string };
  };
  if (scripts.start.startsWith("tsx ")) return ["--import", "tsx", "app/server/start.ts"];
  return [...(scripts.start.match(/--[\w-]+=\d+(?= )/g) ?? []), "app/server/run.js", "start"];
}

/** Starts the site of `checkout` with an embedded backend, on free ports and with the data directory `dataDir`. */
export async function startOurSite(dataDir: string, checkout = root): Promise<BenchSite & { backendPort: number }> {
  const [port, backendPort] = [await freePort(), await freePort()];
  const env = { PORT: String(port), BACKEND_PORT: String(backendPort), DATA_DIR: dataDir, APP_ORIGIN: "" };
  const site = await startProgram(getStartArgs(checkout), port, env, checkout);
  return { ...site, backendPort };
}

/** Starts another process of our site. The process uses the backend at `backendPort` and the keys in `dataDir`. */
export async function startOurSiteOnBackend(dataDir: string, backendPort: number, checkout = root): Promise<BenchSite> {
  const port = await freePort();
  const env = {
    PORT: String(port),
    APP_ORIGIN: `http://127.0.0.1:${port}`,
    ...readBackendEnvironment(dataDir, backendPort),
  };
  return startProgram(getStartArgs(checkout), port, env, checkout);
}

function readBackendEnvironment(dataDir: string, backendPort: number): Record<string, string> {
  const keys = JSON.parse(readFileSync(path.join(dataDir, "keys.json"), "utf8")) as Record<string, string>;
  return {
    SUPABASE_URL: `http://127.0.0.1:${backendPort}`,
    SUPABASE_PUBLISHABLE_KEY: keys.publishableKey ?? "",
    SUPABASE_SECRET_KEY: keys.secretKey ?? "",
    SESSION_SECRET: keys.sessionSecret ?? "",
  };
}

/** Serves the build of our site with @react-router/serve and with the backend of our site. */
export async function startPlainServe(dataDir: string, backendPort: number): Promise<BenchSite> {
  return startServe(root, readBackendEnvironment(dataDir, backendPort));
}

/** Serves the build in `folder` with @react-router/serve. */
export async function startServe(folder: string, env: Record<string, string>): Promise<BenchSite> {
  const port = await freePort();
  const own = { PORT: String(port), HOST: "127.0.0.1", APP_ORIGIN: `http://127.0.0.1:${port}` };
  const cli = path.join(root, "node_modules/@react-router/serve/bin.js");
  return startProgram([cli, "build/server/index.js"], port, { ...own, ...env }, folder);
}

/**
 * Starts a plain node:http server. For every URL, the server sends the bytes and headers of our site's page at `page`.
 * With `isLogged`, the server does what every server with React and a log does: it gives each request an ID, stores
 * the ID in an AsyncLocalStorage, as React does with its requests, and writes a log line.
 */
export async function startBareServer(page: string, { isLogged = false } = {}): Promise<BenchSite> {
  const port = await freePort();
  const code = `
    const { AsyncLocalStorage } = await import("node:async_hooks");
    const { randomUUID } = await import("node:crypto");
    const storage = new AsyncLocalStorage();
    const { createServer, get } = await import("node:http");
    const { buffer } = await import("node:stream/consumers");
    const ask = (headers) => new Promise((done) => get(${JSON.stringify(page)}, { headers }, done));
    const without = (answer, names) =>
      answer.rawHeaders.filter((_, at) => !names.includes(answer.rawHeaders[at - (at % 2)].toLowerCase()));
    const found = await ask({ "accept-encoding": "br" });
    const body = await buffer(found);
    const known = await ask({ "accept-encoding": "br", "if-none-match": found.headers.etag });
    const own = ["connection", "date", "keep-alive"];
    const [full, notModified] = [without(found, own), without(known, own)];
    const respond = (request, response) => {
      if (request.headers["if-none-match"]) response.writeHead(304, notModified).end();
      else response.writeHead(200, full).end(body);
    };
    const respondAndLog = (request, response) => {
      const began = performance.now();
      const id = randomUUID();
      response.on("close", () => {
        const line = { time: new Date(), id, method: request.method, path: request.url, status: response.statusCode };
        process.stdout.write(JSON.stringify({ ...line, ms: Math.round(performance.now() - began) }) + "\\n");
      });
      storage.run(id, () => respond(request, response));
    };
    createServer(${isLogged ? "respondAndLog" : "respond"}).listen(${port}, "127.0.0.1");`;
  return startProgram(["--input-type=module", "-e", code], port, {});
}

/** Stops a site and returns when its process has ended. Kills the process if it has not ended after ten seconds. */
export function stopSite({ child }: BenchSite, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null) return resolve();
    const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
    child.once("exit", () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill(signal);
  });
}

/** Returns the resident memory of a process in MB, or 0 on other systems than Linux. */
export function getMemoryMb({ child }: BenchSite): number {
  try {
    const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
  } catch {
    return 0;
  }
}

async function startProgram(args: string[], port: number, env: Record<string, string>, cwd = root): Promise<BenchSite> {
  const began = performance.now();
  const child = spawn(process.execPath, args, {
    cwd,
    stdio: ["ignore", "ignore", "inherit"],
    // A login counts as failed until its password has been checked, so parallel logins need higher limits.
    env: { ...process.env, NODE_ENV: "production", LOGINS_PER_EMAIL: "100", LOGINS_PER_ADDRESS: "100", ...env },
  });
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${args.join(" ")} ended with exit code ${child.exitCode}`);
    const answered = await fetch(`http://127.0.0.1:${port}/`).then(
      (response) => response.ok,
      () => false,
    );
    if (answered) return { port, child, startupMs: performance.now() - began };
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
