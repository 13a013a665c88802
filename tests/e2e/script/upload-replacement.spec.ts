import type { Page } from "@playwright/test";
import type { ConnectionProxy } from "../../support/connection-proxy.ts";
import { test as base } from "../../support/connection-test.ts";
import { expect, waitForHydration } from "../../support/e2e-fixtures.ts";
import { holdScripts } from "../../support/held-requests.ts";
import { labels } from "../../support/labels.ts";
import {
  cancelButton,
  createPdfPayload,
  documentRow,
  fileField,
  isUploadScript,
  limitUploadSpeed,
  listStoredFiles,
  openHydratedShipment,
  sendFile,
  uploadButton,
  uploadedToast,
  writeToDisk,
} from "../../support/upload-page.ts";

const test = base.extend({ expectedErrors: /net::ERR_|status of 409/ });
test.beforeEach(({ loggedInClient: _ }) => {});

/**
 * Returns the HTTP methods of the resumable upload's requests, without the first `before` requests of the connection.
 */
const listChunkRequests = (connection: ConnectionProxy, before: number) =>
  connection.requests
    .slice(before)
    .filter((request) => request.endsWith("/documents/resumable-upload"))
    .map((request) => request.split(" ")[0]);

/** Cancels the upload of a document and chooses another file for the document. */
async function replaceUpload(
  page: Page,
  name: string,
  replacement: ReturnType<typeof createPdfPayload>,
): Promise<void> {
  await cancelButton(page, name).click();
  await expect(uploadButton(page, name)).toBeFocused();
  await fileField(page, name).setInputFiles(writeToDisk(replacement));
}

/**
 * Delays the upload module. The returned function lets the module load or fail, and waits until the module's request
 * has ended.
 */
async function holdUploadScript(page: Page) {
  let release = (_: boolean) => {};
  const held = new Promise<boolean>((resolve) => {
    release = resolve;
  });
  await page.route("**/assets/resumable-upload-*.js", async (route) =>
    (await held) ? route.continue() : route.abort(),
  );
  return async (loads: boolean) => {
    const ended = loads
      ? page.waitForEvent("requestfinished", isUploadScript)
      : page.waitForEvent("requestfailed", isUploadScript);
    release(loads);
    await ended;
  };
}

/** Cancels a large upload before the upload module has loaded. Checks that the page sends only the replacement file. */
async function cancelBeforeScript(
  page: Page,
  connection: ConnectionProxy,
  shipment: string,
  release: () => Promise<void>,
) {
  await sendFile(page, "Packing List", writeToDisk(createPdfPayload("withdrawn.pdf", 1_200_000)));
  await expect(documentRow(page, "Packing List")).toContainText("0 KB of");
  await replaceUpload(page, "Packing List", createPdfPayload("other.pdf", 20_000));
  const before = connection.requests.length;
  await release();
  // Waits as long as hashing a file takes. A cancelled upload that wrongly continues would have sent a request by then.
  await page.evaluate(() => crypto.subtle.digest("SHA-256", new Uint8Array(3_000_000)));
  await uploadButton(page, "Packing List").click();
  await expect(documentRow(page, "Packing List")).toContainText(labels.uploaded);
  const posts = connection.requests
    .slice(before)
    .filter((request) => request.startsWith("POST") && request.includes(shipment));
  expect(posts).toEqual([`POST /portal/${shipment}/documents`]);
  expect(listChunkRequests(connection, before)).toEqual([]);
}

