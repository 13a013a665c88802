import type { Page } from "@playwright/test";
import { createAndOpenShipment, expect, logIn, test, toast, waitForHydration } from "../support/e2e-fixtures.ts";
import { holdScripts } from "../support/page-recorder.ts";

// When scripts or the connection fail, forms can still be sent and keep what was typed.
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
  Phone: "+254 711",
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

const prepareButton = (page: Page) => page.getByRole("button", { name: "Prepare the mail" });

test.describe("scripts that never arrive", () => {
  test.beforeEach(({ page }) => page.route("**/assets/*.js", (route) => route.abort()));

  test("stop nobody from writing to us, logging in and creating a shipment", async ({ page, client }) => {
    await test.step("contact", async () => {
      await page.goto("/contact");
      await fillFields(page, contactFields);
      await prepareButton(page).click();
      await expect(toast(page, "Opening Email Client...")).toBeVisible();
      await expect(page.getByRole("link", { name: "Open in your mail application" })).toBeVisible();
    });

    await test.step("quote", async () => {
      await page.getByRole("contentinfo").getByRole("link", { name: "Get a Quote" }).click();
      await fillFields(page, { ...quoteFields, Phone: "" });
      await prepareButton(page).click();
      await expectFieldValues(page, { ...quoteFields, Phone: "" });
      await fillFields(page, quoteFields);
      await page.getByLabel("Service").selectOption("Imports");
      await prepareButton(page).click();
      await expect(toast(page, "Opening Email Client...")).toBeVisible();
    });

    await test.step("cookie settings", async () => {
      await page.goto("/cookie-settings");
      await page.getByLabel("Functional").uncheck();
      await page.getByRole("button", { name: "Save My Preferences" }).click();
      await expect(toast(page, "Preferences Saved!")).toBeVisible();
      await expect(page.getByLabel("Functional")).not.toBeChecked();
    });

    await test.step("login and shipment", async () => {
      await logIn(page, client);
      await page.getByRole("link", { name: "Create Shipment" }).click();
      await page.getByLabel("Name of the shipment").fill("Coffee machines");
      await page.getByRole("button", { name: "Create Shipment" }).click();
      await expect(page.getByText("Stage 1/10")).toBeVisible();
    });
  });
});

test("scripts that arrive after the first words were typed take none of them", async ({ page }) => {
  const release = await holdScripts(page);
  const late = async (path: string, type: () => Promise<void>, check: () => Promise<void>) => {
    await page.goto(path, { waitUntil: "commit" });
    await type();
    await check();
  };

  await test.step("after the first press, into the page that answers it", async () => {
    await page.goto("/contact", { waitUntil: "commit" });
    await fillFields(page, { ...contactFields, Subject: "" });
    await prepareButton(page).click();
    await expect(page.getByRole("region", { name: "There is a problem" })).toBeVisible();
    await fillFields(page, { Subject: "Tea", Message: "Another message" });
    await release();
    await waitForHydration(page);
    await expectFieldValues(page, { ...contactFields, Message: "Another message" });
    await prepareButton(page).click();
    await expect(toast(page, "Opening Email Client...")).toBeVisible();
    await expect(page.getByLabel("No mail application on this device?")).toHaveValue(/Subject: Tea\n\nAnother message/);
  });

  await test.step("in every kind of field", async () => {
    const again = await holdScripts(page);
    await late(
      "/about?quote",
      async () => {
        await fillFields(page, quoteFields);
        await page.getByLabel("Service").selectOption("Imports");
      },
      async () => {
        await again();
        await waitForHydration(page);
        await expectFieldValues(page, quoteFields);
        await expect(page.getByLabel("Service")).toHaveValue("Imports");
      },
    );
  });

  await test.step("in boxes", async () => {
    const again = await holdScripts(page);
    await late(
      "/cookie-settings",
      async () => {
        await page.getByLabel("Functional").uncheck();
        await page.getByLabel("Marketing & Targeting").check();
      },
      async () => {
        await again();
        await waitForHydration(page);
        await expect(page.getByLabel("Functional")).not.toBeChecked();
        await expect(page.getByLabel("Marketing & Targeting")).toBeChecked();
      },
    );
  });

  await test.step("on the way to an account", async () => {
    const again = await holdScripts(page);
    const typed = { "Client ID": "ABCD", "Full Name": "Neema", Email: "neema@client.example", Password: "at dusk" };
    await late(
      "/signup",
      () => fillFields(page, typed),
      async () => {
        await again();
        await waitForHydration(page);
        await expectFieldValues(page, typed);
      },
    );
  });
});

