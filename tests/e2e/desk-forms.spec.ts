import type { Page } from "@playwright/test";
import { test as base, expect, toast } from "../support/e2e-fixtures.ts";

/** Two shipments of a client, the first of them open at the desk beside the other. */
const test = base.extend<{ two: { id: string; rice: string } }>({
  two: async ({ page, client, loggedInLead: atDesk, serviceRole: company }, use) => {
    expect(atDesk.name).not.toBe("");
    const account = (await company.rpc("find_account_id", { email: client.email })).data ?? "";
    const stamp = Date.now();
    const [tea, rice] = [`Tea ${stamp}`, `Rice ${stamp}`];
    const rows = [tea, rice].map((name) => ({ user_id: account, name, status: "", stage: 1 }));
    const made = await company.from("shipments").insert(rows).select("id, name");
    const id = made.data?.find(({ name }) => name === tea)?.id ?? "";
    await page.goto(`/desk/shipments/${id}?q=${stamp}`);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(tea);
    await use({ id, rice });
  },
});

// A form that somebody else was faster than is refused with a 409.
test.use({ expectedErrors: /status of 409/ });

const noteField = (page: Page) => page.locator("#note").getByLabel("Note to the client");

test("what was typed beside one shipment does not go along to another one", async ({ page, two: { rice } }) => {
  await noteField(page).fill("The ship of tea is late");
  await page.getByLabel("AWB/BL").fill("TEA-1");
  await page.getByText("Correct the stage", { exact: true }).first().click();
  await page.getByLabel("The stage it is really at").selectOption("9");
  await page.getByRole("link", { name: rice }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(rice);
  await expect(noteField(page)).toHaveValue("");
  await expect(page.getByLabel("AWB/BL")).toHaveValue("");
  await expect(page.getByLabel("The stage it is really at")).toHaveValue("1");
  await expect(page.getByLabel("The stage it is really at")).toBeHidden();
});

test("a form that was taken is as new, and the others keep what was typed", async ({ page, two }) => {
  expect(two.id).not.toBe("");
  await page.getByLabel("AWB/BL").fill("half a num");
  await noteField(page).fill("The ship is in");
  await page.getByRole("button", { name: "Send note" }).click();
  await expect(toast(page, "Note sent")).toBeVisible();
  await expect(noteField(page)).toHaveValue("");
  await expect(page.getByLabel("AWB/BL")).toHaveValue("half a num");
  await page.getByText("Correct the stage", { exact: true }).first().click();
  await page.getByLabel("The stage it is really at").selectOption("3");
  await page.locator("#correct").getByLabel("Reason").fill("It is further on");
  await page.getByRole("button", { name: "Correct the stage" }).click();
  await expect(toast(page, "Stage corrected to IDF Application")).toBeVisible();
  await expect(page.locator("#correct")).toBeHidden();
  await expect(page.locator("#correct").getByLabel("Reason")).toHaveValue("");
});

test("when somebody else was faster, the page shows what is, keeps what was typed, and the next press goes through", async ({
  page,
  two: { id },
}) => {
  await page.getByText("Correct the stage", { exact: true }).first().click();
  await page.getByLabel("The stage it is really at").selectOption("5");
  await page.locator("#correct").getByLabel("Reason").fill("It is further on");
  const other = await page.context().newPage();
  await other.goto(`/desk/shipments/${id}`);
  await other.getByText("Correct the stage", { exact: true }).first().click();
  await other.getByLabel("The stage it is really at").selectOption("2");
  await other.locator("#correct").getByLabel("Reason").fill("The other window");
  await other.getByRole("button", { name: "Correct the stage" }).click();
  await expect(toast(other, "Stage corrected to Document Verification")).toBeVisible();

  const press = page.getByRole("button", { name: "Correct the stage" });
  await press.click();
  await expect(page.getByRole("link", { name: "This shipment has changed since you opened it." })).toBeVisible();
  await expect(page.getByRole("definition").filter({ hasText: "2/10 Document Verification" })).toBeVisible();
  await expect(page.locator("#correct").getByLabel("Reason")).toHaveValue("It is further on");
  await press.click();
  await expect(toast(page, "Stage corrected to Payment Clearance")).toBeVisible();
});
