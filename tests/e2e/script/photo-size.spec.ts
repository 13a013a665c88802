import type { Page } from "@playwright/test";
import { PNG } from "pngjs";
import { createAndOpenShipment, expect, test, waitForHydration } from "../../support/e2e-fixtures.ts";
import {
  createPdfPayload,
  documentRow,
  fileField,
  listStoredFiles,
  uploadButton,
  uploadedToast,
} from "../../support/upload-page.ts";

let shipment: string;
test.beforeEach(async ({ page, loggedInClient: _ }) => {
  shipment = await createAndOpenShipment(page, "Coffee to Kigali");
  await waitForHydration(page);
});

/** Returns an uncompressed PNG with 3 bytes per pixel, which a browser can compress well. */
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

test("A photo of more than 500 KB is shrunk before the upload, and the script for shrinking loads only for such a photo.", async ({
  page,
  serviceRole: company,
}) => {
  await page.waitForLoadState("networkidle");
  const downloads: string[] = [];
  const sizes: number[] = [];
  page.on("request", async (request) => {
    // Ignores the upload module, because the page loads this module for every large file.
    if (/\/resumable-upload-/.test(request.url())) return;
    if (request.method() === "GET") downloads.push(request.url());
    else sizes.push(Number((await request.allHeaders())["content-length"]));
  });
  await fileField(page, "Packing List").setInputFiles(createPdfPayload("list.pdf", 3_000_000));
  // If the chosen file needed a module, the page would request the module within two animation frames.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  const large = createPhoto("IMG 2041.PNG", 2600, 150);
  expect(large.buffer.length).toBeGreaterThan(500 * 1024);
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

test("A client can choose to send the original photo. A photo of more than 10 MB is accepted if shrinking makes it small enough.", async ({
  page,
  serviceRole: company,
}) => {
  await fileField(page, "Packing List").setInputFiles(createPhoto("photo.png", 600, 400));
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

test("A shrunk long screenshot is at least 1,000 pixels wide.", async ({ page, serviceRole: company }) => {
  await fileField(page, "Packing List").setInputFiles(createPhoto("chat.png", 1080, 3000));
  await expect(documentRow(page, "Packing List")).toContainText("Photo made smaller");
  await uploadPhoto(page, "Packing List");
  const { data } = await company
    .from("documents")
    .select("storage_path")
    .eq("shipment_id", shipment)
    .eq("name", "Packing List")
    .single();
  const file = await company.storage.from("documents").download(data?.storage_path ?? "");
  const bytes = Buffer.from((await file.data?.arrayBuffer()) ?? new ArrayBuffer(0));
  const size = await page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const { width, height } = await createImageBitmap(new Blob([bytes]));
    return { width, height };
  }, bytes.toString("base64"));
  expect(size).toEqual({ width: 1000, height: 2778 });
});

function returnRandomColours() {
  const { toBlob } = HTMLCanvasElement.prototype;
  HTMLCanvasElement.prototype.toBlob = function (...parameters) {
    const context = this.getContext("2d");
    const noise = context?.createImageData(this.width, this.height);
    if (noise) crypto.getRandomValues(new Uint8Array(noise.data.buffer, 0, 65_536));
    for (let start = 65_536; noise && start < noise.data.length; start += 65_536)
      noise.data.copyWithin(start, 0, 65_536);
    if (noise) context?.putImageData(noise, 0, 0);
    toBlob.apply(this, parameters);
  };
}

function readOnlyWhite() {
  const { getImageData } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.getImageData = function (...parameters) {
    const image = getImageData.apply(this, parameters);
    image.data.fill(255);
    return image;
  };
}

test("A browser whose canvas returns random colours or only white uploads the original photo.", async ({
  page,
  serviceRole: company,
}) => {
  await page.evaluate(returnRandomColours);
  await fileField(page, "Packing List").setInputFiles(createPhoto("photo.png", 600, 400));
  await uploadPhoto(page, "Packing List");
  await page.reload();
  await waitForHydration(page);
  await page.evaluate(readOnlyWhite);
  await fileField(page, "Bill of Lading").setInputFiles(createPhoto("photo.png", 600, 400));
  await uploadPhoto(page, "Bill of Lading");
  expect(await listStoredFiles(company, shipment)).toEqual(["bill-of-lading-photo.png", "packing-list-photo.png"]);
});
