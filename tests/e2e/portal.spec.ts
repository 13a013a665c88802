import { writeFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { createSamplePdf } from "../../app/server/start/demo.ts";
import { createAndOpenShipment, expect, logIn, signUp, test, toast } from "../support/e2e-fixtures.ts";
import { getConfirmationLink } from "../support/outbox.ts";
import { advanceShipment, newClientId, setAwb, verifyDocumentByName } from "../support/service-role.ts";

/** Sends the bill of lading of the shipment in view. */
async function uploadBill(page: Page, name: string): Promise<void> {
  await page.getByLabel("File for the Bill of Lading").setInputFiles({
    name,
    mimeType: "application/pdf",
    buffer: Buffer.from(createSamplePdf("Bill of Lading")),
  });
  await page.getByRole("button", { name: "Upload the Bill of Lading" }).click();
  await expect(toast(page, "Bill of Lading uploaded")).toBeVisible();
}

test("from an invitation to an account, a shipment and an uploaded document", async ({ page, dataDir, baseURL }, {
  project,
}) => {
  const client = {
    email: `journey-${project.name.replace(" ", "-")}-${Date.now()}@client.example`,
    fullName: "Baraka Mwangi",
    password: "a long way inland",
  };

  await test.step("sign up with a client ID", async () => {
    await page.goto("/");
    await page.getByRole("link", { name: "Sign up with your Client ID" }).click();
    await signUp(page, client, await newClientId(dataDir));
    await expect(page).toHaveURL(/\/login$/);
    await expect(
      toast(page, "Please check your email to verify your account. You'll be prompted to set up 2FA on first login."),
    ).toBeVisible();
  });

  await test.step("the account opens only after its confirmation", async () => {
    await page.getByLabel("Email").fill(client.email);
    await page.getByLabel("Password", { exact: true }).fill(client.password);
    await page.getByRole("button", { name: "Log in", exact: true }).click();
    await expect(toast(page, "Login Failed")).toBeVisible();
    const summary = page.getByRole("region", { name: "There is a problem" });
    await expect(summary, "it stays when the toast has gone").toContainText(
      "Your e-mail address is not confirmed yet.",
    );
    const link = new URL(await getConfirmationLink(dataDir, client.email));
    expect(link.origin).toBe(baseURL);
    await page.goto(link.pathname + link.search);
    await page.getByLabel("Email").fill(client.email);
    await page.getByLabel("Password", { exact: true }).fill(client.password);
    await page.getByRole("button", { name: "Confirm this address" }).click();
    await expect(toast(page, "E-mail address confirmed")).toBeVisible();
  });

  await test.step("log in", async () => {
    await logIn(page, client);
    await expect(page).toHaveURL(/\/portal$/);
    await expect(page.getByText("Welcome, Baraka Mwangi.")).toBeVisible();
    await expect(page.getByText('You have no shipments yet. Click "Create Shipment" to get started!')).toBeVisible();
  });

  await test.step("an empty name makes no shipment and says nothing", async () => {
    await page.goto("/portal/new");
    await page.getByLabel("Name of the shipment").fill("   ");
    await page.getByRole("button", { name: "Create Shipment" }).click();
    await expect(page).toHaveURL(/\/portal$/);
    await expect(page.getByText("You have no shipments yet.")).toBeVisible();
    // The reminder to set up 2FA has nothing to do with it.
    await expect(page.locator("[data-toast]", { hasNotText: "Enable 2-Factor Authentication" })).toHaveCount(0);
  });

  await test.step("create a shipment", async () => {
    await page.getByRole("link", { name: "Create Shipment" }).click();
    await page.getByLabel("Name of the shipment").fill("Coffee machines, Milan to Kigali");
    await page.getByRole("button", { name: "Create Shipment" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Coffee machines, Milan to Kigali");
    await expect(page.getByText("Stage 1/10")).toBeVisible();
    await expect(page.getByText("N/A")).toBeVisible();
    await expect(page.getByText("No tracking history yet.")).toBeVisible();
    await expect(page.getByRole("button", { name: /^Upload/ })).toHaveCount(4);
  });

  await test.step("upload a document", async () => {
    await uploadBill(page, '../شحن "7".pdf');
    await expect(page.getByRole("button", { name: "Upload the Bill of Lading" })).toHaveCount(0);
    await expect(page.getByRole("button", { name: /^Upload/ })).toHaveCount(3);
  });
});

test("what staff do shows in the portal, which the sign-out closes", async ({
  page,
  serviceRole: company,
  loggedInClient: signedIn,
}) => {
  expect(signedIn.email).toContain("@");
  const name = "Looms, Milan to Juba";
  await page.goto("/portal/new");
  await page.getByLabel("Name of the shipment").fill(name);
  await page.getByRole("button", { name: "Create Shipment" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(name);
  const id = new URL(page.url()).pathname.split("/")[2] ?? "";
  await uploadBill(page, "bill.pdf");
  await test.step("staff verify it, name the bill and move the shipment on", async () => {
    await verifyDocumentByName(company, id, "Bill of Lading");
    await setAwb(company, id, "MSCU 7788990");
    await advanceShipment(company, id, "Kilindini");
    await page.locator(`a[href="/portal/${id}"]`).click();
    await expect(page.getByText("Verified", { exact: true })).toBeVisible();
    await expect(page.getByRole("definition").filter({ hasText: "MSCU 7788990" })).toBeVisible();
    await expect(page.getByText("Stage 2/10")).toBeVisible();
    const history = page
      .getByRole("region", { name: "Tracking History" })
      .or(page.locator("section", { hasText: "Tracking History" }));
    await expect(history.last()).toContainText("Document Verification");
    await expect(history.last()).toContainText(/Kilindini, .*\sEAT/);
  });

  await test.step("sign out; the portal is closed again", async () => {
    await page.getByRole("button", { name: "Sign out" }).click();
    await expect(page).toHaveURL(/\/login$/);
  });

  await test.step("Back shows nothing of it", async () => {
    await page.goBack();
    await expect(page).toHaveURL(`/login?next=${encodeURIComponent(`/portal/${id}`)}`);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Client Login");
    expect(await page.content()).not.toContain(name);
  });

  await test.step("the login leads back to it", async () => {
    await page.getByLabel("Email").fill(signedIn.email);
    await page.getByLabel("Password", { exact: true }).fill(signedIn.password);
    await page.getByRole("button", { name: "Log in", exact: true }).click();
    await expect(page).toHaveURL(new RegExp(`/portal/${id}$`));
  });
});

test("'Forgot password?' shows its toast, which is gone on the next page, where a refused sign-up keeps what was typed", async ({
  page,
}) => {
  await page.goto("/login");
  await page.getByRole("button", { name: "Forgot password?" }).click();
  await expect(toast(page, "Feature coming soon!")).toBeVisible();
  await page.goto("/signup");
  await expect(toast(page)).toHaveCount(0);
  await page.getByLabel("Full Name").fill("Neema Uwase");
  await page.getByLabel("Email").fill("not an address");
  await page.getByRole("button", { name: "Create Account" }).click();
  await expect(page).toHaveTitle(/^Error: /);
  await expect(toast(page, "Sign up Failed")).toBeVisible();
  await expect(toast(page, "A valid Client ID provided by the company is required.")).toBeVisible();
  await expect(page.getByLabel("Full Name")).toHaveValue("Neema Uwase");
  await expect(page.getByLabel("Email")).toHaveValue("not an address");
  await expect(page.getByLabel("Client ID")).toHaveAccessibleDescription(
    "Provided by the company A valid Client ID provided by the company is required.",
  );
  await page.getByRole("link", { name: "Enter an e-mail address in the form name@example.com." }).click();
  await expect(page.getByLabel("Email")).toBeFocused();
});

test("a shipment's pay buttons show their demo toasts, and a refused file its reason, after which another is taken", async ({
  page,
  loggedInClient: signedIn,
}, info) => {
  expect(signedIn.email).toContain("@");
  await createAndOpenShipment(page, "Steel coils");

  for (const [button, title] of [
    ["Pay IDF Fee", "Action: Pay IDF Fee"],
    ["Pay Duties & Taxes", "Action: Pay Duties"],
    ["Pay Agent Fee", "Action: Pay Agent Fee"],
  ] as const) {
    await test.step(button, async () => {
      await page.getByRole("button", { name: button }).click();
      await expect(toast(page, title)).toBeVisible();
      await expect(toast(page, "This is a demo. No payment will be processed.")).toBeVisible();
    });
  }

  await test.step("no file", async () => {
    await page.getByRole("button", { name: "Upload the Packing List" }).click();
    await expect(toast(page, "No file selected.")).toBeVisible();
    await expect(page).toHaveTitle(/^Error: /);
    await expect(page.getByLabel("File for the Packing List")).toHaveAccessibleDescription("No file selected.");
  });

  await test.step("a file over 10 MB", async () => {
    const scan = info.outputPath("scan.pdf");
    writeFileSync(scan, Buffer.alloc(11 * 1024 * 1024, "%PDF-1.4 "));
    await page.getByLabel("File for the Packing List").setInputFiles(scan);
    await page.getByRole("button", { name: "Upload the Packing List" }).click();
    await expect(toast(page, "Upload failed")).toBeVisible();
    await expect(toast(page, "over 10 MB")).toBeVisible();
    await page.getByLabel("File for the Packing List").setInputFiles({
      name: "scan.pdf",
      mimeType: "application/pdf",
      buffer: Buffer.from(createSamplePdf("Packing List")),
    });
    await page.getByRole("button", { name: "Upload the Packing List" }).click();
    await expect(toast(page, "Packing List uploaded")).toBeVisible();
  });
});

test("the buttons of a shipment's documents and payments end at one edge, however much stands beside them", async ({
  page,
  serviceRole: company,
  loggedInClient: signedIn,
}) => {
  expect(signedIn.email).toContain("@");
  const id = await createAndOpenShipment(page, "Cement clinker");
  await uploadBill(page, "a long name of a scan from the port of Mombasa.pdf");
  const note = "Pay by M-Pesa, Paybill 123456, account MAEU591180442, and send us the code";
  const charge = { shipment_id: id, item: "duties", amount: 1250000.5, currency: "KES", due_on: "2030-12-03", note };
  expect((await company.rpc("set_charge", { ...charge, actor_name: "Wanjiru" })).error).toBeNull();
  await page.goto(`/portal/${id}`);
  const pays = page.getByRole("button", { name: /^Pay / });
  const ofDocuments = page
    .getByRole("button", { name: /^(Upload|Take it back)/ })
    .or(page.getByRole("link", { name: "Open the Bill of Lading" }));
  await expect(pays).toHaveCount(3);
  await expect(ofDocuments).toHaveCount(5);
  const ends = (buttons: Element[]) => buttons.map((button) => Math.round(button.getBoundingClientRect().right));
  for (const width of [768, 1024, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    for (const buttons of [pays, ofDocuments]) {
      expect(new Set(await buttons.evaluateAll(ends)).size, `${buttons} at ${width}`).toBe(1);
    }
  }
});
