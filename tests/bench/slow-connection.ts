/**
 * A slow line in front of a server: what a browser on a phone network sees, without any right on the machine.
 * Every connection pays a round trip to open; bytes arrive half a round trip late; all connections share one bandwidth
 * each way; a connection begins with ten segments of 1,460 bytes in flight and doubles them each round trip (RFC 6928
 * and slow start, without loss). TLS is the browser's own, so its handshake costs what it costs.
 */
import net from "node:net";

/** Round trip in milliseconds; down and up in kilobits per second. */
export type ConnectionProfile = { name: string; roundTrip: number; down: number; up: number };

export const connectionProfiles = {
  slow3g: { name: "300 ms, 400/200 kbit/s", roundTrip: 300, down: 400, up: 200 },
  /** From a site to a backend in another country, on a line that carries all there is. */
  abroad: { name: "150 ms", roundTrip: 150, down: 100_000, up: 100_000 },
  edge: { name: "EDGE: 840 ms, 240/120 kbit/s", roundTrip: 840, down: 240, up: 120 },
} as const satisfies Record<string, ConnectionProfile>;

const segmentBytes = 1460;
const initialWindowBytes = 10 * segmentBytes;

/** Listens on a free port of 127.0.0.1 and passes everything on to `target`. Returns the port and how to stop. */
export async function startSlowConnection(
  line: ConnectionProfile,
  target: number,
): Promise<{ port: number; stop: () => Promise<void> }> {
  const down = new ThrottledLink(line.down);
  const up = new ThrottledLink(line.up);
  const open = new Set<net.Socket>();
  const server = net.createServer({ pauseOnConnect: true }, (browser) => {
    const site = net.connect(target, "127.0.0.1");
    for (const socket of [browser, site]) {
      open.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => {});
      socket.on("close", () => {
        open.delete(socket);
        browser.destroy();
        site.destroy();
      });
    }
    // The handshake of TCP: the browser's first byte may leave after a whole round trip.
    setTimeout(() => {
      forwardThrottled(browser, site, up, line.roundTrip);
      forwardThrottled(site, browser, down, line.roundTrip);
    }, line.roundTrip);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as net.AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

/** The shared capacity of one direction. */
class ThrottledLink {
  private freeAt = 0;
  constructor(private readonly kilobits: number) {}

  /** When the last bit of these bytes has left, in milliseconds of performance.now(). */
  send(bytes: number): number {
    this.freeAt = Math.max(this.freeAt, performance.now()) + (bytes * 8) / this.kilobits;
    return this.freeAt;
  }
}

/** Carries bytes from one socket to the other, within the window of the connection and the capacity of the wire. */
function forwardThrottled(from: net.Socket, to: net.Socket, wire: ThrottledLink, roundTrip: number): void {
  let window = initialWindowBytes;
  let inFlight = 0;
  const waiting: Buffer[] = [];
  /** Kept in the order of sending: timers due in the same millisecond may run in another. */
  const arriving: Buffer[] = [];
  from.on("data", (chunk: Buffer) => {
    for (let at = 0; at < chunk.length; at += segmentBytes) waiting.push(chunk.subarray(at, at + segmentBytes));
    send();
  });
  from.on("end", () => {
    ended = true;
    send();
  });
  let ended = false;
  from.resume();

  function send(): void {
    while (waiting[0] && inFlight + waiting[0].length <= window) {
      const piece = waiting.shift() as Buffer;
      inFlight += piece.length;
      const arrives = wire.send(piece.length) + roundTrip / 2;
      arriving.push(piece);
      setTimeout(() => {
        const next = arriving.shift();
        if (next && to.writable) to.write(next);
      }, arrives - performance.now());
      // The acknowledgement comes half a round trip later and makes room for two more segments.
      setTimeout(
        () => {
          inFlight -= piece.length;
          window += piece.length;
          send();
        },
        arrives + roundTrip / 2 - performance.now(),
      );
    }
    if (ended && waiting.length === 0) setTimeout(() => to.end(), roundTrip);
  }
}
