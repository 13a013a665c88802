import {
  expect,
  heading,
  insertShipment,
  logInWithoutPage,
  postForm,
  test,
  toast,
  waitForHydration,
} from "../support/e2e-fixtures.ts";
import { labels } from "../support/labels.ts";
import { fileField } from "../support/upload-page.ts";

// A move with missing documents gets status 409 and a form for the confirmation. Wrong lines of shipments get 400.
test.use({ expectedErrors: /status of (400|409)/ });

const pdf = { mimeType: "application/pdf", buffer: Buffer.from(`%PDF-1.4\n${" ".repeat(2000)}startxref\n0\n%%EOF\n`) };

test("A clerk opens, rejects and verifies documents, moves a shipment and corrects the stage, and the client sees each change.", async ({
  page,
  client,
  loggedInLead: lead,
  serviceRole: company,
  request,
  javaScriptEnabled,
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
    if (javaScriptEnabled) {
      await waitForHydration(page);
      await page.keyboard.press("/");
      await page.keyboard.insertText(name);
    } else await page.getByLabel(labels.deskSearch).fill(name);
    await page.getByLabel(labels.deskSearch).press("Enter");
    await expect(page).toHaveURL(/[?&]q=Tea/);
    await page.getByRole("link", { name }).click();
    await expect(heading(page)).toHaveText(name);
  });

  await test.step("open, reject and verify documents", async () => {
    await page.getByRole("link", { name: /^Review ?: Packing List$/ }).click();
    await expect(heading(page)).toHaveText("Packing List");
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download", exact: true }).click();
    expect((await download).suggestedFilename()).toBe("scan 1.pdf");
    await page.getByRole("link", { name }).click();
    await expect(heading(page)).toHaveText(name);
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

test("A team member opens several shipments from pasted lines, after checking and changing the lines.", {
  tag: "@no-script",
}, async ({ page, client, loggedInLead: _, serviceRole: company }) => {
  const name = `Coffee ${Date.now()}`;
  const { account } = await insertShipment(company, client, `${name} before`);
  await page.goto(`/desk/clients/${account}`);
  await page.getByRole("link", { name: "Open several" }).click();
  const lines = page.getByLabel("One shipment in each line");
  await lines.fill(`${name}, Nairobi to Jeddah;BL-${Date.now()}\n;BL-2`);
  await page.getByRole("button", { name: "Check the lines" }).click();
  await expect(page.getByRole("link", { name: "Line 2: Enter a name for the shipment." })).toBeVisible();
  await lines.fill(`${name}, Nairobi to Jeddah;BL-${Date.now()}\n${name} again`);
  await page.getByRole("button", { name: "Check the lines" }).click();
  await expect(heading(page)).toHaveText(/^Check the lines/);
  await expect(page.getByRole("row", { name: `${name}, Nairobi to Jeddah` })).toBeVisible();
  await page.getByRole("button", { name: "Open 2 shipments" }).click();
  await expect(toast(page, "2 shipments opened")).toBeVisible();
  await expect(page.getByRole("link", { name: `${name} again` })).toBeVisible();
});

test("On a phone, the form of the bulk action is in view only while a shipment is selected.", {
  tag: "@no-script",
}, async ({ page, client, loggedInLead: _, serviceRole: company }) => {
  const name = `Sisal ${Date.now()}`;
  for (let number = 1; number <= 15; number += 1) await insertShipment(company, client, `${name} ${number}`);
  await page.setViewportSize({ width: 390, height: 700 });
  await page.goto(`/desk/shipments?q=${encodeURIComponent(name)}&sort=changed`);
  const [location, box] = [page.getByLabel("Location"), page.getByRole("checkbox", { name: `${name} 1`, exact: true })];
  await expect(location).not.toBeInViewport();
  await box.check();
  await expect(location).toBeInViewport();
  await location.fill("Mombasa");
  await expect(page.getByRole("button", { name: /^Move to the next stage/ })).toBeInViewport();
  await box.uncheck();
  await expect(location).not.toBeInViewport();
});
