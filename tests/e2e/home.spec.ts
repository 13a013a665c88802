import type { Page } from "@playwright/test";
import { expect, test, toast, waitForHydration } from "../support/e2e-fixtures.ts";

test("a tracking number becomes a mail to the Nairobi office", async ({ page }) => {
  await page.goto("/");
  await page.getByRole("button", { name: "Request an update" }).click();
  await expect(page).toHaveTitle(/^Error: /);
  await expect(toast(page, "Tracking Number Required")).toBeVisible();
  await expect(page.getByLabel("Tracking number")).toHaveAccessibleDescription(
    "Bill of lading, air waybill or container Please enter a tracking number to request an update.",
  );
  await page.getByRole("link", { name: "Please enter a tracking number to request an update." }).click();
  await expect(page.getByLabel("Tracking number")).toBeFocused();

  await page.getByLabel("Tracking number").fill('MSCU 7788990 "شحنة"');
  await page.getByRole("button", { name: "Request an update" }).click();
  await expect(toast(page, "Email Client Opening...")).toBeVisible();
  await expect(toast(page, "Your email client is opening to send the tracking request.")).toBeVisible();
  await expect(page).not.toHaveTitle(/^Error: /);
  const mail = await readEmailDraft(page);
  expect(mail.to).toBe("nairobi@mizigo.example");
  expect(mail.subject).toBe('MSCU 7788990 "شحنة"');
  expect(mail.body).toContain('tracking number MSCU 7788990 "شحنة".');
  await expect(page.getByLabel("Tracking number")).toHaveValue('MSCU 7788990 "شحنة"');
  await expect(page.getByLabel("Tracking number")).toHaveAccessibleDescription(
    "Bill of lading, air waybill or container",
  );
});

test("the quote form opens from the hero and from the footer, and closes by its X and by the backdrop", async ({
  page,
}) => {
  await page.goto("/");
  const panel = page.getByRole("dialog", { name: "Get a Quote" });
  for (const { region, close } of [
    { region: "main", close: () => panel.getByRole("link", { name: "Close", exact: true }).click() },
    { region: "contentinfo", close: () => page.mouse.click(12, 360) },
  ] as const) {
    await page.getByRole(region).getByRole("link", { name: "Get a Quote" }).click();
    await expect(panel).toBeVisible();
    await expect(panel, "the page does not show through").not.toHaveCSS("background-color", "rgba(0, 0, 0, 0)");
    await expect(page).toHaveURL(/\/\?quote$/);
    await close();
    await expect(panel).toHaveCount(0);
    await expect(page).toHaveURL(/\/$/);
  }
});

test("an address that opens the quote form shows the whole page once the form is closed", async ({
  page,
  javaScriptEnabled,
}) => {
  for (const [address, last] of [
    ["/", "What clients say"],
    ["/services", "Need a Custom Solution?"],
  ] as const) {
    await page.goto(`${address}?quote`);
    if (javaScriptEnabled) await waitForHydration(page);
    const asked: string[] = [];
    page.on("request", (request) => {
      if (["document", "fetch"].includes(request.resourceType())) asked.push(request.url());
    });
    await page.getByRole("dialog").getByRole("link", { name: "Close" }).click();
    await expect(page.getByRole("heading", { name: last })).toBeVisible();
    expect(asked, "script has the page already").toHaveLength(javaScriptEnabled ? 0 : 1);
    page.removeAllListeners("request");
  }
});

test("the keyboard comes to the quote form, and to nothing of the page below", async ({ page }) => {
  await page.goto("/about?quote");
  const stops = new Set<string>();
  for (let press = 0; press < 12; press += 1) {
    await page.keyboard.press("Tab");
    stops.add(
      await page.evaluate(() => {
        const { activeElement: at, body } = document;
        if (!at || at === body) return "the browser";
        return at.closest("dialog, .toasts") ? "the form" : (at.textContent ?? "");
      }),
    );
  }
  expect(stops).toContain("the form");
  expect([...stops].filter((stop) => !["the form", "the browser"].includes(stop))).toEqual([]);
  await page.getByRole("dialog").getByRole("link", { name: "Close" }).click();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await page.getByRole("contentinfo").getByRole("link", { name: "Get a Quote" }).focus();
  await expect(page.getByRole("contentinfo").getByRole("link", { name: "Get a Quote" })).toBeFocused();
});

