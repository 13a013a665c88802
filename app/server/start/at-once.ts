/** What is wrong with a start and can be known before anything is built or loaded for it. */
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { openDataDir } from "../../../supabase/local/data-dir.ts";
import { refuseHalfRestored, refuseHeld } from "../../../supabase/local/lock.ts";
import { ConfigurationError, type Settings } from "../../lib/env.server.ts";
import { readKeys } from "../embedded.ts";

/** Where to listen, and the variable that names the port. */
type Place = { port: number; host: string; variable: "PORT" | "BACKEND_PORT" };

/**
 * Throws a ConfigurationError or a DataDirError when a port is taken, or the data directory is held by another site,
 * broken, or cannot be used. Whoever comes in between is told by the real lock and the real server.
 */
export async function refuseAtOnce(settings: Settings): Promise<void> {
  const { backend, dataDir, backendPort } = settings;
  const places: Place[] = [{ ...settings, variable: "PORT" }];
  if (!backend) {
    openDataDir(dataDir);
    refuseHalfRestored(dataDir);
    readKeys(dataDir);
    const isBeingLeft = await refuseHeld(dataDir);
    if (!isBeingLeft) places.push({ port: backendPort, host: "127.0.0.1", variable: "BACKEND_PORT" });
  }
  const tried: Server[] = [];
  try {
    // All at the same time, as two places may be one.
    for (const place of places) {
      const server = createServer();
      await listen(server, place);
      tried.push(server);
    }
  } finally {
    await Promise.all(tried.map((server) => once(server.close(), "close")));
  }
}

/** Rejects with a ConfigurationError that names the variable. */
export function listen(server: Server, { port, host, variable }: Place): Promise<void> {
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
