import type { Page } from "@playwright/test";
import {
  createAndOpenShipment,
  expect,
  fillLogin,
  heading,
  logIn,
  openHydrated,
  prepareButton,
  quoteDialog,
  quoteLink,
  test,
  toast,
  waitForHydration,
} from "../../support/e2e-fixtures.ts";
import { holdScripts } from "../../support/held-requests.ts";
import { labels } from "../../support/labels.ts";
import { fileField, uploadButton } from "../../support/upload-page.ts";

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

test("A client whose browser receives no scripts can log in and create a shipment.", async ({ page, client }) => {
  await page.route("**/assets/*.js", (route) => route.abort());
  await logIn(page, client);
  await page.getByRole("link", { name: "Create Shipment" }).click();
  await page.getByLabel(labels.shipmentName).fill("Coffee machines");
  await page.getByRole("button", { name: "Create Shipment" }).click();
  await expect(page.getByText("Stage 1/10")).toBeVisible();
});

test("Hydration after a late arrival of the scripts leaves typed text, chosen options and ticked boxes unchanged.", async ({
  page,
}) => {
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

  await test.step("in text fields and a list", async () => {
    const release = await holdScripts(page);
    await page.goto("/about?quote", { waitUntil: "commit" });
    await fillFields(page, quoteFields);
    await page.getByLabel("Service").selectOption("Imports");
    await release();
    await waitForHydration(page);
    await expectFieldValues(page, quoteFields);
    await expect(page.getByLabel("Service")).toHaveValue("Imports");
  });

  await test.step("in boxes", async () => {
    const release = await holdScripts(page);
    await page.goto("/cookie-settings", { waitUntil: "commit" });
    await page.getByLabel(labels.functionalCookies).uncheck();
    await page.getByLabel(labels.marketingCookies).check();
    await release();
    await waitForHydration(page);
    await expect(page.getByLabel(labels.functionalCookies)).not.toBeChecked();
    await expect(page.getByLabel(labels.marketingCookies)).toBeChecked();
  });
});

test("A lost connection or a proxy error leaves the page and typed text unchanged, and the next click succeeds.", async ({
  page,
  context,
}) => {
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

  await test.step("the theme over a lost connection", async () => {
    await context.setOffline(true);
    await page.getByRole("button", { name: labels.useLightTheme }).click();
    await expect(page.locator("html")).toHaveClass("light");
    await context.setOffline(false);
    await expectAndCloseToast();
    await expect(page.locator("html")).toHaveClass("dark");
  });
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

  await test.step("the quote form over a lost connection", async () => {
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

test("A lost connection after an upload leaves the page unchanged, and the page shows the file after the connection returns.", async ({
  page,
  loggedInClient: _,
}) => {
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

/** Functions that remove a browser feature from the page. The site's script needs all of these features. */
const missingFeatures = {
  "a newer language": () => Reflect.deleteProperty(Array.prototype, "toSorted"),
  dialogs: () => Reflect.deleteProperty(window, "HTMLDialogElement"),
  "the modal selector": () => {
    CSS.supports = () => false;
  },
  "the media feature scripting": () => {
    const { matchMedia } = window;
    window.matchMedia = (query) => matchMedia(query.includes("scripting") ? "not all" : query);
  },
};

test("In an old browser, the site's script does not start, and the quote form and the login work without script.", async ({
  page,
  client,
}) => {
  const dataRequests: string[] = [];
  page.on("request", (request) => request.url().includes(".data") && dataRequests.push(request.url()));
  for (const [feature, remove] of Object.entries(missingFeatures)) {
    await test.step(`without ${feature}`, async () => {
      const script = await page.addInitScript(remove);
      await page.goto("/about?quote");
      // Waits until the site would start its script: when the browser is idle, or after two seconds.
      await page.evaluate(() => new Promise((idle) => requestIdleCallback(idle, { timeout: 2000 })));
      await page.waitForLoadState("networkidle");
      await expect(page.getByRole("region", { name: labels.notifications })).toHaveCount(0);
      await page.getByRole("link", { name: "Close", exact: true }).click();
      await expect(page).toHaveURL(/\/about$/);
      await expect(page.getByRole("dialog")).toHaveCount(0);
      if (feature === "the modal selector") {
        await page.goto("/login");
        await fillLogin(page, client);
        await expect(heading(page)).toHaveText("My Shipments");
      }
      await script.dispose();
    });
  }
  expect(dataRequests).toEqual([]);
});
