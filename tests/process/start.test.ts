import { once } from "node:events";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLargeUpload } from "../support/large-upload.ts";
import type { SiteProcess } from "../support/site-process.ts";
import { createSiteSandbox, demoCredentials } from "../support/site-sandbox.ts";
import { origin } from "../support/test-app.ts";

let sandbox: Awaited<ReturnType<typeof createSiteSandbox>>;
/** The running site. Several tests use the same site. */
let site: SiteProcess;
beforeAll(async () => {
  sandbox = await createSiteSandbox({ TRUSTED_PROXIES: "127.0.0.1" });
});
afterAll(() => sandbox.leave());

async function startAndFail(environment: Record<string, string>) {
  const site = sandbox.start(environment);
  const code = await site.waitForExit();
  return { code, lines: site.output.trim().split("\n") };
}

// The tests of all invalid values are in app/lib/http/env.server.test.ts, and the tests of the ports are in
// app/server/start/preflight.test.ts.
test("A start with an invalid environment variable prints one line that names the variable and contains no secrets.", async () => {
  const secret = "s3cr3t-0f-th3-t3sts";
  const { code, lines } = await startAndFail({ SMTP_URL: `http://user:${secret}@mail.example` });
  expect(code).toBe(1);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("SMTP_URL");
  expect(lines[0]).not.toContain(secret);
});

test("If DATA_DIR is a file, a start or a restore prints one line with the reason.", async () => {
  const file = path.join(sandbox.dataDir, "file");
  writeFileSync(file, "");
  expect(await startAndFail({ DATA_DIR: file })).toEqual({
    code: 1,
    lines: [`The site cannot use ${file} as DATA_DIR: this path or a part of the path is a file.`],
  });
  const restored = await sandbox.staff(["restore", file], { DATA_DIR: file });
  expect(restored.stderr).toBe(`The site cannot use ${file} as DATA_DIR: this path or a part of the path is a file.\n`);
  expect(restored.code).toBe(1);
});

function readDemoLead(site: SiteProcess) {
  const [, email = "", password = ""] = /^ {2}Demo lead {9}(\S+), password ([a-z-]+)$/m.exec(site.output) ?? [];
  return { email, password };
}

const getLeadFilePath = () => path.join(sandbox.dataDir, "demo-lead.json");
let leadPassword: string;

test("The lead of the demo data has the same password after every start.", async () => {
  // A start in an earlier test has created the demo data.
  leadPassword = JSON.parse(readFileSync(getLeadFilePath(), "utf8")).password;
  // Shortens the time for open requests, because the rest of the stop can take long on a busy machine.
  site = sandbox.start({ DRAIN_SECONDS: "2" });
  await site.waitForIntroduction();
  const lead = readDemoLead(site);
  expect(lead).toEqual({ email: "lead@mizigo.example", password: leadPassword });
  const code = await sandbox.staff(["demo-code"]);
  expect(code.stdout).toMatch(/^\d{6}\n$/);
  expect((await sandbox.browser().post("/login", lead)).status).toBe(303);
});

test("A second start in the same data directory names the process that uses the directory, and this process continues.", async () => {
  const elsewhere = await createSiteSandbox({ DATA_DIR: sandbox.dataDir });
  const second = elsewhere.start();
  expect(await second.waitForExit()).toBe(1);
  expect(second.output.trim()).toMatch(/^The data in .+ is in use by process \d+\. Stop this process first\.$/);
  expect((await sandbox.browser().post("/login", demoCredentials)).status).toBe(303);
  rmSync(elsewhere.dataDir, { recursive: true });
});

const maxStopMs = 10_000;

/** Sends a signal to the site twice and waits until the site has stopped. */
function stopSite(signal: NodeJS.Signals) {
  site.child.kill(signal);
  return site.stop(signal);
}

/** A large upload that is half complete when the site stops. */
let interruptedUpload: Awaited<ReturnType<typeof createLargeUpload>>;

test("After SIGTERM, a site accepts no new connections and closes idle connections and stalled uploads.", async () => {
  const browser = sandbox.browser();
  await browser.post("/login", demoCredentials);
  interruptedUpload = await createLargeUpload(sandbox, browser, "Large");
  const sending = await interruptedUpload.sendHalf();
  const idle = sandbox.socket().on("error", () => undefined);
  idle.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  await once(idle, "data");
  const stalled = sandbox.socket().on("error", () => undefined);
  stalled.write(`POST /careers HTTP/1.1\r\nHost: x\r\nOrigin: ${origin}\r\nContent-Length: 5000000\r\n`);
  stalled.write("Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\n");
  await setTimeout(200);
  const idleClosed = once(idle, "close");
  const stalledClosed = once(stalled.resume(), "close");
  const ended = stopSite("SIGTERM");
  await idleClosed;
  await expect(fetch(`http://127.0.0.1:${sandbox.port}/healthz`)).rejects.toThrow();
  expect(site.hasEnded).toBe(false);
  const { code, ms } = await ended;
  await stalledClosed;
  sending.destroy();
  expect(code).toBe(0);
  expect(ms).toBeLessThan(maxStopMs);
  expect(sandbox.backendPid()).toBeNull();
});

