/** The checks of a start that need no build and no backend. */
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { openDataDir } from "../../../supabase/local/data-dir.ts";
import { assertRestoreFinished, waitUntilUnlocked } from "../../../supabase/local/lock.ts";
import { ConfigurationError, type Settings } from "../../lib/http/env.server.ts";
import { readKeys } from "../embedded-backend.ts";

/** Where to listen, and the variable that names the port. */
type ListenAddress = { port: number; host: string; variable: "PORT" | "BACKEND_PORT" };

/**
 * Throws a ConfigurationError or a DataDirError when a port is taken, or the data directory is held by another site,
 * broken, or cannot be used. A port or a directory taken afterwards is reported by the server or the lock itself.
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
    // All stay open until the end: PORT and BACKEND_PORT may be the same.
    for (const place of places) {
      const server = createServer();
      await listen(server, place);
      tried.push(server);
    }
  } finally {
    await Promise.all(tried.map((server) => once(server.close(), "close")));
  }
}

/** Listens; rejects with a ConfigurationError that names the variable to change. */
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
