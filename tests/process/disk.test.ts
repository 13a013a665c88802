import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, renameSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { companyOf } from "../support/company.ts";
import { aPlace, demo } from "../support/place.ts";
import { type Browser, pdf, read } from "../support/routes.ts";
import type { SiteProcess } from "../support/site-process.ts";

let place: Awaited<ReturnType<typeof aPlace>>;
let site: SiteProcess;
let browser: Browser;
/** Null where this user may not mount. */
let unmount: (() => void) | null;
beforeAll(async () => {
  place = await aPlace({ WRITES_PER_MINUTE: "100000" });
  unmount = smallDisk(place.dataDir, 300);
  site = place.start();
  await site.answers();
  browser = place.browser();
  await browser.post("/login", demo);
});
afterAll(async () => {
  await site.end("SIGKILL");
  unmount?.();
  await place.leave();
});

const create = (name: string) => browser.post("/portal/new", { name, requestId: crypto.randomUUID() });

/** Mounts `size` MiB over a folder and keeps its files. Returns how to unmount; null if this user may not mount. */
function smallDisk(folder: string, size: number): (() => void) | null {
  const away = `${folder}.away`;
  mkdirSync(folder, { recursive: true });
  cpSync(folder, away, { recursive: true });
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}m`, "tmpfs", folder], { stdio: "ignore" });
  } catch {
    rmSync(away, { recursive: true });
    return null;
  }
  cpSync(away, folder, { recursive: true });
  rmSync(away, { recursive: true });
  return () => {
    execFileSync("umount", [folder]);
    rmSync(folder, { recursive: true });
  };
}

/** Fills a disk up to `but` free bytes. Returns a function that frees the space. */
function fill(folder: string, but: number): () => void {
  const { bavail, bsize } = statfsSync(folder);
  const file = path.join(folder, "filler");
  writeFileSync(file, new Uint8Array(bavail * bsize - but));
  return () => rmSync(file);
}

/** Makes writes to the folder of stored files fail: on a full disk or, without the right to mount, as a file. */
function fullFor(objects: string): () => void {
  const unmount = smallDisk(objects, 1);
  if (unmount) {
    onTestFinished(unmount);
    return fill(objects, 16_384);
  }
  renameSync(objects, `${objects}.away`);
  writeFileSync(objects, "");
  return () => {
    rmSync(objects);
    renameSync(`${objects}.away`, objects);
  };
}

// A full disk under a database cannot be simulated: without the right to mount, this test is left out.
const probe = smallDisk(path.join(tmpdir(), `probe-${process.pid}`), 1);
probe?.();
if (probe) {
  test("a disk without room for the database answers with the toast, and what was acknowledged is there afterwards", async () => {
    const release = fill(place.dataDir, 300_000);
    const acknowledged: string[] = [];
    let refused = null;
    for (let next = 0; next < 500 && !refused; next += 1) {
      const answer = await create(`Crate ${next}, ${"x".repeat(100)}`);
      if (answer.status === 303) acknowledged.push(answer.headers.get("Location") ?? "");
      else refused = await read(answer);
      // Uses up sooner the space that the database has reserved for its write-ahead log.
      await companyOf(place.dataDir).rpc("issue_client_ids", { how_many: 1000 });
    }
    expect([502, 503]).toContain(refused?.status);
    expect(refused?.toasts.at(-1)?.title).toBe("Failed to create shipment");
    expect((await browser.get("/")).status).toBe(200);
    release();
    await expect.poll(async () => (await create("Room again")).status, { timeout: 30_000 }).toBe(303);
    expect(acknowledged.length).toBeGreaterThan(0);
    for (const address of [acknowledged[0], acknowledged.at(-1)]) {
      expect((await browser.get(address ?? "")).status, address).toBe(200);
    }
  });
}

test("a disk without room for a file refuses it with its toast, keeps what is there, and takes it when there is room", async () => {
  const address = (await create("Full")).headers.get("Location") ?? "";
  const free = fullFor(path.join(place.dataDir, "objects"));
  const button = "Upload the Packing List";
  const full = await read(await browser.press(await browser.open(address), button, { file: pdf("list.pdf", 400_000) }));
  expect([502, 503]).toContain(full.status);
  expect(full.toasts.at(-1)?.title).toBe("Upload failed");
  expect(full.text).toContain("Packing List Not uploaded");
  free();
  const done = await browser.follow(await browser.press(full, button, { file: pdf("list.pdf", 400_000) }));
  expect(done.text).toContain("Packing List Uploaded, we check it next");
  expect((await site.end("SIGTERM")).code).toBe(0);
});
