import { expect, heading, insertShipment, logInWithoutPage, postForm, test, toast } from "../support/e2e-fixtures.ts";
import { labels } from "../support/labels.ts";
import { fileField } from "../support/upload-page.ts";

// Moving a shipment with missing documents gets status 409 and a form for the confirmation.
test.use({ expectedErrors: /status of 409/ });

const pdf = { mimeType: "application/pdf", buffer: Buffer.from(`%PDF-1.4\n${" ".repeat(2000)}startxref\n0\n%%EOF\n`) };

test("A clerk opens, rejects and verifies documents, moves a shipment and corrects the stage, and the client sees each change.", async ({
  page,
  client,
  loggedInLead: lead,
  serviceRole: company,
  request,
}) => {
  test.slow();
  const name = `Tea ${Date.now()}`;
  const { id } = await insertShipment(company, client, name);
  await postForm(request, "/login", { email: client.email, password: client.password });
  for (const document of ["Packing List", "Bill of Lading"]) {
    const row = await company.from("documents").select("id").eq("shipment_id", id).eq("name", document).single();
    const multipart = { document: row.data?.id ?? "", file: { ...pdf, name: "scan 1.pdf" } };
    const response = await request.post(`/portal/${id}`, { multipart, maxRedirects: 0 });
    expect(response.status()).toBe(303);
  }

  await test.step("find the shipment", async () => {
    await page.goto("/desk");
    await expect(heading(page)).toHaveText("Today");
    await expect(page.getByRole("heading", { name: "Documents to check" })).toBeVisible();
    await page.goto("/desk/shipments");
    await page.getByLabel(labels.find).fill(name);
    await page.getByRole("button", { name: labels.find }).click();
    await expect(page).toHaveURL(/[?&]q=Tea/);
    await page.getByRole("link", { name }).click();
    await expect(heading(page)).toHaveText(name);
  });

  await test.step("open, reject and verify documents", async () => {
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: /^Open ?: Packing List$/ }).click();
    expect((await download).suggestedFilename()).toBe("scan 1.pdf");
    await page.getByText("Request a new file: Packing List", { exact: true }).first().click();
    await page.getByRole("button", { name: /^Request a new file ?: Packing List$/ }).click();
    await expect(page.getByRole("link", { name: "Enter a reason." })).toBeVisible();
    const row = page.getByRole("listitem").filter({ hasText: "Packing List" }).first();
    await row.getByLabel(labels.reason).fill("Page 2 is unreadable");
    await page.getByRole("button", { name: /^Request a new file ?: Packing List$/ }).click();
    await expect(toast(page, "Packing List: new file requested")).toBeVisible();
    await page.getByRole("button", { name: /^Verify ?: Bill of Lading$/ }).click();
    await expect(toast(page, "Bill of Lading verified")).toBeVisible();
  });

  await test.step("move the shipment after a confirmation, and correct the stage", async () => {
    await page.getByLabel("Location").fill("Kilindini, berth 19");
    await page.getByRole("button", { name: "Move to Document Verification" }).click();
    await expect(heading(page)).toHaveText("Move without the missing documents?");
    await expect(page.getByLabel("Location")).toHaveValue("Kilindini, berth 19");
    await page.getByLabel(labels.noteToClient).fill("The ship is in.\nMore tomorrow.");
    await page.getByRole("button", { name: /^Move to .* anyway$/ }).click();
    await expect(toast(page, "Shipment moved to Document Verification")).toBeVisible();
    await page.getByText(labels.correctStage, { exact: true }).first().click();
    await page.getByLabel(labels.correctedStage).selectOption("1");
    await page.locator("#correct").getByLabel(labels.reason).fill("Another ship");
    await page.getByRole("button", { name: labels.correctStage }).click();
    await expect(toast(page, "Stage corrected to Client Onboarding")).toBeVisible();
    await expect(page.getByRole("listitem").filter({ hasText: "Reason: Another ship" })).toContainText(lead.name);
  });

  await test.step("the client reads the rejection reason and the note, and can upload a new file", async () => {
    await page.goto("about:blank");
    await page.context().clearCookies();
    await logInWithoutPage(page, client);
    await page.goto(`/portal/${id}`);
    await expect(page.getByText(/^New file needed: Page 2 is unreadable$/)).toBeVisible();
    await expect(page.getByText("The ship is in. More tomorrow.")).toBeVisible();
    await expect(fileField(page, "Packing List")).toBeVisible();
  });
});

test("On a phone, the form of the bulk action shows its place field only while a shipment is selected.", {
  tag: "@no-script",
}, async ({ page, client, loggedInLead: _, serviceRole: company }) => {
  const name = `Sisal ${Date.now()}`;
  await insertShipment(company, client, name);
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(`/desk/shipments?q=${encodeURIComponent(name)}`);
  const [location, box] = [page.getByLabel("Location"), page.getByRole("checkbox", { name })];
  const move = page.getByRole("button", { name: /^Move to the next stage/ });
  await expect(move).toBeInViewport();
  await expect(location).toBeHidden();
  await box.check();
  await expect(location).toBeInViewport();
  await location.fill("Mombasa");
  await box.uncheck();
  await expect(location).toBeHidden();
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect(location).toBeVisible();
});
