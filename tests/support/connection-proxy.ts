/** A proxy between browser and site that can cut, stall, interrupt and restore the connection. */
import { type ClientRequest, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";

/**
 * Milliseconds without a connection after an interruption. During this time, a browser's automatic retry also fails.
 */
const outageMs = 500;

type ReplacedResponse = { status: number; body: string };

/**
 * Closes the connection to the site after all written bytes are sent. As on a real network, bytes that the browser sent
 * before its connection broke can reach the site.
 */
export function destroyAfterFlush(onward: ClientRequest): void {
  if (onward.socket) onward.socket.destroySoon();
  else onward.destroy();
}

/** Starts a proxy in front of a site. The proxy records all requests. */
export async function startConnectionProxy(site: string) {
  const { hostname, port } = new URL(site);
  const requests: string[] = [];
  const replacements = new Map<string, (body: string) => ReplacedResponse>();
  let isCut = false;
  let dropsResponses = false;
  let stall = { until: Promise.resolve(), end: () => {} };
  let received = 0;
  /** For each future interruption: the number of bytes that the proxy receives before it interrupts the connection. */
  let interruptions: number[] = [];
  let isReadyToBreak = () => Promise.resolve();

  const cut = () => {
    isCut = true;
    server.closeAllConnections();
  };
  const count = (length: number, stop: () => void) => {
    received += length;
    if (interruptions[0] === undefined) return;
    interruptions[0] -= length;
    if (interruptions[0] > 0) return;
    interruptions.shift();
    stop();
    void isReadyToBreak().finally(async () => {
      cut();
      await setTimeout(outageMs);
      isCut = false;
    });
  };
  const server = createServer(async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const path = incoming.url?.replace(site, "") ?? "";
    requests.push(`${incoming.method} ${path}`);
    if (isCut) return incoming.socket.destroy();
    received += incoming.rawHeaders.join(": ").length + path.length;
    await stall.until;
    const replace = replacements.get(path);
    const headers = { ...incoming.headers };
    if (replace) {
      delete headers["accept-encoding"];
      delete headers["if-none-match"];
    }
    const onward = request({ hostname, port, path, method: incoming.method, headers }, async (response) => {
      if (dropsResponses && incoming.method === "POST") return outgoing.destroy();
      const { statusCode, headers } = response;
      const { status, body } = replace ? replace((await buffer(response)).toString("utf8")) : { status: statusCode };
      const { "content-length": length, etag, ...rest } = headers;
      // `no-cache` makes the browser request a replaced file again.
      outgoing.writeHead(status ?? 502, replace ? { ...rest, "cache-control": "no-cache" } : headers);
      if (replace) return outgoing.end(body);
      response.once("error", () => outgoing.destroy());
      response.pipe(outgoing);
    });
    onward.once("error", () => outgoing.destroy());
    incoming.on("data", ({ length }: Buffer) => count(length, () => incoming.unpipe(onward)));
    outgoing.once("close", () => outgoing.writableFinished || destroyAfterFlush(onward));
    incoming.pipe(onward);
  });
  // Requests that a test sends outside the page use the method CONNECT. The proxy forwards these requests without
  // faults.
  const tunnels = new Set<Duplex>();
  server.on("connect", (_, tunnel) => {
    tunnels.add(tunnel);
    const onward = connect(Number(port), hostname, () => tunnel.write("HTTP/1.1 200 OK\r\n\r\n"));
    tunnel.on("error", () => {}).once("close", () => onward.destroy());
    onward.on("error", () => {}).once("close", () => tunnel.destroy());
    tunnel.pipe(onward).pipe(tunnel);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The requests as "METHOD /path", oldest first. */
    requests,
    /** Returns the number of bytes that the proxy has received from the browser, in headers and bodies. */
    received: () => received,
    /** Replaces each response for the URL path `path` with the result of `replace`. */
    replaceResponse: (path: string, replace: (body: string) => ReplacedResponse) => replacements.set(path, replace),
    /** Closes the connection of every request until `restore` is called. */
    cut,
    /**
     * Interrupts the connection once for each number in `bytes`: waits until the proxy has received this number of
     * bytes and `until` has resolved, and then closes the connection for `outageMs`.
     */
    interruptAfter(bytes: number[], until: () => Promise<void>) {
      interruptions = [...bytes];
      isReadyToBreak = until;
    },
    countRemainingInterruptions: () => interruptions.length,
    /** Forwards each POST request to the site but discards the response, until `restore` is called. */
    dropResponses() {
      dropsResponses = true;
    },
    /** Delays all requests until `restore` is called. */
    stall() {
      let end = () => {};
      const until = new Promise<void>((resolve) => {
        end = resolve;
      });
      stall = { until, end };
    },
    restore() {
      isCut = false;
      dropsResponses = false;
      stall.end();
      stall = { until: Promise.resolve(), end: () => {} };
    },
    close() {
      stall.end();
      for (const tunnel of tunnels) tunnel.destroy();
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

export type ConnectionProxy = Awaited<ReturnType<typeof startConnectionProxy>>;
