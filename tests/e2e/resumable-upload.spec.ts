import { createHash } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Locator, Page, Request } from "@playwright/test";
import type { AppSupabaseClient } from "../../app/lib/supabase/client.server.ts";
import { type ConnectionProxy, startConnectionProxy } from "../support/connection-proxy.ts";
import { test as base, createAndOpenShipment, expect, toast, waitForHydration } from "../support/e2e-fixtures.ts";
import { holdScripts } from "../support/page-recorder.ts";
import {
  createPdfPayload,
  documentRow,
  fileField,
  limitUploadSpeed,
  listStoredFiles,
  retryButton,
  uploadButton,
} from "../support/upload-page.ts";

const test = base.extend<{ way: ConnectionProxy }>({
  expectedErrors: /net::ERR_|status of 409/,
  way: async ({ baseURL }, use) => {
    const way = await startConnectionProxy(baseURL ?? "");
    await use(way);
    await way.close();
  },
  proxy: ({ way }, use) => use({ server: way.url, bypass: "<-loopback>" }),
});

/** Waits for words while the pauses between two attempts are short. */
const expectWithClock = (page: Page, where: Locator, words: string | RegExp) =>
  expect
    .poll(
      async () => {
        await page.clock.fastForward(1000);
        return where.textContent();
      },
      { timeout: 60_000, intervals: [200] },
    )
    .toMatch(words);

/** Writes a file where the browser takes it from, as a person's is. */
function writeToDisk({ name, buffer }: ReturnType<typeof createPdfPayload>): string {
  const file = test.info().outputPath(crypto.randomUUID(), name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, buffer);
  return file;
}

/** How much the store has of files of an account that are on their way. */
async function countStoredBytes(company: AppSupabaseClient, account: string): Promise<number> {
  const { data, error } = await company.rpc("list_upload_chunks", { account_id: account });
  if (error) throw error;
  return (data as { name: string }[]).reduce((sum, { name }) => sum + Number(name.split("-").at(-1)), 0);
}

/** Opens a shipment of the client and shows it, with all the script that comes. Returns its id. */
async function openShipment(page: Page): Promise<string> {
  const id = await createAndOpenShipment(page, "Coffee to Kigali");
  await waitForHydration(page);
  return id;
}
test.beforeEach(({ loggedInClient: signedIn }) => expect(signedIn.email).toContain("@"));

test("A small file is stored once after a lost connection or a lost response, when the client clicks Try again.", async ({
  page,
  way,
  serviceRole: company,
}) => {
  const shipment = await openShipment(page);
  await limitUploadSpeed(page, 15_000);
  await fileField(page, "Bill of Lading").setInputFiles(writeToDisk(createPdfPayload("bill.pdf", 900_000)));
  await uploadButton(page, "Bill of Lading").click();
  await expect(documentRow(page, "Bill of Lading")).toContainText(/[1-9]\d* KB of/);
  way.cut();
  const words = "The connection was lost. Your file is still here. Try again.";
  await expect(toast(page, words)).toBeVisible();
  await expect(fileField(page, "Bill of Lading")).toHaveAccessibleDescription(words);
  await expect(retryButton(page, "Bill of Lading")).toBeFocused();

  await retryButton(page, "Bill of Lading").click();
  await expect(fileField(page, "Bill of Lading")).toHaveAccessibleDescription(words);

  way.mend();
  await limitUploadSpeed(page, -1);
  await retryButton(page, "Bill of Lading").click();
  await expect(toast(page, "Bill of Lading uploaded")).toBeVisible();
  await expect(documentRow(page, "Bill of Lading")).toContainText("Uploaded, we check it next");
  expect(await listStoredFiles(company, shipment)).toEqual(["bill-of-lading-bill.pdf"]);

  await test.step("lost response", async () => {
    way.loseAnswers();
    await fileField(page, "Packing List").setInputFiles(createPdfPayload("list.pdf", 9000));
    await uploadButton(page, "Packing List").click();
    await expect(retryButton(page, "Packing List")).toBeVisible();
    way.mend();
    await retryButton(page, "Packing List").click();
    await expect(documentRow(page, "Packing List")).toContainText("Uploaded, we check it next");
    expect(await listStoredFiles(company, shipment)).toEqual(["bill-of-lading-bill.pdf", "packing-list-list.pdf"]);
  });
});

