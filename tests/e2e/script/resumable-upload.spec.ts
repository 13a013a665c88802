import { createHash } from "node:crypto";
import { rmSync, utimesSync } from "node:fs";
import type { Locator, Page } from "@playwright/test";
import type { AppSupabaseClient } from "../../../app/lib/supabase/client.server.ts";
import { test as base } from "../../support/connection-test.ts";
import { expect, fillLogin, toast, waitForHydration } from "../../support/e2e-fixtures.ts";
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

const retryButton = (page: Page, name: string) => page.getByRole("button", { name: `Try again with the ${name}` });

/**
 * Waits for `text` in `element`. Advances the page's clock quickly, which shortens the pauses between upload attempts.
 */
const expectWithClock = (page: Page, element: Locator, text: string | RegExp) =>
  expect
    .poll(
      async () => {
        const shown = (await element.textContent()) ?? "";
        if (shown.includes(labels.connectionGone)) await page.clock.fastForward(1000);
        return shown;
      },
      { timeout: 60_000, intervals: [200] },
    )
    .toMatch(text);

/** Returns the number of stored bytes of an account's unfinished uploads. */
async function countStoredBytes(company: AppSupabaseClient, account: string): Promise<number> {
  const { data, error } = await company.rpc("list_upload_chunks", { account_id: account });
  if (error) throw error;
  return (data as { name: string }[]).reduce((sum, { name }) => sum + Number(name.split("-").at(-1)), 0);
}

test("A small file is stored once if the client clicks 'Try again' after the connection or the response was lost.", async ({
  page,
  connection,
  serviceRole: company,
}) => {
  const shipment = await openHydratedShipment(page);
  await limitUploadSpeed(page, 15_000);
  await sendFile(page, "Bill of Lading", writeToDisk(createPdfPayload("bill.pdf", 900_000)));
  await expect(documentRow(page, "Bill of Lading")).toContainText(/[1-9]\d* KB of/);
  connection.cut();
  const message = "The connection was lost. Your file is still selected. Try again.";
  await expect(toast(page, message)).toBeVisible();
  await expect(fileField(page, "Bill of Lading")).toHaveAccessibleDescription(message);
  await expect(retryButton(page, "Bill of Lading")).toBeFocused();

  await retryButton(page, "Bill of Lading").click();
  await expect(fileField(page, "Bill of Lading")).toHaveAccessibleDescription(message);

  connection.restore();
  await limitUploadSpeed(page, -1);
  await retryButton(page, "Bill of Lading").click();
  await expect(uploadedToast(page, "Bill of Lading")).toBeVisible();
  await expect(documentRow(page, "Bill of Lading")).toContainText(labels.uploaded);
  expect(await listStoredFiles(company, shipment)).toEqual(["bill-of-lading-bill.pdf"]);

  await test.step("lost response", async () => {
    connection.dropResponses();
    await sendFile(page, "Packing List", createPdfPayload("list.pdf", 9000));
    await expect(retryButton(page, "Packing List")).toBeVisible();
    connection.restore();
    await retryButton(page, "Packing List").click();
    await expect(documentRow(page, "Packing List")).toContainText(labels.uploaded);
    expect(await listStoredFiles(company, shipment)).toEqual(["bill-of-lading-bill.pdf", "packing-list-list.pdf"]);
  });
});

test("The upload of a 9 MB file continues after each of ten lost connections and sends less than 5% extra bytes.", async ({
  page,
  connection,
  serviceRole: company,
}) => {
  test.setTimeout(180_000);
  const shipment = await openHydratedShipment(page);
  const size = 9 * 1024 * 1024;
  const scan = createPdfPayload("scan.pdf", size);
  await limitUploadSpeed(page, 3_000_000);
  await page.clock.install();
  const before = connection.received();
  // Each interruption is in the middle of a chunk. The first interruption is in the first chunk.
  const lengths = [100_000, ...Array.from({ length: 9 }, (_, index) => 900_000 + 17_000 * index)];
  const owner = await company.from("shipments").select("user_id").eq("id", shipment).single();
  const account = owner.data?.user_id ?? "";
  const storedBefore = await countStoredBytes(company, account);
  // An interruption can lose 16 KiB that the site has not read, and a last chunk of less than 16 KiB that the site does
  // not store. 36,000 bytes per interruption also include the headers.
  connection.interruptAfter(lengths, async () => {
    const unstored = 36_000 * (lengths.length - connection.countRemainingInterruptions());
    const least = connection.received() - before - unstored;
    // On a busy machine, the site may need more than Playwright's 5 s to store the received bytes.
    const countStored = async () => (await countStoredBytes(company, account)) - storedBefore;
    await expect.poll(countStored, { timeout: 30_000 }).toBeGreaterThan(least);
  });
  await sendFile(page, "Bill of Lading", writeToDisk(scan));
  await expectWithClock(page, documentRow(page, "Bill of Lading"), "Uploaded. We are checking your file");
  expect(connection.countRemainingInterruptions()).toBe(0);
  const extraBytes = (connection.received() - before) / size - 1;
  test.info().annotations.push({ type: "extra bytes", description: `${(100 * extraBytes).toFixed(2)} %` });
  expect(extraBytes).toBeGreaterThan(0);
  expect(extraBytes).toBeLessThan(0.05);

  expect(await listStoredFiles(company, shipment)).toEqual(["bill-of-lading-scan.pdf"]);
  const recorded = await company
    .from("documents")
    .select("sha256, file_size")
    .eq("shipment_id", shipment)
    .eq("uploaded", true);
  expect(recorded.data).toEqual([{ sha256: createHash("sha256").update(scan.buffer).digest("hex"), file_size: size }]);
});

