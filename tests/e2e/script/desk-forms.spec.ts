import type { Page } from "@playwright/test";
import { test as base, expect, heading, insertShipment, toast, waitForHydration } from "../../support/e2e-fixtures.ts";
import { labels } from "../../support/labels.ts";

/** Creates two shipments of a client and opens the first shipment on the desk. */
const test = base.extend<{ shipments: { id: string; rice: string } }>({
  shipments: async ({ page, client, loggedInLead: _, serviceRole: company }, use) => {
    const stamp = Date.now();
    const [tea, rice] = [`Tea ${stamp}`, `Rice ${stamp}`];
    const { id } = await insertShipment(company, client, tea);
    await insertShipment(company, client, rice);
    await page.goto(`/desk/shipments/${id}?q=${stamp}`);
    await expect(heading(page)).toHaveText(tea);
    await use({ id, rice });
  },
});

// A form gets status 409 if another person has changed the shipment.
test.use({ expectedErrors: /status of 409/ });

const noteField = (page: Page) => page.locator("#note").getByLabel(labels.noteToClient);

test("Text that a clerk types for one shipment does not appear in the forms of another shipment.", async ({
  page,
  shipments: { rice },
}) => {
  await noteField(page).fill("The ship of tea is late");
  await page.getByLabel("AWB/BL").fill("TEA-1");
  await page.getByText(labels.correctStage, { exact: true }).first().click();
  await page.getByLabel(labels.correctedStage).selectOption("9");
  await page.getByRole("link", { name: rice }).click();
  await expect(heading(page)).toHaveText(rice);
  await expect(noteField(page)).toHaveValue("");
  await expect(page.getByLabel("AWB/BL")).toHaveValue("");
  await expect(page.getByLabel(labels.correctedStage)).toHaveValue("1");
  await expect(page.getByLabel(labels.correctedStage)).toBeHidden();
});

test("A form becomes empty after it is sent, and the other forms on the page still contain the typed text.", async ({
  page,
  shipments: _,
}) => {
  await page.getByLabel("AWB/BL").fill("half a num");
  await noteField(page).fill("The ship is in");
  await page.getByRole("button", { name: "Send note" }).click();
  await expect(toast(page, "Note sent")).toBeVisible();
  await expect(noteField(page)).toHaveValue("");
  await expect(page.getByLabel("AWB/BL")).toHaveValue("half a num");
  await page.getByText(labels.correctStage, { exact: true }).first().click();
  await page.getByLabel(labels.correctedStage).selectOption("3");
  await page.locator("#correct").getByLabel(labels.reason).fill("The form was approved");
  await page.getByRole("button", { name: labels.correctStage }).click();
  await expect(toast(page, "Stage corrected to IDF Application")).toBeVisible();
  await expect(page.locator("#correct")).toBeHidden();
  await expect(page.locator("#correct").getByLabel(labels.reason)).toHaveValue("");
});

test("After another person's change, a rejected form shows the current stage and the typed text, and the next click succeeds.", async ({
  page,
  shipments: { id },
}) => {
  await page.getByText(labels.correctStage, { exact: true }).first().click();
  await page.getByLabel(labels.correctedStage).selectOption("5");
  await page.locator("#correct").getByLabel(labels.reason).fill("The form was approved");
  const secondTab = await page.context().newPage();
  await secondTab.goto(`/desk/shipments/${id}`);
  await secondTab.getByText(labels.correctStage, { exact: true }).first().click();
  await secondTab.getByLabel(labels.correctedStage).selectOption("2");
  await secondTab.locator("#correct").getByLabel(labels.reason).fill("The other window");
  await secondTab.getByRole("button", { name: labels.correctStage }).click();
  await expect(toast(secondTab, "Stage corrected to Document Verification")).toBeVisible();

  const correctButton = page.getByRole("button", { name: labels.correctStage });
  await correctButton.click();
  await expect(
    page.getByRole("link", { name: "Someone has changed this shipment. Check the new values, then try again." }),
  ).toBeVisible();
  await expect(page.getByRole("definition").filter({ hasText: "2/10 Document Verification" })).toBeVisible();
  await expect(page.locator("#correct").getByLabel(labels.reason)).toHaveValue("The form was approved");
  await correctButton.click();
  await expect(toast(page, "Stage corrected to Payment Clearance")).toBeVisible();
});

test("The keys j, k and Enter choose and open rows of a list, but a field that has the focus gets these letters.", async ({
  page,
  shipments: { id, rice },
}) => {
  const tea = (await heading(page).textContent()) ?? "";
  await page.goto(`/desk/shipments?q=${tea.split(" ")[1]}&sort=-name`);
  await waitForHydration(page);
  const row = (name: string) => page.getByRole("link", { name });
  await page.keyboard.press("j");
  await expect(row(tea)).toBeFocused();
  await page.keyboard.press("j");
  await expect(row(rice)).toBeFocused();
  await page.keyboard.press("k");
  await expect(row(tea)).toBeFocused();
  await page.keyboard.press("/");
  const search = page.getByLabel(labels.deskSearch);
  await search.pressSequentially("jk");
  await expect(search).toHaveValue("jk");
  await row(tea).focus();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`/desk/shipments/${id}\\?`));
});
