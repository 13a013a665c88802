import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createBackend } from "../../supabase/local/backend.ts";
import { backendKeys } from "../support/backend-keys.ts";
import { createDatabase, runAsSuperuser } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";
import { newLoggedInBrowser, newShipment } from "../support/logged-in-browser.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { createServiceRoleClient } from "../support/service-role.ts";
import type { SiteProcess } from "../support/site-process.ts";
import { createSiteSandbox, demoCredentials } from "../support/site-sandbox.ts";
import { parsePage, type TestBrowser } from "../support/test-app.ts";

/** Options for a backend that runs in this test's own process. */
const backendOptions = {
  dataDir: null,
  objectsDir: path.join(tmpdir(), "no-objects"),
  siteUrl: "http://127.0.0.1:3000",
  emailFrom: { name: "The company", address: "office@company.example" },
  ...backendKeys,
  deliver: async () => undefined,
  seed: true,
};

let server: Awaited<ReturnType<typeof startPostgres>>;
let url: string;
let sandbox: Awaited<ReturnType<typeof createSiteSandbox>>;
/** The running site. Several tests use the same site. */
let site: SiteProcess;
/** The browser of a client, and the URL path of the client's shipment. */
let browser: TestBrowser;
let shipmentPath: string;
beforeAll(async () => {
  server = await startPostgres();
  ({ url } = await createDatabase(server.url));
  sandbox = await createSiteSandbox({ DATABASE_URL: url, WRITES_PER_MINUTE: "100000" }, "new");
});
afterAll(async () => {
  await sandbox.leave();
  server.remove();
});

test("A start with an unreachable database prints one line without the password, and no process remains.", async () => {
  const closedPort = await freePort();
  const wrongPassword = `postgres://postgres:not-${server.password}@127.0.0.1:${server.port}/postgres`;
  const unreachable: Record<string, string> = {
    "closed port": `postgres://postgres:${server.password}@127.0.0.1:${closedPort}/postgres`,
    "wrong password": wrongPassword,
    "missing database": `${server.url}/nowhere`,
    "missing host": `postgres://postgres:${server.password}@nowhere.invalid/postgres`,
  };
  const message = /^The site cannot connect to the database at DATABASE_URL: [^\n]+\.$/;
  for (const [reason, databaseUrl] of Object.entries(unreachable)) {
    const error: Error = await createBackend({ ...backendOptions, databaseUrl }).then(
      () => new Error("no error"),
      (error) => error,
    );
    expect(error.message, reason).toMatch(message);
    expect(error.message, reason).not.toContain(server.password);
  }
  const failed = sandbox.start({ DATABASE_URL: wrongPassword });
  expect(await failed.waitForExit()).toBe(1);
  expect(failed.output.trim()).toMatch(message);
  expect(failed.output).not.toContain(server.password);
  expect(sandbox.backendPid()).toBeNull();
});

test("A client can sign up and log in on a site with a PostgreSQL server and without demo data.", async () => {
  site = sandbox.start();
  await site.waitForIntroduction();
  expect(site.output).not.toContain("Demo client");
  expect(site.output).not.toContain(server.password);
  browser = await newLoggedInBrowser(sandbox, "stored@client.example");
  shipmentPath = await newShipment(browser, "Stored tea", 50_000);
});

test("A second start with the same database fails, even with another data directory.", async () => {
  const elsewhere = await createSiteSandbox({ DATABASE_URL: url }, "new");
  const second = elsewhere.start();
  expect(await second.waitForExit()).toBe(1);
  expect(second.output.trim()).toBe(
    "The database at DATABASE_URL is in use by another process of this site. Stop that process first.",
  );
  rmSync(elsewhere.dataDir, { recursive: true });
});

test("After a site is killed and started again, the clients' sessions, shipments and files are still available.", async () => {
  await site.stop("SIGKILL");
  site = sandbox.start();
  await site.waitUntilReady();
  const page = await parsePage(await browser.get(shipmentPath));
  expect(page.text).toContain("Stored tea");
  expect(page.text).toContain("Packing List Uploaded. We are checking your file");
});

