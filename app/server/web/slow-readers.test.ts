import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { Readable } from "node:stream";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { listen } from "../../../tests/support/free-port.ts";
import { stubSettings } from "../../../tests/support/stub-settings.ts";

/** Yields 40 MB in chunks, more than the buffers of both ends of a connection can contain. */
function* createChunks() {
  for (let chunk = 0; chunk < 2500; chunk += 1) yield Buffer.alloc(16_000);
}

const responses: ServerResponse[] = [];
const server = createServer();
let port: number;
let socket: Socket | undefined;
beforeAll(async () => {
  stubSettings({ SLOWEST_KIB: "2" });
  const { guardReader } = await import("./slow-readers.ts");
  server.on("request", (request, response) => {
    guardReader(request, response);
    responses.push(response);
    response.write("start");
    if (request.url === "/file") Readable.from(createChunks()).pipe(response);
  });
  port = await listen(server);
});
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
});
afterEach(async () => {
  const closing = responses.splice(0).filter(({ closed }) => !closed);
  const closed = Promise.all(closing.map((response) => once(response, "close")));
  for (const response of closing) response.destroy();
  socket?.destroy();
  await closed;
  // Advances the fake clock once more. The check for slow readers then finds no reader and stops its interval.
  vi.advanceTimersByTime(5000);
  vi.useRealTimers();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  vi.resetModules();
  await new Promise((resolve) => server.close(resolve));
});

/** Requests `path`, reads until `bytes` bytes have arrived, and pauses the connection. */
async function open(path: string, bytes: number) {
  const connection = connect(port, "127.0.0.1").on("error", () => undefined);
  socket = connection;
  let received = 0;
  const read = (wanted: number) =>
    new Promise<void>((resolve) => {
      const take = (chunk: Buffer) => {
        received += chunk.length;
        if (received < wanted) return;
        connection.off("data", take).pause();
        resolve();
      };
      connection.on("data", take).resume();
    });
  connection.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await read(bytes);
  const [response] = responses;
  if (!response) throw new Error("The server got no request.");
  /**
   * Advances the clock by `seconds`. Waits until TCP acknowledgements have arrived. Returns true if the response has
   * ended.
   */
  const wait = async (seconds: number) => {
    vi.advanceTimersByTime(seconds * 1000);
    await new Promise((resolve) => setTimeout(resolve, 50));
    return response.destroyed || response.closed;
  };
  return { wait, readMore: (more: number) => read(received + more) };
}

test("The server disconnects a reader that stops reading, although the system's buffers have accepted megabytes.", async () => {
  const { wait } = await open("/file", 5_000_000);
  expect([await wait(5), await wait(50), await wait(260)]).toEqual([false, false, true]);
});

test("The server disconnects a reader that reads more slowly than SLOWEST_KIB.", async () => {
  const { wait, readMore } = await open("/file", 1_000_000);
  let isClosed = false;
  for (let part = 0; part < 10 && !isClosed; part += 1) {
    isClosed = await wait(180);
    if (!isClosed) await readMore(60_000);
  }
  expect(isClosed).toBe(true);
});

test("The server does not disconnect a reader that reads faster than SLOWEST_KIB.", async () => {
  const { wait, readMore } = await open("/file", 1_000_000);
  for (let minute = 0; minute < 3; minute += 1) {
    expect([minute, await wait(60)]).toEqual([minute, false]);
    await readMore(200_000);
  }
});

test("The server does not disconnect a reader that has received everything and waits for a slow response.", async () => {
  const { wait } = await open("/slow", 5);
  expect([await wait(60), await wait(60)]).toEqual([false, false]);
});

test.each([
  ["that has received all bytes is", "/slow", 5, true],
  ["that still has bytes to receive is not", "/file", 100, false],
])("At the server's timeout for idle connections, a reader %s disconnected.", async (_which, path, bytes, isClosed) => {
  const { wait } = await open(path, bytes);
  const connection = responses[0]?.socket as Socket;
  expect(await wait(5)).toBe(false);
  connection.setTimeout(100);
  await once(connection, "timeout");
  expect(connection.destroyed).toBe(isClosed);
});
