import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { aPlace, demo } from "../support/place.ts";
import { origin } from "../support/routes.ts";
import type { SiteProcess } from "../support/site-process.ts";

/** How long a stop may take, in milliseconds. */
const promised = 10_000;

let place: Awaited<ReturnType<typeof aPlace>>;
let site: SiteProcess;
beforeAll(async () => {
  place = await aPlace({ TRUSTED_PROXIES: "127.0.0.1" });
});
beforeEach(async () => {
  site = place.start();
  await site.answers();
});
afterEach(() => site.end("SIGKILL"));
afterAll(() => place.leave());

describe("after SIGTERM", () => {
  test("requests in flight are answered, and the process ends by itself with 0", async () => {
    const logins = Array.from({ length: 3 }, () => place.browser().post("/login", demo));
    // The backend works through logins one after another: when the first is done, the others are on their way.
    await expect.poll(() => site.output).toContain('"sign-in"');
    const ended = site.end("SIGTERM");
    const statuses = (await Promise.all(logins)).map(({ status }) => status);
    expect(statuses).toEqual(Array(3).fill(303));
    const { code, ms } = await ended;
    expect(code).toBe(0);
    expect(ms).toBeLessThan(promised);
    expect(place.backendPid()).toBeNull();
  });

  test("an upload that has stalled is cut, and the process ends", async () => {
    const socket = place.socket().on("error", () => undefined);
    socket.write(`POST /careers HTTP/1.1\r\nHost: x\r\nOrigin: ${origin}\r\nContent-Length: 5000000\r\n`);
    socket.write("Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\n");
    await setTimeout(200);
    const closed = once(socket.resume(), "close");
    const { code, ms } = await site.end("SIGTERM");
    expect(code).toBe(0);
    expect(ms).toBeLessThan(promised);
    await closed;
    expect(place.backendPid()).toBeNull();
  });

  test("nobody new is let in, and connections that wait for nothing are closed", async () => {
    const idle = place.socket().on("error", () => undefined);
    idle.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(idle, "data");
    const slow = place.socket().on("error", () => undefined);
    slow.write("POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n");
    await setTimeout(200);
    const closed = once(idle, "close");
    const ended = site.end("SIGTERM");
    await closed;
    await expect(fetch(`http://127.0.0.1:${place.port}/healthz`)).rejects.toThrow();
    slow.destroy();
    expect((await ended).code).toBe(0);
  });

  test.each(["SIGINT", "SIGTERM"] as const)("%s, sent twice, is one stop", async (signal) => {
    site.child.kill(signal);
    const { code } = await site.end(signal);
    expect(code).toBe(0);
  });
});
