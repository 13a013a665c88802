import { writeFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { createSamplePdf } from "../../app/server/start/demo.ts";
import { createAndOpenShipment, expect, fillLogin, heading, test, toast } from "../support/e2e-fixtures.ts";
import { labels } from "../support/labels.ts";
import { getConfirmationLink } from "../support/outbox.ts";
import { newClientId } from "../support/service-role.ts";
import { sendFile, uploadButton, uploadedToast } from "../support/upload-page.ts";

async function uploadBill(page: Page, name: string): Promise<void> {
  await sendFile(page, "Bill of Lading", {
    name,
    mimeType: "application/pdf",
    buffer: Buffer.from(createSamplePdf("Bill of Lading")),
  });
  await expect(uploadedToast(page, "Bill of Lading")).toBeVisible();
}

test("A client signs up with an invitation, confirms the address, logs in, creates a shipment and uploads a document.", async ({
  page,
  dataDir,
  baseURL,
}, { project }) => {
  const client = {
    email: `journey-${project.name.replace(" ", "-")}-${Date.now()}@client.example`,
    fullName: "Baraka Mwangi",
    password: "a long way inland",
  };

  await test.step("sign up with a Client ID", async () => {
    await page.goto("/");
    await page.getByRole("link", { name: "Sign up with your Client ID" }).click();
    await page.getByLabel("Client ID").fill(await newClientId(dataDir));
    await page.getByLabel("Full Name").fill(client.fullName);
    await page.getByLabel("Email").fill(client.email);
    await page.getByLabel("Password", { exact: true }).fill(client.password);
    await page.getByRole("button", { name: "Create Account" }).click();
    await expect(toast(page, "Account Created!")).toBeVisible();
    await expect(page).toHaveURL(/\/login$/);
    await expect(
      toast(page, "Please check your email to verify your account. You'll be prompted to set up 2FA on first login."),
    ).toBeVisible();
  });

  await test.step("the login fails until the address is confirmed", async () => {
    await fillLogin(page, client);
    await expect(toast(page, "Login Failed")).toBeVisible();
    await expect(page.locator("#error-summary ~ ul")).toContainText("Your email address is not confirmed yet.");
    const link = new URL(await getConfirmationLink(dataDir, client.email));
    expect(link.origin).toBe(baseURL);
    await page.goto(link.pathname + link.search);
    await page.getByLabel("Email").fill(client.email);
    await page.getByLabel("Password", { exact: true }).fill(client.password);
    await page.getByRole("button", { name: "Confirm and log in" }).click();
    await expect(toast(page, "Email address confirmed")).toBeVisible();
    await expect(page).toHaveURL(/\/portal$/);
    await expect(page.getByText("Welcome, Baraka Mwangi.")).toBeVisible();
    await expect(page.getByText('You have no shipments yet. Click "Create Shipment" to get started!')).toBeVisible();
  });

  await test.step("create a shipment", async () => {
    await page.getByRole("link", { name: "Create Shipment" }).click();
    await page.getByLabel(labels.shipmentName).fill("Coffee machines, Milan to Kigali");
    await page.getByRole("button", { name: "Create Shipment" }).click();
    await expect(heading(page)).toHaveText("Coffee machines, Milan to Kigali");
    await expect(page.getByText("Stage 1/10")).toBeVisible();
    await expect(page.getByText("N/A")).toBeVisible();
    await expect(page.getByText("No tracking history yet.")).toBeVisible();
    await expect(page.getByRole("button", { name: /^Upload/ })).toHaveCount(4);
  });

  await test.step("upload a document", async () => {
    await uploadBill(page, '../شحن "7".pdf');
    await expect(uploadButton(page, "Bill of Lading")).toHaveCount(0);
    await expect(page.getByRole("button", { name: /^Upload/ })).toHaveCount(3);
  });
});

test("After signing out, the Back button shows the login page, and a login leads back to the shipment.", async ({
  page,
  loggedInClient: signedIn,
}) => {
  const name = "Looms, Milan to Juba";
  const id = await createAndOpenShipment(page, name);
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page).toHaveURL(/\/login$/);

  await test.step("the Back button shows the login page instead of the shipment", async () => {
    await page.goBack();
    await expect(page).toHaveURL(`/login?next=${encodeURIComponent(`/portal/${id}`)}`);
    await expect(heading(page)).toHaveText("Client Login");
    expect(await page.content()).not.toContain(name);
  });

  await test.step("the login leads back to the shipment", async () => {
    await fillLogin(page, signedIn);
    await expect(page).toHaveURL(new RegExp(`/portal/${id}$`));
  });
});

test(
  "After uploading a file of more than 10 MB without script, a client sees why the file was rejected.",
  { tag: "@no-script" },
  async ({ page, loggedInClient: _ }, info) => {
    await createAndOpenShipment(page, "Steel coils");
    const scan = info.outputPath("scan.pdf");
    writeFileSync(scan, Buffer.alloc(11 * 1024 * 1024, "%PDF-1.4 "));
    await sendFile(page, "Packing List", scan);
    await expect(toast(page, "over 10 MB")).toBeVisible();
  },
);

test("The buttons of documents and payments are aligned at their right edges, even next to long texts.", {
  tag: "@no-script",
}, async ({ page, serviceRole: company, loggedInClient: _ }) => {
  const id = await createAndOpenShipment(page, "Cement clinker");
  await uploadBill(page, "a long name of a scan from the port of Mombasa.pdf");
  const note = "Pay by M-Pesa, Paybill 123456, account MAEU591180442, and send us the code";
  const charge = { shipment_id: id, item: "duties", amount: 1250000.5, currency: "KES", due_on: "2030-12-03", note };
  expect((await company.rpc("set_charge", { ...charge, actor_name: "Wanjiru" })).error).toBeNull();
  await page.goto(`/portal/${id}`);
  const payButtons = page.getByRole("button", { name: /^Pay / });
  const documentButtons = page
    .getByRole("button", { name: /^Upload/ })
    .or(page.getByRole("link", { name: /^(Open ?: Bill of Lading|Remove file)/ }));
  await expect(payButtons).toHaveCount(3);
  await expect(documentButtons).toHaveCount(5);
  const ends = (buttons: Element[]) => buttons.map((button) => Math.round(button.getBoundingClientRect().right));
  for (const width of [768, 1024, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    for (const buttons of [payButtons, documentButtons]) {
      expect(new Set(await buttons.evaluateAll(ends)).size, `${buttons} at ${width}`).toBe(1);
    }
  }
});
