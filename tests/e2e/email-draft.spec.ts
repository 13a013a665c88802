import { expect, openHydrated, prepareButton, quoteDialog, quoteLink, test, toast } from "../support/e2e-fixtures.ts";
import { labels } from "../support/labels.ts";
import { interceptEmailDrafts, readEmailDrafts } from "../support/page-recorder.ts";

test.beforeEach(({ page }) => interceptEmailDrafts(page));

test("A complete quote opens the email app, closes and empties its form, and offers the email again", {
  tag: "@script",
}, async ({ page }) => {
  await openHydrated(page, "/about");
  const opener = quoteLink(page);
  const dialog = quoteDialog(page);
  await opener.click();
  await dialog.getByLabel("Full Name").fill("Zawadi O'Brien");
  await dialog.getByLabel("Email").fill("zawadi@client.example");
  await dialog.getByLabel(labels.phone).fill("+254 711 222 333");
  await dialog.getByLabel("Service").selectOption("Imports");
  await dialog.getByLabel("Message").fill("Two pallets\nby 12 March");
  await dialog.getByRole("button", { name: labels.prepareEmail }).click();

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
    await expect(dialog.getByLabel(field, { exact: true })).toHaveValue("");
  }
  await expect(dialog.getByRole("textbox", { name: "Message" })).toHaveValue("");
  await dialog.getByText("Open the email with your last quote request").click();
  await expect(dialog.getByRole("link", { name: labels.openEmailApp })).toHaveAttribute(
    "href",
    /^mailto:nairobi@mizigo\.example\?.*Zawadi/,
  );
  expect(await readEmailDrafts(page)).toHaveLength(1);
});

test("The toast leads a visitor without an email app to the text of the quote", { tag: "@script" }, async ({
  page,
}) => {
  await openHydrated(page, "/about");
  await quoteLink(page).click();
  const dialog = quoteDialog(page);
  for (const [label, value] of [
    ["Full Name", "Zawadi"],
    ["Email", "zawadi@client.example"],
    [labels.phone, "+254 711 222 333"],
  ] as const) {
    await dialog.getByLabel(label).fill(value);
  }
  await dialog.getByLabel("Service").selectOption("Imports");
  await dialog.getByRole("button", { name: labels.prepareEmail }).click();
  await toast(page, "Opening Email Client...").getByRole("link", { name: "Open the email again" }).click();
  const ready = dialog.getByRole("region", { name: labels.emailReady });
  await expect(ready.getByRole("link", { name: labels.openEmailApp })).toHaveAttribute("href", /Zawadi/);
  expect(await readEmailDrafts(page)).toHaveLength(1);
});

test("A tracking number opens the email app each time the form is sent", { tag: "@script" }, async ({ page }) => {
  await openHydrated(page, "/");
  await page.getByLabel(labels.trackingNumber).fill("MSCU 7788990");
  await page.getByRole("button", { name: labels.requestUpdate }).click();
  await expect(toast(page, "Email Client Opening...")).toContainText(
    "Your email client is opening to send the tracking request.",
  );
  await expect
    .poll(() => readEmailDrafts(page))
    .toMatchObject([{ to: "nairobi@mizigo.example", subject: "MSCU 7788990" }]);
  await page.getByRole("button", { name: labels.requestUpdate }).click();
  await expect.poll(() => readEmailDrafts(page)).toHaveLength(2);
});

test("A contact message opens the email app and empties the form", { tag: "@script" }, async ({ page }) => {
  await openHydrated(page, "/contact");
  await page.getByLabel("Full Name").fill("Amina Wanjiru");
  await page.getByLabel("Email").fill("amina@client.example");
  await page.getByLabel("Subject").fill("Tea & coffee");
  await page.getByLabel("Message").fill("When can you collect?");
  await prepareButton(page).click();
  await expect(toast(page, "Opening Email Client...")).toBeVisible();
  await expect
    .poll(() => readEmailDrafts(page))
    .toMatchObject([{ to: "nairobi@mizigo.example", subject: "Tea & coffee" }]);
  await expect(page.getByRole("region", { name: labels.emailReady })).toBeFocused();
  for (const field of ["Full Name", "Email", "Subject", "Message"]) {
    await expect(page.getByLabel(field, { exact: true })).toHaveValue("");
  }
});
