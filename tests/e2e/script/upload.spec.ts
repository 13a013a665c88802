import type { Page } from "@playwright/test";
import { createSamplePdf } from "../../../app/server/start/demo.ts";
import { createAndOpenShipment, expect, test, toast, waitForHydration } from "../../support/e2e-fixtures.ts";
import { labels } from "../../support/labels.ts";
import {
  cancelButton,
  createPdfPayload,
  documentRow,
  fileField,
  limitUploadSpeed,
  listStoredFiles,
  sendFile,
  uploadButton,
  uploadedToast,
} from "../../support/upload-page.ts";

let shipment: string;
test.beforeEach(async ({ page, loggedInClient: _ }) => {
  shipment = await createAndOpenShipment(page, "Coffee to Kigali");
  await waitForHydration(page);
});

test("An upload shows the number of sent bytes and then the result on the same page.", async ({
  page,
  serviceRole: company,
}) => {
  await page.evaluate(() => Object.assign(window, { same: true }));
  await limitUploadSpeed(page, 400_000);
  await sendFile(page, "Packing List", createPdfPayload("list.pdf", 600_000));

  const progress = page.getByRole("progressbar", { name: "Upload of the Packing List" });
  await expect(progress).toHaveAttribute("max", "600000");
  await expect(documentRow(page, "Packing List")).toContainText(/\d+ KB of 586 KB/);
  const sent = async () => Number(await progress.getAttribute("value"));
  await expect.poll(sent).toBeGreaterThan(50_000);
  const first = await sent();
  expect(first).toBeLessThan(600_000);
  await expect.poll(sent).toBeGreaterThan(first);
  await expect(cancelButton(page, "Packing List")).toBeFocused();

  await expect(uploadedToast(page, "Packing List")).toBeVisible();
  await expect(documentRow(page, "Packing List")).toContainText(labels.uploaded);
  await expect(uploadButton(page, "Packing List")).toHaveCount(0);
  await expect(documentRow(page, "Packing List").getByText("Packing List", { exact: true })).toBeFocused();
  expect(await page.evaluate(() => "same" in window)).toBe(true);
  expect(await listStoredFiles(company, shipment)).toEqual(["packing-list-list.pdf"]);
});

test("The error summary names the problem of a chosen file until another file is chosen.", async ({ page }) => {
  await fileField(page, "Packing List").setInputFiles({
    name: "list.pdf",
    mimeType: "application/pdf",
    buffer: Buffer.alloc(0),
  });
  const link = page.getByRole("region", { name: "There is a problem" }).getByRole("link");
  await expect(link).toHaveText("This file is empty. Choose another file.");
  await expect(page).toHaveTitle(/^Error: /);
  await link.click();
  await expect(fileField(page, "Packing List")).toBeFocused();
  await fileField(page, "Packing List").setInputFiles(createPdfPayload("list.pdf", 9000));
  await expect(link).toHaveCount(0);
  await expect(page).not.toHaveTitle(/^Error: /);
});

test("An upload that is rejected because of too many cookies says how to continue.", async ({ page }) => {
  await page.route("**/documents", (route) => route.fulfill({ status: 431, contentType: "text/html", body: "<p>x" }));
  await sendFile(page, "Packing List", createPdfPayload("list.pdf", 9000));
  await expect(documentRow(page, "Packing List")).toContainText(
    "Delete this site's cookies in your browser's settings.",
  );
});

test("Cancelling an upload stores nothing and leaves the file in the file field.", async ({
  page,
  serviceRole: company,
}) => {
  await limitUploadSpeed(page, 15_000);
  await sendFile(page, "Packing List", createPdfPayload("list.pdf", 1_000_000));
  await expect(documentRow(page, "Packing List")).toContainText(/[1-9]\d* KB of 977 KB/);
  await cancelButton(page, "Packing List").click();
  await expect(uploadButton(page, "Packing List")).toBeFocused();
  await expect(toast(page, "Upload failed")).toHaveCount(0);
  expect(await listStoredFiles(company, shipment)).toEqual([]);

  await limitUploadSpeed(page, -1);
  await uploadButton(page, "Packing List").click();
  await expect(uploadedToast(page, "Packing List")).toBeVisible();
  expect(await listStoredFiles(company, shipment)).toEqual(["packing-list-list.pdf"]);
});

test("Two documents can be uploaded in parallel, and a double click sends one request.", async ({
  page,
  serviceRole: company,
}) => {
  const posts: string[] = [];
  page.on("request", (request) => request.method() === "POST" && posts.push(request.url()));
  await limitUploadSpeed(page, 15_000);
  await fileField(page, "Packing List").setInputFiles(createPdfPayload("list.pdf", 200_000));
  await fileField(page, "Bill of Lading").setInputFiles(createPdfPayload("bill.pdf", 200_000));
  await uploadButton(page, "Packing List").evaluate((button: HTMLElement) => {
    button.click();
    button.click();
  });
  await uploadButton(page, "Bill of Lading").click();
  await expect(page.getByRole("progressbar", { name: /^Upload of the / })).toHaveCount(2);
  await limitUploadSpeed(page, -1);
  await expect(page.getByText(labels.uploaded)).toHaveCount(2);
  expect(posts).toHaveLength(2);
  expect(await listStoredFiles(company, shipment)).toEqual(["bill-of-lading-bill.pdf", "packing-list-list.pdf"]);
});

