import type { Page } from "@playwright/test";
import { PNG } from "pngjs";
import { createShipment, expect, scriptReady, test, toast } from "../support/fixtures.ts";
import { field, pdf, row, storedFiles, upload } from "../support/upload-page.ts";

let shipment: string;
test.beforeEach(async ({ page, signedIn }) => {
  expect(signedIn.email).toContain("@");
  shipment = await createShipment(page, "Coffee to Kigali");
  await scriptReady(page);
});

/** An uncompressed PNG, 3 bytes per pixel, that compresses well. */
function photo(name: string, width: number, height: number) {
  const picture = new PNG({ width, height, colorType: 2 });
  for (let i = 0; i < picture.data.length; i += 1) picture.data[i] = 100 + ((i >> 8) % 60);
  return {
    name,
    mimeType: "image/png",
    buffer: PNG.sync.write(picture, { colorType: 2, deflateLevel: 0, filterType: 0 }),
  };
}

async function send(page: Page, document: string): Promise<void> {
  await upload(page, document).click();
  await expect(toast(page, `${document} uploaded`)).toBeVisible();
}

test("a photo over 2 MB is made smaller before it is sent, and says by how much; its code comes only then", async ({
  page,
  company,
}) => {
  await page.waitForLoadState("networkidle");
  const asked: string[] = [];
  const sizes: number[] = [];
  page.on("request", async (request) => {
    // What sends large files comes with any of them.
    if (/\/parts-/.test(request.url())) return;
    if (request.method() === "GET") asked.push(request.url());
    else sizes.push(Number((await request.allHeaders())["content-length"]));
  });
  await field(page, "Packing List").setInputFiles(pdf("list.pdf", 3_000_000));
  // Two frames later, every request that choosing a file causes has been made.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  const large = photo("IMG 2041.PNG", 2600, 500);
  expect(large.buffer.length).toBeGreaterThan(2 * 1024 * 1024);
  expect(asked).toEqual([]);
  await field(page, "Packing List").setInputFiles(large);
  await expect(row(page, "Packing List")).toContainText(/\d+\.\d MB photo, (\d+ KB|\d\.\d MB) after shrinking/);
  expect(asked.map((url) => /\/shrink-/.test(url))).toEqual([true]);
  await send(page, "Packing List");
  expect(await storedFiles(company, shipment)).toEqual(["packing-list-img-2041.jpg"]);
  expect(sizes).toHaveLength(1);
  expect(sizes[0]).toBeLessThan(large.buffer.length / 2);
});

test("a photo can be sent as it is all the same; one over 10 MB that is small enough once it is made smaller is taken", async ({
  page,
  company,
}) => {
  await field(page, "Packing List").setInputFiles(photo("photo.png", 900, 900));
  await expect(row(page, "Packing List")).toContainText("after shrinking");
  await page.getByLabel("Send the original").check();
  await send(page, "Packing List");
  expect(await storedFiles(company, shipment)).toEqual(["packing-list-photo.png"]);

  const large = photo("photo.png", 1900, 1900);
  expect(large.buffer.length).toBeGreaterThan(10 * 1024 * 1024);
  await field(page, "Bill of Lading").setInputFiles(large);
  await expect(row(page, "Bill of Lading")).toContainText("after shrinking");
  await expect(page.getByLabel("Send the original")).toHaveCount(0);
  await send(page, "Bill of Lading");
  expect(await storedFiles(company, shipment)).toEqual(["bill-of-lading-photo.jpg", "packing-list-photo.png"]);
});
