import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * What happens to a call: it passes, gets this status, is cut off, hangs, gets something that is no answer
 * or the answer to something else, or is done by the backend and its answer lost on the way back.
 */
export type Fault = "none" | number | "close" | "hang" | "html" | "half json" | "other json" | "lost answer";

/** The faults of a backend that fails at once. */
export const faults: readonly Fault[] = [500, 503, "close", "html", "half json"];

/** Statuses with a meaning from the backend itself, and none from a proxy before it, as here. */
export const ambiguousStatuses: readonly Fault[] = [401, 404, 409, 422, 429, 502, 504];

/** An answer to the calls that `of` fits. */
type StubbedResponse = { pattern: RegExp; status: number; body: object };

/** Comes soon after a request, and belongs to none. */
const refundCall = "POST /rest/v1/rpc/refund_rate_limits";

/**
 * A proxy before a backend that can be told to fail, for calls whose "METHOD /path" a pattern fits. What this process
 * fetches and is not to fail goes to the backend at once, which spares half of the way.
 */
export async function startFaultProxy(target: string) {
  let fault: Fault = "none";
  let pattern = /./;
  let instead: StubbedResponse[] = [];
  let first: (() => PromiseLike<unknown>) | null = null;
  const calls: string[] = [];
  const bodies: string[] = [];
  let releases = 0;

  const note = (call: string) => {
    if (call === refundCall) releases += 1;
    else calls.push(call);
  };

  const fails = (call: string) => fault !== "none" && pattern.test(call);
  const answerTo = (call: string) => instead.find(({ pattern: of }) => of.test(call));

  const server = createServer(async (incoming, outgoing) => {
    const call = `${incoming.method} ${incoming.url}`;
    note(call);
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.once("end", () => bodies.push(`${call}\n${Buffer.concat(chunks).toString("latin1").slice(0, 10_000)}`));
    const answer = answerTo(call);
    if (answer) {
      incoming.resume();
      outgoing.writeHead(answer.status, { "content-type": "application/json" }).end(JSON.stringify(answer.body));
      return;
    }
    if (fault === "none" || !fails(call)) return forwardRequest(target, incoming, outgoing);
    const act = first;
    first = null;
    // Without a wait where there is none: a body that is not read on at once would be lost.
    if (act) await act();
    if (fault === "lost answer") return forwardRequest(target, incoming, outgoing, false);
    incoming.resume();
    if (fault === "hang") return;
    if (fault === "close") return incoming.socket.destroy();
    if (fault === "html") return outgoing.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome</h1>");
    if (fault === "half json") {
      return outgoing.writeHead(200, { "content-type": "application/json" }).end('{"id":"5a0');
    }
    if (fault === "other json") {
      return outgoing.writeHead(200, { "content-type": "application/json" }).end('{"shipments":[{}],"attempt":5}');
    }
    outgoing.writeHead(fault, { "content-type": "application/json" }).end('{"message":"internal: relation x"}');
  });
  // Longer than undici keeps a connection, so that it never sends on one that is being closed here.
  server.keepAliveTimeout = 65_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const throughProxy = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const address = String(input);
    const call = `${init?.method ?? "GET"} ${address.slice(url.length)}`;
    if (!address.startsWith(`${url}/`) || fails(call) || answerTo(call)) return throughProxy(input, init);
    note(call);
    bodies.push(`${call}\n${typeof init?.body === "string" ? init.body.slice(0, 10_000) : ""}`);
    return throughProxy(target + address.slice(url.length), init);
  };

  return {
    url,
    /** The backend itself. */
    target,
    /** The calls that arrived, as "METHOD /path?query", oldest first; without those that come soon after a request. */
    calls,
    /** How often attempts that do not count were given back without another that took them along. */
    releases: () => releases,
    /** The same with the first 10,000 bytes of what was sent; of what went to the backend at once, only text. */
    bodies,
    /** From now on, calls that the pattern fits fail like this; "none" ends it. */
    fail(kind: Fault, of = /./) {
      fault = kind;
      pattern = of;
      first = null;
      instead = [];
    },
    /** From now on, some calls get these answers; `fail("none")` ends it. */
    answer(...answers: StubbedResponse[]) {
      instead = answers;
    },
    /** What happens once more before the next call fails: somebody who was quicker. */
    butFirst(act: () => PromiseLike<unknown>) {
      first = act;
    },
    /** The calls that arrive while something is done. */
    async during(act: () => Promise<unknown>): Promise<string[]> {
      const before = calls.length;
      await act();
      return calls.slice(before);
    },
  };
}

function forwardRequest(target: string, incoming: IncomingMessage, outgoing: ServerResponse, answered = true) {
  const { hostname, port } = new URL(target);
  const onward = request(
    { hostname, port, method: incoming.method, path: incoming.url, headers: incoming.headers },
    (answer) => {
      if (!answered) return answer.resume().once("end", () => outgoing.destroy());
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    },
  );
  onward.once("error", () => outgoing.destroy());
  incoming.pipe(onward);
}
