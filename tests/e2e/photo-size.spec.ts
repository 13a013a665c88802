import type { Page } from "@playwright/test";
import { PNG } from "pngjs";
import { createAndOpenShipment, expect, test, waitForHydration } from "../support/e2e-fixtures.ts";
import {
  createPdfPayload,
  documentRow,
  fileField,
  listStoredFiles,
  uploadButton,
  uploadedToast,
} from "../support/upload-page.ts";

let shipment: string;
test.beforeEach(async ({ page, loggedInClient: _ }) => {
  shipment = await createAndOpenShipment(page, "Coffee to Kigali");
  await waitForHydration(page);
});

/** Returns a PNG without compression, with 3 bytes per pixel. The pixels compress well. */
function createPhoto(name: string, width: number, height: number) {
  const picture = new PNG({ width, height, colorType: 2 });
  for (let i = 0; i < picture.data.length; i += 1) picture.data[i] = 100 + ((i >> 8) % 60);
  return {
    name,
    mimeType: "image/png",
    buffer: PNG.sync.write(picture, { colorType: 2, deflateLevel: 0, filterType: 0 }),
  };
}

async function uploadPhoto(page: Page, document: string): Promise<void> {
  await uploadButton(page, document).click();
  await expect(uploadedToast(page, document)).toBeVisible();
}

test("A photo over 2 MB is shrunk before the upload, and the module that shrinks photos loads only for such a photo", {
  tag: "@script",
}, async ({ page, serviceRole: company }) => {
  await page.waitForLoadState("networkidle");
  const downloads: string[] = [];
  const sizes: number[] = [];
  page.on("request", async (request) => {
    // Ignores the upload module, which loads for every large file.
    if (/\/resumable-upload-/.test(request.url())) return;
    if (request.method() === "GET") downloads.push(request.url());
    else sizes.push(Number((await request.allHeaders())["content-length"]));
  });
  await fileField(page, "Packing List").setInputFiles(createPdfPayload("list.pdf", 3_000_000));
  // After a file is chosen, its requests start within two animation frames.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  const large = createPhoto("IMG 2041.PNG", 2600, 500);
  expect(large.buffer.length).toBeGreaterThan(2 * 1024 * 1024);
  expect(downloads).toEqual([]);
  await fileField(page, "Packing List").setInputFiles(large);
  await expect(documentRow(page, "Packing List")).toContainText(
    /Photo made smaller: (\d+ KB|\d\.\d MB) instead of \d+\.\d MB/,
  );
  expect(downloads.map((url) => /\/photo-size-/.test(url))).toEqual([true]);
  await uploadPhoto(page, "Packing List");
  expect(await listStoredFiles(company, shipment)).toEqual(["packing-list-img-2041.jpg"]);
  expect(sizes).toHaveLength(1);
  expect(sizes[0]).toBeLessThan(large.buffer.length / 2);
});

test("A client can send the original photo, and a photo over 10 MB is accepted if shrinking brings it below the limit", {
  tag: "@script",
}, async ({ page, serviceRole: company }) => {
  await fileField(page, "Packing List").setInputFiles(createPhoto("photo.png", 900, 900));
  await expect(documentRow(page, "Packing List")).toContainText("Photo made smaller");
  await page.getByLabel("Upload the original photo").check();
  await uploadPhoto(page, "Packing List");
  expect(await listStoredFiles(company, shipment)).toEqual(["packing-list-photo.png"]);

  const large = createPhoto("photo.png", 1900, 1900);
  expect(large.buffer.length).toBeGreaterThan(10 * 1024 * 1024);
  await fileField(page, "Bill of Lading").setInputFiles(large);
  await expect(documentRow(page, "Bill of Lading")).toContainText("Photo made smaller");
  await expect(page.getByLabel("Upload the original photo")).toHaveCount(0);
  await uploadPhoto(page, "Bill of Lading");
  expect(await listStoredFiles(company, shipment)).toEqual(["bill-of-lading-photo.jpg", "packing-list-photo.png"]);
});
