/**
 * A proxy that simulates a phone network: opening a connection takes a round trip, and all connections share the
 * bandwidth of each direction. A connection starts with ten segments of 1,460 bytes in flight. The number of segments
 * doubles after each round trip (RFC 6928 and slow start, without loss).
 */
import net from "node:net";

/** `roundTrip` is in milliseconds. `down` and `up` are in kilobits per second. */
export type ConnectionProfile = { name: string; roundTrip: number; down: number; up: number };

export const connectionProfiles = {
  slow3g: { name: "300 ms, 400/200 kbit/s", roundTrip: 300, down: 400, up: 200 },
  /** A connection from a site to a backend in another country. */
  abroad: { name: "150 ms", roundTrip: 150, down: 100_000, up: 100_000 },
  edge: { name: "EDGE: 840 ms, 240/120 kbit/s", roundTrip: 840, down: 240, up: 120 },
} as const satisfies Record<string, ConnectionProfile>;

const segmentBytes = 1460;
const initialWindowBytes = 10 * segmentBytes;

/** Starts a proxy on a free port of 127.0.0.1 that forwards all bytes to the port `target`. */
export async function startSlowConnection(
  profile: ConnectionProfile,
  target: number,
): Promise<{ port: number; stop: () => Promise<void> }> {
  const down = new ThrottledLink(profile.down);
  const up = new ThrottledLink(profile.up);
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
    // The TCP handshake takes one round trip. After that, the browser can send its first byte.
    setTimeout(() => {
      forwardThrottled(browser, site, up, profile.roundTrip);
      forwardThrottled(site, browser, down, profile.roundTrip);
    }, profile.roundTrip);
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

/** One direction of a simulated network link. All connections share the bandwidth of `kilobits` per second. */
class ThrottledLink {
  private freeAt = 0;
  constructor(private readonly kilobits: number) {}

  /** Returns the time at which the link has sent `bytes` more bytes, in milliseconds like performance.now(). */
  send(bytes: number): number {
    this.freeAt = Math.max(this.freeAt, performance.now()) + (bytes * 8) / this.kilobits;
    return this.freeAt;
  }
}

/** Forwards bytes from `from` to `to`, within the congestion window of the connection and the bandwidth of `link`. */
function forwardThrottled(from: net.Socket, to: net.Socket, link: ThrottledLink, roundTrip: number): void {
  let window = initialWindowBytes;
  let inFlight = 0;
  const waiting: Buffer[] = [];
  /** The chunks in sending order. Timers of the same millisecond may run in a different order. */
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
      const arrives = link.send(piece.length) + roundTrip / 2;
      arriving.push(piece);
      setTimeout(() => {
        const next = arriving.shift();
        if (next && to.writable) to.write(next);
      }, arrives - performance.now());
      // The acknowledgement arrives half a round trip later and permits two more segments.
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
