import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import postgres from "postgres";
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

/** Options of a backend in this process. */
const backendOptions = {
  dataDir: null,
  objectsDir: path.join(tmpdir(), "no-objects"),
  siteUrl: "http://127.0.0.1:3000",
  ...backendKeys,
  deliver: async () => undefined,
  seed: true,
};

let server: Awaited<ReturnType<typeof startPostgres>>;
let url: string;
let sandbox: Awaited<ReturnType<typeof createSiteSandbox>>;
/** The running site, passed on from test to test. */
let site: SiteProcess;
/** A client there, and their shipment. */
let browser: TestBrowser;
let address: string;
beforeAll(async () => {
  server = await startPostgres();
  ({ url } = await createDatabase(server.url));
  sandbox = await createSiteSandbox({ DATABASE_URL: url, WRITES_PER_MINUTE: "100000" }, "new");
});
afterAll(async () => {
  await sandbox.leave();
  server.remove();
});

test("a database that cannot be reached is one line without the password, exit code 1, and nothing is left running", async () => {
  const dead = await freePort();
  const wrong: Record<string, string> = {
    "nobody listens": `postgres://postgres:${server.password}@127.0.0.1:${dead}/postgres`,
    "the password is wrong": `postgres://postgres:not-${server.password}@127.0.0.1:${server.port}/postgres`,
    "there is no such database": `${server.url}/nowhere`,
    "there is no such host": `postgres://postgres:${server.password}@nowhere.invalid/postgres`,
  };
  const words = /^The database of DATABASE_URL cannot be reached: [^\n]+\.$/;
  for (const [why, databaseUrl] of Object.entries(wrong)) {
    const error: Error = await createBackend({ ...backendOptions, databaseUrl }).then(
      () => new Error("it was reached"),
      (error) => error,
    );
    expect(error.message, why).toMatch(words);
    expect(error.message, why).not.toContain(server.password);
  }
  const refused = sandbox.start({ DATABASE_URL: wrong["the password is wrong"] ?? "" });
  expect(await refused.waitForExit()).toBe(1);
  expect(refused.output.trim()).toMatch(words);
  expect(refused.output).not.toContain(server.password);
  expect(sandbox.backendPid()).toBeNull();
});

test("a site on a PostgreSQL server has no demo and lets clients in", async () => {
  site = sandbox.start();
  await site.waitForIntroduction();
  expect(site.output).not.toContain("Demo client");
  expect(site.output).not.toContain(server.password);
  browser = await newLoggedInBrowser(sandbox, "kept@client.example");
  address = await newShipment(browser, "Kept tea", 50_000);
});

test("of two starts on one database the second says so and ends, from whichever folder", async () => {
  const elsewhere = await createSiteSandbox({ DATABASE_URL: url }, "new");
  const second = elsewhere.start();
  expect(await second.waitForExit()).toBe(1);
  expect(second.output.trim()).toBe(
    "The database of DATABASE_URL is in use by another start of this site: end that one first.",
  );
  rmSync(elsewhere.dataDir, { recursive: true });
});

test("a killed site releases the database, and the next one has what clients did there and their session", async () => {
  await site.stop("SIGKILL");
  site = sandbox.start();
  await site.waitUntilReady();
  const page = await parsePage(await browser.get(address));
  expect(page.text).toContain("Kept tea");
  expect(page.text).toContain("Packing List Uploaded, we check it next");
});