test("Leaving the page during an upload needs a confirmation. Staying continues the upload, and leaving stops the upload.", async ({
  page,
  serviceRole: company,
}) => {
  await limitUploadSpeed(page, 15_000);
  await sendFile(page, "Packing List", createPdfPayload("list.pdf", 900_000));
  await expect(documentRow(page, "Packing List")).toContainText(/[1-9]\d* KB of/);
  const question = page.getByRole("dialog", { name: "Stop the upload and leave this page?" });

  await page.getByRole("link", { name: "Create Shipment" }).click();
  await expect(question.getByRole("button", { name: "Stay here" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(question).toHaveCount(0);
  expect(new URL(page.url()).pathname).toBe(`/portal/${shipment}`);
  await expect(page.getByRole("progressbar", { name: "Upload of the Packing List" })).toBeAttached();

  await page.getByRole("button", { name: "Pay IDF Fee" }).click();
  await expect(toast(page, "Action: Pay IDF Fee")).toBeVisible();
  await expect(question).toHaveCount(0);

  const dialogType = new Promise<string>((resolve) =>
    page.once("dialog", (dialog) => dialog.dismiss().then(() => resolve(dialog.type()))),
  );
  await page.close({ runBeforeUnload: true });
  expect(await dialogType).toBe("beforeunload");

  await page.getByRole("link", { name: "Create Shipment" }).click();
  await question.getByRole("button", { name: "Stop and leave" }).click();
  await expect(page).toHaveURL(/\/portal\/new$/);
  expect(await listStoredFiles(company, shipment)).toEqual([]);
});

test("An error about size or type of a file appears before sending, and a server error appears in the document's row.", async ({
  page,
}) => {
  const posts: string[] = [];
  page.on("request", (request) => request.method() === "POST" && posts.push(request.url()));
  for (const { file, message } of [
    { file: createPdfPayload("scan.pdf", 11 * 1024 * 1024), message: "This file is over 10 MB." },
    { file: { ...createPdfPayload("clip.mp4", 100), mimeType: "video/mp4" }, message: "Choose a photo or document" },
    { file: createPdfPayload("empty.pdf", 0), message: "This file is empty." },
  ]) {
    await fileField(page, "Packing List").setInputFiles(file);
    await expect(toast(page, message)).toBeVisible();
    await expect(fileField(page, "Packing List")).toHaveAccessibleDescription(new RegExp(message));
    await toast(page, message).getByRole("button", { name: "Close" }).click();
    await expect(toast(page)).toHaveCount(0);
    await uploadButton(page, "Packing List").click();
    await expect(toast(page, message), "a click uploads the file again").toBeVisible();
  }
  expect(posts).toEqual([]);

  await test.step("a server error", async () => {
    const message = /We cannot accept a web page/;
    await sendFile(page, "Packing List", {
      ...createPdfPayload("list.pdf", 500),
      buffer: Buffer.from("<h1>Hello</h1>"),
    });
    await expect(toast(page, message)).toBeVisible();
    await expect(fileField(page, "Packing List")).toHaveAccessibleDescription(message);
    await expect(uploadButton(page, "Packing List")).toBeFocused();
    await fileField(page, "Packing List").setInputFiles(createPdfPayload("list.pdf", 2000));
    await expect(fileField(page, "Packing List")).toHaveAccessibleDescription("");
    await uploadButton(page, "Packing List").click();
    await expect(uploadedToast(page, "Packing List")).toBeVisible();
  });
});

/** Returns a DataTransfer with files, as for files dragged from the desktop. */
const createDrag = (page: Page, names: string[]) =>
  page.evaluateHandle(
    ({ names, content }) => {
      const transfer = new DataTransfer();
      for (const name of names) transfer.items.add(new File([content], name, { type: "application/pdf" }));
      return transfer;
    },
    { names, content: createSamplePdf("Sample") },
  );

test("A file that is dropped on a document's row is put into the row's file field. Other drops are rejected or ignored.", async ({
  page,
  serviceRole: company,
}) => {
  const target = documentRow(page, "Insurance Certificate");

  await test.step("a drop outside the rows does not open the file", async () => {
    const isStopped = await page.evaluate(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(["x"], "beside.pdf"));
      const drop = new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true });
      return !document.querySelector("h1")?.dispatchEvent(drop);
    });
    expect(isStopped).toBe(true);
  });

  await test.step("two files on one row are rejected with a toast", async () => {
    await target.dispatchEvent("drop", { dataTransfer: await createDrag(page, ["one.pdf", "two.pdf"]) });
    await expect(toast(page, "Drop one file at a time")).toBeVisible();
    await expect(fileField(page, "Insurance Certificate")).toHaveValue("");
  });

  await test.step("one file on a row is put into the row's file field", async () => {
    const dataTransfer = await createDrag(page, ["dropped.pdf"]);
    await target.dispatchEvent("dragover", { dataTransfer });
    await expect(target).toHaveCSS("outline-style", "dashed");
    await target.dispatchEvent("drop", { dataTransfer });
    await expect(target).not.toHaveCSS("outline-style", "dashed");
    await expect(fileField(page, "Insurance Certificate")).toHaveValue(/dropped\.pdf$/);
    await uploadButton(page, "Insurance Certificate").click();
    await expect(uploadedToast(page, "Insurance Certificate")).toBeVisible();
    expect(await listStoredFiles(company, shipment)).toEqual(["insurance-certificate-dropped.pdf"]);
  });
});
