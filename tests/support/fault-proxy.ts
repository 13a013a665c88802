import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What happens to a call: it passes, gets this status, is cut off, hangs, or gets something that is no answer. */
export type Fault = "none" | number | "close" | "hang" | "html" | "half json";

/** A proxy before a backend that can be told to fail, for calls whose "METHOD /path" a pattern fits. */
export async function faultProxy(target: string) {
  let fault: Fault = "none";
  let pattern = /./;
  const calls: string[] = [];

  const server = createServer((incoming, outgoing) => {
    const call = `${incoming.method} ${incoming.url}`;
    calls.push(call);
    if (fault === "none" || !pattern.test(call)) return pass(target, incoming, outgoing);
    incoming.resume();
    if (fault === "hang") return;
    if (fault === "close") return incoming.socket.destroy();
    if (fault === "html") return outgoing.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome</h1>");
    if (fault === "half json") {
      return outgoing.writeHead(200, { "content-type": "application/json" }).end('{"id":"5a0');
    }
    outgoing.writeHead(fault, { "content-type": "application/json" }).end('{"message":"internal: relation x"}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The calls that arrived, as "METHOD /path?query", oldest first. */
    calls,
    /** From now on, calls that the pattern fits fail like this; "none" ends it. */
    fail(kind: Fault, of = /./) {
      fault = kind;
      pattern = of;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

function pass(target: string, incoming: IncomingMessage, outgoing: ServerResponse) {
  const { hostname, port } = new URL(target);
  const onward = request(
    { hostname, port, method: incoming.method, path: incoming.url, headers: incoming.headers },
    (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    },
  );
  onward.once("error", () => outgoing.destroy());
  incoming.pipe(onward);
}
