import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { listen } from "../../../tests/support/free-port.ts";
import { openPostgres } from "./postgres.ts";

const sockets = new Set<Socket>();
let server: Server;
let connections = 0;
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  server.close();
  await once(server, "close");
});

/** Returns the database URL of a TCP server that calls `handleConnection` for each connection. */
async function startFakeServer(handleConnection: (socket: Socket) => void): Promise<string> {
  connections = 0;
  server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => undefined);
    handleConnection(socket);
  });
  return `postgres://user:s3cr3t@127.0.0.1:${await listen(server)}/database`;
}

test.each<[string, (socket: Socket) => void, RegExp]>([
  ["never answers", () => undefined, /the server does not respond/],
  ["closes every connection", (socket) => socket.end(), /the connection was closed/],
  ["cuts every connection", (socket) => socket.resetAndDestroy(), /ECONNRESET|the connection was closed/],
])(
  "If the PostgreSQL server %s, the backend reports an unreachable server within seconds, after one connection attempt.",
  async (_what, handleConnection, reason) => {
    const startedAt = performance.now();
    const failure = await openPostgres(await startFakeServer(handleConnection)).catch((error: Error) => error.message);
    expect(failure).toMatch(/^The site cannot connect to the database at DATABASE_URL: .+\.$/);
    expect(failure).toMatch(reason);
    expect(failure).not.toContain("s3cr3t");
    expect(performance.now() - startedAt).toBeLessThan(8000);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(connections).toBe(1);
  },
);