test("A cancelled large upload sends no more bytes after another file is chosen.", async ({
  page,
  connection,
  serviceRole: company,
}) => {
  const shipment = await openHydratedShipment(page);

  await test.step("while the upload module loads", async () => {
    const release = await holdUploadScript(page);
    await cancelBeforeScript(page, connection, shipment, () => release(true));
    expect(await listStoredFiles(company, shipment)).toEqual(["packing-list-other.pdf"]);
  });

  await test.step("while the file is hashed", async () => {
    const before = connection.requests.length;
    await page.evaluate(() => {
      const { subtle } = crypto;
      const digest = subtle.digest.bind(subtle);
      const held = new Promise<void>((resolve) => Object.assign(window, { releaseDigest: resolve }));
      subtle.digest = async (...given) => {
        Object.assign(window, { isHeld: true });
        await held;
        return digest(...given);
      };
    });
    await sendFile(page, "Commercial Invoice", writeToDisk(createPdfPayload("withdrawn.pdf", 1_200_000)));
    await page.waitForFunction(() => "isHeld" in window);
    await replaceUpload(page, "Commercial Invoice", createPdfPayload("other.pdf", 20_000));
    // Waits longer than hashing the file takes. A cancelled upload that wrongly continues would have sent a request by
    // then.
    await page.evaluate(async () => {
      (window as unknown as { releaseDigest(): void }).releaseDigest();
      await crypto.subtle.digest("SHA-256", new Uint8Array(3_000_000));
    });
    await uploadButton(page, "Commercial Invoice").click();
    await expect(uploadedToast(page, "Commercial Invoice")).toBeVisible();
    expect(listChunkRequests(connection, before)).toEqual([]);
  });

  await test.step("while the upload waits for a connection", async () => {
    await limitUploadSpeed(page, 1_000_000);
    // The page's clock is stopped, so the next upload attempt does not start by itself.
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    await sendFile(page, "Bill of Lading", writeToDisk(createPdfPayload("withdrawn.pdf", 3_000_000)));
    await expect(documentRow(page, "Bill of Lading")).toContainText(/[1-9][\d.]* MB of 2\.9 MB/);
    connection.cut();
    await expect(documentRow(page, "Bill of Lading")).toContainText(labels.connectionGone);
    connection.restore();
    await limitUploadSpeed(page, -1);
    const before = connection.requests.length;
    await replaceUpload(page, "Bill of Lading", createPdfPayload("other.pdf", 1_200_000));
    await page.clock.resume();
    await uploadButton(page, "Bill of Lading").click();
    await expect(documentRow(page, "Bill of Lading")).toContainText(labels.uploaded);
    expect(listChunkRequests(connection, before)).toEqual(["GET", "POST", "POST"]);
  });

  expect(await listStoredFiles(company, shipment)).toEqual([
    "bill-of-lading-other.pdf",
    "commercial-invoice-other.pdf",
    "packing-list-other.pdf",
  ]);
});

test("A large file is sent as an ordinary form if the page cannot use resumable uploads.", async ({
  page,
  connection,
  serviceRole: company,
}) => {
  const shipment = await openHydratedShipment(page);

  await test.step("cancelled before the upload module fails to load", async () => {
    const release = await holdUploadScript(page);
    await cancelBeforeScript(page, connection, shipment, () => release(false));
    expect(await listStoredFiles(company, shipment)).toEqual(["packing-list-other.pdf"]);
  });

  await test.step("without the upload module", async () => {
    await sendFile(page, "Commercial Invoice", writeToDisk(createPdfPayload("invoice.pdf", 1_200_000)));
    await expect(uploadedToast(page, "Commercial Invoice")).toBeVisible();
  });

  await test.step("with an upload module that takes over 30 s to load", async () => {
    await page.unrouteAll();
    await page.reload();
    await waitForHydration(page);
    const release = await holdUploadScript(page);
    await page.clock.install();
    await sendFile(page, "Insurance Certificate", writeToDisk(createPdfPayload("other.pdf", 1_200_000)));
    await page.clock.runFor(15_000);
    await expect(documentRow(page, "Insurance Certificate")).toContainText("0 KB of");
    await page.clock.runFor(16_000);
    await expect(uploadedToast(page, "Insurance Certificate")).toBeVisible();
    await release(true);
  });

  await test.step("without https", async () => {
    await page.unrouteAll();
    await page.addInitScript(() => Object.defineProperty(crypto, "subtle", { value: undefined }));
    await page.reload();
    await waitForHydration(page);
    await sendFile(page, "Bill of Lading", writeToDisk(createPdfPayload("bill.pdf", 1_200_000)));
    await expect(uploadedToast(page, "Bill of Lading")).toBeVisible();
  });

  expect(listChunkRequests(connection, 0)).toEqual([]);
  expect(await listStoredFiles(company, shipment)).toEqual([
    "bill-of-lading-bill.pdf",
    "commercial-invoice-invoice.pdf",
    "insurance-certificate-other.pdf",
    "packing-list-other.pdf",
  ]);
});

test("A file is sent even if the script for progress does not load. A file chosen before hydration is checked afterwards.", async ({
  page,
  serviceRole: company,
}) => {
  await page.route("**/assets/upload-progress-*.js", (route) => route.abort());
  const shipment = await openHydratedShipment(page);
  await limitUploadSpeed(page, 15_000);
  await sendFile(page, "Packing List", createPdfPayload("list.pdf", 20_000));
  await expect(documentRow(page, "Packing List")).toContainText("Uploading…");
  await expect(uploadedToast(page, "Packing List")).toBeVisible();
  expect(await listStoredFiles(company, shipment)).toEqual(["packing-list-list.pdf"]);

  const release = await holdScripts(page);
  await page.goto(`/portal/${shipment}`, { waitUntil: "commit" });
  await fileField(page, "Bill of Lading").setInputFiles(createPdfPayload("empty.pdf", 0));
  await release();
  await expect(fileField(page, "Bill of Lading")).toHaveAccessibleDescription(/This file is empty\./);
});
