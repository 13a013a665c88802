import { createServer, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { listen } from "../../../tests/support/free-port.ts";
import { stubSettings } from "../../../tests/support/stub-settings.ts";

beforeAll(async () => {
  stubSettings({ FORM_SECONDS: "1", SLOWEST_KIB: "1" });
  const { guardBody } = await import("./request-body.ts");
  server.on("request", (request, response) => {
    guardBody(request, response, (code) => {
      abortCodes.push(code);
      request.socket.destroy();
    });
    if (request.url === "/early") response.end("early");
    else void readBlockSizes(request).then((sizes) => response.end(sizes.join()));
  });
  port = await listen(server);
});
const sockets: Socket[] = [];
afterEach(() => {
  abortCodes.length = 0;
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  vi.resetModules();
  await new Promise((resolve) => server.close(resolve));
});

const server = createServer();
let port: number;
const abortCodes: string[] = [];

/**
 * Reads the body of `request` until the body ends or the connection closes. Returns the size of each block in bytes.
 */
async function readBlockSizes(request: IncomingMessage): Promise<number[]> {
  const sizes: number[] = [];
  try {
    for await (const block of request) sizes.push(block.length);
  } catch {
    // Ignores the error, because a closed connection ends the body with an error.
  }
  return sizes;
}

const megabyte = Buffer.concat([Buffer.from("F4240\r\n"), Buffer.alloc(1_000_000), Buffer.from("\r\n")]);

function openConnection() {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  sockets.push(socket.setMaxListeners(0));
  const received = { text: "", isClosed: false };
  socket.on("data", (bytes) => Object.assign(received, { text: received.text + bytes }));
  socket.on("close", () => Object.assign(received, { isClosed: true }));
  const sendHead = (path: string, method = "POST", length = "Transfer-Encoding: chunked") =>
    socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\n${length}\r\n\r\n`);
  /** Sends `count` chunks of `size` bytes in one write. */
  const sendChunks = (count: number, size: number) =>
    socket.write(`${size.toString(16)}\r\n${"m".repeat(size)}\r\n`.repeat(count));
  /** Sends `count` chunks of one megabyte, or fewer if the connection closes. Returns the number of sent chunks. */
  const sendMegabytes = async (count: number) => {
    let sent = 0;
    for (; sent < count && !socket.destroyed; sent += 1) {
      if (!socket.write(megabyte)) await new Promise((resolve) => socket.once("drain", resolve).once("close", resolve));
    }
    return sent;
  };
  return { socket, received, sendHead, sendChunks, sendMegabytes, end: () => socket.write("0\r\n\r\n") };
}

const expectResponseBody = (received: { text: string }) => expect.poll(() => received.text.split("\r\n\r\n")[1] ?? "");
const expectClosed = (received: { isClosed: boolean }) => expect.poll(() => received.isClosed).toBe(true);

describe("Request body", () => {
  test("The app receives a body of small chunks completely, in larger blocks.", async () => {
    const { sendHead, sendChunks, end, received } = openConnection();
    sendHead("/");
    sendChunks(1500, 30);
    end();
    await expectResponseBody(received).toContain(",");
    const blocks = (received.text.split("\r\n\r\n")[1] ?? "").match(/\d{4,}/g)?.map(Number) ?? [];
    expect(blocks.reduce((sum, size) => sum + size, 0)).toBe(45_000);
    expect(blocks).toHaveLength(3);
  });

  test("A body can arrive in any number of packets of 536 bytes.", async () => {
    const { sendHead, sendChunks, end, received } = openConnection();
    sendHead("/");
    for (let sent = 0; sent < 19_000; sent += 1000) sendChunks(1000, 536);
    end();
    await expectResponseBody(received).not.toBe("");
    expect(abortCodes).toEqual([]);
  });

  test.each([
    ["/", 1],
    ["/", 100],
    ["/early", 1],
  ])("The server closes a connection to %s that sends a body in 3000 chunks of %i bytes.", async (path, size) => {
    const { sendHead, sendChunks, received } = openConnection();
    sendHead(path);
    if (path === "/early") await expectResponseBody(received).toContain("early");
    sendChunks(3000, size);
    await expectClosed(received);
    expect(abortCodes).toEqual(["HPE_TOO_MANY_PIECES"]);
  });

  test("A connection can be reused if a limited part of the request body arrives after the response.", async () => {
    const { sendHead, sendMegabytes, end, received } = openConnection();
    sendHead("/early");
    await sendMegabytes(20);
    end();
    sendHead("/");
    end();
    await expect.poll(() => received.text.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    sendHead("/early");
    expect(await sendMegabytes(100)).toBeLessThan(100);
    await expectClosed(received);
  });

  test("The server closes the connection after its response to a GET request with a body.", async () => {
    const { sendHead, sendChunks, received } = openConnection();
    sendHead("/early", "GET");
    sendChunks(10, 10);
    await expectClosed(received);
    expect(received.text).toContain("Connection: close");
  });

  test("A slow body is accepted until FORM_SECONDS are over.", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
    try {
      const { sendHead } = openConnection();
      sendHead("/", "POST", "Content-Length: 1000");
      await expect.poll(() => vi.getTimerCount()).toBe(1);
      vi.advanceTimersByTime(1000);
      expect(abortCodes).toEqual([]);
      vi.advanceTimersByTime(1000);
      expect(abortCodes).toEqual(["ERR_HTTP_REQUEST_TIMEOUT"]);
    } finally {
      vi.useRealTimers();
    }
  });

  test("The server closes a connection whose body is too slow, but no connection with a fast or complete body.", async () => {
    const [slow, fast, complete] = [openConnection(), openConnection(), openConnection()];
    slow.sendHead("/", "POST", "Content-Length: 1000");
    slow.socket.write("m");
    complete.sendHead("/", "POST", "Content-Length: 1");
    complete.socket.write("m");
    fast.sendHead("/");
    fast.sendChunks(100, 2000);
    await expectClosed(slow.received);
    expect(abortCodes).toEqual(["ERR_HTTP_REQUEST_TIMEOUT"]);
    fast.end();
    await expectResponseBody(fast.received).not.toBe("");
    expect(complete.received.text).toContain("200 OK");
    expect(complete.received.isClosed).toBe(false);
  });
});