test("A large upload continues after a lost connection, and after a reload if the client chooses the same file.", async ({
  page,
  connection,
  serviceRole: company,
}) => {
  const shipment = await openHydratedShipment(page);
  const scan = createPdfPayload("scan.pdf", 3_000_000);
  await limitUploadSpeed(page, 1_000_000);
  await page.clock.install();
  await sendFile(page, "Packing List", writeToDisk(scan));
  await expect(documentRow(page, "Packing List")).toContainText(/[1-9][\d.]* MB of 2\.9 MB/);
  connection.cut();
  await expect(documentRow(page, "Packing List")).toContainText(
    new RegExp(
      `${labels.connectionGone} [\\d.]+ MB of 2\\.9 MB sent\\. The upload continues ${labels.continuesByItself}`,
    ),
  );
  await expect(toast(page, "Upload failed")).toHaveCount(0);
  connection.restore();
  await expectWithClock(page, documentRow(page, "Packing List"), new RegExp(`^(?!.*${labels.continuesByItself})`));
  await cancelButton(page, "Packing List").click();
  await expect(uploadButton(page, "Packing List")).toBeFocused();
  expect(await listStoredFiles(company, shipment)).toEqual([]);

  await page.reload();
  await waitForHydration(page);
  await limitUploadSpeed(page, -1);
  const before = connection.received();
  await sendFile(page, "Packing List", writeToDisk(scan));
  await expectWithClock(page, documentRow(page, "Packing List"), "Uploaded. We are checking your file");
  expect(connection.received() - before).toBeLessThan(2_200_000);
  expect(await listStoredFiles(company, shipment)).toEqual(["packing-list-scan.pdf"]);
});

test("An upload without progress for 30 s counts as a lost connection.", async ({
  page,
  connection,
  serviceRole: company,
}) => {
  const shipment = await openHydratedShipment(page);
  const bill = documentRow(page, "Bill of Lading");
  await page.clock.install();
  // Stalls the connection after the upload module has loaded, because the module needs the connection.
  const uploadScript = page.waitForEvent("requestfinished", isUploadScript);
  await fileField(page, "Bill of Lading").setInputFiles(writeToDisk(createPdfPayload("scan.pdf", 2_000_000)));
  await uploadScript;
  await limitUploadSpeed(page, 50_000);
  connection.stall();
  await uploadButton(page, "Bill of Lading").click();
  await expect(bill).toContainText("0 KB of");
  await expect.poll(() => connection.requests.at(-1)).toMatch(/^GET .*\/documents\/resumable-upload$/);
  await page.clock.runFor(29_000);
  await expect(bill).not.toContainText(labels.connectionGone);
  await page.clock.runFor(2000);
  await expect(bill).toContainText(`${labels.connectionGone} 0 KB of`);
  connection.restore();
  await expectWithClock(page, bill, /[1-9]\d* KB of/);
  // Advances the page's clock by 31 s, so for the page 31 s have passed without progress.
  await expect
    .poll(async () => {
      await page.clock.runFor(31_000);
      return bill.textContent();
    })
    .toMatch(new RegExp(`${labels.connectionGone} [1-9]\\d* KB of`));
  await limitUploadSpeed(page, -1);
  await expectWithClock(page, bill, "Uploaded. We are checking your file");
  expect(await listStoredFiles(company, shipment)).toEqual(["bill-of-lading-scan.pdf"]);
});

test("A chosen file is still in its document's row after the session has ended and the client has logged in again.", async ({
  page,
  context,
  serviceRole: company,
  client,
}) => {
  const shipment = await openHydratedShipment(page);
  await fileField(page, "Packing List").setInputFiles(createPdfPayload("list.pdf", 30_000));
  await context.clearCookies({ name: "session" });
  await uploadButton(page, "Packing List").click();
  await expect(page).toHaveURL(`/login?next=${encodeURIComponent(`/portal/${shipment}`)}`);
  await fillLogin(page, client);
  await expect(page).toHaveURL(`/portal/${shipment}`);
  await expect(fileField(page, "Packing List")).toHaveValue(/list\.pdf$/);
  await expect(documentRow(page, "Packing List")).toContainText(
    "You were signed out before the upload finished. Try again.",
  );
  await retryButton(page, "Packing List").click();
  await expect(uploadedToast(page, "Packing List")).toBeVisible();
  expect(await listStoredFiles(company, shipment)).toEqual(["packing-list-list.pdf"]);
});

test("The page shows an error if a file is changed or deleted on the device before or during the upload.", async ({
  page,
  connection,
}) => {
  const message = "This file has changed on your device. Choose the file again.";
  await openHydratedShipment(page);
  const choose = async (name: string, size = 2_000_000) => {
    const file = writeToDisk(createPdfPayload(name, size));
    await fileField(page, "Packing List").setInputFiles(file);
    return file;
  };
  // Chromium compares modification times in whole seconds, so the new time must differ by more than one second.
  utimesSync(await choose("changed.pdf", 20_000), 1, 1);
  await uploadButton(page, "Packing List").click();
  await expect(fileField(page, "Packing List")).toHaveAccessibleDescription(message);

  rmSync(await choose("gone.pdf"));
  await uploadButton(page, "Packing List").click();
  await expect(fileField(page, "Packing List")).toHaveAccessibleDescription(message);
  await expect(toast(page, message)).toBeVisible();

  const file = await choose("going.pdf");
  await limitUploadSpeed(page, 100_000);
  await uploadButton(page, "Packing List").click();
  await expect(documentRow(page, "Packing List")).toContainText(/[1-9]\d* KB of/);
  rmSync(file);
  connection.cut();
  await expect(fileField(page, "Packing List")).toHaveAccessibleDescription(message);
});
