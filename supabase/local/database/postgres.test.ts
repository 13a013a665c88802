import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { openPostgres } from "./postgres.ts";

const sockets = new Set<Socket>();
let server: Server;
let connections = 0;
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  server.close();
  await once(server, "close");
});

/** The database URL of a TCP server that calls `meet` with each connection. */
async function startFakeServer(meet: (socket: Socket) => void): Promise<string> {
  connections = 0;
  server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => undefined);
    meet(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `postgres://user:s3cr3t@127.0.0.1:${(server.address() as AddressInfo).port}/database`;
}

test.each<[string, (socket: Socket) => void, RegExp]>([
  ["never answers", () => undefined, /it does not answer/],
  ["closes every connection", (socket) => socket.end(), /the connection was closed/],
  ["cuts every connection", (socket) => socket.resetAndDestroy(), /ECONNRESET|the connection was closed/],
])(
  "a server that %s is said to be out of reach within seconds, and not asked over and over",
  async (_what, meet, why) => {
    const begun = performance.now();
    const failure = await openPostgres(await startFakeServer(meet)).catch((error: Error) => error.message);
    expect(failure).toMatch(/^The database of DATABASE_URL cannot be reached: .+\.$/);
    expect(failure).toMatch(why);
    expect(failure).not.toContain("s3cr3t");
    expect(performance.now() - begun).toBeLessThan(8000);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(connections).toBe(1);
  },
);
