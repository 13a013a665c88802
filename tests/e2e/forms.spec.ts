import { writeFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { createSamplePdf } from "../../app/server/start/demo.ts";
import { expect, test, toast } from "../support/e2e-fixtures.ts";

const mainLink = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true });

test("the contact form, from empty to a mail that is ready", async ({ page, javaScriptEnabled }) => {
  await test.step("an empty form says what is missing and leads to each field", async () => {
    await page.goto("/contact");
    await page.getByRole("button", { name: "Prepare the mail" }).click();
    await expect(page).toHaveTitle(/^Error: Contact/);
    const summary = page.getByRole("region", { name: "There is a problem" });
    await expect(summary.getByRole("link")).toHaveText([
      "Enter your full name.",
      /e-mail address/,
      "Enter a subject.",
      "Write your message.",
    ]);
    await expect(page.getByLabel("Full Name")).toHaveAccessibleDescription("Enter your full name.");
    await summary.getByRole("link", { name: "Enter a subject." }).click();
    await expect(page.getByLabel("Subject")).toBeFocused();
    await expect(page).toHaveURL(/#contact-subject$/);
    await expect(summary, "what is said stays").toBeVisible();
    await expect(page.getByLabel("Full Name")).toHaveAttribute("aria-invalid", "true");
  });

  await test.step("the same mistake is announced again", async () => {
    await page.getByRole("button", { name: "Prepare the mail" }).click();
    const summary = page.getByRole("region", { name: "There is a problem" });
    await expect(summary).toBeVisible();
    if (javaScriptEnabled) await expect(summary).toBeFocused();
  });

  await test.step("a wrong address is refused and every answer stays", async () => {
    await page.getByLabel("Full Name").fill("Amina Wanjiru");
    await page.getByLabel("Email").fill("amina at client");
    await page.getByLabel("Subject").fill("Tea & coffee to Hamburg");
    await page.getByLabel("Message").fill("Two pallets.\nWhen can you collect? شكرا");
    await page.getByRole("button", { name: "Prepare the mail" }).click();
    await expect(page.getByLabel("Email")).toHaveAccessibleDescription(
      "Enter an e-mail address in the form name@example.com.",
    );
    await expect(page.getByLabel("Full Name")).toHaveValue("Amina Wanjiru");
    await expect(page.getByLabel("Email")).toHaveValue("amina at client");
    await expect(page.getByLabel("Subject")).toHaveValue("Tea & coffee to Hamburg");
    await expect(page.getByLabel("Message")).toHaveValue("Two pallets.\nWhen can you collect? شكرا");
  });

  await test.step("the mail is ready to open, to copy, or to replace by a call", async () => {
    await page.getByLabel("Email").fill("amina@client.example");
    await page.getByRole("button", { name: "Prepare the mail" }).click();
    await expect(toast(page, "Opening Email Client...")).toBeVisible();
    await expect(page).toHaveTitle(/^Contact/);
    const ready = page.getByRole("region", { name: "Your mail is ready to send" });
    const link = ready.getByRole("link", { name: "Open in your mail application" });
    await expect(link).toHaveAttribute("href", /^mailto:\S+\?subject=Tea%20%26%20coffee%20to%20Hamburg&body=/);
    await expect(link).toHaveAttribute("href", /Two%20pallets\.%0D%0AWhen/);
    await expect(ready.getByRole("textbox")).toHaveValue(/Subject: Tea & coffee to Hamburg\n\nTwo pallets\.\nWhen/);
    await expect(ready.getByRole("textbox")).toHaveValue(/شكرا\n\nAmina Wanjiru\namina@client\.example/);
    await expect(ready.locator("a[href^='tel:']")).toBeVisible();
    await expect(ready.getByRole("link", { name: "chat with us" })).toBeVisible();
    expect(page.url()).not.toMatch(/amina|Hamburg/);
  });

  await test.step("the form is empty when it is opened again", async () => {
    await page.goto("/contact");
    for (const field of ["Full Name", "Email", "Subject", "Message"]) {
      await expect(page.getByLabel(field)).toHaveValue("");
    }
    await expect(toast(page)).toHaveCount(0);
  });
});

test("an application needs a CV that is one, keeps every answer until then, and is thanked for", async ({
  page,
}, info) => {
  const send = page.getByRole("button", { name: "Submit Application" });
  const answers = {
    "Full Name": "Neema Uwase",
    Email: "neema@client.example",
    "Cover letter": "I read papers closely.",
  };
  const expectAnswers = async (isKept: boolean) => {
    for (const [field, value] of Object.entries(answers)) {
      await expect(page.getByLabel(field)).toHaveValue(isKept ? value : "");
    }
  };
  await page.goto("/careers");
  for (const [field, value] of Object.entries(answers)) await page.getByLabel(field).fill(value);

  await test.step("without a CV", async () => {
    await send.click();
    await expect(page).toHaveTitle(/^Error: Careers/);
    await expectAnswers(true);
    await expect(page.getByLabel("CV")).toHaveAccessibleDescription(/Choose your CV\.$/);
  });

  await test.step("with a program under another name", async () => {
    const buffer = Buffer.from("MZ this is a program");
    await page.getByLabel("CV").setInputFiles({ name: "cv.pdf", mimeType: "application/pdf", buffer });
    await send.click();
    await expect(page.getByRole("region", { name: "There is a problem" })).toContainText(
      "not what its ending .pdf says",
    );
    await expect(page.getByLabel("CV")).toHaveAccessibleDescription(/not what its ending \.pdf says/);
    await expectAnswers(true);
  });

  await test.step("with a real file", async () => {
    const file = info.outputPath("CV of Neema, final (2).pdf");
    writeFileSync(file, createSamplePdf("Curriculum vitae"));
    await page.getByLabel("CV").setInputFiles(file);
    await send.click();
    await expect(toast(page, /thank you/i)).toBeVisible();
    await expect(page).toHaveTitle(/^Careers/);
    await expect(page).toHaveURL(/\/careers$/);
    await expectAnswers(false);
    await expect(page.getByLabel("CV")).toHaveValue("");
    await page.goto("/careers");
    await expect(toast(page)).toHaveCount(0);
  });
});

test("the cookie settings are saved, and still there after a reload", async ({ page }) => {
  const boxes = ["Performance & Analytics", "Functional", "Marketing & Targeting"];
  const expectBoxes = async (states: boolean[]) => {
    for (const [index, name] of boxes.entries()) {
      await expect(page.getByLabel(name)).toBeChecked({ checked: states[index] });
    }
    await expect(page.getByLabel("Strictly Necessary")).toBeChecked();
    await expect(page.getByLabel("Strictly Necessary")).toBeDisabled();
  };
  await page.goto("/cookie-settings");
  await expectBoxes([true, true, false]);

  await page.getByLabel("Performance & Analytics").uncheck();
  await page.getByLabel("Marketing & Targeting").check();
  await page.getByRole("button", { name: "Save My Preferences" }).click();
  await expect(toast(page, "Preferences Saved!")).toBeVisible();
  await expect(toast(page, "Your cookie settings have been updated.")).toBeVisible();
  await expectBoxes([false, true, true]);
  await page.reload();
  await expect(toast(page)).toHaveCount(0);
  await expectBoxes([false, true, true]);

  await page.getByRole("button", { name: "Accept All Cookies" }).click();
  await expect(toast(page, "All Cookies Accepted!")).toBeVisible();
  await expect(toast(page, "You've enabled all optional cookies.")).toBeVisible();
  await expectBoxes([true, true, true]);
  await page.goto("/cookie-settings");
  await expectBoxes([true, true, true]);
});

test("the light theme stays on every page of a walk through the site", async ({ page }) => {
  await page.goto("/");
  await expect(page.locator("html")).toHaveClass("dark");
  await page.getByRole("button", { name: "Use the light theme" }).click();
  await expect(page).toHaveURL(/\/$/);
  await expect(page.locator("html")).toHaveClass("light");

  const footer = page.getByRole("contentinfo");
  const walk = [
    { step: () => mainLink(page, "Services").click(), there: () => expect(page).toHaveURL(/\/services$/) },
    {
      step: () => footer.getByRole("link", { name: "Careers" }).click(),
      there: () => expect(page).toHaveTitle(/^Careers/),
    },
    {
      step: () => page.getByRole("button", { name: "Submit Application" }).click(),
      there: () => expect(page).toHaveTitle(/^Error: Careers/),
    },
    {
      step: () => footer.getByRole("link", { name: "Get a Quote" }).click(),
      there: () => expect(page.getByRole("dialog")).toBeVisible(),
    },
    { step: () => page.goto("/no-such-page"), there: () => expect(page).toHaveTitle(/^There is no page here/) },
    { step: () => mainLink(page, "Client Login").click(), there: () => expect(page).toHaveTitle(/^Client Login/) },
  ];
  for (const { step, there } of walk) {
    await step();
    await there();
    await expect(page.locator("html")).toHaveClass("light");
  }

  await page.getByRole("button", { name: "Use the dark theme" }).click();
  await expect(page.locator("html")).toHaveClass("dark");
});