test("A 9 MB file survives ten lost connections with less than 5 % extra bytes.", async ({
  page,
  way,
  serviceRole: company,
}) => {
  test.setTimeout(90_000);
  const shipment = await openShipment(page);
  const size = 9 * 1024 * 1024;
  const scan = createPdfPayload("scan.pdf", size);
  await limitUploadSpeed(page, 3_000_000);
  await page.clock.install();
  const before = way.received();
  // Not at the ends of parts, and once in the first one.
  const lengths = [100_000, ...Array.from({ length: 9 }, (_, index) => 900_000 + 17_000 * index)];
  const owner = await company.from("shipments").select("user_id").eq("id", shipment).single();
  const account = owner.data?.user_id ?? "";
  const kept = await countStoredBytes(company, account);
  // However busy the site is, it has what came when it is asked again; less than 16 KB and heads of requests are no part.
  way.breakAfter(lengths, async () => {
    const crumbs = 20_000 * (lengths.length - way.breaksLeft());
    const least = way.received() - before - crumbs;
    await expect.poll(async () => (await countStoredBytes(company, account)) - kept).toBeGreaterThan(least);
  });
  await fileField(page, "Bill of Lading").setInputFiles(writeToDisk(scan));
  await uploadButton(page, "Bill of Lading").click();
  await expectWithClock(page, documentRow(page, "Bill of Lading"), "Uploaded, we check it next");
  expect(way.breaksLeft()).toBe(0);
  const more = (way.received() - before) / size - 1;
  test.info().annotations.push({ type: "bytes more than the file has", description: `${(100 * more).toFixed(2)} %` });
  expect(more).toBeGreaterThan(0);
  expect(more).toBeLessThan(0.05);

  expect(await listStoredFiles(company, shipment)).toEqual(["bill-of-lading-scan.pdf"]);
  const recorded = await company
    .from("documents")
    .select("sha256, file_size")
    .eq("shipment_id", shipment)
    .eq("uploaded", true);
  expect(recorded.data).toEqual([{ sha256: createHash("sha256").update(scan.buffer).digest("hex"), file_size: size }]);
});

test("A large upload continues after a lost connection, and after a reload with the same file.", async ({
  page,
  way,
  serviceRole: company,
}) => {
  const shipment = await openShipment(page);
  const scan = createPdfPayload("scan.pdf", 3_000_000);
  await limitUploadSpeed(page, 1_000_000);
  await page.clock.install();
  await fileField(page, "Packing List").setInputFiles(writeToDisk(scan));
  await uploadButton(page, "Packing List").click();
  await expect(documentRow(page, "Packing List")).toContainText(/[1-9][\d.]* MB of 2\.9 MB/);
  way.cut();
  await expect(documentRow(page, "Packing List")).toContainText(
    /The line is gone at [\d.]+ MB of 2\.9 MB\. It goes on by itself\./,
  );
  await expect(toast(page, "Upload failed")).toHaveCount(0);
  way.mend();
  await expectWithClock(page, documentRow(page, "Packing List"), /^(?!.*It goes on by itself)/);
  await page.getByRole("button", { name: "Cancel the upload of the Packing List" }).click();
  await expect(uploadButton(page, "Packing List")).toBeFocused();
  expect(await listStoredFiles(company, shipment)).toEqual([]);

  await page.reload();
  await waitForHydration(page);
  await limitUploadSpeed(page, -1);
  const before = way.received();
  await fileField(page, "Packing List").setInputFiles(writeToDisk(scan));
  await uploadButton(page, "Packing List").click();
  await expectWithClock(page, documentRow(page, "Packing List"), "Uploaded, we check it next");
  expect(way.received() - before).toBeLessThan(2_200_000);
  expect(await listStoredFiles(company, shipment)).toEqual(["packing-list-scan.pdf"]);
});

