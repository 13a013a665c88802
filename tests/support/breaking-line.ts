import { createServer, request } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";

/** How long the line is gone after a break, in milliseconds: longer than a browser takes to send its request again by itself. */
const gone = 500;

/** A proxy between a browser and a site whose connections can be cut, even in mid-request, and mended. */
export async function breakingLine(site: string) {
  let isCut = false;
  let losesAnswers = false;
  let received = 0;
  /** After how many more bytes of files the line breaks, each time. */
  let breaks: number[] = [];
  const { hostname, port } = new URL(site);
  const server = createServer((incoming, outgoing) => {
    if (isCut) return incoming.socket.destroy();
    const path = incoming.url?.replace(site, "");
    received += incoming.rawHeaders.join(": ").length + (path?.length ?? 0);
    incoming.on("data", ({ length }: Buffer) => {
      received += length;
      if (breaks[0] === undefined) return;
      breaks[0] -= length;
      if (breaks[0] > 0) return;
      breaks.shift();
      isCut = true;
      server.closeAllConnections();
      setTimeout(() => {
        isCut = false;
      }, gone);
    });
    const onward = request({ hostname, port, path, method: incoming.method, headers: incoming.headers }, (answer) => {
      if (losesAnswers && incoming.method === "POST") return outgoing.destroy();
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
      answer.once("error", () => outgoing.destroy());
    });
    onward.once("error", () => outgoing.destroy());
    incoming.once("close", () => incoming.complete || onward.destroy());
    incoming.pipe(onward);
  });
  // Requests that a test sends outside its page come by CONNECT and are not cut.
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
    cut() {
      isCut = true;
      server.closeAllConnections();
    },
    /** Breaks the line in the middle of a request, each time after so many more bytes have crossed it. */
    breakAfter(bytes: number[]) {
      breaks = [...bytes];
    },
    /** How often it is still to break. */
    breaksLeft: () => breaks.length,
    /** How many bytes have come from the browser: bodies and what stands before them. */
    received: () => received,
    /** From now on a POST reaches the site, but its answer is dropped. */
    loseAnswers() {
      losesAnswers = true;
    },
    mend() {
      isCut = false;
      losesAnswers = false;
    },
    close() {
      for (const tunnel of tunnels) tunnel.destroy();
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

export type BreakingLine = Awaited<ReturnType<typeof breakingLine>>;