test("If an interrupted first start has not stored the demo's lead, the next start creates the lead.", async () => {
  rmSync(getLeadFilePath());
  const failed = await sandbox.staff(["demo-code"]);
  expect(failed.stderr.trim()).toBe(
    `${sandbox.dataDir} contains no demo lead. Start the site once, or set DATA_DIR to the data directory of the running site.`,
  );
  expect(failed.code).toBe(1);
  site = sandbox.start();
  await site.waitForIntroduction();
  const lead = readDemoLead(site);
  expect(lead.password).not.toBe(leadPassword);
  expect(statSync(getLeadFilePath()).mode & 0o777).toBe(0o600);
  expect((await sandbox.browser().post("/login", { ...lead, password: leadPassword })).status).toBe(400);
  expect((await sandbox.browser().post("/login", lead)).status).toBe(303);
});

test("A client can continue a resumable upload after a restart of the site.", async () => {
  await interruptedUpload.expectContinues();
  expect(await interruptedUpload.finish()).toMatchObject({ status: 200, toast: { title: "Packing List uploaded" } });
  await interruptedUpload.expectWhole();
});

test("After several SIGINT signals, a site completes its running requests and exits with code 0.", async () => {
  const signIns = () => site.output.split('"sign-in"').length;
  const before = signIns();
  const logins = Array.from({ length: 8 }, () => sandbox.browser().post("/login", demoCredentials));
  // The site checks fewer than eight passwords in parallel, so some logins are still running when the first login ends.
  await expect.poll(signIns).toBeGreaterThan(before);
  const ended = stopSite("SIGINT");
  const statuses = (await Promise.all(logins)).map(({ status }) => status);
  expect(statuses).toEqual(Array(8).fill(303));
  const { code, ms } = await ended;
  expect(code).toBe(0);
  expect(ms).toBeLessThan(maxStopMs);
  expect(sandbox.backendPid()).toBeNull();
});

test("Without a backend, every public page is available, and /readyz and the login report the failure.", async () => {
  // SUPABASE_URL makes the site expect a hosted backend, so the site starts no embedded backend.
  const site = sandbox.start({
    SUPABASE_URL: `http://127.0.0.1:${sandbox.backendPort}`,
    SUPABASE_PUBLISHABLE_KEY: "sb_publishable_x",
    SUPABASE_SECRET_KEY: "sb_secret_x",
    SESSION_SECRET: "x".repeat(48),
  });
  const get = (address: string) => fetch(`http://127.0.0.1:${sandbox.port}${address}`);
  await site.waitUntilListening();
  const map = await (await get("/sitemap.xml")).text();
  const pages = [...map.matchAll(/<loc>https?:\/\/[^/]+([^<]*)<\/loc>/g)].map(([, address]) => address || "/");
  expect(pages.length).toBeGreaterThan(15);
  for (const page of [...pages, "/login", "/signup"]) expect((await get(page)).status, page).toBe(200);
  const ready = await get("/readyz");
  expect(ready.status).toBe(503);
  expect(await ready.text()).toBe("the backend does not respond\n");
  const browser = sandbox.browser();
  expect((await browser.post("/login", demoCredentials)).status).toBe(503);

  // A site counts as ready only if both Supabase Auth and the data API accept the site's keys.
  const statuses = { auth: 200, rest: 200 };
  const backend = createServer(({ url }, response) => {
    response.writeHead(url?.startsWith("/rest/") ? statuses.rest : statuses.auth).end();
  }).listen(sandbox.backendPort, "127.0.0.1");
  for (const [auth, rest, status] of [
    [200, 200, 200],
    [401, 200, 503],
    [200, 200, 200],
    [200, 503, 503],
  ] as const) {
    Object.assign(statuses, { auth, rest });
    await expect.poll(async () => (await get("/readyz")).status).toBe(status);
  }
  backend.close();
  backend.closeAllConnections();
  expect((await site.stop("SIGTERM")).code).toBe(0);
});
