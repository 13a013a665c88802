import { randomBytes } from "node:crypto";
import type { CDPSession, Page } from "@playwright/test";
import { PNG } from "pngjs";
import { companyBackend } from "../../app/lib/supabase.server.ts";
import { runningAccess } from "../../app/server/embedded.ts";
import { demo, samplePdf } from "../../app/server/start/demo.ts";
import { type BreakingLine, breakingLine } from "../support/breaking-line.ts";
import { test as base, createShipment, expect, logIn, toast } from "../support/fixtures.ts";

const test = base.extend<{ way: BreakingLine }>({
  expectedErrors: /net::ERR_|status of 409/,
  way: async ({ baseURL }, use) => {
    const way = await breakingLine(baseURL ?? "");
    await use(way);
    await way.close();
  },
  proxy: ({ way }, use) => use({ server: way.url, bypass: "<-loopback>" }),
});

/** As fast as the machine. */
const fast = -1;
let shipment: string;
let session: CDPSession | null;
test.beforeEach(async ({ page }) => {
  session = null;
  await logIn(page, demo);
  shipment = await createShipment(page, "Coffee to Kigali");
  // The pending bar, the toast of the creation: everything script brings is there.
  await page.waitForLoadState("networkidle");
});

const row = (page: Page, name: string) => page.locator("main").getByRole("listitem").filter({ hasText: name });
const field = (page: Page, name: string) => page.getByLabel(`File for the ${name}`);
const upload = (page: Page, name: string) => page.getByRole("button", { name: `Upload the ${name}` });
const again = (page: Page, name: string) => page.getByRole("button", { name: `Try again with the ${name}` });

/** A PDF of so many bytes. */
function pdf(name: string, size: number) {
  const start = samplePdf("Sample");
  return { name, mimeType: "application/pdf", buffer: Buffer.concat([Buffer.from(start), Buffer.alloc(size)], size) };
}

/** A photo of so many pixels a side whose bytes nothing can compress but a loss: about 3 bytes a pixel. */
function photo(name: string, side: number) {
  const picture = new PNG({ width: side, height: side, colorType: 2 });
  randomBytes(picture.data.length).copy(picture.data);
  // Soft like a real photo: an uneven surface under even light, with the noise of a cheap sensor.
  for (let i = 0; i < picture.data.length; i += 1) picture.data[i] = 100 + ((picture.data[i] ?? 0) >> 3);
  return { name, mimeType: "image/png", buffer: PNG.sync.write(picture, { colorType: 2, deflateLevel: 1 }) };
}

/** How fast the browser sends from now on, in bytes a second. */
async function line(page: Page, uploadThroughput: number): Promise<void> {
  session ??= await page.context().newCDPSession(page);
  const conditions = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput };
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", conditions);
}

/** The names of the files the backend keeps for the shipment, without what is their attempt's own. */
async function stored(dataDir: string): Promise<string[]> {
  const access = runningAccess(dataDir);
  if (!access) throw new Error("No backend is running");
  const company = companyBackend(access);
  const owner = await company.from("shipments").select("user_id").eq("id", shipment).single();
  const { data, error } = await company.storage.from("documents").list(`${owner.data?.user_id}/${shipment}`);
  if (error) throw error;
  // The embedded backend names them by their whole path.
  return data
    .map(
      ({ name }) =>
        name
          .split("/")
          .at(-1)
          ?.replace(/-[0-9a-f]{12}-/, "-") ?? "",
    )
    .sort();
}

test("an upload shows the bytes that have gone, then what became of it, without another page", async ({
  page,
  dataDir,
}) => {
  await page.evaluate(() => Object.assign(window, { same: true }));
  await line(page, 400_000);
  await field(page, "Packing List").setInputFiles(pdf("list.pdf", 1_200_000));
  await upload(page, "Packing List").click();

  const progress = page.getByRole("progressbar", { name: "Packing List: sent" });
  await expect(progress).toHaveAttribute("max", "1200000");
  await expect(row(page, "Packing List")).toContainText(/\d+ KB of 1\.1 MB/);
  const sent = async () => Number(await progress.getAttribute("value"));
  await expect.poll(sent).toBeGreaterThan(50_000);
  const first = await sent();
  expect(first).toBeLessThan(1_200_000);
  await expect.poll(sent).toBeGreaterThan(first);
  await expect(page.getByRole("button", { name: "Cancel the upload of the Packing List" })).toBeFocused();

  await expect(toast(page, "Packing List uploaded")).toBeVisible();
  await expect(row(page, "Packing List")).toContainText("Uploaded, we check it next");
  await expect(upload(page, "Packing List")).toHaveCount(0);
  await expect(row(page, "Packing List").getByText("Packing List", { exact: true })).toBeFocused();
  expect(await page.evaluate(() => "same" in window)).toBe(true);
  expect(await stored(dataDir)).toEqual(["packing-list-list.pdf"]);
});

