import { once } from "node:events";
import { request as httpRequest, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { serve } from "./http.ts";

const mebibyte = 1024 * 1024;
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

test("a request reaches the handler as it was sent, and its answer comes back as it was given", async () => {
  const url = await startServer(async (request) => {
    const { pathname, search } = new URL(request.url);
    const body = await request.text();
    return Response.json(
      { method: request.method, path: pathname + search, header: request.headers.get("x-test"), body },
      { status: 207, headers: { "X-Answer": "yes" } },
    );
  });
  const response = await fetch(`${url}/rest/v1/x?select=a%20b`, {
    method: "POST",
    headers: { "X-Test": "one" },
    body: "مرحبا",
  });
  expect(response.status).toBe(207);
  expect(response.headers.get("x-answer")).toBe("yes");
  expect(await response.json()).toEqual({
    method: "POST",
    path: "/rest/v1/x?select=a%20b",
    header: "one",
    body: "مرحبا",
  });
});

test("bytes pass unchanged in both directions", async () => {
  const bytes = new Uint8Array(3 * mebibyte).map((_, index) => (index * 7) % 256);
  const url = await startServer(async (request) => new Response(await request.arrayBuffer()));
  const response = await fetch(url, { method: "POST", body: bytes });
  expect(Buffer.compare(Buffer.from(await response.arrayBuffer()), Buffer.from(bytes))).toBe(0);
});

test("every answer says its length once", async () => {
  const url = await startServer(async () => new Response("hello", { headers: { "content-length": "5" } }));
  const answer = await sendRequest(url, {});
  expect(contentLengths(answer.head)).toEqual(["5"]);
  expect(answer.body).toBe("hello");
});

test("an answer to HEAD says the length of what it leaves out", async () => {
  const url = await startServer(async () => new Response(null, { headers: { "content-length": "1234" } }));
  const answer = await sendRequest(url, { method: "HEAD" });
  expect(contentLengths(answer.head)).toEqual(["1234"]);
  expect(answer.body).toBe("");
});

test.each([204, 304])("an answer %i has neither body nor length", async (status) => {
  const url = await startServer(async () => new Response(null, { status }));
  const answer = await sendRequest(url, {});
  expect(answer.status).toBe(status);
  expect(contentLengths(answer.head)).toEqual([]);
});

test("a body of 12 MiB is taken, and one that announces more is 413 and never read", async () => {
  let asked = 0;
  const url = await startServer(async (request) => {
    asked += 1;
    return new Response(String((await request.arrayBuffer()).byteLength));
  });
  const taken = await fetch(url, { method: "POST", body: new Uint8Array(12 * mebibyte) });
  expect(await taken.text()).toBe(String(12 * mebibyte));
  const answer = await sendRequest(url, { method: "POST", headers: { "content-length": String(12 * mebibyte + 1) } });
  expect(answer.status).toBe(413);
  expect(asked).toBe(1);
});

test("a body of more than 12 MiB that announces no length is refused too", async () => {
  let asked = 0;
  const url = await startServer(async () => {
    asked += 1;
    return new Response("taken");
  });
  // The server may hang up on such a sender before its answer is read.
  const outcome = await new Promise((resolve) => {
    const outgoing = httpRequest(url, { method: "POST", headers: { "transfer-encoding": "chunked" } }, (incoming) => {
      incoming.on("error", () => undefined).resume();
      resolve(incoming.statusCode);
    });
    outgoing.on("error", () => resolve("hung up"));
    for (let sent = 0; sent < 13; sent += 1) outgoing.write(Buffer.alloc(mebibyte));
    outgoing.end();
  });
  expect([413, "hung up"]).toContain(outcome);
  expect(asked).toBe(0);
});

test("a handler that fails is a 500 that tells nothing of the reason", async () => {
  const url = await startServer(async () => {
    throw new Error("password of the database: 1234");
  });
  const response = await fetch(url);
  expect(response.status).toBe(500);
  expect(await response.text()).toBe('{"message":"Internal server error"}');
  const next = await fetch(url);
  expect(next.status).toBe(500);
});

test("a sender that stalls in the middle keeps nobody else waiting", async () => {
  const url = await startServer(async (request) => new Response(await request.text()));
  const { port } = new URL(url);
  const stalled = connect(Number(port), "127.0.0.1");
  await once(stalled, "connect");
  stalled.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf");
  const response = await fetch(url, { method: "POST", body: "whole" });
  expect(await response.text()).toBe("whole");
  stalled.destroy();
});

test("a request whose sender has left is not worked on", async () => {
  const bodies: string[] = [];
  const url = await startServer(async (request) => {
    bodies.push(await request.text());
    return new Response("ok");
  });
  const left = connect(Number(new URL(url).port), "127.0.0.1");
  await once(left, "connect");
  left.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf");
  left.destroy();
  await once(left, "close");
  await fetch(url, { method: "POST", body: "whole" });
  expect(bodies).toEqual(["whole"]);
});

async function startServer(handler: (request: Request) => Promise<Response>): Promise<string> {
  const server = serve(handler);
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A plain request whose answer keeps its raw headers. */
async function sendRequest(url: string, options: { method?: string; headers?: Record<string, string> }) {
  const outgoing = httpRequest(url, options);
  if (options.headers?.["content-length"]) outgoing.flushHeaders();
  else outgoing.end();
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  outgoing.destroy();
  return { status: incoming.statusCode, head: incoming.rawHeaders, body: Buffer.concat(chunks).toString() };
}

function contentLengths(head: string[]): string[] {
  return head.filter((_, index) => head[index - 1]?.toLowerCase() === "content-length" && index % 2 === 1);
}