/** The requests with parts of files since the first `before` ones. */
const listChunkRequests = (way: ConnectionProxy, before: number) =>
  way.asked
    .slice(before)
    .filter((one) => one.endsWith("/documents/resumable-upload"))
    .map((one) => one.split(" ")[0]);

/** Cancels the upload of a document and chooses another file for it. */
async function replaceUpload(page: Page, name: string, other: ReturnType<typeof createPdfPayload>): Promise<void> {
  await page.getByRole("button", { name: `Cancel the upload of the ${name}` }).click();
  await expect(uploadButton(page, name)).toBeFocused();
  await fileField(page, name).setInputFiles(writeToDisk(other));
}

const isUploadScript = (request: Request) => request.url().includes("/assets/resumable-upload-");

/** Holds the upload module back. The returned function lets it load or fail, and waits for that. */
async function holdUploadScript(page: Page) {
  let release = (_: boolean) => {};
  const held = new Promise<boolean>((resolve) => {
    release = resolve;
  });
  await page.route("**/assets/resumable-upload-*.js", async (route) =>
    (await held) ? route.continue() : route.abort(),
  );
  return async (comes: boolean) => {
    const over = comes
      ? page.waitForEvent("requestfinished", isUploadScript)
      : page.waitForEvent("requestfailed", isUploadScript);
    release(comes);
    await over;
  };
}

/** Cancels a large packing list before the upload module has loaded, and sends another one: only that is sent. */
async function cancelBeforeScript(page: Page, way: ConnectionProxy, shipment: string, release: () => Promise<void>) {
  await fileField(page, "Packing List").setInputFiles(writeToDisk(createPdfPayload("withdrawn.pdf", 1_200_000)));
  await uploadButton(page, "Packing List").click();
  await expect(documentRow(page, "Packing List")).toContainText("0 KB of");
  await replaceUpload(page, "Packing List", createPdfPayload("other.pdf", 20_000));
  const before = way.asked.length;
  await release();
  // As long as it takes to look at the withdrawn file.
  await page.evaluate(() => crypto.subtle.digest("SHA-256", new Uint8Array(3_000_000)));
  await uploadButton(page, "Packing List").click();
  await expect(documentRow(page, "Packing List")).toContainText("Uploaded, we check it next");
  const posts = way.asked.slice(before).filter((one) => one.startsWith("POST") && one.includes(shipment));
  expect(posts).toEqual([`POST /portal/${shipment}/documents`]);
  expect(listChunkRequests(way, before)).toEqual([]);
}

test("A cancelled large upload never continues next to the file that replaces it.", async ({
  page,
  way,
  serviceRole: company,
}) => {
  const shipment = await openShipment(page);

  await test.step("while the upload module loads", async () => {
    const release = await holdUploadScript(page);
    await cancelBeforeScript(page, way, shipment, () => release(true));
    expect(await listStoredFiles(company, shipment)).toEqual(["packing-list-other.pdf"]);
  });

  await test.step("while the file is hashed", async () => {
    const before = way.asked.length;
    await page.evaluate(() => {
      const { subtle } = crypto;
      const digest = subtle.digest.bind(subtle);
      const held = new Promise<void>((resolve) => Object.assign(window, { letItGo: resolve }));
      subtle.digest = async (...given) => {
        Object.assign(window, { isHeld: true });
        await held;
        return digest(...given);
      };
    });
    await fileField(page, "Commercial Invoice").setInputFiles(
      writeToDisk(createPdfPayload("withdrawn.pdf", 1_200_000)),
    );
    await uploadButton(page, "Commercial Invoice").click();
    await page.waitForFunction(() => "isHeld" in window);
    await replaceUpload(page, "Commercial Invoice", createPdfPayload("other.pdf", 20_000));
    // What comes after the look at the withdrawn file has begun before the other one is sent.
    await page.evaluate(async () => {
      (window as unknown as { letItGo(): void }).letItGo();
      await crypto.subtle.digest("SHA-256", new Uint8Array(3_000_000));
    });
    await uploadButton(page, "Commercial Invoice").click();
    await expect(toast(page, "Commercial Invoice uploaded")).toBeVisible();
    expect(listChunkRequests(way, before)).toEqual([]);
  });

  await test.step("while it waits for a connection", async () => {
    await limitUploadSpeed(page, 1_000_000);
    // The pause before it goes on lasts until the test ends it.
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    await fileField(page, "Bill of Lading").setInputFiles(writeToDisk(createPdfPayload("withdrawn.pdf", 3_000_000)));
    await uploadButton(page, "Bill of Lading").click();
    await expect(documentRow(page, "Bill of Lading")).toContainText(/[1-9][\d.]* MB of 2\.9 MB/);
    way.cut();
    await expect(documentRow(page, "Bill of Lading")).toContainText("The line is gone at");
    way.mend();
    await limitUploadSpeed(page, -1);
    const before = way.asked.length;
    await replaceUpload(page, "Bill of Lading", createPdfPayload("other.pdf", 1_200_000));
    await page.clock.resume();
    await uploadButton(page, "Bill of Lading").click();
    await expect(documentRow(page, "Bill of Lading")).toContainText("Uploaded, we check it next");
    expect(listChunkRequests(way, before)).toEqual(["GET", "POST", "POST"]);
  });

  expect(await listStoredFiles(company, shipment)).toEqual([
    "bill-of-lading-other.pdf",
    "commercial-invoice-other.pdf",
    "packing-list-other.pdf",
  ]);
});

