import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
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

/** Sends a signal twice and waits for the end of the site. */
function stop(signal: NodeJS.Signals) {
  site.child.kill(signal);
  return site.end(signal);
}

test("after SIGTERM, however often, requests in flight are answered, and the process ends by itself with 0", async () => {
  const logins = Array.from({ length: 8 }, () => place.browser().post("/login", demo));
  // More than are judged at once: when the first is done, others are in flight.
  await expect.poll(() => site.output).toContain('"sign-in"');
  const ended = stop("SIGTERM");
  const statuses = (await Promise.all(logins)).map(({ status }) => status);
  expect(statuses).toEqual(Array(8).fill(303));
  const { code, ms } = await ended;
  expect(code).toBe(0);
  expect(ms).toBeLessThan(promised);
  expect(place.backendPid()).toBeNull();
});

test("after SIGINT nobody new is let in, connections that wait for nothing are closed, an upload that has stalled is cut", async () => {
  const idle = place.socket().on("error", () => undefined);
  idle.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  await once(idle, "data");
  const stalled = place.socket().on("error", () => undefined);
  stalled.write(`POST /careers HTTP/1.1\r\nHost: x\r\nOrigin: ${origin}\r\nContent-Length: 5000000\r\n`);
  stalled.write("Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\n");
  await setTimeout(200);
  const idleClosed = once(idle, "close");
  const stalledClosed = once(stalled.resume(), "close");
  const ended = stop("SIGINT");
  await idleClosed;
  await expect(fetch(`http://127.0.0.1:${place.port}/healthz`)).rejects.toThrow();
  expect(site.ended).toBe(false);
  const { code, ms } = await ended;
  await stalledClosed;
  expect(code).toBe(0);
  expect(ms).toBeLessThan(promised);
  expect(place.backendPid()).toBeNull();
});
