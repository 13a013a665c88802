import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { listen } from "./free-port.ts";

/**
 * How a backend call fails. A number is the status of the response. "other json" is the response to a different call.
 * With "lost answer", the response is lost after the backend has executed the call.
 */
export type Fault = "none" | number | "close" | "hang" | "html" | "half json" | "other json" | "lost answer";

/** Faults that make a call fail immediately instead of after its timeout. */
export const faults: readonly Fault[] = [500, 503, "close", "html", "half json"];

/** Statuses that can come from the backend or from a proxy in front of the backend. */
const ambiguousStatuses: readonly Fault[] = [401, 404, 409, 422, 429, 502, 504];

export const allFaults = [...faults, ...ambiguousStatuses];

const invalidBodies: Record<string, string> = {
  "half json": '{"id":"5a0',
  "other json": '{"shipments":[{}],"attempt":5}',
};

/** The response that the proxy sends to calls that match `pattern`. */
type StubbedResponse = { pattern: RegExp; status: number; body: object };

/**
 * The call that refunds attempts. The proxy only counts this call, because it comes at a random time after a request.
 */
const refundCall = "POST /rest/v1/rpc/refund_rate_limits";

/**
 * Starts a proxy in front of a backend. A test can select calls by a pattern for "METHOD /path" and make these calls
 * fail. To save time, this process sends all other calls directly to the backend, and the proxy only records them.
 */
export async function startFaultProxy(target: string) {
  let fault: Fault = "none";
  let pattern = /./;
  let stubbedResponses: StubbedResponse[] = [];
  let jobBeforeFault: (() => PromiseLike<unknown>) | null = null;
  const calls: string[] = [];
  const bodies: string[] = [];
  let releases = 0;

  const record = (call: string) => {
    if (call === refundCall) releases += 1;
    else calls.push(call);
  };

  const fails = (call: string) => fault !== "none" && pattern.test(call);
  const getStub = (call: string) => stubbedResponses.find((stub) => stub.pattern.test(call));

  const server = createServer(async (incoming, outgoing) => {
    const call = `${incoming.method} ${incoming.url}`;
    record(call);
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.once("end", () => bodies.push(`${call}\n${Buffer.concat(chunks).toString("latin1").slice(0, 10_000)}`));
    const stub = getStub(call);
    if (stub) {
      incoming.resume();
      outgoing.writeHead(stub.status, { "content-type": "application/json" }).end(JSON.stringify(stub.body));
      return;
    }
    if (fault === "none" || !fails(call)) return forwardRequest(target, incoming, outgoing);
    const job = jobBeforeFault;
    jobBeforeFault = null;
    // If there is no job, the proxy must not wait here, because a request body not read in the same tick is lost.
    if (job) await job();
    if (fault === "lost answer") return forwardRequest(target, incoming, outgoing, false);
    incoming.resume();
    if (fault === "hang") return;
    if (fault === "close") return incoming.socket.destroy();
    if (fault === "html") return outgoing.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome</h1>");
    const body = invalidBodies[fault] ?? JSON.stringify({ code: fault, message: "internal: relation x" });
    outgoing.writeHead(Number(fault) || 200, { "content-type": "application/json" }).end(body);
  });
  // The timeout is longer than undici's keep-alive timeout, because undici must not use a connection that is closing.
  server.keepAliveTimeout = 65_000;
  const url = `http://127.0.0.1:${await listen(server)}`;

  const throughProxy = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const address = String(input);
    const call = `${init?.method ?? "GET"} ${address.slice(url.length)}`;
    if (!address.startsWith(`${url}/`) || fails(call) || getStub(call)) return throughProxy(input, init);
    record(call);
    bodies.push(`${call}\n${typeof init?.body === "string" ? init.body.slice(0, 10_000) : ""}`);
    return throughProxy(target + address.slice(url.length), init);
  };

  return {
    url,
    target,
    /** The calls as "METHOD /path?query", oldest first, without refunds of rate limits. */
    calls,
    /** Returns the number of separate calls that refund attempts to the rate limits. */
    releases: () => releases,
    /**
     * The calls with the first 10,000 bytes of their request bodies. For calls that bypass the proxy, the body is
     * recorded only if it is text.
     */
    bodies,
    /** Makes the calls that match `of` fail until `fail("none")` is called. */
    fail(kind: Fault, of = /./) {
      fault = kind;
      pattern = of;
      jobBeforeFault = null;
      stubbedResponses = [];
    },
    /** Sends `responses` to the calls that match their patterns until `fail("none")` is called. */
    answer(...responses: StubbedResponse[]) {
      stubbedResponses = responses;
    },
    /** Runs `job`, such as a change by another person, before the next failing call. */
    butFirst(job: () => PromiseLike<unknown>) {
      jobBeforeFault = job;
    },
    /** Runs `job` and returns the backend calls that arrive during the job. */
    async during(job: () => Promise<unknown>): Promise<string[]> {
      const before = calls.length;
      await job();
      return calls.slice(before);
    },
  };
}

function forwardRequest(target: string, incoming: IncomingMessage, outgoing: ServerResponse, isResponseSent = true) {
  const { hostname, port } = new URL(target);
  const onward = request(
    { hostname, port, method: incoming.method, path: incoming.url, headers: incoming.headers },
    (response) => {
      if (!isResponseSent) return response.resume().once("end", () => outgoing.destroy());
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    },
  );
  onward.once("error", () => outgoing.destroy());
  incoming.pipe(onward);
}
