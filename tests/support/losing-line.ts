import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";

/** A proxy between a browser and a site that can be cut or fall silent, and that writes down what is asked for. */
export async function losingLine(site: string) {
  const { hostname, port } = new URL(site);
  const asked: string[] = [];
  const instead = new Map<string, (body: string) => { status: number; body: string }>();
  let isCut = false;
  let silence: { until: Promise<void>; end: () => void } | null = null;

  const server = createServer(async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const path = incoming.url?.replace(site, "") ?? "";
    asked.push(`${incoming.method} ${path}`);
    if (isCut) return incoming.socket.destroy();
    if (silence) await silence.until;
    const change = instead.get(path);
    const headers = { ...incoming.headers, ...(change ? { "accept-encoding": "identity" } : {}) };
    if (change) delete headers["if-none-match"];
    const onward = request({ hostname, port, path, method: incoming.method, headers }, async (answer) => {
      if (!change) {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        return answer.pipe(outgoing);
      }
      const chunks: Buffer[] = [];
      for await (const chunk of answer) chunks.push(chunk as Buffer);
      const { status, body } = change(Buffer.concat(chunks).toString("utf8"));
      const { "content-length": _, etag: __, ...kept } = answer.headers;
      outgoing.writeHead(status, kept).end(body);
    });
    onward.once("error", () => outgoing.destroy());
    outgoing.once("close", () => outgoing.writableFinished || onward.destroy());
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
    /** Answers an address with what `change` makes of its answer. */
    instead: (path: string, change: (body: string) => { status: number; body: string }) => instead.set(path, change),
    /** No request is answered from now on. */
    cut() {
      isCut = true;
      server.closeAllConnections();
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
      silence?.end();
      silence = null;
    },
    close() {
      silence?.end();
      for (const tunnel of tunnels) tunnel.destroy();
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

export type LosingLine = Awaited<ReturnType<typeof losingLine>>;
