import { expect, prepareButton, test, toast } from "../support/e2e-fixtures.ts";
import { labels } from "../support/labels.ts";

test("A visitor sees the missing fields of an empty contact form, then gets an email that is ready to send.", async ({
  page,
  javaScriptEnabled,
}) => {
  await test.step("an empty form lists the missing fields and links to them", async () => {
    await page.goto("/contact");
    await prepareButton(page).click();
    await expect(page).toHaveTitle(/^Error: Contact/);
    const summary = page.getByRole("region", { name: labels.errorSummary });
    await expect(summary.getByRole("link")).toHaveText([
      "Enter your full name.",
      "Enter your email.",
      "Enter a subject.",
      "Write your message.",
    ]);
    await expect(page.getByLabel("Full Name")).toHaveAccessibleDescription("Enter your full name.");
    await summary.getByRole("link", { name: "Enter a subject." }).click();
    await expect(page.getByLabel("Subject")).toBeFocused();
    await expect(page).toHaveURL(/#contact-subject$/);
    await expect(summary).toBeVisible();
    await expect(page.getByLabel("Full Name")).toHaveAttribute("aria-invalid", "true");
  });

  await test.step("the same errors are announced again", async () => {
    await prepareButton(page).click();
    await expect(page.getByRole("region", { name: labels.errorSummary })).toBeVisible();
    // The error summary and the form do not fit into one window, so the focus is in the first field with an error.
    if (javaScriptEnabled) await expect(page.getByLabel("Full Name")).toBeFocused();
  });

  await test.step("the email is ready to open or to copy", async () => {
    await page.getByLabel("Full Name").fill("Amina Wanjiru");
    await page.getByLabel("Email").fill("amina@client.example");
    await page.getByLabel("Subject").fill("Tea & coffee to Hamburg");
    await page.getByLabel("Message").fill("Two pallets.\nWhen can you collect? شكرا");
    await prepareButton(page).click();
    await expect(toast(page, "Opening Email Client...")).toBeVisible();
    await expect(page).toHaveTitle(/^Contact/);
    const ready = page.getByRole("region", { name: labels.emailReady });
    const link = ready.getByRole("link", { name: labels.openEmailApp });
    await expect(link).toHaveAttribute("href", /^mailto:\S+\?subject=Tea%20%26%20coffee%20to%20Hamburg&body=/);
    await expect(link).toHaveAttribute("href", /Two%20pallets\.%0D%0AWhen/);
    await expect(ready.getByRole("textbox")).toHaveValue(/Subject: Tea & coffee to Hamburg\n\nTwo pallets\.\nWhen/);
    await expect(ready.getByRole("textbox")).toHaveValue(/شكرا\n\nAmina Wanjiru\namina@client\.example/);
    expect(page.url()).not.toMatch(/amina|Hamburg/);
  });
});