test("a line that breaks, or a proxy that answers for a site that is away, leaves the page and what was typed; the next press succeeds", async ({
  page,
  context,
}) => {
  await page.goto("/contact");
  await waitForHydration(page);
  const services = page.locator("header").getByRole("link", { name: "Services", exact: true });
  const heading = page.getByRole("heading", { level: 1 });
  /** What was said is closed, so that the next loss is heard by itself. */
  const hearOfIt = async () => {
    await expect(toast(page, "No answer")).toBeVisible();
    await page.getByRole("button", { name: "Close" }).click();
    await expect(toast(page, "No answer")).toHaveCount(0);
    await expect(page).toHaveURL(/\/contact$/);
  };

  const writeWithoutLine = async () => {
    await fillFields(page, contactFields);
    await context.setOffline(true);
    await prepareButton(page).click();
    await hearOfIt();
    await expectFieldValues(page, contactFields);
    await context.setOffline(false);
  };

  await test.step("a broken line under a link", async () => {
    const before = await heading.textContent();
    await page.route("**/*.data*", (route) => route.abort());
    await services.click();
    await hearOfIt();
    await expect(heading).toHaveText(before ?? "");
    await page.unroute("**/*.data*");
    await services.click();
    await expect(heading).toHaveText("Our Logistics Expertise");
    await page.goBack();
    await expect(page).toHaveURL(/\/contact$/);
    await expect(heading).toHaveText(before ?? "");
  });

  await test.step("a broken line under a form of a page", writeWithoutLine);

  await test.step("a proxy, under a form and a link", async () => {
    await page.route("**/*.data*", (route) =>
      route.fulfill({ status: 502, contentType: "text/html", body: "<h1>502 Bad Gateway</h1>" }),
    );
    for (const pressed of [prepareButton(page), services]) {
      await pressed.click();
      await hearOfIt();
      await expectFieldValues(page, contactFields);
    }
    await page.unroute("**/*.data*");
    await prepareButton(page).click();
    await expect(page.getByRole("region", { name: "Your mail is ready to send" })).toBeVisible();
  });

  await test.step("a broken line under another message after one that is ready", async () => {
    await expectFieldValues(page, { Message: "" });
    await writeWithoutLine();
  });

  await test.step("and under the quote over a page", async () => {
    await page.getByRole("contentinfo").getByRole("link", { name: "Get a Quote" }).click();
    const dialog = page.getByRole("dialog", { name: "Get a Quote" });
    await expect(dialog).toBeVisible();
    await page.waitForLoadState("networkidle");
    await dialog.getByLabel("Full Name").fill("Zawadi");
    await context.setOffline(true);
    await prepareButton(page).last().click();
    await expect(toast(page, "No answer")).toBeVisible();
    await expect(dialog.getByLabel("Full Name")).toHaveValue("Zawadi");
    await context.setOffline(false);
    await prepareButton(page).last().click();
    await expect(dialog.getByRole("region", { name: "There is a problem" })).toBeVisible();
    await expect(dialog.getByLabel("Full Name")).toHaveValue("Zawadi");
  });
});

test("a page whose data is asked again over a broken line after an upload stays, and shows the file later", async ({
  page,
  loggedInClient: signedIn,
}) => {
  expect(signedIn.email).toContain("@");
  await createAndOpenShipment(page, "Tea for Goma");
  await waitForHydration(page);
  await page.getByLabel("File for the Packing List").setInputFiles({
    name: "list.pdf",
    mimeType: "application/pdf",
    buffer: Buffer.from("%PDF-1.4 the packing list"),
  });
  await page.route("**/portal/*.data*", (route) => route.abort());
  await page.getByRole("button", { name: "Upload the Packing List" }).click();
  await expect(toast(page, "No answer")).toBeVisible();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Tea for Goma");
  await page.unroute("**/portal/*.data*");
  await expect(page.getByLabel("File for the Packing List")).toHaveCount(0);
});