test("a quote request is refused until it is complete, keeps the answers, and becomes a mail", async ({
  page,
  javaScriptEnabled,
}) => {
  const typed = { name: "Zawadi O'Brien", email: "zawadi@client.example", phone: "+254 711 222 333" };
  const message = "2 × 40' HC, Mombasa to Kigali & back\nby 12 March — كم؟";

  await test.step("incomplete", async () => {
    await page.goto("/");
    await page.getByRole("main").getByRole("link", { name: "Get a Quote" }).click();
    await page.getByLabel("Full Name").fill(typed.name);
    await page.getByLabel("Email").fill("zawadi at client");
    await page.getByLabel("Message").fill(message);
    await page.getByRole("button", { name: "Prepare the mail" }).click();
    // With script the answer is shown in the dialog, and the page below keeps its title.
    if (!javaScriptEnabled) await expect(page).toHaveTitle(/^Error: /);
    for (const problem of [
      "Enter an e-mail address in the form name@example.com.",
      "Enter your phone number.",
      "Choose one of the services.",
    ]) {
      await expect(page.getByRole("link", { name: problem })).toBeVisible();
    }
    await expect(page.getByLabel("Full Name")).toHaveValue(typed.name);
    await expect(page.getByLabel("Email")).toHaveValue("zawadi at client");
    await expect(page.getByLabel("Message")).toHaveValue(message);
    await expect(page.getByLabel("Service", { exact: true })).toHaveAccessibleDescription(
      "Choose one of the services.",
    );
  });

  await test.step("complete", async () => {
    await page.getByLabel("Email").fill(typed.email);
    await page.getByLabel("Phone").fill(typed.phone);
    await page.getByLabel("Service", { exact: true }).selectOption("Door-to-Door Logistics");
    await page.getByRole("button", { name: "Prepare the mail" }).click();
    await expect(toast(page, "Opening Email Client...")).toContainText(
      "Please complete sending the quote request from your email app.",
    );
    await expect(page).not.toHaveTitle(/^Error: /);
    if (javaScriptEnabled) {
      // The mail opens by itself and the dialog closes.
      await expect(page.getByRole("dialog")).toHaveCount(0);
      await expect(page).toHaveURL(/\/$/);
      await page.getByRole("main").getByRole("link", { name: "Get a Quote" }).click();
      await page.getByText("No mail opened for your last request?").click();
    }
    const mail = await readEmailDraft(page);
    expect(mail.to).toBe("nairobi@mizigo.example");
    expect(mail.subject).toContain("Door-to-Door Logistics");
    expect(mail.subject).toContain(typed.name);
    for (const line of [...Object.values(typed), "Door-to-Door Logistics", message.replace("\n", "\r\n")]) {
      expect(mail.body).toContain(line);
    }
    expect(page.url()).not.toContain("zawadi");
  });

  await test.step("and back to the page", async () => {
    const back = javaScriptEnabled ? "Close" : "Back to where you were";
    await page.getByRole("link", { name: back, exact: true }).click();
    await expect(page).toHaveURL(/\/$/);
    await expect(page.getByRole("dialog")).toHaveCount(0);
  });
});

test("the row of industries scrolls by keyboard, and an industry shows its toast and leaves the person at the row", async ({
  page,
}) => {
  await page.goto("/");
  const row = page.getByRole("region", { name: "The ten industries" });
  const last = row.getByRole("button").last();
  await expect(last).not.toBeInViewport();
  await row.focus();
  await expect(async () => {
    await page.keyboard.press("ArrowRight");
    await expect(last).toBeInViewport({ timeout: 50 });
  }).toPass({ intervals: [50] });

  await page.getByRole("button", { name: /^Humanitarian Aid/ }).click();
  await expect(toast(page, "Humanitarian Aid Clicked")).toBeVisible();
  await expect(toast(page, "not implemented yet")).toBeVisible();
  await expect(page).toHaveURL(/\/(#industries)?$/);
  await expect(page.getByRole("heading", { name: "Industries we serve" })).toBeInViewport();
});

/** The mail behind the main button of the page. */
async function readEmailDraft(page: Page) {
  const href = await page.getByRole("link", { name: "Open in your mail application" }).getAttribute("href");
  const { pathname, searchParams } = new URL(href ?? "");
  return { to: pathname, subject: searchParams.get("subject") ?? "", body: searchParams.get("body") ?? "" };
}
