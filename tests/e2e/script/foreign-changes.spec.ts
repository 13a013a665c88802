import type { Page } from "@playwright/test";
import {
  expect,
  heading,
  openHydrated,
  quoteDialog,
  quoteLink,
  test,
  waitForHydration,
} from "../../support/e2e-fixtures.ts";
import { holdScripts } from "../../support/held-requests.ts";

test.use({ expectedErrors: /React error #418/ });

type Replacement = "replaceWith" | "insert and remove" | "wrap";

/** Changes the page's present and future text nodes with the method `way`, like a translator in the browser. */
async function translate(page: Page, way: Replacement = "replaceWith"): Promise<void> {
  await page.evaluate((way) => {
    const replace = (text: Text) => {
      const parent = text.parentElement;
      if (!parent || !text.data.trim() || parent.closest("font, script, style, textarea, head, svg")) return;
      const font = document.createElement("font");
      if (way === "wrap") {
        parent.insertBefore(font, text);
        font.append(text);
        return;
      }
      font.textContent = `sw:${text.data}`;
      if (way === "insert and remove") {
        text.before(font);
        text.remove();
      } else text.replaceWith(font);
    };
    const replaceAll = (root: Node) => {
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
      const texts: Text[] = [];
      while (walker.nextNode()) texts.push(walker.currentNode as Text);
      texts.forEach(replace);
    };
    replaceAll(document.body);
    new MutationObserver((changes) => {
      for (const { target, addedNodes } of changes) {
        if (target instanceof Text) replace(target);
        for (const node of addedNodes) if (node.nodeName !== "FONT") replaceAll(node.nodeType === 3 ? target : node);
      }
    }).observe(document.body, { childList: true, subtree: true, characterData: true });
  }, way);
}

test("A form in a translated page shows its errors and the typed text.", async ({ page }) => {
  for (const way of ["replaceWith", "insert and remove", "wrap"] as const) {
    await test.step(`by a translator that replaces text by "${way}"`, async () => {
      await openHydrated(page, "/");
      await translate(page, way);
      await quoteLink(page).click();
      const dialog = quoteDialog(page);
      await dialog.locator("[name=name]").fill("Zawadi");
      await dialog.locator("[name=message]").fill("Two\npallets");
      await dialog.getByRole("button").last().click();
      await expect(dialog.locator("#quote-phone-error")).toContainText("Enter your phone number.");
      await expect(dialog.locator("[name=message]")).toHaveValue("Two\npallets");
      await expect(page).toHaveTitle(/^Error: /);
      await dialog.locator("[name=phone]").fill("+254 722 000 000");
      await dialog.getByRole("button").last().click();
      await expect(dialog.locator("#quote-phone-error")).toHaveCount(0);
      await expect(dialog.locator("[name=name]")).toHaveValue("Zawadi");
    });
  }
});

test("A translated page shows the site's new texts instead of outdated translations.", async ({ page }) => {
  const amounts = "currency=USD&value=8,000&freight=1200&insurance=120.50&rate=129.5&duty=25";
  await openHydrated(
    page,
    `/resources/cost?what=car&registered=${new Date().getFullYear() - 3}-05&excise=25&${amounts}`,
  );
  await translate(page);
  const calculation = page.locator("tbody tr").first().locator("td").first();
  await expect(calculation).toContainText("sw:USD 8,000 + 1,200");
  await page.locator("[name=value]").fill("9,000");
  await expect(calculation).toContainText("USD 9,000 + 1,200");
  await expect(calculation).not.toContainText("8,000");
});

test("If a translator restores the original page, the page shows the original texts.", async ({ page }) => {
  await openHydrated(page, "/login");
  const texts = await page.evaluate(() => {
    const lead = [...document.querySelectorAll("main p")].find((each) => each.textContent?.startsWith("Locked out"));
    const text = lead?.firstChild as Text;
    const font = document.createElement("font");
    font.textContent = "sw";
    text.replaceWith(font);
    return new Promise<(string | null | undefined)[]>((resolve) =>
      setTimeout(() => {
        const translated = lead?.textContent;
        font.replaceWith(text);
        setTimeout(() => resolve([translated, lead?.textContent]));
      }),
    );
  });
  expect(texts[0]).toMatch(/^sw/);
  expect(texts[1]).toMatch(/^Locked out\? Call /);
});

test("The login form shows its errors, even if a browser extension wraps, moves or removes elements.", async ({
  page,
}) => {
  await openHydrated(page, "/login");
  await page.evaluate(() => {
    for (const input of document.querySelectorAll("main input:not([type=hidden])")) {
      const wrapper = document.createElement("div");
      input.replaceWith(wrapper);
      wrapper.append(input, document.createElement("i"));
    }
    document.querySelector("main h1")?.remove();
  });
  await page.locator("[name=email]").fill("neema@client.example");
  await page.locator("[name=password]").fill("at dusk");
  await page.locator("#login button[type=submit]").last().click();
  await expect(page.locator("[aria-labelledby=error-summary]")).toBeVisible();
  await expect(page.locator("[name=email]")).toHaveValue("neema@client.example");
  await expect(page.locator("#login [name=password]")).toHaveCount(1);
});

test("Text typed before hydration remains, even if a proxy, a browser extension and a mobile network change the page.", async ({
  page,
}) => {
  const release = await holdScripts(page);
  const fields = { clientId: "ABCD", fullName: "Neema", email: "neema@client.example", password: "at dusk" };
  await page.goto("/signup", { waitUntil: "commit" });
  await expect(page.getByRole("contentinfo")).toBeVisible();
  await page.evaluate(() => {
    // A proxy hides email addresses, an extension adds an element to the form, and a mobile network adds a banner.
    for (const link of document.querySelectorAll("a[href^='mailto:']")) link.innerHTML = "<span>[hidden]</span>";
    document.querySelector("form label")?.before(document.createElement("i"));
    document.querySelector("main")?.prepend(document.createElement("aside"));
  });
  for (const [name, value] of Object.entries(fields)) await page.locator(`main [name=${name}]`).fill(value);
  await release();
  await waitForHydration(page);
  for (const [name, value] of Object.entries(fields))
    await expect(page.locator(`main [name=${name}]`)).toHaveValue(value);
  await expect(page.locator("main [name=password]")).toBeFocused();
});

test("A typed message and a chosen option remain if a translator changes the page before hydration.", async ({
  page,
}) => {
  const release = await holdScripts(page);
  await page.goto("/?quote", { waitUntil: "commit" });
  await expect(page.getByRole("contentinfo")).toBeAttached();
  await translate(page);
  await page.locator("#quote [name=message]").fill("Two\npallets");
  await page.locator("#quote [name=service]").selectOption("Imports");
  await release();
  await waitForHydration(page);
  await expect(page.locator("#quote [name=message]")).toHaveValue("Two\npallets");
  await expect(page.locator("#quote [name=service]")).toHaveValue("Imports");
  await expect(heading(page)).toHaveCount(1);
});
