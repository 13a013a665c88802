import { writeFileSync } from "node:fs";
import { createSamplePdf } from "../../app/server/start/demo.ts";
import { expect, prepareButton, test, toast } from "../support/e2e-fixtures.ts";
import { labels } from "../support/labels.ts";

test("A visitor sees what an empty contact form lacks, then gets an email that is ready to send", async ({
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
      /e-mail address/,
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
    // The summary and the form are too far apart for one window, so the first field with an error has the focus.
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

test("An applicant whose CV is rejected finds all answers in the form and sends a PDF", async ({ page }, info) => {
  const send = page.getByRole("button", { name: "Submit Application" });
  const answers = {
    "Full Name": "Neema Uwase",
    Email: "neema@client.example",
    "Cover letter": "I read documents closely.",
  };
  const expectAnswers = async (isKept: boolean) => {
    for (const [field, value] of Object.entries(answers)) {
      await expect(page.getByLabel(field)).toHaveValue(isKept ? value : "");
    }
  };
  await page.goto("/careers");
  for (const [field, value] of Object.entries(answers)) await page.getByLabel(field).fill(value);

  await test.step("with a program named .pdf", async () => {
    const buffer = Buffer.from("MZ this is a program");
    await page.getByLabel("CV").setInputFiles({ name: "cv.pdf", mimeType: "application/pdf", buffer });
    await send.click();
    await expect(page.getByLabel("CV")).toHaveAccessibleDescription(/not what its ending \.pdf says/);
    await expectAnswers(true);
  });

  await test.step("with a PDF", async () => {
    const file = info.outputPath("CV of Neema, final (2).pdf");
    writeFileSync(file, createSamplePdf("Curriculum vitae"));
    await page.getByLabel("CV").setInputFiles(file);
    await send.click();
    await expect(toast(page, /thank you/i)).toBeVisible();
    await expect(page).toHaveTitle(/^Careers/);
    await expect(page).toHaveURL(/\/careers$/);
    await expectAnswers(false);
    await expect(page.getByLabel("CV")).toHaveValue("");
  });
});
