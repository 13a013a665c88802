import { request } from "node:http";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { companyOf } from "../support/company.ts";
import { partsOf, unevenPdf } from "../support/parts.ts";
import { aPlace, demo } from "../support/place.ts";
import { type Browser, origin } from "../support/routes.ts";
import { severalProcesses } from "../support/several-processes.ts";
import type { SiteProcess } from "../support/site-process.ts";

const size = 1_500_000;
const piece = 256 * 1024;

let place: Awaited<ReturnType<typeof aPlace>>;
let site: SiteProcess;
beforeAll(async () => {
  place = await aPlace({ WRITES_PER_MINUTE: "100000" });
  site = place.start();
  await site.answers();
});
afterAll(() => place.leave());

/** A new shipment, and the upload of a large file for its packing list. */
async function anUpload(browser: Browser, name: string, of = place) {
  await browser.post("/login", demo);
  const made = await browser.post("/portal/new", { name, requestId: crypto.randomUUID() });
  const path = made.headers.get("Location") ?? "";
  const { data, error } = await companyOf(of.dataDir)
    .from("documents")
    .select("id")
    .eq("shipment_id", path.replace("/portal/", ""))
    .eq("name", "Packing List")
    .single();
  if (error) throw error;
  const upload = await partsOf(browser, path, data.id, unevenPdf("list.pdf", size));
  return { upload, path, document: data.id, browser };
}
type Upload = Awaited<ReturnType<typeof anUpload>>;

/** Begins to send the file to the site, and stops in the middle without ending the request. */
function sendHalf({ upload, path, browser }: Upload, from: number, to: number) {
  const sending = request({
    port: place.port,
    method: "POST",
    path: `${path}/documents/parts`,
    headers: {
      Upload: upload.about({ from: String(from) }),
      Cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; "),
      Origin: origin,
      "Content-Type": "application/octet-stream",
      "Content-Length": size - from,
    },
  });
  sending.on("error", () => undefined);
  sending.write(upload.content.slice(from, to));
  return sending;
}

/** What is opened as the document is the file, and nothing is left of its parts. */
async function expectWhole({ upload, path, document, browser }: Upload, of = place) {
  const opened = await browser.get(`${path}/documents/${document}`);
  expect(Buffer.from(await opened.arrayBuffer()).equals(Buffer.from(upload.content))).toBe(true);
  expect((await companyOf(of.dataDir).rpc("kept_parts")).data).toEqual([]);
}

test.each([
  ["is killed between two parts", "SIGKILL"],
  ["is updated in the middle", "SIGTERM"],
] as const)("a file goes on when the site %s, and nothing is half a document", async (_what, signal) => {
  const upload = await anUpload(place.browser(), `Upload, ${signal}`);
  const sending = sendHalf(upload, 0, 900_000);
  await expect.poll(async () => (await upload.upload.ask()).there).toBeGreaterThanOrEqual(900_000 - piece);
  await site.end(signal);
  sending.destroy();
  site = place.start();
  await site.answers();
  const { there = 0 } = await upload.upload.ask();
  expect(there).toBeGreaterThanOrEqual(900_000 - piece);
  const { data } = await companyOf(place.dataDir)
    .from("documents")
    .select("uploaded, storage_path")
    .eq("id", upload.document)
    .single();
  expect(data).toEqual({ uploaded: false, storage_path: null });
  expect(await upload.upload.send(there)).toMatchObject({ status: 200, there: size });
  expect(await upload.upload.finish()).toMatchObject({ status: 200, toast: { title: "Packing List uploaded" } });
  await expectWhole(upload);
});

test("a site that is killed while it puts a file together has it, or puts it together again", async () => {
  const upload = await anUpload(place.browser(), "Killed at the end");
  await upload.upload.send(0);
  const finishing = upload.upload.finish().catch(() => undefined);
  await setTimeout(60 * Math.random());
  await site.end("SIGKILL");
  await finishing;
  site = place.start();
  await site.answers();
  expect(await upload.upload.finish()).toMatchObject({ status: 200, toast: { title: "Packing List uploaded" } });
  await expectWhole(upload);
});

test("several processes take one file part by part, from two tabs at once, and it is one document", async () => {
  const other = await aPlace();
  const environment = { APP_ORIGIN: origin, TRUSTED_PROXIES: "127.0.0.1", WRITES_PER_MINUTE: "100000" };
  const sites = await severalProcesses(3, { ...other, environment });
  try {
    const upload = await anUpload(other.browser(), "Several", other);
    const { upload: tab, browser, path, document } = upload;
    const second = await partsOf(browser, path, document, unevenPdf("list.pdf", size));
    for (let at = 0; at < 600_000; at += 300_000) {
      expect(await tab.send(at, at + 300_000)).toMatchObject({ status: 200, there: at + 300_000 });
      expect((await second.ask()).there).toBe(at + 300_000);
    }
    const both = await Promise.all([tab.send(600_000), second.send(600_000, 1_000_001)]);
    expect(both.map(({ status }) => status).every((status) => status === 200 || status === 409)).toBe(true);
    const left = (await tab.ask()).there ?? 0;
    if (left < size) await tab.send(left);
    const ends = await Promise.all([tab.finish(), second.finish(), tab.finish()]);
    expect(ends).toMatchObject(ends.map(() => ({ status: 200, toast: { title: "Packing List uploaded" } })));
    await expectWhole(upload, other);
    const stored = await companyOf(other.dataDir)
      .from("documents")
      .select("id")
      .eq("id", document)
      .eq("uploaded", true);
    expect(stored.data).toHaveLength(1);
  } finally {
    await sites.close();
    await other.leave();
  }
});
