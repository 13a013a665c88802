import { expect, test, toast, waitForHydration } from "../support/e2e-fixtures.ts";
import { interceptEmailDrafts, readEmailDrafts } from "../support/page-recorder.ts";

test.beforeEach(({ page }) => interceptEmailDrafts(page));

test("a quote opens the mail application, closes and is empty, and still offers the mail", async ({ page }) => {
  await page.goto("/about");
  await waitForHydration(page);
  const opener = page.getByRole("contentinfo").getByRole("link", { name: "Get a Quote" });
  const dialog = page.getByRole("dialog", { name: "Get a Quote" });
  await opener.click();
  await dialog.getByLabel("Full Name").fill("Zawadi O'Brien");
  await dialog.getByLabel("Email").fill("zawadi@client.example");
  await dialog.getByLabel("Phone").fill("+254 711 222 333");
  await dialog.getByLabel("Service").selectOption("Imports");
  await dialog.getByLabel("Message").fill("Two pallets\nby 12 March");
  await dialog.getByRole("button", { name: "Prepare the mail" }).click();

  await expect(toast(page, "Opening Email Client...")).toContainText(
    "Please complete sending the quote request from your email app.",
  );
  await expect(dialog).toHaveCount(0);
  await expect(page).toHaveURL(/\/about$/);
  await expect(opener).toBeFocused();
  const [mail, ...more] = await readEmailDrafts(page);
  expect(more).toEqual([]);
  expect(mail?.to).toBe("nairobi@mizigo.example");
  expect(mail?.subject).toMatch(/Imports.*Zawadi O'Brien/);
  expect(mail?.body).toContain("Two pallets\r\nby 12 March");

  await opener.click();
  for (const field of ["Full Name", "Email", "Phone", "Service"]) {
    await expect(dialog.getByLabel(field)).toHaveValue("");
  }
  await expect(dialog.getByRole("textbox", { name: "Message" })).toHaveValue("");
  await dialog.getByText("No mail opened for your last request?").click();
  await expect(dialog.getByRole("link", { name: "Open in your mail application" })).toHaveAttribute(
    "href",
    /^mailto:nairobi@mizigo\.example\?.*Zawadi/,
  );
  expect(await readEmailDrafts(page)).toHaveLength(1);
});

test("where no mail application opens, the toast leads to the mail of the quote", async ({ page }) => {
  await page.goto("/about");
  await waitForHydration(page);
  await page.getByRole("contentinfo").getByRole("link", { name: "Get a Quote" }).click();
  const dialog = page.getByRole("dialog", { name: "Get a Quote" });
  for (const [label, value] of [
    ["Full Name", "Zawadi"],
    ["Email", "zawadi@client.example"],
    ["Phone", "+254 711 222 333"],
  ] as const) {
    await dialog.getByLabel(label).fill(value);
  }
  await dialog.getByLabel("Service").selectOption("Imports");
  await dialog.getByRole("button", { name: "Prepare the mail" }).click();
  await toast(page, "Opening Email Client...").getByRole("link", { name: "No mail opened?" }).click();
  const ready = dialog.getByRole("region", { name: "Your mail is ready to send" });
  await expect(ready.getByRole("link", { name: "Open in your mail application" })).toHaveAttribute("href", /Zawadi/);
  expect(await readEmailDrafts(page)).toHaveLength(1);
});

test("a tracking number opens the mail application", async ({ page }) => {
  await page.goto("/");
  await waitForHydration(page);
  await page.getByLabel("Tracking number").fill("MSCU 7788990");
  await page.getByRole("button", { name: "Request an update" }).click();
  await expect(toast(page, "Email Client Opening...")).toContainText(
    "Your email client is opening to send the tracking request.",
  );
  await expect
    .poll(() => readEmailDrafts(page))
    .toMatchObject([{ to: "nairobi@mizigo.example", subject: "MSCU 7788990" }]);
  await page.getByRole("button", { name: "Request an update" }).click();
  await expect.poll(() => readEmailDrafts(page)).toHaveLength(2);
});

test("a message opens the mail application, and the form is empty", async ({ page }) => {
  await page.goto("/contact");
  await waitForHydration(page);
  await page.getByLabel("Full Name").fill("Amina Wanjiru");
  await page.getByLabel("Email").fill("amina@client.example");
  await page.getByLabel("Subject").fill("Tea & coffee");
  await page.getByLabel("Message").fill("When can you collect?");
  await page.getByRole("button", { name: "Prepare the mail" }).click();
  await expect(toast(page, "Opening Email Client...")).toBeVisible();
  await expect
    .poll(() => readEmailDrafts(page))
    .toMatchObject([{ to: "nairobi@mizigo.example", subject: "Tea & coffee" }]);
  await expect(page.getByRole("region", { name: "Your mail is ready to send" })).toBeFocused();
  for (const field of ["Full Name", "Email", "Subject", "Message"]) {
    await expect(page.getByLabel(field, { exact: true })).toHaveValue("");
  }
});
