import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createSocketServer } from "node:net";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLargeUpload } from "../support/large-upload.ts";
import type { SiteProcess } from "../support/site-process.ts";
import { createSiteSandbox, demoCredentials } from "../support/site-sandbox.ts";
import { origin } from "../support/test-app.ts";

let sandbox: Awaited<ReturnType<typeof createSiteSandbox>>;
/** The running site, passed on from test to test. */
let site: SiteProcess;
beforeAll(async () => {
  sandbox = await createSiteSandbox({ TRUSTED_PROXIES: "127.0.0.1" });
});
afterAll(() => sandbox.leave());

/** What a start prints that fails, and its exit code. */
async function startAndFail(environment: Record<string, string>) {
  const site = sandbox.start(environment);
  const code = await site.waitForExit();
  return { code, printed: site.output.trim().split("\n") };
}

// The tests of app/lib/http/env.server.ts cover the invalid values of each variable.
test("a wrong configuration is one line that names the variable, exit code 1, and prints no secret", async () => {
  const secret = "s3cr3t-0f-th3-t3sts";
  const { code, printed } = await startAndFail({ SMTP_URL: `http://user:${secret}@mail.example` });
  expect(code).toBe(1);
  expect(printed).toHaveLength(1);
  expect(printed[0]).toContain("SMTP_URL");
  expect(printed[0]).not.toContain(secret);
});

test("a port that is taken, for the site or its backend, is one line that names the variable, and nothing was begun", async () => {
  const fresh = await createSiteSandbox({}, "new");
  const holder = createSocketServer();
  await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
  const taken = String((holder.address() as { port: number }).port);
  for (const name of ["PORT", "BACKEND_PORT"]) {
    const { code, printed } = await startAndFail({ [name]: taken, DATA_DIR: fresh.dataDir });
    expect(code, name).toBe(1);
    expect(printed, name).toEqual([`Port ${taken} is taken: set ${name} to another one.`]);
    expect(readdirSync(fresh.dataDir), name).toEqual([]);
  }
  holder.close();
  await fresh.leave();
});

test("a DATA_DIR that is a file is one line", async () => {
  const file = path.join(sandbox.dataDir, "file");
  writeFileSync(file, "");
  expect(await startAndFail({ DATA_DIR: file })).toEqual({
    code: 1,
    printed: [`DATA_DIR cannot be ${file}: it or a part of its path is a file.`],
  });
  const restored = await sandbox.staff(["restore", file], { DATA_DIR: file });
  expect(restored.told).toBe(`DATA_DIR cannot be ${file}: it or a part of its path is a file.\n`);
  expect(restored.code).toBe(1);
});

/** The demo's lead as a start has introduced them. */
function readDemoLead(site: SiteProcess) {
  const [, email = "", password = ""] = /^ {2}Demo lead {9}(\S+), password ([a-z-]+)$/m.exec(site.output) ?? [];
  return { email, password };
}

const getLeadFilePath = () => path.join(sandbox.dataDir, "demo-lead.json");
/** The password of the demo's lead. */
let leadPassword: string;

test("the demo's lead is the same at every start", async () => {
  // The data are those of a start before this one.
  leadPassword = JSON.parse(readFileSync(getLeadFilePath(), "utf8")).password;
  // Less patient at its end than by default, which leaves a busy machine more of the time that a stop may take.
  site = sandbox.start({ DRAIN_SECONDS: "3" });
  await site.waitForIntroduction();
  const lead = readDemoLead(site);
  expect(lead).toEqual({ email: "lead@mizigo.example", password: leadPassword });
  const code = await sandbox.staff(["demo-code"]);
  expect(code.printed).toMatch(/^\d{6}\n$/);
  expect((await sandbox.browser().post("/login", lead)).status).toBe(303);
});

test("of two starts on one folder the second says who has it, and the first goes on", async () => {
  const elsewhere = await createSiteSandbox({ DATA_DIR: sandbox.dataDir });
  const second = elsewhere.start();
  expect(await second.waitForExit()).toBe(1);
  expect(second.output.trim()).toMatch(/^The data in .+ is in use by process \d+: end that one first\.$/);
  expect((await sandbox.browser().post("/login", demoCredentials)).status).toBe(303);
  rmSync(elsewhere.dataDir, { recursive: true });
});

/** How long a stop may take, in milliseconds. */
const maxStopMs = 10_000;

/** Sends a signal twice and waits for the end of the site. */
function stopSite(signal: NodeJS.Signals) {
  site.child.kill(signal);
  return site.stop(signal);
}

/** A large file of which half is there when the site ends. */
let interruptedUpload: Awaited<ReturnType<typeof createLargeUpload>>;

test("after SIGTERM nobody new is let in, connections that wait for nothing are closed, an upload that has stalled is cut", async () => {
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

test("the demo's lead is made again when a start was cut off before it was written down", async () => {
  rmSync(getLeadFilePath());
  const none = await sandbox.staff(["demo-code"]);
  expect(none.told.trim()).toBe(
    `There is no demo lead in ${sandbox.dataDir}: start the site once, or set DATA_DIR to where it runs.`,
  );
  expect(none.code).toBe(1);
  site = sandbox.start();
  await site.waitForIntroduction();
  const lead = readDemoLead(site);
  expect(lead.password).not.toBe(leadPassword);
  expect(statSync(getLeadFilePath()).mode & 0o777).toBe(0o600);
  expect((await sandbox.browser().post("/login", { ...lead, password: leadPassword })).status).toBe(400);
  expect((await sandbox.browser().post("/login", lead)).status).toBe(303);
});

test("a file goes on when the site is updated in the middle, and nothing is half a document", async () => {
  await interruptedUpload.expectToGoOn();
  expect(await interruptedUpload.finish()).toMatchObject({ status: 200, toast: { title: "Packing List uploaded" } });
  await interruptedUpload.expectWhole();
});

test("after SIGINT, however often, requests in flight are answered, and the process ends by itself with 0", async () => {
  const signIns = () => site.output.split('"sign-in"').length;
  const before = signIns();
  const logins = Array.from({ length: 8 }, () => sandbox.browser().post("/login", demoCredentials));
  // More than are judged at once: when the first is done, others are in flight.
  await expect.poll(signIns).toBeGreaterThan(before);
  const ended = stopSite("SIGINT");
  const statuses = (await Promise.all(logins)).map(({ status }) => status);
  expect(statuses).toEqual(Array(8).fill(303));
  const { code, ms } = await ended;
  expect(code).toBe(0);
  expect(ms).toBeLessThan(maxStopMs);
  expect(sandbox.backendPid()).toBeNull();
});

test("with the backend dead every public page is there, /healthz too, and /readyz and the login say so", async () => {
  // A hosted backend, at an address where nothing listens: the site does not start it.
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
  expect(await ready.text()).toBe("the backend does not answer\n");
  const browser = sandbox.browser();
  expect((await browser.post("/login", demoCredentials)).status).toBe(503);

  // Ready is who answers with both keys, auth and the data API.
  const said = { auth: 200, rest: 200 };
  const backend = createServer(({ url }, answer) => {
    answer.writeHead(url?.startsWith("/rest/") ? said.rest : said.auth).end();
  }).listen(sandbox.backendPort, "127.0.0.1");
  const readiness = (status: number) => expect.poll(async () => (await get("/readyz")).status).toBe(status);
  await readiness(200);
  said.auth = 401;
  await readiness(503);
  said.auth = 200;
  await readiness(200);
  said.rest = 503;
  await readiness(503);
  backend.close();
  backend.closeAllConnections();
  expect((await site.stop("SIGTERM")).code).toBe(0);
});
