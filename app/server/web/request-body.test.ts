import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { stubSettings } from "../../../tests/support/stub-settings.ts";

/** After its first second a body must bring 1 KiB per second. */
beforeAll(async () => {
  stubSettings({ FORM_SECONDS: "1", SLOWEST_KIB: "1" });
  const { guardBody } = await import("./request-body.ts");
  server.on("request", (request, response) => {
    guardBody(request, response, (code) => {
      abortCodes.push(code);
      request.socket.destroy();
    });
    if (request.url === "/early") response.end("early");
    else void readPieceSizes(request).then((sizes) => response.end(sizes.join()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
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
const abortCodes: string[] = [];

/** The sizes of the blocks that a reader of a body gets; those until then when the body breaks off. */
async function readPieceSizes(request: IncomingMessage): Promise<number[]> {
  const sizes: number[] = [];
  try {
    for await (const block of request) sizes.push(block.length);
  } catch {
    // The connection is gone: there is nobody to answer.
  }
  return sizes;
}

const megabyte = Buffer.concat([Buffer.from("F4240\r\n"), Buffer.alloc(1_000_000), Buffer.from("\r\n")]);

function openConnection() {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => undefined);
  sockets.push(socket.setMaxListeners(0));
  const seen = { text: "", isOver: false };
  socket.on("data", (bytes) => {
    seen.text += String(bytes);
  });
  socket.on("close", () => {
    seen.isOver = true;
  });
  const say = (path: string, method = "POST", more = "Transfer-Encoding: chunked") =>
    socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n\r\n`);
  /** Sends `count` chunks of `size` bytes in one write. */
  const chunks = (count: number, size: number) =>
    socket.write(`${size.toString(16)}\r\n${"m".repeat(size)}\r\n`.repeat(count));
  /** Sends megabytes, one chunk each, until the connection is over; how many. */
  const megabytes = async (count: number) => {
    let sent = 0;
    for (; sent < count && !socket.destroyed; sent += 1) {
      if (socket.write(megabyte)) continue;
      await new Promise((resolve) => socket.once("drain", resolve).once("close", resolve));
    }
    return sent;
  };
  return { socket, seen, say, chunks, megabytes, end: () => socket.write("0\r\n\r\n") };
}

const expectResponseBody = (seen: { text: string }) => expect.poll(() => seen.text.split("\r\n\r\n")[1] ?? "");

describe("a body", () => {
  test("of small pieces reaches the app in blocks, and all of it", async () => {
    const { say, chunks, end, seen } = openConnection();
    say("/");
    chunks(1500, 30);
    end();
    await expectResponseBody(seen).toContain(",");
    const blocks = (seen.text.split("\r\n\r\n")[1] ?? "").match(/\d{4,}/g)?.map(Number) ?? [];
    expect(blocks.reduce((sum, size) => sum + size, 0)).toBe(45_000);
    expect(blocks).toHaveLength(3);
  });

  test("in packets of 536 bytes passes, however many", async () => {
    const { say, chunks, end, seen } = openConnection();
    say("/");
    for (let sent = 0; sent < 19_000; sent += 1000) chunks(1000, 536);
    end();
    await expectResponseBody(seen).not.toBe("");
    expect(abortCodes).toEqual([]);
  });

  test.each([
    ["one byte each", 1],
    ["a hundred bytes each", 100],
  ])("in pieces of %s is cut before it is over", async (_what, size) => {
    const { say, chunks, seen } = openConnection();
    say("/");
    chunks(3000, size);
    await expect.poll(() => seen.isOver).toBe(true);
    expect(abortCodes).toEqual(["HPE_TOO_MANY_PIECES"]);
  });

  test("in single bytes is cut too when it was answered already", async () => {
    const { say, chunks, seen } = openConnection();
    say("/early");
    await expectResponseBody(seen).toContain("early");
    chunks(3000, 1);
    await expect.poll(() => seen.isOver).toBe(true);
  });

  test("that was answered early is read on, so that the connection can be reused, up to a limit", async () => {
    const { say, megabytes, end, seen } = openConnection();
    say("/early");
    await megabytes(20);
    end();
    say("/");
    end();
    await expect.poll(() => seen.text.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    say("/early");
    expect(await megabytes(100)).toBeLessThan(100);
    await expect.poll(() => seen.isOver).toBe(true);
  });

  test("of a GET closes the connection with the answer", async () => {
    const { say, chunks, seen } = openConnection();
    say("/early", "GET");
    chunks(10, 10);
    await expect.poll(() => seen.isOver).toBe(true);
    expect(seen.text).toContain("Connection: close");
  });

  test("may bring as little as it likes until FORM_SECONDS are over", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
    try {
      const { say } = openConnection();
      say("/", "POST", "Content-Length: 1000");
      await expect.poll(() => vi.getTimerCount()).toBe(1);
      vi.advanceTimersByTime(1000);
      expect(abortCodes).toEqual([]);
      vi.advanceTimersByTime(1000);
      expect(abortCodes).toEqual(["ERR_HTTP_REQUEST_TIMEOUT"]);
    } finally {
      vi.useRealTimers();
    }
  });

  test("that trickles is cut; one that has brought enough, and one that is whole, are not", async () => {
    const [slow, long, whole] = [openConnection(), openConnection(), openConnection()];
    slow.say("/", "POST", "Content-Length: 1000");
    slow.socket.write("m");
    whole.say("/", "POST", "Content-Length: 1");
    whole.socket.write("m");
    long.say("/");
    long.chunks(100, 2000);
    await expect.poll(() => slow.seen.isOver).toBe(true);
    expect(abortCodes).toEqual(["ERR_HTTP_REQUEST_TIMEOUT"]);
    long.end();
    await expectResponseBody(long.seen).not.toBe("");
    expect(whole.seen.text).toContain("200 OK");
    expect(whole.seen.isOver).toBe(false);
  });
});
