import process from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLargeUpload, largeFileSize } from "../support/large-upload.ts";
import { createServiceRoleClient } from "../support/service-role.ts";
import { startSiteCluster } from "../support/site-cluster.ts";
import { createSiteSandbox, demoCredentials } from "../support/site-sandbox.ts";
import { origin } from "../support/test-app.ts";

let sandbox: Awaited<ReturnType<typeof createSiteSandbox>>;
let site: Awaited<ReturnType<typeof startSiteCluster>>;
beforeAll(async () => {
  sandbox = await createSiteSandbox();
  const environment = { APP_ORIGIN: origin, TRUSTED_PROXIES: "127.0.0.1", WRITES_PER_MINUTE: "100000" };
  site = await startSiteCluster(3, { ...sandbox, environment });
});
afterAll(async () => {
  await site.close();
  await sandbox.leave();
});

async function listShipmentsLike(pattern: string) {
  const { data, error } = await createServiceRoleClient(sandbox.dataDir)
    .from("shipments")
    .select("name")
    .like("name", pattern);
  if (error) throw error;
  return data.map(({ name }) => name);
}

test("Each process of a site understands the cookies for session, toast and theme of the other processes.", async () => {
  const client = sandbox.browser();
  const before = [...site.given];
  expect((await client.post("/login", demoCredentials)).headers.get("Location")).toBe("/portal");
  const welcome = await client.open("/portal");
  expect(welcome.toasts.map(({ title }) => title)).toContain("Login Successful");
  await client.post("/actions/theme", { theme: "light" });
  for (let request = 0; request < 3; request += 1) {
    const page = await client.open("/portal");
    expect(page.status).toBe(200);
    expect(page.all("html")[0]?.getAttribute("class")).toBe("light");
  }
  expect(site.given.map((count, at) => count - (before[at] ?? 0)).every((count) => count >= 2)).toBe(true);
});

test("All processes of a site serve the same public pages with the same ETags.", async () => {
  const services = (...headers: string[]) =>
    sandbox.raw(["GET /services HTTP/1.1", "Host: x", "Connection: close", ...headers, "\r\n"].join("\r\n"));
  const etags = [];
  for (let request = 0; request < 3; request += 1) etags.push(/etag: (.*)/i.exec(await services())?.[1]);
  expect(new Set(etags)).toEqual(new Set([expect.stringMatching(/^"/)]));
  for (let request = 0; request < 3; request += 1) {
    expect(await services(`If-None-Match: ${etags[0]}`)).toMatch(/^HTTP\/1.1 304/);
  }
});

test("All processes of a site share one rate limit, even for fifty parallel logins.", async () => {
  const client = sandbox.browser();
  const wrong = { email: "nobody@client.example", password: "not the password" };
  const statuses = await Promise.all(
    Array.from({ length: 50 }, async () => (await client.post("/login", wrong)).status),
  );
  expect(statuses.filter((status) => status === 400)).toHaveLength(5);
  expect(statuses.filter((status) => status === 429)).toHaveLength(45);
});

test("Sending the form for a new shipment ten times to different processes creates one shipment.", async () => {
  const client = sandbox.browser();
  await client.post("/login", demoCredentials);
  const form = { name: "Once only", idempotencyKey: crypto.randomUUID() };
  const responses = await Promise.all(Array.from({ length: 10 }, () => client.post("/portal/new", form)));
  expect(new Set(responses.map(({ headers }) => headers.get("Location"))).size).toBe(1);
  expect(await listShipmentsLike("Once only")).toHaveLength(1);
});

test("A client can upload the chunks of a file from two tabs to several processes, and the file is stored once.", async () => {
  const client = sandbox.browser();
  await client.post("/login", demoCredentials);
  const tab = await createLargeUpload(sandbox, client, "Several");
  const second = await tab.openInSecondTab();
  for (let at = 0; at < 600_000; at += 300_000) {
    expect(await tab.send(at, at + 300_000)).toMatchObject({ status: 200, storedBytes: at + 300_000 });
    expect((await second.ask()).storedBytes).toBe(at + 300_000);
  }
  const both = await Promise.all([tab.send(600_000), second.send(600_000, 1_000_001)]);
  expect(both.map(({ status }) => status).every((status) => status === 200 || status === 409)).toBe(true);
  const stored = (await tab.ask()).storedBytes ?? 0;
  if (stored < largeFileSize) await tab.send(stored);
  const results = await Promise.all([tab.finish(), second.finish(), tab.finish()]);
  expect(results).toMatchObject(Array(3).fill({ status: 200, toast: { title: "Packing List uploaded" } }));
  await tab.expectWhole();
  const documents = createServiceRoleClient(sandbox.dataDir).from("documents").select("id");
  expect((await documents.eq("id", tab.document).eq("uploaded", true)).data).toHaveLength(1);
});

test("After one process is killed, the other processes continue, and clients lose no confirmed shipment.", async () => {
  const acknowledged: string[] = [];
  let failuresAfterKill = 0;
  let isOver = false;
  let isKilled = false;
  const writing = Array.from({ length: 3 }, async (_, writer) => {
    const client = sandbox.browser();
    await client.post("/login", demoCredentials);
    for (let next = 0; !isOver; next += 1) {
      const name = `Load ${writer}, ${next}`;
      const isAfterKill = isKilled;
      const response = await client.post("/portal/new", { name, idempotencyKey: crypto.randomUUID() });
      if (response.status === 303) acknowledged.push(name);
      else if (isAfterKill) failuresAfterKill += 1;
    }
  });
  await expect.poll(() => acknowledged.length, { timeout: 60_000 }).toBeGreaterThan(10);
  const victim = site.processes[1]?.pid;
  if (!victim) throw new Error("no process to kill");
  process.kill(victim, "SIGKILL");
  await expect.poll(() => site.processes[1]?.signalCode, { interval: 5 }).toBe("SIGKILL");
  isKilled = true;
  const countAtKill = acknowledged.length;
  await expect.poll(() => acknowledged.length, { timeout: 60_000 }).toBeGreaterThan(countAtKill + 10);
  isOver = true;
  await Promise.all(writing);
  expect(failuresAfterKill).toBe(0);
  const stored = new Set(await listShipmentsLike("Load %"));
  expect(acknowledged.filter((name) => !stored.has(name))).toEqual([]);
});
