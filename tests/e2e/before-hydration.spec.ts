import type { Page } from "@playwright/test";
import {
  createAndOpenShipment,
  expect,
  heading,
  logIn,
  openHydrated,
  prepareButton,
  quoteDialog,
  quoteLink,
  test,
  toast,
  waitForHydration,
} from "../support/e2e-fixtures.ts";
import { labels } from "../support/labels.ts";
import { holdScripts } from "../support/page-recorder.ts";
import { fileField, uploadButton } from "../support/upload-page.ts";

test.use({ breaksConnection: true, expectedErrors: /status of 502/ });

const contactFields = {
  "Full Name": "Amina Wanjiru",
  Email: "amina@client.example",
  Subject: "Tea",
  Message: "When?\nWhere?",
};
const quoteFields = {
  "Full Name": "Zawadi",
  Email: "zawadi@client.example",
  [labels.phone]: "+254 711",
  Message: "Two pallets",
};

async function fillFields(page: Page, fields: Record<string, string>) {
  for (const [label, value] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(value);
}

async function expectFieldValues(page: Page, fields: Record<string, string>) {
  for (const [label, value] of Object.entries(fields)) {
    await expect(page.getByLabel(label, { exact: true })).toHaveValue(value);
  }
}

test.describe("A browser whose scripts never arrive", { tag: "@script" }, () => {
  test.beforeEach(({ page }) => page.route("**/assets/*.js", (route) => route.abort()));

  test("A visitor whose scripts never arrive can send a message and create a shipment", async ({ page, client }) => {
    await test.step("contact", async () => {
      await page.goto("/contact");
      await fillFields(page, contactFields);
      await prepareButton(page).click();
      await expect(toast(page, "Opening Email Client...")).toBeVisible();
      await expect(page.getByRole("link", { name: labels.openEmailApp })).toBeVisible();
    });

    await test.step("login and shipment", async () => {
      await logIn(page, client);
      await page.getByRole("link", { name: "Create Shipment" }).click();
      await page.getByLabel(labels.shipmentName).fill("Coffee machines");
      await page.getByRole("button", { name: "Create Shipment" }).click();
      await expect(page.getByText("Stage 1/10")).toBeVisible();
    });
  });
});

test("Scripts that arrive late leave text, options and boxes unchanged", { tag: "@script" }, async ({ page }) => {
  /** Fills in a page before its scripts arrive, and checks the fields after hydration. */
  const hydrateAfter = async (path: string, fill: () => Promise<void>, check: () => Promise<void>) => {
    const release = await holdScripts(page);
    await page.goto(path, { waitUntil: "commit" });
    await fill();
    await release();
    await waitForHydration(page);
    await check();
  };

  await test.step("in a page with errors", async () => {
    const release = await holdScripts(page);
    await page.goto("/contact", { waitUntil: "commit" });
    await fillFields(page, { ...contactFields, Subject: "" });
    await prepareButton(page).click();
    await expect(page.getByRole("region", { name: labels.errorSummary })).toBeVisible();
    await fillFields(page, { Subject: "Tea", Message: "Another message" });
    await release();
    await waitForHydration(page);
    await expectFieldValues(page, { ...contactFields, Message: "Another message" });
    await prepareButton(page).click();
    await expect(toast(page, "Opening Email Client...")).toBeVisible();
    await expect(page.getByLabel("No email app?")).toHaveValue(/Subject: Tea\n\nAnother message/);
  });

  await test.step("in text fields and a list", () =>
    hydrateAfter(
      "/about?quote",
      async () => {
        await fillFields(page, quoteFields);
        await page.getByLabel("Service").selectOption("Imports");
      },
      async () => {
        await expectFieldValues(page, quoteFields);
        await expect(page.getByLabel("Service")).toHaveValue("Imports");
      },
    ));

  await test.step("in boxes", () =>
    hydrateAfter(
      "/cookie-settings",
      async () => {
        await page.getByLabel(labels.functionalCookies).uncheck();
        await page.getByLabel(labels.marketingCookies).check();
      },
      async () => {
        await expect(page.getByLabel(labels.functionalCookies)).not.toBeChecked();
        await expect(page.getByLabel(labels.marketingCookies)).toBeChecked();
      },
    ));

  await test.step("in a password", async () => {
    const fields = { "Client ID": "ABCD", "Full Name": "Neema", Email: "neema@client.example", Password: "at dusk" };
    await hydrateAfter(
      "/signup",
      () => fillFields(page, fields),
      () => expectFieldValues(page, fields),
    );
  });
});

test("A lost connection or a proxy error leaves page and typed text unchanged, and the next click succeeds", {
  tag: "@script",
}, async ({ page, context }) => {
  await openHydrated(page, "/contact");
  const services = page.locator("header").getByRole("link", { name: "Services", exact: true });
  const title = heading(page);
  const summary = page.getByRole("region", { name: labels.errorSummary });
  const expectAndCloseToast = async () => {
    await expect(toast(page, labels.connectionLost)).toBeVisible();
    await page.getByRole("button", { name: "Close" }).click();
    await expect(toast(page, labels.connectionLost)).toHaveCount(0);
    await expect(page).toHaveURL(/\/contact$/);
  };

  const sendWithoutConnection = async () => {
    await fillFields(page, contactFields);
    await context.setOffline(true);
    await prepareButton(page).click();
    await expect(summary).toContainText(labels.typedTextStays);
    await expectFieldValues(page, contactFields);
    await context.setOffline(false);
  };

  await test.step("a link over a lost connection", async () => {
    const before = await title.textContent();
    await page.route("**/*.data*", (route) => route.abort());
    await services.click();
    await expectAndCloseToast();
    await expect(title).toHaveText(before ?? "");
    await page.unroute("**/*.data*");
    await services.click();
    await expect(title).toHaveText("Our Logistics Expertise");
    await page.goBack();
    await expect(page).toHaveURL(/\/contact$/);
    await expect(title).toHaveText(before ?? "");
  });

  await test.step("a form over a lost connection", sendWithoutConnection);

  await test.step("a form and a link with a proxy error", async () => {
    await page.route("**/*.data*", (route) =>
      route.fulfill({ status: 502, contentType: "text/html", body: "<h1>502 Bad Gateway</h1>" }),
    );
    await prepareButton(page).click();
    await expect(summary).toContainText(labels.typedTextStays);
    await expectFieldValues(page, contactFields);
    await services.click();
    await expectAndCloseToast();
    await expectFieldValues(page, contactFields);
    await page.unroute("**/*.data*");
    await prepareButton(page).click();
    await expect(page.getByRole("region", { name: labels.emailReady })).toBeVisible();
  });

  await test.step("a quote over a lost connection", async () => {
    await quoteLink(page).click();
    const dialog = quoteDialog(page);
    await expect(dialog).toBeVisible();
    await page.waitForLoadState("networkidle");
    await dialog.getByLabel("Full Name").fill("Zawadi");
    await context.setOffline(true);
    await prepareButton(page).last().click();
    await expect(dialog).toContainText(labels.typedTextStays);
    await expect(dialog.getByLabel("Full Name")).toHaveValue("Zawadi");
    await context.setOffline(false);
    await prepareButton(page).last().click();
    await expect(dialog.getByRole("region", { name: labels.errorSummary })).toBeVisible();
    await expect(dialog.getByLabel("Full Name")).toHaveValue("Zawadi");
  });
});

test("A lost connection after an upload leaves the page unchanged, and the page shows the file later", {
  tag: "@script",
}, async ({ page, loggedInClient: _ }) => {
  await createAndOpenShipment(page, "Tea for Goma");
  await waitForHydration(page);
  await fileField(page, "Packing List").setInputFiles({
    name: "list.pdf",
    mimeType: "application/pdf",
    buffer: Buffer.from("%PDF-1.4 the packing list\nstartxref\n0\n%%EOF"),
  });
  await page.route("**/portal/*.data*", (route) => route.abort());
  await uploadButton(page, "Packing List").click();
  await expect(toast(page, labels.connectionLost)).toBeVisible();
  await expect(heading(page)).toHaveText("Tea for Goma");
  await page.unroute("**/portal/*.data*");
  await expect(fileField(page, "Packing List")).toHaveCount(0);
});