test("a cancelled upload stores nothing and keeps its file", async ({ page, dataDir }) => {
  await line(page, 15_000);
  await field(page, "Packing List").setInputFiles(pdf("list.pdf", 1_000_000));
  await upload(page, "Packing List").click();
  await expect(row(page, "Packing List")).toContainText(/[1-9]\d* KB of 977 KB/);
  await page.getByRole("button", { name: "Cancel the upload of the Packing List" }).click();
  await expect(upload(page, "Packing List")).toBeFocused();
  await expect(toast(page, "Upload failed")).toHaveCount(0);
  expect(await stored(dataDir)).toEqual([]);

  await line(page, fast);
  await upload(page, "Packing List").click();
  await expect(toast(page, "Packing List uploaded")).toBeVisible();
  expect(await stored(dataDir)).toEqual(["packing-list-list.pdf"]);
});

test("where the code that shows the progress did not come, the file is sent all the same", async ({
  page,
  dataDir,
}) => {
  await page.route("**/assets/sending-*.js", (route) => route.abort());
  await page.reload();
  await page.waitForLoadState("networkidle");
  await line(page, 15_000);
  await field(page, "Packing List").setInputFiles(pdf("list.pdf", 20_000));
  await upload(page, "Packing List").click();
  await expect(row(page, "Packing List")).toContainText("Uploading…");
  await expect(toast(page, "Packing List uploaded")).toBeVisible();
  expect(await stored(dataDir)).toEqual(["packing-list-list.pdf"]);
});

test("a lost connection is said, and the same file is sent again and stored once", async ({ page, way, dataDir }) => {
  await line(page, 15_000);
  await field(page, "Bill of Lading").setInputFiles(pdf("bill.pdf", 900_000));
  await upload(page, "Bill of Lading").click();
  await expect(row(page, "Bill of Lading")).toContainText(/[1-9]\d* KB of/);
  way.cut();
  const words = "The connection was lost. Your file is still here. Try again.";
  await expect(toast(page, words)).toBeVisible();
  await expect(field(page, "Bill of Lading")).toHaveAccessibleDescription(words);
  await expect(again(page, "Bill of Lading")).toBeFocused();

  await again(page, "Bill of Lading").click();
  await expect(field(page, "Bill of Lading")).toHaveAccessibleDescription(words);

  way.mend();
  await line(page, fast);
  await again(page, "Bill of Lading").click();
  await expect(toast(page, "Bill of Lading uploaded")).toBeVisible();
  await expect(row(page, "Bill of Lading")).toContainText("Uploaded, we check it next");
  expect(await stored(dataDir)).toEqual(["bill-of-lading-bill.pdf"]);
});

test("an answer that was lost on its way back stores the file once, and the row finds out", async ({
  page,
  dataDir,
  way,
}) => {
  way.loseAnswers();
  await field(page, "Bill of Lading").setInputFiles(pdf("bill.pdf", 9000));
  await upload(page, "Bill of Lading").click();
  await expect(again(page, "Bill of Lading")).toBeVisible();
  way.mend();
  await again(page, "Bill of Lading").click();
  await expect(row(page, "Bill of Lading")).toContainText("Uploaded, we check it next");
  expect(await stored(dataDir)).toEqual(["bill-of-lading-bill.pdf"]);
});

test("what the server refuses is said in its words, in the row and in the toast", async ({ page }) => {
  const words = "The content of this file is not what its ending .pdf says. Choose another one.";
  await field(page, "Packing List").setInputFiles({ ...pdf("list.pdf", 500), buffer: Buffer.from("<h1>Hello</h1>") });
  await upload(page, "Packing List").click();
  await expect(toast(page, words)).toBeVisible();
  await expect(field(page, "Packing List")).toHaveAccessibleDescription(words);
  await expect(upload(page, "Packing List")).toBeFocused();
  await field(page, "Packing List").setInputFiles(pdf("list.pdf", 2000));
  await expect(field(page, "Packing List")).toHaveAccessibleDescription("");
  await upload(page, "Packing List").click();
  await expect(toast(page, "Packing List uploaded")).toBeVisible();
});

