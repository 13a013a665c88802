/**
 * Runs several processes of the site with the same backend behind a proxy that sends each request to the next process.
 * playwright.config.ts starts this file. Browser tests then fail if a process stores data that other processes need.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import path from "node:path";
import process from "node:process";
import type { BackendAccess } from "../../app/lib/http/env.server.ts";
import { getRunningAccess } from "../../app/server/embedded-backend.ts";
import { destroyAfterFlush } from "./connection-proxy.ts";
import { freePort } from "./free-port.ts";
import { getHostedAccess } from "./service-role.ts";
import { SiteProcess } from "./site-process.ts";

export type SiteClusterOptions = {
  port: number;
  backendPort: number;
  dataDir: string;
  environment?: Record<string, string>;
};

/**
 * Starts `count` processes of the site and the proxy on `port`, and waits until all are ready. All processes use the
 * embedded backend of the first process, or the hosted backend under test.
 */
export async function startSiteCluster(
  count: number,
  { port, backendPort, dataDir, environment = {} }: SiteClusterOptions,
) {
  const common = { APP_ORIGIN: `http://127.0.0.1:${port}`, ...environment, DATA_DIR: dataDir };
  const hosted = getHostedAccess();
  const first = await startSiteProcess({
    ...common,
    ...(hosted ? toBackendEnvironment(hosted) : { BACKEND_PORT: String(backendPort) }),
  });
  const backend = toBackendEnvironment(
    hosted ?? getRunningAccess(dataDir),
    hosted ? undefined : readSessionSecret(dataDir),
  );
  const others = await Promise.all(
    Array.from({ length: count - 1 }, () => startSiteProcess({ ...common, ...backend })),
  );
  const processes = [first, ...others];
  const proxy = createRoundRobinProxy(processes);
  proxy.server.listen(port, "127.0.0.1");
  await once(proxy.server, "listening");
  return {
    processes: processes.map(({ child }) => child),
    /** The number of requests that the proxy has sent to each process of the site. */
    given: proxy.given,
    async close() {
      proxy.server.closeAllConnections();
      proxy.server.close();
      // Stops the first process last, because the other processes use its backend.
      for (const site of processes.reverse()) await site.stop("SIGTERM");
    },
  };
}

function toBackendEnvironment(
  access: BackendAccess | null,
  sessionSecret = "a secret of tests, known to both processes",
) {
  return {
    SUPABASE_URL: access?.url ?? "",
    SUPABASE_PUBLISHABLE_KEY: access?.publishableKey ?? "",
    SUPABASE_SECRET_KEY: access?.secretKey ?? "",
    SESSION_SECRET: sessionSecret,
  };
}

function readSessionSecret(dataDir: string): string {
  const keys = readFileSync(path.join(dataDir, "keys.json"), "utf8");
  return (JSON.parse(keys) as { sessionSecret: string }).sessionSecret;
}

async function startSiteProcess(environment: Record<string, string>): Promise<SiteProcess> {
  const port = await freePort();
  const site = new SiteProcess(port, { ...environment, PORT: String(port) });
  await site.waitUntilReady();
  return site;
}

/** Creates a reverse proxy that sends each request to the next running process. */
function createRoundRobinProxy(processes: SiteProcess[]) {
  const given = processes.map(() => 0);
  let turn = 0;
  const next = () => {
    for (let tried = 0; tried < processes.length; tried += 1) {
      const at = turn++ % processes.length;
      const site = processes[at];
      if (!site || site.hasEnded) continue;
      given[at] = (given[at] ?? 0) + 1;
      return site.port;
    }
    return null;
  };
  const server = createServer((incoming: IncomingMessage, outgoing: ServerResponse) => {
    const port = next();
    if (!port) return outgoing.writeHead(502).end();
    const { method, url } = incoming;
    // Opens a connection for each request, because a process may close an idle connection just before its next use.
    const headers = { ...incoming.headers, connection: "close" };
    const onward = request({ host: "127.0.0.1", port, method, path: url, headers, agent: false }, (answer) => {
      const { connection: _, ...received } = answer.headers;
      // Closes the connection if the response starts before the end of the request body, because the proxy ignores the
      // rest.
      outgoing.writeHead(answer.statusCode ?? 502, incoming.complete ? received : { ...received, connection: "close" });
      answer.pipe(outgoing);
      answer.once("error", () => outgoing.destroy());
    });
    onward.once("error", () => (outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(502).end()));
    outgoing.once("close", () => outgoing.writableFinished || destroyAfterFlush(onward));
    incoming.pipe(onward);
  });
  return { server, given };
}

if (process.argv[1] === import.meta.filename) {
  const { PORT, BACKEND_PORT, DATA_DIR = "" } = process.env;
  if (process.argv.includes("--hosted") && !getHostedAccess()) {
    throw new Error(
      "Set SUPABASE_URL, SUPABASE_PUBLISHABLE_KEY, SUPABASE_SECRET_KEY and EMAILS_DIR: see docs/hosting.md.",
    );
  }
  const site = await startSiteCluster(2, {
    port: Number(PORT),
    backendPort: Number(BACKEND_PORT),
    dataDir: DATA_DIR,
    // Raises the limits, because all tests have the same client and IP address and send more forms than a person.
    environment: { WRITES_PER_MINUTE: "100000", EMAILS_PER_ADDRESS: "10000" },
  });
  process.once("SIGTERM", () => site.close().then(() => process.exit(0)));
}
