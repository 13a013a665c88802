/** Checks before a start, without a build or a backend. */
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { assertRestoreFinished, openDataDir } from "../../../supabase/contract/data-dir.ts";
import { waitUntilUnlocked } from "../../../supabase/contract/lock.ts";
import { ConfigurationError, type Settings } from "../../lib/http/env.server.ts";
import { readKeys } from "../embedded-backend.ts";

type ListenAddress = { port: number; host: string; variable: "PORT" | "BACKEND_PORT" };

/**
 * Throws a ConfigurationError when a port is taken, or a DataDirError when the data directory is locked or unusable.
 * The server and the lock report a port or directory that is taken later.
 */
export async function checkBeforeStart(settings: Settings): Promise<void> {
  const { backend, dataDir, backendPort } = settings;
  const places: ListenAddress[] = [{ ...settings, variable: "PORT" }];
  if (!backend) {
    openDataDir(dataDir);
    assertRestoreFinished(dataDir);
    readKeys(dataDir);
    const isBeingLeft = await waitUntilUnlocked(dataDir);
    if (!isBeingLeft) places.push({ port: backendPort, host: "127.0.0.1", variable: "BACKEND_PORT" });
  }
  const tried: Server[] = [];
  try {
    // All stay open until the end, because PORT and BACKEND_PORT may be the same.
    for (const place of places) {
      const server = createServer();
      await listen(server, place);
      tried.push(server);
    }
  } finally {
    await Promise.all(tried.map((server) => once(server.close(), "close")));
  }
}

/** Listens. Throws a ConfigurationError that names the variable to change. */
export function listen(server: Server, { port, host, variable }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const known: Record<string, string> = {
        EADDRINUSE: `Port ${port} is taken: set ${variable} to another one.`,
        EACCES: `Port ${port} may not be used by this user: set ${variable} to one above 1023.`,
        EADDRNOTAVAIL: `This machine has no address ${host}: set HOST to one it has.`,
        ENOTFOUND: `This machine has no address ${host}: set HOST to one it has.`,
      };
      reject(new ConfigurationError(known[error.code ?? ""] ?? error.message));
    });
    server.listen(port, host, resolve);
  });
}