for (const { what, file, words } of [
  { what: "over 10 MB", file: pdf("scan.pdf", 11 * 1024 * 1024), words: "This file is over 10 MB." },
  { what: "of a kind we do not take", file: { ...pdf("a.exe", 100), name: "setup.exe" }, words: "We take PDF, photo" },
  { what: "without content", file: pdf("empty.pdf", 0), words: "This file is empty." },
]) {
  test(`a file ${what} is told before anything is sent`, async ({ page }) => {
    const posts: string[] = [];
    page.on("request", (request) => request.method() === "POST" && posts.push(request.url()));
    await field(page, "Packing List").setInputFiles(file);
    await expect(toast(page, words)).toBeVisible();
    await expect(field(page, "Packing List")).toHaveAccessibleDescription(new RegExp(words));
    await upload(page, "Packing List").click();
    await expect(toast(page, words)).toBeVisible();
    expect(posts).toEqual([]);
  });
}

test("a file dropped on the row of a document is in its field, and Upload sends it", async ({ page, dataDir }) => {
  const dropped = await page.evaluateHandle((content) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([content], "dropped.pdf", { type: "application/pdf" }));
    return transfer;
  }, samplePdf("Sample"));
  const target = row(page, "Insurance Certificate");
  await target.dispatchEvent("dragover", { dataTransfer: dropped });
  await expect(target).toHaveCSS("outline-style", "dashed");
  await target.dispatchEvent("drop", { dataTransfer: dropped });
  await expect(target).not.toHaveCSS("outline-style", "dashed");
  await expect(field(page, "Insurance Certificate")).toHaveValue(/dropped\.pdf$/);
  await upload(page, "Insurance Certificate").click();
  await expect(toast(page, "Insurance Certificate uploaded")).toBeVisible();
  expect(await stored(dataDir)).toEqual(["insurance-certificate-dropped.pdf"]);
});

test("two files dropped on one row are not taken, and the toast says why", async ({ page }) => {
  const dropped = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    for (const name of ["one.pdf", "two.pdf"]) transfer.items.add(new File(["x"], name));
    return transfer;
  });
  await row(page, "Insurance Certificate").dispatchEvent("drop", { dataTransfer: dropped });
  await expect(toast(page, "One file for each document")).toBeVisible();
  await expect(field(page, "Insurance Certificate")).toHaveValue("");
});

test("a file dropped beside the rows does not lead away from the page", async ({ page }) => {
  const isStopped = await page.evaluate(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["x"], "beside.pdf"));
    const drop = new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true });
    return !document.querySelector("h1")?.dispatchEvent(drop);
  });
  expect(isStopped).toBe(true);
});

test("a photo over 2 MB is made smaller before it is sent, and says by how much", async ({ page, dataDir }) => {
  const large = photo("IMG 2041.PNG", 2600);
  expect(large.buffer.length).toBeGreaterThan(2 * 1024 * 1024);
  const sizes: number[] = [];
  page.on("request", async (request) => {
    if (request.method() === "POST") sizes.push(Number((await request.allHeaders())["content-length"]));
  });
  await field(page, "Packing List").setInputFiles(large);
  await expect(row(page, "Packing List")).toContainText(/\d+\.\d MB photo, (\d+ KB|\d\.\d MB) after shrinking/);
  await upload(page, "Packing List").click();
  await expect(toast(page, "Packing List uploaded")).toBeVisible();
  expect(await stored(dataDir)).toEqual(["packing-list-img-2041.jpg"]);
  expect(sizes).toHaveLength(1);
  expect(sizes[0]).toBeLessThan(large.buffer.length / 2);
});

test("a photo can be sent as it is all the same", async ({ page, dataDir }) => {
  await field(page, "Packing List").setInputFiles(photo("photo.png", 1700));
  await expect(row(page, "Packing List")).toContainText("after shrinking");
  await page.getByLabel("Send the original").check();
  await upload(page, "Packing List").click();
  await expect(toast(page, "Packing List uploaded")).toBeVisible();
  expect(await stored(dataDir)).toEqual(["packing-list-photo.png"]);
});

test("a photo over 10 MB that is small enough once it is made smaller is taken", async ({ page, dataDir }) => {
  const large = photo("photo.png", 3100);
  expect(large.buffer.length).toBeGreaterThan(10 * 1024 * 1024);
  await field(page, "Packing List").setInputFiles(large);
  await expect(row(page, "Packing List")).toContainText("after shrinking");
  await expect(page.getByLabel("Send the original")).toHaveCount(0);
  await upload(page, "Packing List").click();
  await expect(toast(page, "Packing List uploaded")).toBeVisible();
  expect(await stored(dataDir)).toEqual(["packing-list-photo.jpg"]);
});

