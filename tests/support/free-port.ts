import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

/** The folder with one file per reserved port. A test process may use its port only seconds after the reservation. */
const reservationFolder = path.join(tmpdir(), "portal-test-ports");
const reservationMs = 3_600_000;

/**
 * Returns an unused port that no test process has reserved in the last hour. The port is below the range of ports for
 * outgoing connections, because an outgoing connection could take the port first.
 */
export async function freePort(): Promise<number> {
  mkdirSync(reservationFolder, { recursive: true });
  for (;;) {
    const port = randomInt(10_240, 32_000);
    if (reservePort(port) && (await isFree(port))) return port;
  }
}

function reservePort(port: number): boolean {
  const file = path.join(reservationFolder, String(port));
  try {
    writeFileSync(file, "", { flag: "wx" });
    return true;
  } catch {
    if (Date.now() - statSync(file).mtimeMs < reservationMs) return false;
    utimesSync(file, new Date(), new Date());
    return true;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/** Makes `server` listen on 127.0.0.1, on `port` or, if `port` is 0, on a free port. Returns the port. */
export async function listen(server: Server, port = 0): Promise<number> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}
