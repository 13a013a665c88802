import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, renameSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createServiceRoleClient } from "../support/service-role.ts";
import type { SiteProcess } from "../support/site-process.ts";
import { createSiteSandbox, demoCredentials } from "../support/site-sandbox.ts";
import { createPdf, parsePage, type TestBrowser } from "../support/test-app.ts";

let sandbox: Awaited<ReturnType<typeof createSiteSandbox>>;
let site: SiteProcess;
let browser: TestBrowser;
/** Unmounts the small disk. Null if the current user cannot mount disks. */
let unmount: (() => void) | null;
beforeAll(async () => {
  sandbox = await createSiteSandbox({ WRITES_PER_MINUTE: "100000" });
  unmount = mountSmallDisk(sandbox.dataDir, 300);
  site = sandbox.start();
  await site.waitUntilReady();
  browser = sandbox.browser();
  await browser.post("/login", demoCredentials);
});
afterAll(async () => {
  await site.stop("SIGKILL");
  unmount?.();
  await sandbox.leave();
});

const postShipment = (name: string) => browser.post("/portal/new", { name, idempotencyKey: crypto.randomUUID() });

/**
 * Mounts a disk of `size` MiB at a folder and copies the folder's files to the disk. Returns a function that unmounts
 * the disk, or null if the current user cannot mount disks.
 */
function mountSmallDisk(folder: string, size: number): (() => void) | null {
  const copy = `${folder}.copy`;
  mkdirSync(folder, { recursive: true });
  cpSync(folder, copy, { recursive: true });
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}m`, "tmpfs", folder], { stdio: "ignore" });
  } catch {
    rmSync(copy, { recursive: true });
    return null;
  }
  cpSync(copy, folder, { recursive: true });
  rmSync(copy, { recursive: true });
  return () => {
    execFileSync("umount", [folder]);
    rmSync(folder, { recursive: true });
  };
}

/** Fills the disk of a folder except for `freeBytes` bytes. Returns a function that frees the space again. */
function fillDisk(folder: string, freeBytes: number): () => void {
  const { bavail, bsize } = statfsSync(folder);
  const file = path.join(folder, "filler");
  writeFileSync(file, new Uint8Array(bavail * bsize - freeBytes));
  return () => rmSync(file);
}

/**
 * Makes writes to the folder `objects` fail. Fills a disk that is mounted at the folder, or replaces the folder with a
 * file if mounting is not possible. Returns a function that makes writes possible again.
 */
function makeDiskFull(objects: string): () => void {
  const unmount = mountSmallDisk(objects, 1);
  if (unmount) {
    onTestFinished(unmount);
    return fillDisk(objects, 16_384);
  }
  renameSync(objects, `${objects}.away`);
  writeFileSync(objects, "");
  return () => {
    rmSync(objects);
    renameSync(`${objects}.away`, objects);
  };
}

// The database test needs a mounted disk.
const probe = mountSmallDisk(path.join(tmpdir(), `probe-${process.pid}`), 1);
probe?.();
if (probe) {
  test("On a full disk, a client who creates a shipment sees an error in a toast, and no confirmed shipment is lost.", async () => {
    const release = fillDisk(sandbox.dataDir, 300_000);
    const acknowledged: string[] = [];
    let failedPage = null;
    for (let next = 0; next < 500 && !failedPage; next += 1) {
      const response = await postShipment(`Crate ${next}, ${"x".repeat(100)}`);
      if (response.status === 303) acknowledged.push(response.headers.get("Location") ?? "");
      else failedPage = await parsePage(response);
      // The new Client IDs use up the space that the database has reserved for its write-ahead log.
      await createServiceRoleClient(sandbox.dataDir).rpc("issue_client_ids", { how_many: 1000 });
    }
    expect([502, 503]).toContain(failedPage?.status);
    expect(failedPage?.toasts.at(-1)?.title).toBe("Failed to create shipment");
    expect((await browser.get("/")).status).toBe(200);
    release();
    await expect.poll(async () => (await postShipment("Space again")).status, { timeout: 30_000 }).toBe(303);
    expect(acknowledged.length).toBeGreaterThan(0);
    for (const address of [acknowledged[0], acknowledged.at(-1)]) {
      expect((await browser.get(address ?? "")).status, address).toBe(200);
    }
  });
}

test("On a full disk, a client who uploads a file sees an error in a toast. The upload succeeds when the disk has space.", async () => {
  const address = (await postShipment("Full")).headers.get("Location") ?? "";
  const free = makeDiskFull(path.join(sandbox.dataDir, "objects"));
  const button = "Upload the Packing List";
  const full = await parsePage(
    await browser.submit(await browser.open(address), button, { file: createPdf("list.pdf", 400_000) }),
  );
  expect([502, 503]).toContain(full.status);
  expect(full.toasts.at(-1)?.title).toBe("Upload failed");
  expect(full.text).toContain("Packing List Not uploaded");
  free();
  const done = await browser.follow(await browser.submit(full, button, { file: createPdf("list.pdf", 400_000) }));
  expect(done.text).toContain("Packing List Uploaded. We are checking your file");
  expect((await site.stop("SIGTERM")).code).toBe(0);
});
