import { createSamplePdf } from "../../app/server/start/demo.ts";
import { createAndOpenShipment, expect, logInWithoutPage, test, toast } from "../support/e2e-fixtures.ts";
import { readEmailsTo } from "../support/outbox.ts";

test("a client names a shipment anew, sends a file, opens it and takes it back, finds it, and shares it", async ({
  page,
  browser,
  loggedInClient: signedIn,
  baseURL,
}) => {
  expect(signedIn.email).toContain("@");
  const name = `Generators ${Date.now()}`;
  const id = await createAndOpenShipment(page, name);

  await test.step("change the name and the AWB/BL", async () => {
    await page.getByRole("link", { name: "Change", exact: true }).click();
    await page.getByLabel("Name of the shipment").fill(`${name} for Gulu`);
    await page.getByLabel("AWB/BL").fill("MSKU 7731-55");
    await page.getByRole("button", { name: "Save" }).click();
    await expect(toast(page, "Shipment changed")).toBeVisible();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(`${name} for Gulu`);
    await expect(page.locator("main")).toContainText("MSKU 7731-55");
  });

  await test.step("the button of the move leads to the field of the file", async () => {
    await page.getByRole("link", { name: "Upload the Commercial Invoice" }).click();
    await expect(page.locator(":target")).toHaveAttribute("type", "file");
  });

  await test.step("the file that was sent is named, opened and taken back", async () => {
    const buffer = Buffer.from(createSamplePdf("Commercial Invoice"));
    const file = { name: "invoice-2291.pdf", mimeType: "application/pdf", buffer };
    await page.getByLabel("File for the Commercial Invoice").setInputFiles(file);
    await page.getByRole("button", { name: "Upload the Commercial Invoice" }).click();
    const row = page.locator("main li").filter({ hasText: "Commercial Invoice" }).last();
    await expect(row).toContainText(/invoice-2291\.pdf, \d+ KB, \d\d:\d\d\sEAT/);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      row.getByRole("link", { name: "Open the Commercial Invoice" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("invoice-2291.pdf");
    await row.getByRole("button", { name: "Take it back" }).click();
    await expect(toast(page, "Taken back")).toBeVisible();
    await expect(page.getByLabel("File for the Commercial Invoice")).toBeVisible();
  });

  await test.step("it is found by a part of its AWB/BL", async () => {
    await page.goto("/portal");
    await page.getByLabel("Find a shipment").fill("7731-5");
    await page.getByRole("button", { name: "Find" }).click();
    await expect(page).toHaveURL(/q=7731-5/);
    await expect(page.locator(`section[aria-labelledby=shipments-title] a[href^="/portal/${id}"]`)).toBeVisible();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download as CSV" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("shipments.csv");
  });

  await test.step("a link shows it to somebody without an account, until it is ended", async () => {
    await page.goto(`/portal/${id}`);
    await page.getByRole("link", { name: "Share" }).click();
    await page.getByRole("button", { name: "Make a link" }).click();
    await expect(toast(page, "The link is made")).toBeVisible();
    const address = await page.getByLabel(/^Link until/).inputValue();
    const chat = await page.getByRole("link", { name: "Send by WhatsApp" }).getAttribute("href");
    expect(new URL(chat ?? "").searchParams.get("text")).toContain(`${name} for Gulu (${id.slice(0, 8)})`);
    const stranger = await browser.newContext({ baseURL, javaScriptEnabled: false });
    const elsewhere = await stranger.newPage();
    expect((await elsewhere.goto(address))?.status()).toBe(200);
    await expect(elsewhere.getByRole("heading", { level: 1 })).toHaveText(`${name} for Gulu`);
    await expect(elsewhere.getByText("Stage 1 of 10")).toBeVisible();
    await page.getByRole("button", { name: "End this link" }).click();
    await expect(toast(page, "Link ended")).toBeVisible();
    expect((await elsewhere.goto(address))?.status()).toBe(404);
    await stranger.close();
  });
});

test("a client keeps the account: name, password, address, mails, data, and the wish to be erased", async ({
  page,
  newClient: newcomer,
  dataDir,
}) => {
  await logInWithoutPage(page, newcomer);
  await page.goto("/portal");
  await page.getByRole("link", { name: "Account", exact: true }).click();
  const part = (title: string) =>
    page.locator("section").filter({ has: page.getByRole("heading", { name: title, exact: true }) });

  await page.getByLabel("Full name").fill("Achieng A. Otieno");
  await page.getByRole("button", { name: "Save name" }).click();
  await expect(toast(page, "Name saved")).toBeVisible();
  await expect(page.getByLabel("Full name")).toHaveValue("Achieng A. Otieno");

  await test.step("a wrong present password is said beside its field, the right one changes it", async () => {
    const password = "harbour at dawn";
    const fill = async (present: string) => {
      await part("Password").getByLabel("Current password").fill(present);
      await part("Password").getByLabel("New password").fill(password);
      await page.getByRole("button", { name: "Change password" }).click();
    };
    await fill("not this one");
    await expect(part("Password").getByText("This is not the password of the account.")).toBeVisible();
    await fill(newcomer.password);
    await expect(toast(page, /Password changed/)).toBeVisible();
    newcomer.password = password;
    await page.goto("/portal/account");
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Your account");
  });

  await page.getByLabel(/^Write to me/).uncheck();
  await page.getByRole("button", { name: "Save notices" }).click();
  await expect(toast(page, "You get no more of these mails")).toBeVisible();
  await expect(page.getByLabel(/^Write to me/)).not.toBeChecked();

  await page.getByRole("button", { name: "Ask us to erase my account" }).click();
  await expect(toast(page, "We have your request, and answer by mail")).toBeVisible();
  await page.getByRole("button", { name: "Keep my account" }).click();
  await expect(toast(page, "Your account stays")).toBeVisible();

  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download your data" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("my-data.zip");

  await test.step("the new address counts once its mailbox and the password have confirmed it", async () => {
    const email = newcomer.email.replace("client-", "moved-");
    await page.getByLabel("New e-mail address").fill(email);
    await part("E-mail address").getByLabel("Current password").fill(newcomer.password);
    await page.getByRole("button", { name: "Change email" }).click();
    await expect(toast(page, /We wrote to the new address/)).toBeVisible();
    const mail = (await readEmailsTo(dataDir, email)).at(-1);
    const link = /https?:\S+\/auth\/email\?token=\w+/.exec(mail?.text ?? "")?.[0] ?? "";
    await page.goto(new URL(link).pathname + new URL(link).search);
    await page.getByLabel("Password of your account", { exact: true }).fill(newcomer.password);
    await page.getByRole("button", { name: "Confirm this address" }).click();
    await expect(toast(page, "E-mail address changed")).toBeVisible();
    await page.goto("/portal/account");
    await expect(page.getByText(email).first()).toBeVisible();
  });
});