test("a limit holds for those who ask at the same moment, each in a session of their own", async () => {
  const sql = postgres(url, { max: 3, onnotice: () => undefined });
  const limits = [{ key: "at once", max_hits: 1, window_seconds: 60 }];
  const take = async (session: postgres.ISql) => {
    const [row] = await session`select public.consume_rate_limit(${sql.json(limits)}) as answer`;
    return row?.answer as object;
  };
  try {
    let second: Promise<object> | undefined;
    await sql.begin(async (first) => {
      expect(await take(first)).toHaveProperty("attempt_id");
      let answered = false;
      second = take(sql).finally(() => {
        answered = true;
      });
      // The second waits for the first transaction to end.
      await expect
        .poll(async () => {
          const waiting = await sql`select from pg_locks where locktype = 'advisory' and not granted`;
          return answered || waiting.length;
        })
        .toBe(1);
    });
    expect(await second).toMatchObject({ exceeded_key: "at once" });
  } finally {
    await sql.end();
  }
});

test("the database's owner need not be a superuser once the roles are there and theirs; without them a line says so", async () => {
  const roles = ["anon", "authenticated", "service_role", "supabase_auth_admin"].join(", ");
  await runAsSuperuser(server.url, "create role owner login password 'p'");
  await runAsSuperuser(server.url, "create database owned owner owner");
  const owned = { ...backendOptions, databaseUrl: `postgres://owner:p@127.0.0.1:${server.port}/owned` };
  await expect(createBackend(owned)).rejects.toThrow(
    /^The database's user may not make the roles it needs \(.+\): let/,
  );
  await runAsSuperuser(server.url, readFileSync("supabase/contract/roles.sql", "utf8"));
  await runAsSuperuser(server.url, `grant ${roles} to owner`);
  const backend = await createBackend(owned);
  const entered = await backend.fetch(
    new Request("http://backend.local/auth/v1/token?grant_type=password", {
      method: "POST",
      headers: { apikey: backendKeys.publishableKey, "content-type": "application/json" },
      body: JSON.stringify(demoCredentials),
    }),
  );
  const { access_token } = (await entered.json()) as { access_token: string };
  for (const [authorization, seen] of [
    [`Bearer ${access_token}`, 4],
    ["", 0],
  ] as const) {
    const headers = { apikey: backendKeys.publishableKey, ...(authorization ? { authorization } : {}) };
    const answer = await backend.fetch(new Request("http://backend.local/rest/v1/shipments?select=id", { headers }));
    const rows: unknown = await answer.json();
    expect(Array.isArray(rows) ? rows.length : 0).toBe(seen);
  }
  await backend.close();
});

test("a database that goes away under a running site is a 503, and nobody is signed out when it is back", async () => {
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

test("sessions that a server cuts while clients work lose nothing that was answered, and bring no other's data", async () => {
  const browser = await newLoggedInBrowser(sandbox, "cut@client.example");
  const opened = new Set<string>();
  const refused: number[] = [];
  let working = true;
  const work = (async () => {
    for (let next = 0; working; next += 1) {
      const answer = await browser.post("/portal/new", { name: `Cut ${next}`, idempotencyKey: crypto.randomUUID() });
      if (answer.status === 303) opened.add(`Cut ${next}`);
      else refused.push(answer.status);
    }
  })();
  // Cuts at a random moment of a request: within three times its measured duration.
  const begun = performance.now();
  await expect.poll(() => opened.size, { timeout: 60_000 }).toBeGreaterThan(2);
  const oneTakes = (performance.now() - begun) / opened.size;
  while (refused.length < 5 || opened.size < 10) {
    await setTimeout(3 * oneTakes * Math.random());
    await runAsSuperuser(
      server.url,
      "select pg_terminate_backend(pid) from pg_stat_activity where datname like 'test_%'",
    );
  }
  working = false;
  await work;
  expect(new Set(refused)).toEqual(new Set([503]));
  const { data } = await createServiceRoleClient(sandbox.dataDir)
    .from("shipments")
    .select("name, documents (name)")
    .like("name", "Cut %");
  const names = new Set(data?.map(({ name }) => name));
  expect([...opened].filter((name) => !names.has(name))).toEqual([]);
  expect(data?.filter(({ documents }) => documents.length !== 4)).toEqual([]);
  expect((await site.stop("SIGTERM")).code).toBe(0);
});
