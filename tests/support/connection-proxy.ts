/** A line between a browser and a site that can be cut, fall silent, break in the middle of a request, and be mended. */
import { type ClientRequest, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";

/** How long the line is gone after a break, in milliseconds: longer than a browser takes to send its request again by itself. */
const outageMs = 500;

type ReplacedResponse = { status: number; body: string };

/** Ends a request once what was written of it has gone: what has crossed a line arrives, also when it breaks then. */
export function destroyAfterFlush(onward: ClientRequest): void {
  if (onward.socket) onward.socket.destroySoon();
  else onward.destroy();
}

/** A proxy before a site; it writes down what is asked for. */
export async function startConnectionProxy(site: string) {
  const { hostname, port } = new URL(site);
  const asked: string[] = [];
  const instead = new Map<string, (body: string) => ReplacedResponse>();
  let isCut = false;
  let losesAnswers = false;
  let silence = { until: Promise.resolve(), end: () => {} };
  let received = 0;
  /** After how many more bytes of files the line breaks, each time. */
  let breaks: number[] = [];
  let back = () => Promise.resolve();

  const cut = () => {
    isCut = true;
    server.closeAllConnections();
  };
  const count = (length: number) => {
    received += length;
    if (breaks[0] === undefined) return;
    breaks[0] -= length;
    if (breaks[0] > 0) return;
    breaks.shift();
    cut();
    void setTimeout(outageMs)
      .then(back)
      .finally(() => {
        isCut = false;
      });
  };
  const server = createServer(async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const path = incoming.url?.replace(site, "") ?? "";
    asked.push(`${incoming.method} ${path}`);
    if (isCut) return incoming.socket.destroy();
    received += incoming.rawHeaders.join(": ").length + path.length;
    await silence.until;
    const change = instead.get(path);
    const headers = { ...incoming.headers };
    if (change) {
      delete headers["accept-encoding"];
      delete headers["if-none-match"];
    }
    const onward = request({ hostname, port, path, method: incoming.method, headers }, async (answer) => {
      if (losesAnswers && incoming.method === "POST") return outgoing.destroy();
      const { status, body } = change ? change((await buffer(answer)).toString("utf8")) : { status: answer.statusCode };
      const { "content-length": length, etag, ...kept } = answer.headers;
      outgoing.writeHead(status ?? 502, change ? kept : answer.headers);
      if (change) return outgoing.end(body);
      answer.once("error", () => outgoing.destroy());
      answer.pipe(outgoing);
    });
    onward.once("error", () => outgoing.destroy());
    incoming.on("data", ({ length }: Buffer) => count(length));
    outgoing.once("close", () => outgoing.writableFinished || destroyAfterFlush(onward));
    incoming.pipe(onward);
  });
  // Requests that a test sends outside its page come by CONNECT, and neither wait nor are cut.
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
    /** The method and the path of every request, in order. */
    asked,
    /** How many bytes have come from the browser: bodies and what stands before them. */
    received: () => received,
    /** Answers an address with what `change` makes of its answer. */
    instead: (path: string, change: (body: string) => ReplacedResponse) => instead.set(path, change),
    /** No request is answered from now on. */
    cut,
    /**
     * Breaks the line in the middle of a request, each time after so many more bytes have crossed it. It is back after a while,
     * once `until` has resolved.
     */
    breakAfter(bytes: number[], until: () => Promise<void>) {
      breaks = [...bytes];
      back = until;
    },
    /** How often it is still to break. */
    breaksLeft: () => breaks.length,
    /** From now on a POST reaches the site, but its answer is dropped. */
    loseAnswers() {
      losesAnswers = true;
    },
    /** Requests wait from now on; those that wait are answered after all when the line is mended. */
    fallSilent() {
      let end = () => {};
      const until = new Promise<void>((resolve) => {
        end = resolve;
      });
      silence = { until, end };
    },
    mend() {
      isCut = false;
      losesAnswers = false;
      silence.end();
      silence = { until: Promise.resolve(), end: () => {} };
    },
    close() {
      silence.end();
      for (const tunnel of tunnels) tunnel.destroy();
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

export type ConnectionProxy = Awaited<ReturnType<typeof startConnectionProxy>>;
