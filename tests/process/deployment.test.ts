import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readSettings } from "../../app/lib/http/env.server.ts";
import { startEmbeddedBackend } from "../../app/server/embedded-backend.ts";
import { freePort } from "../support/free-port.ts";
import { createLargeUpload, largeFileSize } from "../support/large-upload.ts";
import { createServiceRoleClient } from "../support/service-role.ts";
import { SiteProcess } from "../support/site-process.ts";
import { createSiteSandbox, demoCredentials } from "../support/site-sandbox.ts";
import { origin, type TestBrowser } from "../support/test-app.ts";

type Upstream = { port: number; site: SiteProcess; agent: Agent; isHealthy: boolean };

let sandbox: Awaited<ReturnType<typeof createSiteSandbox>>;
let backend: Awaited<ReturnType<typeof startEmbeddedBackend>>;
let upstreams: Upstream[];
let balancer: Awaited<ReturnType<typeof startBalancer>>;

beforeAll(async () => {
  sandbox = await createSiteSandbox();
  const { dataDir, backendPort } = sandbox;
  backend = await startEmbeddedBackend(readSettings({ DATA_DIR: dataDir, BACKEND_PORT: String(backendPort) }));
  const ports = [await freePort(), await freePort()];
  upstreams = await Promise.all(
    ports.map(async (port) => ({
      port,
      site: await startSite(port),
      agent: new Agent({ keepAlive: true }),
      isHealthy: true,
    })),
  );
  balancer = await startBalancer(sandbox.port, upstreams);
});
afterAll(async () => {
  balancer.close();
  await Promise.all(upstreams.map(({ site }) => site.stop("SIGKILL")));
  await backend.stop();
  await sandbox.leave();
});

async function startSite(port: number): Promise<SiteProcess> {
  const site = new SiteProcess(port, {
    PORT: String(port),
    APP_ORIGIN: origin,
    DATA_DIR: sandbox.dataDir,
    SUPABASE_URL: backend.access.url,
    SUPABASE_PUBLISHABLE_KEY: backend.access.publishableKey,
    SUPABASE_SECRET_KEY: backend.access.secretKey,
    SESSION_SECRET: backend.sessionSecret,
    WRITES_PER_MINUTE: "100000",
    STOP_NOTICE_SECONDS: "3",
    DRAIN_SECONDS: "60",
    TRUSTED_PROXIES: "127.0.0.1",
  });
  await site.waitUntilReady();
  return site;
}

/**
 * Starts a load balancer with the behaviour that docs/hosting.md describes. The balancer reuses open connections, and
 * sends no requests to a process whose health check fails. The balancer repeats a request only if the method is GET, or
 * if no byte of the request was sent.
 */
async function startBalancer(port: number, targets: Upstream[]) {
  let turn = 0;
  const forward = (incoming: IncomingMessage, outgoing: ServerResponse, candidates: Upstream[]): void => {
    const [target, ...others] = candidates;
    if (!target) return void outgoing.writeHead(502).end();
    const { connection: _, ...headers } = incoming.headers;
    const { method, url: path } = incoming;
    const onward = request({ port: target.port, agent: target.agent, method, path, headers }, (response) => {
      const { connection: __, ...received } = response.headers;
      outgoing.writeHead(response.statusCode ?? 502, received);
      response.pipe(outgoing);
    });
    let isSent = false;
    const send = () => {
      isSent = true;
      if (incoming.readableEnded) onward.end();
      else incoming.pipe(onward);
    };
    onward.once("socket", (socket) => (socket.connecting ? socket.once("connect", send) : send()));
    onward.once("error", () => {
      if (outgoing.headersSent) outgoing.destroy();
      else if (!isSent || method === "GET") forward(incoming, outgoing, others);
      else outgoing.writeHead(502).end();
    });
  };
  const server = createServer((incoming, outgoing) => {
    turn += 1;
    const healthy = targets.filter(({ isHealthy }) => isHealthy);
    forward(incoming, outgoing, [...healthy.slice(turn % 2), ...healthy.slice(0, turn % 2)]);
  });
  const checks = setInterval(() => {
    for (const target of targets)
      void fetch(`http://127.0.0.1:${target.port}/healthz`)
        .then(({ ok }) => ok)
        .catch(() => false)
        .then((isHealthy) => {
          target.isHealthy = isHealthy;
        });
  }, 100);
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      clearInterval(checks);
      server.closeAllConnections();
      server.close();
      for (const { agent } of targets) agent.destroy();
    },
  };
}