test("After roles.sql has run, the backend needs no superuser as owner of the database.", async () => {
  const roles = ["anon", "authenticated", "service_role", "supabase_auth_admin"].join(", ");
  await runAsSuperuser(server.url, "create role owner login password 'p'");
  await runAsSuperuser(server.url, "create database owned owner owner");
  const owned = { ...backendOptions, databaseUrl: `postgres://owner:p@127.0.0.1:${server.port}/owned` };
  const rolesMissing = /^The database user cannot create the required roles \(.+\)\. As a superuser, run/;
  await expect(createBackend(owned)).rejects.toThrow(rolesMissing);
  await runAsSuperuser(server.url, readFileSync("supabase/contract/roles.sql", "utf8"));
  await runAsSuperuser(server.url, `grant ${roles} to owner`);
  const backend = await createBackend(owned);
  const send = (path: string, headers: Record<string, string>, init: RequestInit = {}) => {
    const allHeaders = { apikey: backendKeys.publishableKey, ...headers };
    return backend.fetch(new Request(`http://backend.local${path}`, { ...init, headers: allHeaders }));
  };
  const form = { method: "POST", body: JSON.stringify(demoCredentials) };
  const login = await send("/auth/v1/token?grant_type=password", { "content-type": "application/json" }, form);
  const { access_token } = (await login.json()) as { access_token: string };
  const own = await send("/rest/v1/shipments?select=id", { authorization: `Bearer ${access_token}` });
  expect(await own.json()).toHaveLength(4);
  expect((await send("/rest/v1/shipments?select=id", {})).status).toBe(401);
  await backend.close();
});

test("A client gets status 503 while the database is stopped, and is still signed in when the database runs again.", async () => {
  const browser = await newLoggedInBrowser(sandbox, "patient@client.example");
  const address = await newShipment(browser, "Patient tea", 2000);
  server.stop();
  expect((await browser.get("/")).status).toBe(200);
  expect((await browser.get(address)).status).toBe(503);
  expect((await browser.post("/portal/new", { name: "Lost", idempotencyKey: crypto.randomUUID() })).status).toBe(503);
  const visitor = sandbox.browser();
  expect((await visitor.post("/login", { email: "patient@client.example", password: "x" })).status).toBe(503);
  expect((await visitor.get("/readyz")).status).toBe(503);
  server.start();
  await expect.poll(async () => (await browser.get(address)).status).toBe(200);
  await newShipment(browser, "Found", 2000);
  expect(site.output).not.toContain(server.password);
  expect(site.jsonLines.map(({ event }) => event)).not.toContain("backend ended");
});

test("If database connections are closed during requests, a client loses no confirmed shipment.", async () => {
  const browser = await newLoggedInBrowser(sandbox, "cut@client.example");
  const confirmed = new Set<string>();
  const failures: number[] = [];
  const closeConnections = "select pg_terminate_backend(pid) from pg_stat_activity where datname like 'test_%'";
  let isWorking = true;
  const work = (async () => {
    for (let next = 0; isWorking; next += 1) {
      const response = await browser.post("/portal/new", { name: `Cut ${next}`, idempotencyKey: crypto.randomUUID() });
      if (response.status === 303) confirmed.add(`Cut ${next}`);
      else failures.push(response.status);
    }
  })();
  // Closes the connections at a random time during the next three requests. `requestMs` is the mean duration of a
  // request.
  const startedAt = performance.now();
  await expect.poll(() => confirmed.size, { timeout: 60_000 }).toBeGreaterThan(2);
  const requestMs = (performance.now() - startedAt) / confirmed.size;
  while (failures.length < 5 || confirmed.size < 10) {
    await setTimeout(3 * requestMs * Math.random());
    await runAsSuperuser(server.url, closeConnections);
  }
  isWorking = false;
  await work;
  expect(new Set(failures)).toEqual(new Set([503]));
  const { data } = await createServiceRoleClient(sandbox.dataDir)
    .from("shipments")
    .select("name, documents (name)")
    .like("name", "Cut %");
  const names = new Set(data?.map(({ name }) => name));
  expect([...confirmed].filter((name) => !names.has(name))).toEqual([]);
  expect(data?.filter(({ documents }) => documents.length !== 4)).toEqual([]);
  expect((await site.stop("SIGTERM")).code).toBe(0);
});
