import { createSamplePdf } from "../../app/server/start/demo.ts";
import { createAndOpenShipment, expect, heading, test, toast } from "../support/e2e-fixtures.ts";
import { labels } from "../support/labels.ts";
import { fileField, sendFile } from "../support/upload-page.ts";

test("A client renames a shipment, uploads, opens and removes a file, finds the shipment, and creates a share link.", async ({
  page,
  browser,
  loggedInClient: _,
  baseURL,
}) => {
  const name = `Generators ${Date.now()}`;
  const id = await createAndOpenShipment(page, name);

  await test.step("change the name and the AWB/BL", async () => {
    await page.getByRole("link", { name: "Change", exact: true }).click();
    await page.getByLabel(labels.shipmentName).fill(`${name} for Gulu`);
    await page.getByLabel("AWB/BL").fill("MSKU 7731-55");
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect(toast(page, "Changes saved")).toBeVisible();
    await expect(heading(page)).toHaveText(`${name} for Gulu`);
    await expect(page.locator("main")).toContainText("MSKU 7731-55");
  });

  await test.step("the button of the next action leads to the file field", async () => {
    await page.getByRole("link", { name: "Upload the Commercial Invoice" }).click();
    await expect(page.locator(":target")).toHaveAttribute("type", "file");
  });

  await test.step("upload, open and remove a file", async () => {
    const buffer = Buffer.from(createSamplePdf("Commercial Invoice"));
    const file = { name: "invoice-2291.pdf", mimeType: "application/pdf", buffer };
    await sendFile(page, "Commercial Invoice", file);
    const row = page.locator("main li").filter({ hasText: "Commercial Invoice" }).last();
    await expect(row).toContainText(/invoice-2291\.pdf, \d+ KB, \d\d:\d\d\sEAT/);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      row.getByRole("link", { name: /^Open ?: Commercial Invoice$/ }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("invoice-2291.pdf");
    await row.getByRole("link", { name: "Remove file" }).click();
    await page.getByRole("button", { name: "Remove file" }).click();
    await expect(toast(page, "File removed")).toBeVisible();
    await expect(fileField(page, "Commercial Invoice")).toBeVisible();
  });

  await test.step("find the shipment by a part of its AWB/BL", async () => {
    await page.goto("/portal");
    await page.getByLabel(labels.findShipment).fill("7731-5");
    await page.getByRole("button", { name: labels.find }).click();
    await expect(page).toHaveURL(/q=7731-5/);
    await expect(page.locator(`section[aria-labelledby=shipments-title] a[href^="/portal/${id}"]`)).toBeVisible();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download as CSV" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("shipments.csv");
  });

  await test.step("a share link shows the shipment to a visitor until the client revokes the link", async () => {
    await page.goto(`/portal/${id}`);
    await page.getByRole("link", { name: labels.share }).click();
    await page.getByRole("button", { name: labels.makeLink }).click();
    await expect(toast(page, "Share link created")).toBeVisible();
    const address = await page.getByLabel(labels.linkUntil).inputValue();
    const chat = await page.getByRole("link", { name: "Send on WhatsApp" }).getAttribute("href");
    expect(new URL(chat ?? "").searchParams.get("text")).toContain(`${name} for Gulu (${id.slice(0, 8)})`);
    const visitor = await browser.newContext({ baseURL, javaScriptEnabled: false });
    const visitorPage = await visitor.newPage();
    expect((await visitorPage.goto(address))?.status()).toBe(200);
    await expect(heading(visitorPage)).toHaveText(`${name} for Gulu`);
    await expect(visitorPage.getByText("Stage 1 of 10")).toBeVisible();
    await page.getByRole("button", { name: "End share link" }).click();
    await expect(toast(page, "Share link ended")).toBeVisible();
    expect((await visitorPage.goto(address))?.status()).toBe(404);
    await visitor.close();
  });
});
