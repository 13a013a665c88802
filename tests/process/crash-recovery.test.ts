import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLargeUpload } from "../support/large-upload.ts";
import { createServiceRoleClient } from "../support/service-role.ts";
import { isAlive, killProcess, type SiteProcess } from "../support/site-process.ts";
import { createSiteSandbox, demoCredentials } from "../support/site-sandbox.ts";
import { createPdf, type TestBrowser } from "../support/test-app.ts";

/** The number of times that the test kills the site. `npm run test:long` uses more rounds. */
const isLongRun = import.meta.env.MODE === "long";
const rounds = isLongRun ? 21 : 3;

let sandbox: Awaited<ReturnType<typeof createSiteSandbox>>;
let site: SiteProcess;
beforeAll(async () => {
  sandbox = await createSiteSandbox({ WRITES_PER_MINUTE: "100000" });
  site = sandbox.start();
  await site.waitUntilReady();
});
afterAll(() => sandbox.leave());

/** The changes that the site confirmed: names of new shipments, and the file sizes of documents by shipment. */
const acknowledged = { shipments: new Set<string>(), uploads: new Map<string, number>() };

/** Creates shipments and uploads files until a request fails because the site has stopped. */
async function writeRound(browser: TestBrowser, path: string, round: number): Promise<void> {
  const uploading = async (button: string, size: number) => {
    const page = await browser.open(path);
    const response = await browser.submit(page, button, { file: createPdf("file.pdf", size) });
    if (response.status === 303) acknowledged.uploads.set(`${path}|${button}`, size);
  };
  const creating = async () => {
    for (let next = 0; ; next += 1) {
      const name = `Round ${round}, ${next}`;
      const response = await browser.post("/portal/new", { name, idempotencyKey: crypto.randomUUID() });
      if (response.status === 303) acknowledged.shipments.add(name);
    }
  };
  await Promise.allSettled([
    creating(),
    uploading("Upload the Bill of Lading", 3_000_000 + round),
    uploading("Upload the Packing List", 20_000 + round),
  ]);
}

/** Returns every shipment with its documents. Reads pages of 1000 rows, which is the backend's maximum. */
async function listShipmentsWithDocuments() {
  const page = 1000;
  const all = [];
  for (;;) {
    const { data, error } = await createServiceRoleClient(sandbox.dataDir)
      .from("shipments")
      .select("id, name, documents (name, uploaded, storage_path)")
      .order("id")
      .range(all.length, all.length + page - 1);
    if (error) throw error;
    all.push(...data);
    if (data.length < page) return all;
  }
}

test(`A site that is killed ${rounds} times during uploads loses no sessions and no confirmed shipments or files.`, async () => {
  const browser = sandbox.browser();
  await browser.post("/login", demoCredentials);
  for (let round = 0; round < rounds; round += 1) {
    const created = await browser.post("/portal/new", { name: `Upload ${round}`, idempotencyKey: crypto.randomUUID() });
    expect(created.headers.get("Location"), `round ${round}`).toMatch(/^\/portal\/[0-9a-f-]{36}$/);
    acknowledged.shipments.add(`Upload ${round}`);
    // Rounds 0, 3, … kill the backend and the site. Rounds 1, 4, … kill the site during a resumable upload. Rounds
    // 2, 5, … kill the site while it assembles the file from the chunks.
    const killsSiteOnly = round % 3 > 0;
    const large = killsSiteOnly ? await createLargeUpload(sandbox, browser, `Large ${round}`) : null;
    const isHalfSent = round % 3 === 1;
    const sending = isHalfSent ? await large?.sendHalf() : null;
    if (!isHalfSent) await large?.send(0);
    const before = acknowledged.uploads.size;
    const writing = writeRound(browser, created.headers.get("Location") ?? "", round);
    await setTimeout(20 + Math.random() * 800);
    // Every third round waits for a confirmed upload, because a slow machine might otherwise confirm no upload at all.
    if (round % 3 === 0) {
      await expect.poll(() => acknowledged.uploads.size, { timeout: 30_000 }).toBeGreaterThan(before);
    }

    const backend = sandbox.backendPid() ?? 0;
    const finishing = isHalfSent ? null : large?.finish().catch(() => undefined);
    if (finishing) await setTimeout(60 * Math.random());
    if (!killsSiteOnly) killProcess(backend);
    await site.stop("SIGKILL");
    sending?.destroy();
    await Promise.all([writing, finishing]);
    site = sandbox.start();
    await site.waitUntilReady();

    if (isHalfSent) await large?.expectContinues();
    if (large) {
      const result = await large.finish();
      expect(result, `round ${round}`).toMatchObject({ status: 200, toast: { title: "Packing List uploaded" } });
      await large.expectWhole();
    }
  }

  const data = await listShipmentsWithDocuments();
  const names = new Set(data.map(({ name }) => name));
  expect(acknowledged.shipments.size).toBeGreaterThan(rounds);
  expect([...acknowledged.shipments].filter((name) => !names.has(name))).toEqual([]);
  expect(data.filter(({ documents }) => documents.length !== 4)).toEqual([]);

  const uploaded = data.flatMap(({ id, documents }) => documents.map((document) => ({ id, ...document })));
  const sizes = new Map<string, number>();
  for (const { id, name, storage_path } of uploaded.filter((document) => document.uploaded)) {
    const file = await createServiceRoleClient(sandbox.dataDir)
      .storage.from("documents")
      .download(storage_path ?? "");
    expect(file.error, `${name} of ${id}`).toBeNull();
    sizes.set(`/portal/${id}|Upload the ${name}`, file.data?.size ?? -1);
  }
  expect(acknowledged.uploads.size).toBeGreaterThanOrEqual(rounds / 3);
  for (const [upload, size] of acknowledged.uploads) expect(sizes.get(upload), upload).toBe(size);
});

test("After the backend is killed, the site restarts the backend and reports status 503 until the backend is ready.", async () => {
  const browser = sandbox.browser();
  await browser.post("/login", demoCredentials);
  killProcess(sandbox.backendPid());
  // The cached result of /readyz expires after one second, and the restart of the backend takes longer.
  await expect.poll(async () => (await browser.get("/readyz")).text()).toBe("the backend does not respond\n");
  expect((await browser.get("/")).status).toBe(200);
  // The site repeats failed reads for some time, so the page may load successfully from the restarted backend.
  expect([200, 503]).toContain((await browser.get("/portal")).status);
  await expect.poll(async () => (await browser.get("/portal")).status, { timeout: 30_000 }).toBe(200);
  expect(site.jsonLines.map(({ event }) => event)).toContain("backend ended");
});

test("After a site is killed, its backend stops.", async () => {
  const backend = sandbox.backendPid();
  expect(isAlive(backend)).toBe(true);
  killProcess(site.child.pid ?? null);
  await expect.poll(() => [site.child.pid, backend].map(isAlive)).toEqual([false, false]);
});

test.each(isLongRun ? [900, 1500, 2500, 4000] : [1500 + 2000 * Math.random()])(
  "A site can start after its first start was killed after %i ms.",
  async (ms) => {
    const newSandbox = await createSiteSandbox({}, "new");
    const first = newSandbox.start();
    await setTimeout(ms);
    await first.stop("SIGKILL");
    const second = newSandbox.start();
    await second.waitUntilReady();
    const browser = newSandbox.browser();
    expect((await browser.post("/login", demoCredentials)).headers.get("Location")).toBe("/portal");
    await second.stop("SIGTERM");
    await newSandbox.leave();
  },
);