test("the code that makes photos smaller is fetched only for a large photo", async ({ page }) => {
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await field(page, "Packing List").setInputFiles(pdf("list.pdf", 3_000_000));
  expect(asked).toEqual([]);
  await field(page, "Packing List").setInputFiles(photo("photo.png", 1700));
  await expect(row(page, "Packing List")).toContainText("after shrinking");
  expect(asked.map((url) => /\/shrink-/.test(url))).toEqual([true]);
});

test("two documents are sent at the same time, and a second press sends nothing twice", async ({ page, dataDir }) => {
  const posts: string[] = [];
  page.on("request", (request) => request.method() === "POST" && posts.push(request.url()));
  await line(page, 300_000);
  await field(page, "Packing List").setInputFiles(pdf("list.pdf", 500_000));
  await field(page, "Bill of Lading").setInputFiles(pdf("bill.pdf", 500_000));
  await upload(page, "Packing List").evaluate((button: HTMLElement) => {
    button.click();
    button.click();
  });
  await upload(page, "Bill of Lading").click();
  await expect(page.getByRole("progressbar", { name: /: sent$/ })).toHaveCount(2);
  await expect(page.getByText("Uploaded, we check it next")).toHaveCount(2);
  expect(posts).toHaveLength(2);
  expect(await stored(dataDir)).toEqual(["bill-of-lading-bill.pdf", "packing-list-list.pdf"]);
});

test("leaving the page during an upload asks first: staying goes on, leaving stops it", async ({ page, dataDir }) => {
  await line(page, 15_000);
  await field(page, "Packing List").setInputFiles(pdf("list.pdf", 900_000));
  await upload(page, "Packing List").click();
  await expect(row(page, "Packing List")).toContainText(/[1-9]\d* KB of/);
  const question = page.getByRole("dialog", { name: "Stop the upload and leave?" });

  await page.getByRole("link", { name: "Create Shipment" }).click();
  await expect(question.getByRole("button", { name: "Stay here" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(question).toHaveCount(0);
  expect(new URL(page.url()).pathname).toBe(`/portal/${shipment}`);
  await expect(page.getByRole("progressbar", { name: "Packing List: sent" })).toBeAttached();

  await page.getByRole("button", { name: "Pay IDF Fee" }).click();
  await expect(toast(page, "Action: Pay IDF Fee")).toBeVisible();
  await expect(question).toHaveCount(0);

  const asked = new Promise<string>((resolve) =>
    page.once("dialog", (dialog) => dialog.dismiss().then(() => resolve(dialog.type()))),
  );
  await page.close({ runBeforeUnload: true });
  expect(await asked).toBe("beforeunload");

  await page.getByRole("link", { name: "Create Shipment" }).click();
  await question.getByRole("button", { name: "Stop and leave" }).click();
  await expect(page).toHaveURL(/\/portal\/new$/);
  expect(await stored(dataDir)).toEqual([]);
});

test("a session that ended keeps the file: after the login it is still in its row", async ({
  page,
  context,
  dataDir,
}) => {
  await field(page, "Packing List").setInputFiles(pdf("list.pdf", 30_000));
  await context.clearCookies({ name: "session" });
  await upload(page, "Packing List").click();
  await expect(page).toHaveURL(`/login?next=${encodeURIComponent(`/portal/${shipment}`)}`);
  await page.getByLabel("Email").fill(demo.email);
  await page.getByLabel("Password", { exact: true }).fill(demo.password);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  await expect(page).toHaveURL(`/portal/${shipment}`);
  await expect(field(page, "Packing List")).toHaveValue(/list\.pdf$/);
  await expect(row(page, "Packing List")).toContainText("You were signed out before this file was taken.");
  await again(page, "Packing List").click();
  await expect(toast(page, "Packing List uploaded")).toBeVisible();
  expect(await stored(dataDir)).toEqual(["packing-list-list.pdf"]);
});

test("a file chosen before the script arrived is known to it", async ({ page }) => {
  let arrive = () => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  await page.route(/\/assets\/.*\.js$/, async (route) => {
    await arrived;
    await route.continue();
  });
  await page.goto(`/portal/${shipment}`, { waitUntil: "commit" });
  await field(page, "Packing List").setInputFiles(pdf("scan.pdf", 11 * 1024 * 1024));
  arrive();
  await expect(field(page, "Packing List")).toHaveAccessibleDescription(/over 10 MB/);
});
