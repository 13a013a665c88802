import type { Page } from "@playwright/test";
import { expect, openHydrated, quoteDialog, quoteLink, test, toast } from "../../support/e2e-fixtures.ts";
import { labels } from "../../support/labels.ts";

declare global {
  interface Window {
    emailDrafts: string[];
  }
}

/** Records each email draft that the page wants to open, without opening the draft. */
test.beforeEach(({ page }) =>
  page.addInitScript(() => {
    window.emailDrafts = [];
    HTMLAnchorElement.prototype.click = function () {
      window.emailDrafts.push(this.href);
    };
  }),
);

async function readEmailDrafts(page: Page) {
  const opened = await page.evaluate(() => window.emailDrafts);
  return opened.map((href) => {
    const { pathname, searchParams } = new URL(href);
    return { to: pathname, subject: searchParams.get("subject") ?? "", body: searchParams.get("body") ?? "" };
  });
}

test("Sending a complete quote form opens the email app and closes the emptied form. A toast offers the email again.", async ({
  page,
}) => {
  await openHydrated(page, "/resources/blog/importing-a-car-to-kenya");
  const article = page.locator(".prose");
  const before = await article.textContent();
  expect(before?.length).toBeGreaterThan(5000);
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
  await expect(page).toHaveURL(/\/importing-a-car-to-kenya$/);
  expect(await article.textContent(), "the article under the dialog").toBe(before);
  await expect(opener).toBeFocused();
  const [email, ...more] = await readEmailDrafts(page);
  expect(more).toEqual([]);
  expect(email?.to).toBe("nairobi@mizigo.example");
  expect(email?.subject).toMatch(/Imports.*Zawadi O'Brien/);
  expect(email?.body).toContain("Two pallets\r\nby 12 March");

  await toast(page, "Opening Email Client...").getByRole("link", { name: "Open the email again" }).click();
  const ready = dialog.getByRole("region", { name: labels.emailReady });
  await expect(ready.getByRole("link", { name: labels.openEmailApp })).toHaveAttribute("href", /Zawadi/);
  await dialog.getByRole("link", { name: "Close", exact: true }).click();
  await expect(dialog).toHaveCount(0);

  await opener.click();
  for (const field of ["Full Name", "Email", "Phone", "Service"]) {
    await expect(dialog.getByLabel(field, { exact: true })).toHaveValue("");
  }
  await expect(dialog.getByRole("textbox", { name: "Message" })).toHaveValue("");
  await dialog.getByText("Show the email with your last quote request").click();
  await expect(dialog.getByRole("link", { name: labels.openEmailApp })).toHaveAttribute(
    "href",
    /^mailto:nairobi@mizigo\.example\?.*Zawadi/,
  );
  expect(await readEmailDrafts(page)).toHaveLength(1);
});

test("The tracking form opens the email app each time a visitor sends the form.", async ({ page }) => {
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
