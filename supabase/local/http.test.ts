import { once } from "node:events";
import { request as httpRequest, type IncomingMessage, type Server } from "node:http";
import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { listen } from "../../tests/support/free-port.ts";
import { serve } from "./http.ts";

const mebibyte = 1024 * 1024;
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

test("The backend's server passes requests and responses on with unchanged headers and bytes.", async () => {
  const url = await startServer(async (request) => {
    const { pathname, search } = new URL(request.url);
    const { method, headers } = request;
    const received = JSON.stringify({ method, path: pathname + search, header: headers.get("x-test") });
    return new Response(await request.arrayBuffer(), { status: 207, headers: { "X-Received": received } });
  });
  const body = new Uint8Array(3 * mebibyte).map((_, index) => (index * 7) % 256);
  const headers = { "X-Test": "one" };
  const response = await fetch(`${url}/rest/v1/x?select=a%20b`, { method: "POST", headers, body });
  expect(response.status).toBe(207);
  const received = { method: "POST", path: "/rest/v1/x?select=a%20b", header: "one" };
  expect(JSON.parse(response.headers.get("x-received") ?? "")).toEqual(received);
  expect(Buffer.from(await response.arrayBuffer()).equals(body)).toBe(true);
});

test("A request is aborted if its sender closes the connection before the response.", async () => {
  let isAborted = false;
  const url = await startServer(async ({ signal }) => {
    signal.addEventListener("abort", () => {
      isAborted = true;
    });
    sender.abort();
    await expect.poll(() => isAborted).toBe(true);
    return new Response();
  });
  const sender = new AbortController();
  await expect(fetch(url, { signal: sender.signal })).rejects.toThrow();
  await expect.poll(() => isAborted).toBe(true);
});

test("A request is not aborted if its sender closes the connection after the whole response.", async () => {
  const signals: AbortSignal[] = [];
  const url = await startServer(async ({ signal }) => {
    signals.push(signal);
    return new Response("whole");
  });
  await sendRequest(url, { headers: { connection: "close" } });
  await new Promise((resolve) => servers[0]?.close(resolve));
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
});

test.each([
  ["GET", 200, "hello", ["5"]],
  ["HEAD", 200, "", ["5"]],
  ["GET", 204, "", []],
  ["GET", 304, "", []],
])(
  "The response to a %s request with status %i has the body %j and the length headers %j.",
  async (method, status, body, lengths) => {
    const headers = lengths.map((length): [string, string] => ["content-length", length]);
    const url = await startServer(async () => new Response(body || null, { status, headers }));
    const response = await sendRequest(url, { method });
    expect([response.status, response.body]).toEqual([status, body]);
    expect(contentLengths(response.rawHeaders)).toEqual(lengths);
  },
);

test("The backend's server accepts a body of 12 MiB. The server rejects a longer body with status 413 before reading it.", async () => {
  let handlerCalls = 0;
  const url = await startServer(async (request) => {
    handlerCalls += 1;
    return new Response(String((await request.arrayBuffer()).byteLength));
  });
  const accepted = await fetch(url, { method: "POST", body: new Uint8Array(12 * mebibyte) });
  expect(await accepted.text()).toBe(String(12 * mebibyte));
  const response = await sendRequest(url, { method: "POST", headers: { "content-length": String(12 * mebibyte + 1) } });
  expect(response.status).toBe(413);
  expect(handlerCalls).toBe(1);
});

test("The backend's server rejects a body of more than 12 MiB even without a Content-Length header.", async () => {
  let handlerCalls = 0;
  const url = await startServer(async () => {
    handlerCalls += 1;
    return new Response("taken");
  });
  // The test does not use fetch, because fetch may throw if the server closes the connection before the response is
  // read.
  const outcome = await new Promise((resolve) => {
    const outgoing = httpRequest(url, { method: "POST", headers: { "transfer-encoding": "chunked" } }, (incoming) => {
      incoming.on("error", () => undefined).resume();
      resolve(incoming.statusCode);
    });
    outgoing.on("error", () => resolve("connection closed"));
    for (let sent = 0; sent < 13; sent += 1) outgoing.write(Buffer.alloc(mebibyte));
    outgoing.end();
  });
  expect([413, "connection closed"]).toContain(outcome);
  expect(handlerCalls).toBe(0);
});

test("A failed request gets status 500, and the response does not reveal the error.", async () => {
  const url = await startServer(async () => {
    throw new Error("password of the database: 1234");
  });
  for (const _attempt of [1, 2]) {
    const response = await fetch(url);
    expect([response.status, await response.text()]).toEqual([500, '{"message":"Internal server error"}']);
  }
});

test("A sender that stops sending does not delay other requests, and its request never reaches the handler.", async () => {
  const bodies: string[] = [];
  const url = await startServer(async (request) => {
    bodies.push(await request.text());
    return new Response();
  });
  const stalled = connect(Number(new URL(url).port), "127.0.0.1");
  await once(stalled, "connect");
  stalled.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf");
  await fetch(url, { method: "POST", body: "first" });
  stalled.destroy();
  await once(stalled, "close");
  await fetch(url, { method: "POST", body: "second" });
  expect(bodies).toEqual(["first", "second"]);
});

async function startServer(handler: (request: Request) => Promise<Response>): Promise<string> {
  const server = serve(handler);
  servers.push(server);
  return `http://127.0.0.1:${await listen(server)}`;
}

/** Returns the response with its raw headers. fetch does not provide raw headers. */
async function sendRequest(url: string, options: { method?: string; headers?: Record<string, string> }) {
  const outgoing = httpRequest(url, options);
  if (options.headers?.["content-length"]) outgoing.flushHeaders();
  else outgoing.end();
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  outgoing.destroy();
  return { status: incoming.statusCode, rawHeaders: incoming.rawHeaders, body: Buffer.concat(chunks).toString() };
}

function contentLengths(rawHeaders: string[]): string[] {
  return rawHeaders.filter((_, index) => rawHeaders[index - 1]?.toLowerCase() === "content-length" && index % 2 === 1);
}
