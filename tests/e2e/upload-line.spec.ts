import { createHash } from "node:crypto";
import { type BreakingLine, breakingLine } from "../support/breaking-line.ts";
import { test as base, createShipment, expect, scriptReady, toast } from "../support/fixtures.ts";
import { holdScripts } from "../support/page-watch.ts";
import { again, field, line, pdf, row, storedFiles, upload } from "../support/upload-page.ts";

const test = base.extend<{ way: BreakingLine }>({
  expectedErrors: /net::ERR_|status of 409/,
  way: async ({ baseURL }, use) => {
    const way = await breakingLine(baseURL ?? "");
    await use(way);
    await way.close();
  },
  proxy: ({ way }, use) => use({ server: way.url, bypass: "<-loopback>" }),
});

let shipment: string;
test.beforeEach(async ({ page, signedIn }) => {
  expect(signedIn.email).toContain("@");
  shipment = await createShipment(page, "Coffee to Kigali");
  await scriptReady(page);
});

test("a lost connection is said, and the same file is sent again and stored once", async ({ page, way, company }) => {
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
  await line(page, -1);
  await again(page, "Bill of Lading").click();
  await expect(toast(page, "Bill of Lading uploaded")).toBeVisible();
  await expect(row(page, "Bill of Lading")).toContainText("Uploaded, we check it next");
  expect(await storedFiles(company, shipment)).toEqual(["bill-of-lading-bill.pdf"]);
});

test("a file of 9 MB arrives over a line that breaks ten times, with hardly more bytes than it has", async ({
  page,
  way,
  company,
}) => {
  test.setTimeout(180_000);
  const size = 9 * 1024 * 1024;
  const scan = pdf("scan.pdf", size);
  await line(page, 2_000_000);
  const before = way.received();
  // Not at the ends of parts, and once in the first one.
  way.breakAfter([100_000, ...Array.from({ length: 9 }, (_, index) => 900_000 + 17_000 * index)]);
  await field(page, "Bill of Lading").setInputFiles(scan);
  await upload(page, "Bill of Lading").click();
  await expect(toast(page, "Bill of Lading uploaded")).toBeVisible({ timeout: 90_000 });
  expect(way.breaksLeft()).toBe(0);
  const more = (way.received() - before) / size - 1;
  test.info().annotations.push({ type: "bytes more than the file has", description: `${(100 * more).toFixed(2)} %` });
  expect(more).toBeGreaterThan(0);
  expect(more).toBeLessThan(0.05);

  expect(await storedFiles(company, shipment)).toEqual(["bill-of-lading-scan.pdf"]);
  const recorded = await company
    .from("documents")
    .select("sha256, file_size")
    .eq("shipment_id", shipment)
    .eq("uploaded", true);
  expect(recorded.data).toEqual([{ sha256: createHash("sha256").update(scan.buffer).digest("hex"), file_size: size }]);
});

test("a large file waits for the line and goes on; cancelled, and chosen again after a reload, it goes on too", async ({
  page,
  way,
  company,
}) => {
  const scan = pdf("scan.pdf", 3_000_000);
  await line(page, 1_000_000);
  await field(page, "Packing List").setInputFiles(scan);
  await upload(page, "Packing List").click();
  await expect(row(page, "Packing List")).toContainText(/[1-9][\d.]* MB of 2\.9 MB/);
  way.cut();
  await expect(row(page, "Packing List")).toContainText(
    /The line is gone at [\d.]+ MB of 2\.9 MB\. It goes on by itself\./,
  );
  await expect(toast(page, "Upload failed")).toHaveCount(0);
  way.mend();
  await expect(row(page, "Packing List")).not.toContainText("It goes on by itself.");
  await page.getByRole("button", { name: "Cancel the upload of the Packing List" }).click();
  await expect(upload(page, "Packing List")).toBeFocused();
  expect(await storedFiles(company, shipment)).toEqual([]);

  await page.reload();
  await scriptReady(page);
  await line(page, -1);
  const before = way.received();
  await field(page, "Packing List").setInputFiles(scan);
  await upload(page, "Packing List").click();
  await expect(toast(page, "Packing List uploaded")).toBeVisible();
  expect(way.received() - before).toBeLessThan(2_200_000);
  expect(await storedFiles(company, shipment)).toEqual(["packing-list-scan.pdf"]);
});

test("where the code that goes on did not come, a large file is sent as all others", async ({ page, company }) => {
  await page.route("**/assets/parts-*.js", (route) => route.abort());
  await field(page, "Packing List").setInputFiles(pdf("list.pdf", 1_200_000));
  await upload(page, "Packing List").click();
  await expect(toast(page, "Packing List uploaded")).toBeVisible();
  expect(await storedFiles(company, shipment)).toEqual(["packing-list-list.pdf"]);
});

test("an answer that was lost on its way back stores the file once, and the row finds out", async ({
  page,
  company,
  way,
}) => {
  way.loseAnswers();
  await field(page, "Bill of Lading").setInputFiles(pdf("bill.pdf", 9000));
  await upload(page, "Bill of Lading").click();
  await expect(again(page, "Bill of Lading")).toBeVisible();
  way.mend();
  await again(page, "Bill of Lading").click();
  await expect(row(page, "Bill of Lading")).toContainText("Uploaded, we check it next");
  expect(await storedFiles(company, shipment)).toEqual(["bill-of-lading-bill.pdf"]);
});

test("where the code that shows the progress did not come, the file is sent all the same", async ({
  page,
  company,
}) => {
  await page.route("**/assets/sending-*.js", (route) => route.abort());
  await page.reload();
  await scriptReady(page);
  await line(page, 15_000);
  await field(page, "Packing List").setInputFiles(pdf("list.pdf", 20_000));
  await upload(page, "Packing List").click();
  await expect(row(page, "Packing List")).toContainText("Uploading…");
  await expect(toast(page, "Packing List uploaded")).toBeVisible();
  expect(await storedFiles(company, shipment)).toEqual(["packing-list-list.pdf"]);
});

test("a session that ended keeps the file: after the login it is still in its row", async ({
  page,
  context,
  company,
  client,
}) => {
  await field(page, "Packing List").setInputFiles(pdf("list.pdf", 30_000));
  await context.clearCookies({ name: "session" });
  await upload(page, "Packing List").click();
  await expect(page).toHaveURL(`/login?next=${encodeURIComponent(`/portal/${shipment}`)}`);
  await page.getByLabel("Email").fill(client.email);
  await page.getByLabel("Password", { exact: true }).fill(client.password);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  await expect(page).toHaveURL(`/portal/${shipment}`);
  await expect(field(page, "Packing List")).toHaveValue(/list\.pdf$/);
  await expect(row(page, "Packing List")).toContainText("You were signed out before this file was taken.");
  await again(page, "Packing List").click();
  await expect(toast(page, "Packing List uploaded")).toBeVisible();
  expect(await storedFiles(company, shipment)).toEqual(["packing-list-list.pdf"]);
});

test("a file chosen before the script arrived is checked too", async ({ page }) => {
  const release = await holdScripts(page);
  await page.goto(`/portal/${shipment}`, { waitUntil: "commit" });
  await field(page, "Packing List").setInputFiles(pdf("empty.pdf", 0));
  await release();
  await expect(field(page, "Packing List")).toHaveAccessibleDescription(/This file is empty\./);
});