test("A connection without progress for 30 s counts as lost.", async ({ page, way, serviceRole: company }) => {
  const shipment = await openShipment(page);
  const bill = documentRow(page, "Bill of Lading");
  await page.clock.install();
  // The connection falls silent once the upload module has loaded.
  const code = page.waitForEvent("requestfinished", isUploadScript);
  await fileField(page, "Bill of Lading").setInputFiles(writeToDisk(createPdfPayload("scan.pdf", 2_000_000)));
  await code;
  await limitUploadSpeed(page, 50_000);
  way.fallSilent();
  await uploadButton(page, "Bill of Lading").click();
  await expect(bill).toContainText("0 KB of");
  await expect.poll(() => way.asked.at(-1)).toMatch(/^GET .*\/documents\/resumable-upload$/);
  await page.clock.runFor(29_000);
  await expect(bill).not.toContainText("The line is gone");
  await page.clock.runFor(2000);
  await expect(bill).toContainText("The line is gone at 0 KB of");
  way.mend();
  await expectWithClock(page, bill, /[1-9]\d* KB of/);
  // A jump of the clock is a line that stands still.
  await expect
    .poll(async () => {
      await page.clock.runFor(31_000);
      return bill.textContent();
    })
    .toMatch(/The line is gone at [1-9]\d* KB of/);
  await limitUploadSpeed(page, -1);
  await expectWithClock(page, bill, "Uploaded, we check it next");
  expect(await listStoredFiles(company, shipment)).toEqual(["bill-of-lading-scan.pdf"]);
});

test("A large file is sent as a form if the page cannot use resumable uploads.", async ({
  page,
  way,
  serviceRole: company,
}) => {
  const shipment = await openShipment(page);

  await test.step("cancelled before the upload module fails to load", async () => {
    const release = await holdUploadScript(page);
    await cancelBeforeScript(page, way, shipment, () => release(false));
    expect(await listStoredFiles(company, shipment)).toEqual(["packing-list-other.pdf"]);
  });

  await test.step("without the upload module", async () => {
    await fileField(page, "Commercial Invoice").setInputFiles(writeToDisk(createPdfPayload("invoice.pdf", 1_200_000)));
    await uploadButton(page, "Commercial Invoice").click();
    await expect(toast(page, "Commercial Invoice uploaded")).toBeVisible();
  });

  await test.step("with an upload module that takes over 30 s to load", async () => {
    await page.unrouteAll();
    await page.reload();
    await waitForHydration(page);
    const release = await holdUploadScript(page);
    await page.clock.install();
    await fileField(page, "Insurance Certificate").setInputFiles(writeToDisk(createPdfPayload("other.pdf", 1_200_000)));
    await uploadButton(page, "Insurance Certificate").click();
    await page.clock.runFor(15_000);
    await expect(documentRow(page, "Insurance Certificate")).toContainText("0 KB of");
    await page.clock.runFor(16_000);
    await expect(toast(page, "Insurance Certificate uploaded")).toBeVisible();
    await release(true);
  });

  await test.step("without https", async () => {
    await page.unrouteAll();
    await page.addInitScript(() => Object.defineProperty(crypto, "subtle", { value: undefined }));
    await page.reload();
    await waitForHydration(page);
    await fileField(page, "Bill of Lading").setInputFiles(writeToDisk(createPdfPayload("bill.pdf", 1_200_000)));
    await uploadButton(page, "Bill of Lading").click();
    await expect(toast(page, "Bill of Lading uploaded")).toBeVisible();
  });

  expect(listChunkRequests(way, 0)).toEqual([]);
  expect(await listStoredFiles(company, shipment)).toEqual([
    "bill-of-lading-bill.pdf",
    "commercial-invoice-invoice.pdf",
    "insurance-certificate-other.pdf",
    "packing-list-other.pdf",
  ]);
});

