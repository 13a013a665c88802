import { writeFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { samplePdf } from "../../app/server/start/demo.ts";
import { expect, test, toast } from "../support/fixtures.ts";

/** The summary of the disclosure with this name in the bar above the page. */
const disclosure = (page: Page, name: string) => page.locator("header summary", { hasText: name });
const mainLink = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true });

test("the contact form, from empty to a mail that is ready", async ({ page }) => {
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

test("a link of the error summary leads to its field and leaves what is said; the same mistake is announced again", async ({
  page,
}, info) => {
  await page.goto("/contact");
  const prepare = page.locator("main").getByRole("button", { name: "Prepare the mail" });
  const summary = page.getByRole("region", { name: "There is a problem" });
  await prepare.click();
  await summary.getByRole("link").first().click();
  await expect(page).toHaveURL(/#contact-name$/);
  await expect(summary).toBeVisible();
  await expect(page.getByLabel("Full Name")).toHaveAttribute("aria-invalid", "true");
  await prepare.click();
  await expect(summary).toBeVisible();
  if (info.project.name === "with script") await expect(summary).toBeFocused();
});

test("a quote, asked for over the page one is reading, leads to a mail and back to the page", async ({
  page,
  javaScriptEnabled,
}) => {
  await page.goto("/about");
  await page.getByRole("contentinfo").getByRole("link", { name: "Get a Quote" }).click();
  const dialog = page.getByRole("dialog", { name: "Get a Quote" });
  await expect(dialog).toBeVisible();
  await dialog.getByRole("link", { name: "Close" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page).toHaveURL(/\/about$/);

  await page.getByRole("contentinfo").getByRole("link", { name: "Get a Quote" }).click();
  await dialog.getByLabel("Full Name").fill("Baraka Mwangi");
  await dialog.getByLabel("Email").fill("baraka@client.example");
  await dialog.getByLabel("Service").selectOption("Sea & Air Freight");
  await dialog.getByLabel("Message").fill("Coffee machines, Milan to Kigali");
  await dialog.getByRole("button", { name: "Prepare the mail" }).click();
  await expect(page.getByLabel("Phone")).toHaveAccessibleDescription(/phone number/);
  await expect(page.getByLabel("Full Name")).toHaveValue("Baraka Mwangi");
  await expect(page.getByLabel("Service")).toHaveValue("Sea & Air Freight");
  await expect(page.getByLabel("Message")).toHaveValue("Coffee machines, Milan to Kigali");

  await page.getByLabel("Phone").fill("+254 711 222 333");
  await page.getByRole("button", { name: "Prepare the mail" }).click();
  await expect(toast(page, "Opening Email Client...")).toContainText(
    "Please complete sending the quote request from your email app.",
  );
  // With script the mail opens by itself and the form makes way.
  if (!javaScriptEnabled) {
    await expect(page.getByRole("link", { name: "Open in your mail application" })).toHaveAttribute(
      "href",
      /subject=[^&]*Sea%20%26%20Air%20Freight[^&]*Baraka%20Mwangi/,
    );
    await page.getByRole("link", { name: "Back to where you were" }).click();
  }
  await expect(page).toHaveURL(/\/about$/);
  await expect(dialog).toHaveCount(0);
});

test("an application with a real file is thanked for, and the form is empty again", async ({ page }, info) => {
  const file = info.outputPath("CV of Neema, final (2).pdf");
  writeFileSync(file, samplePdf("Curriculum vitae"));
  await page.goto("/careers");
  await page.getByLabel("Full Name").fill("Neema Uwase");
  await page.getByLabel("Email").fill("neema@client.example");
  await page.getByLabel("Cover letter").fill("I read papers closely.");
  await page.getByLabel("CV").setInputFiles(file);
  await page.getByRole("button", { name: "Submit Application" }).click();
  await expect(toast(page, /thank you/i)).toBeVisible();
  await expect(page).toHaveTitle(/^Careers/);
  await expect(page).toHaveURL(/\/careers$/);
  for (const field of ["Full Name", "Email", "Cover letter", "CV"]) {
    await expect(page.getByLabel(field)).toHaveValue("");
  }
  await page.goto("/careers");
  await expect(toast(page)).toHaveCount(0);
});

test("an application without a CV says so beside the field, and every answer stays", async ({ page }) => {
  await page.goto("/careers");
  await page.getByLabel("Full Name").fill("Neema Uwase");
  await page.getByLabel("Email").fill("neema@client.example");
  await page.getByLabel("Cover letter").fill("I read papers closely.");
  await page.getByRole("button", { name: "Submit Application" }).click();
  await expect(page).toHaveTitle(/^Error: Careers/);
  await expect(page.getByLabel("Full Name")).toHaveValue("Neema Uwase");
  await expect(page.getByLabel("Email")).toHaveValue("neema@client.example");
  await expect(page.getByLabel("Cover letter")).toHaveValue("I read papers closely.");
  await expect(page.getByLabel("CV")).toHaveAccessibleDescription(/Choose your CV\.$/);
});

test("a CV that is a program under another name is refused beside its field", async ({ page }) => {
  await page.goto("/careers");
  await page.getByLabel("Full Name").fill("Neema Uwase");
  await page.getByLabel("Email").fill("neema@client.example");
  await page.getByLabel("CV").setInputFiles({
    name: "cv.pdf",
    mimeType: "application/pdf",
    buffer: Buffer.from("MZ this is a program"),
  });
  await page.getByRole("button", { name: "Submit Application" }).click();
  await expect(page.getByRole("region", { name: "There is a problem" })).toContainText("not what its ending .pdf says");
  await expect(page.getByLabel("CV")).toHaveAccessibleDescription(/not what its ending \.pdf says/);
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
  await page.goto("/");
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
    { step: () => mainLink(page, "About").click(), there: () => expect(page).toHaveURL(/\/about$/) },
    {
      step: () => footer.getByRole("link", { name: "Careers" }).click(),
      there: () => expect(page).toHaveTitle(/^Careers/),
    },
    {
      step: () => page.getByRole("button", { name: "Submit Application" }).click(),
      there: () => expect(page).toHaveTitle(/^Error: Careers/),
    },
    {
      step: () => footer.getByRole("link", { name: "Cookie Settings" }).click(),
      there: () => expect(page).toHaveTitle(/^Cookie Settings/),
    },
    {
      step: () => footer.getByRole("link", { name: "Get a Quote" }).click(),
      there: () => expect(page.getByRole("dialog")).toBeVisible(),
    },
    { step: () => page.goto("/no-such-page"), there: () => expect(page).toHaveTitle(/^There is no page here/) },
    { step: () => mainLink(page, "Client Login").click(), there: () => expect(page).toHaveTitle(/^Client Login/) },
    { step: () => mainLink(page, "Home").click(), there: () => expect(page).toHaveURL(/\/$/) },
  ];
  for (const { step, there } of walk) {
    await step();
    await there();
    await expect(page.locator("html")).toHaveClass("light");
  }

  await page.getByRole("button", { name: "Use the dark theme" }).click();
  await expect(page.locator("html")).toHaveClass("dark");
});

test("on a phone the menu opens, leads to a page, and is closed there", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto("/");
  const names = ["Home", "Services", "About", "FAQ", "Feeds Update", "Blog", "Client Login"];
  for (const name of names) await expect(mainLink(page, name), name).toHaveCount(0);
  await disclosure(page, "Menu").click();
  for (const name of names) await expect(mainLink(page, name), name).toBeInViewport();
  await disclosure(page, "Menu").click();
  await expect(mainLink(page, "Services")).toHaveCount(0);

  await disclosure(page, "Menu").click();
  await mainLink(page, "Services").click();
  await expect(page).toHaveURL(/\/services$/);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(mainLink(page, "Services")).toHaveCount(0);
});

test("on a wide screen the Resources list opens by keyboard, and its links can be followed", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto("/");
  const resources = disclosure(page, "Resources");
  await expect(mainLink(page, "FAQ")).toHaveCount(0);

  await test.step("the tab key comes to it after the skip link and the pages before it", async () => {
    const passed = [];
    for (let presses = 0; presses < 12; presses += 1) {
      await page.keyboard.press("Tab");
      const name = ((await page.locator(":focus").textContent()) ?? "").trim();
      passed.push(name);
      if (name === "Resources") break;
    }
    expect(passed[0]).toBe("Skip to the content");
    expect(passed.slice(-4)).toEqual(["Home", "Services", "About", "Resources"]);
    await expect(resources).toBeFocused();
  });

  await test.step("Enter opens it, Space closes it", async () => {
    await page.keyboard.press("Enter");
    for (const name of ["FAQ", "Feeds Update", "Blog"]) await expect(mainLink(page, name)).toBeInViewport();
    await page.keyboard.press("Space");
    await expect(mainLink(page, "FAQ")).toHaveCount(0);
  });

  await test.step("its links are next in order", async () => {
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await expect(mainLink(page, "FAQ")).toBeFocused();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await expect(mainLink(page, "Blog")).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/resources\/blog$/);
    await expect(mainLink(page, "FAQ")).toHaveCount(0);
  });
});