/** Sends a request on the open connection of `agent`. */
async function send(port: number, agent: Agent, path: string, browser?: TestBrowser, form?: Record<string, string>) {
  const headers = {
    ...(browser && { Cookie: browser.cookieHeader, Origin: origin }),
    ...(form && { "Content-Type": "application/x-www-form-urlencoded" }),
  };
  const sending = request({ port, agent, path, method: form ? "POST" : "GET", headers });
  sending.end(form && new URLSearchParams(form).toString());
  const [response] = (await once(sending, "response")) as [IncomingMessage];
  await text(response);
  const { connection, "keep-alive": keepAlive } = response.headers;
  return { status: response.statusCode, connection, keepAlive, isReused: sending.reusedSocket };
}

test("Replacing two processes of the site one after the other loses no page, no form and no upload.", async () => {
  const browser = sandbox.browser();
  expect((await browser.post("/login", demoCredentials)).status).toBe(303);
  const failures: string[] = [];
  const names: string[] = [];
  const uploads: Awaited<ReturnType<typeof createLargeUpload>>[] = [];
  let isOver = false;
  const repeat = async (job: (round: number) => Promise<unknown>) => {
    for (let round = 0; !isOver; round += 1) {
      await job(round).catch((error: Error) => failures.push(`${error.message} ${error.cause}`));
      await setTimeout(200);
    }
  };
  const expectStatus = (what: string, actual: number | undefined, expected: number) => {
    if (actual !== expected) failures.push(`${what}: ${actual}`);
  };
  const traffic = [
    repeat(async (round) => {
      const path = round % 2 ? "/portal" : "/services";
      expectStatus(path, (await browser.get(path)).status, 200);
    }),
    repeat(async (round) => {
      const name = `Deployed ${round}`;
      names.push(name);
      const response = await browser.post("/portal/new", { name, idempotencyKey: crypto.randomUUID() });
      expectStatus(name, response.status, 303);
    }),
    repeat(async (round) => {
      const upload = await createLargeUpload(sandbox, browser, `Upload ${round}`);
      uploads.push(upload);
      for (let from = 0; from < largeFileSize; from += 300_000) {
        const sent = await upload.send(from, Math.min(from + 300_000, largeFileSize));
        expectStatus(`upload ${round} at ${from}`, sent.status, 200);
        await setTimeout(200);
      }
      expectStatus(`end of upload ${round}`, (await upload.finish()).status, 200);
    }),
  ];

  for (const upstream of upstreams) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const upload = await createLargeUpload({ ...sandbox, port: upstream.port }, browser, "Open during the stop");
    const sending = await upload.sendHalf();
    // Caddy closes an idle connection after 120 seconds, so the site must close the connection later.
    expect(await send(upstream.port, agent, "/healthz")).toMatchObject({ status: 200, keepAlive: "timeout=125" });
    const stopped = upstream.site.stop("SIGTERM");
    await expect
      .poll(async () => (await fetch(`http://127.0.0.1:${upstream.port}/readyz`)).status, { interval: 20 })
      .toBe(503);
    const name = `Last of ${upstream.port}`;
    names.push(name);
    const form = { name, idempotencyKey: crypto.randomUUID() };
    // The balancer may send a request on an open connection before the health check fails.
    expect(await send(upstream.port, agent, "/portal/new", browser, form)).toMatchObject({
      status: 303,
      connection: "close",
      isReused: true,
    });
    await expect.poll(() => upstream.isHealthy).toBe(false);
    sending.end(upload.content.slice(900_000));
    const [received] = (await once(sending, "response")) as [IncomingMessage];
    expect([received.statusCode, JSON.parse(await text(received))]).toEqual([200, { storedBytes: largeFileSize }]);
    uploads.push(upload);
    expect((await upload.finish()).status).toBe(200);
    expect((await stopped).code).toBe(0);
    upstream.site = await startSite(upstream.port);
    await expect.poll(() => upstream.isHealthy).toBe(true);
  }
  // On a slow machine, few requests arrive during the replacement, so the test waits until the new processes get some.
  await expect.poll(() => names.length > 10 && uploads.length > 2, { timeout: 60_000 }).toBe(true);
  isOver = true;
  await Promise.all(traffic);

  expect(failures).toEqual([]);
  const shipments = createServiceRoleClient(sandbox.dataDir).from("shipments").select("name");
  const { data } = await shipments.in("name", names);
  expect(data?.map(({ name }) => name).sort()).toEqual(names.sort());
  for (const upload of uploads) await upload.expectWhole();
});