test("A file is sent without the progress module, and a file chosen before hydration is checked.", async ({
  page,
  serviceRole: company,
}) => {
  await page.route("**/assets/upload-progress-*.js", (route) => route.abort());
  const shipment = await openShipment(page);
  await limitUploadSpeed(page, 15_000);
  await fileField(page, "Packing List").setInputFiles(createPdfPayload("list.pdf", 20_000));
  await uploadButton(page, "Packing List").click();
  await expect(documentRow(page, "Packing List")).toContainText("Uploading…");
  await expect(toast(page, "Packing List uploaded")).toBeVisible();
  expect(await listStoredFiles(company, shipment)).toEqual(["packing-list-list.pdf"]);

  const release = await holdScripts(page);
  await page.goto(`/portal/${shipment}`, { waitUntil: "commit" });
  await fileField(page, "Bill of Lading").setInputFiles(createPdfPayload("empty.pdf", 0));
  await release();
  await expect(fileField(page, "Bill of Lading")).toHaveAccessibleDescription(/This file is empty\./);
});

test("A chosen file is still in its row after login if the session ended.", async ({
  page,
  context,
  serviceRole: company,
  client,
}) => {
  const shipment = await openShipment(page);
  await fileField(page, "Packing List").setInputFiles(createPdfPayload("list.pdf", 30_000));
  await context.clearCookies({ name: "session" });
  await uploadButton(page, "Packing List").click();
  await expect(page).toHaveURL(`/login?next=${encodeURIComponent(`/portal/${shipment}`)}`);
  await page.getByLabel("Email").fill(client.email);
  await page.getByLabel("Password", { exact: true }).fill(client.password);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  await expect(page).toHaveURL(`/portal/${shipment}`);
  await expect(fileField(page, "Packing List")).toHaveValue(/list\.pdf$/);
  await expect(documentRow(page, "Packing List")).toContainText("You were signed out before this file was taken.");
  await retryButton(page, "Packing List").click();
  await expect(toast(page, "Packing List uploaded")).toBeVisible();
  expect(await listStoredFiles(company, shipment)).toEqual(["packing-list-list.pdf"]);
});
test("A file that was deleted from the device is reported before and during the upload.", async ({ page, way }) => {
  const words = "Your device no longer gives this file out. Choose it again.";
  await openShipment(page);
  const chosen = async (name: string) => {
    const file = writeToDisk(createPdfPayload(name, 2_000_000));
    await fileField(page, "Packing List").setInputFiles(file);
    return file;
  };
  rmSync(await chosen("gone.pdf"));
  await uploadButton(page, "Packing List").click();
  await expect(fileField(page, "Packing List")).toHaveAccessibleDescription(words);
  await expect(toast(page, words)).toBeVisible();

  const file = await chosen("going.pdf");
  await limitUploadSpeed(page, 100_000);
  await uploadButton(page, "Packing List").click();
  await expect(documentRow(page, "Packing List")).toContainText(/[1-9]\d* KB of/);
  rmSync(file);
  way.cut();
  await expect(fileField(page, "Packing List")).toHaveAccessibleDescription(words);
});
