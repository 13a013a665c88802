import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { assertRestoreFinished, openDataDir } from "../../../supabase/contract/data-dir.ts";
import { waitUntilUnlocked } from "../../../supabase/contract/lock.ts";
import { ConfigurationError, type Settings } from "../../lib/http/env.server.ts";
import { readKeys } from "../embedded-backend.ts";

type ListenAddress = { port: number; host: string; variable: "PORT" | "BACKEND_PORT" | "METRICS_PORT" };

export const getMetricsAddress = (port: number): ListenAddress => ({
  port,
  host: "127.0.0.1",
  variable: "METRICS_PORT",
});

/** Checks the ports and the data directory. Throws a ConfigurationError or a DataDirError. */
export async function checkBeforeStart(settings: Settings): Promise<void> {
  const { backend, dataDir, backendPort, metricsPort } = settings;
  const addresses: ListenAddress[] = [{ ...settings, variable: "PORT" }];
  if (metricsPort) addresses.push(getMetricsAddress(metricsPort));
  if (!backend) {
    openDataDir(dataDir);
    assertRestoreFinished(dataDir);
    readKeys(dataDir);
    const isBeingLeft = await waitUntilUnlocked(dataDir);
    if (!isBeingLeft) addresses.push({ port: backendPort, host: "127.0.0.1", variable: "BACKEND_PORT" });
  }
  const servers: Server[] = [];
  try {
    // Each server stays open until the last check, so that two equal ports cause an error.
    for (const address of addresses) {
      const server = createServer();
      await listen(server, address);
      servers.push(server);
    }
  } finally {
    await Promise.all(servers.map((server) => once(server.close(), "close")));
  }
}

/** Throws a ConfigurationError that names the variable to change. */
export function listen(server: Server, { port, host, variable }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const messages: Record<string, string> = {
        EADDRINUSE: `Port ${port} is in use. Set ${variable} to another port.`,
        EACCES: `This user has no permission to use port ${port}. Set ${variable} to a port above 1023.`,
        EADDRNOTAVAIL: `This machine does not have the address ${host}. Set HOST to an address of this machine.`,
        ENOTFOUND: `This machine does not have the address ${host}. Set HOST to an address of this machine.`,
      };
      reject(new ConfigurationError(messages[error.code ?? ""] ?? error.message));
    });
    server.listen(port, host, resolve);
  });
}
