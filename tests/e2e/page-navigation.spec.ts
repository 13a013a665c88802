import type { Page } from "@playwright/test";
import { createAndOpenShipment, expect, test, toast, waitForHydration } from "../support/e2e-fixtures.ts";
import { holdForms } from "../support/page-recorder.ts";

const main = (page: Page) => page.locator("main");
const getScrollPosition = (page: Page) => page.evaluate(() => Math.round(scrollY));
const readLocalStorage = (page: Page, key: string) => page.evaluate((name) => localStorage.getItem(name), key);

test("a new page begins at its top with the focus at its content; Back returns to the pressed link", async ({
  page,
}) => {
  await page.goto("/services");
  await waitForHydration(page);
  const link = main(page).getByRole("link", { name: "Request Consultation" });
  await link.scrollIntoViewIfNeeded();
  const before = await getScrollPosition(page);
  expect(before).toBeGreaterThan(100);
  await link.click();
  await expect(page).toHaveURL(/\/contact$/);
  await expect(main(page)).toBeFocused();
  expect(await getScrollPosition(page)).toBe(0);
  await page.goBack();
  await expect(page).toHaveURL(/\/services$/);
  await expect(link).toBeFocused();
  await expect.poll(() => getScrollPosition(page)).toBe(before);
});

test("the theme turns before the server answered, and local storage hears of it", async ({ page }) => {
  await page.addInitScript(() => localStorage.setItem("theme", "light"));
  await page.goto("/about");
  await waitForHydration(page);
  await expect(page.locator("html"), "dark at first, whatever was stored").toHaveClass("dark");
  await expect.poll(() => readLocalStorage(page, "theme")).toBe("dark");
  const { release, sent } = await holdForms(page);
  await page.getByRole("button", { name: "Use the light theme" }).click();
  await expect(page.locator("html")).toHaveClass("light");
  await expect.poll(() => readLocalStorage(page, "theme")).toBe("light");
  // The form reaches the held line in its own time.
  await expect.poll(sent).toBe(1);
  await release();
  await expect(page.getByRole("button", { name: "Use the dark theme" })).toBeVisible();
  await expect(page).toHaveURL(/\/about$/);
  expect(sent()).toBe(1);
});

test("saving the cookie settings leaves the focus on what saved them, and a copy that counts where no cookie is", async ({
  page,
  context,
}) => {
  await page.goto("/cookie-settings");
  await waitForHydration(page);
  await page.getByLabel("Functional").uncheck();
  await page.getByRole("button", { name: "Accept All Cookies" }).press("Enter");
  await expect(toast(page, "All Cookies Accepted!")).toBeVisible();
  await expect(page.getByRole("button", { name: "Accept All Cookies" })).toBeFocused();
  await expect(page.getByLabel("Functional")).toBeChecked();

  await page.getByLabel("Functional").uncheck();
  await page.getByRole("button", { name: "Save My Preferences" }).press("Enter");
  await expect(toast(page, "Preferences Saved!")).toBeVisible();
  await expect(page.getByRole("button", { name: "Save My Preferences" })).toBeFocused();
  await expect
    .poll(async () => JSON.parse((await readLocalStorage(page, "cookieSettings")) ?? "null"))
    .toEqual({ performance: true, functional: false, marketing: true });

  await context.clearCookies();
  await page.reload();
  await expect(page.getByLabel("Performance & Analytics")).toBeChecked();
  await expect(page.getByLabel("Functional")).not.toBeChecked();
  await expect(page.getByLabel("Marketing & Targeting")).toBeChecked();
});

test.describe("on a line that breaks", () => {
  test.use({ breaksConnection: true });

  test("cookie settings that were not saved say so, and stay ticked until they are", async ({ page }) => {
    await page.goto("/cookie-settings");
    await waitForHydration(page);
    await page.route("**/*.data*", (route) => (route.request().method() === "POST" ? route.abort() : route.continue()));
    await page.getByLabel("Marketing & Targeting").check();
    await page.getByRole("button", { name: "Save My Preferences" }).click();
    await expect(toast(page, "No answer")).toBeVisible();
    await page.unroute("**/*.data*");
    // Changing the theme makes the page load its data again.
    const read = page.waitForResponse((answer) => /\.data/.test(answer.url()) && answer.request().method() === "GET");
    await page.getByRole("button", { name: "Use the light theme" }).click();
    expect((await read).ok()).toBe(true);
    await expect(page.getByRole("button", { name: "Use the dark theme" })).toBeVisible();
    await expect(page.getByLabel("Marketing & Targeting")).toBeChecked();
    await page.getByRole("button", { name: "Save My Preferences" }).click();
    await expect(toast(page, "Preferences Saved!")).toBeVisible();
    await expect(page.getByLabel("Marketing & Targeting")).toBeChecked();
  });
});

test("buttons that only show a toast do not ask the server", async ({ page, loggedInClient: signedIn }) => {
  expect(signedIn.email).toContain("@");
  const asked: string[] = [];
  const press = async (button: string, words: string) => {
    await waitForHydration(page);
    await page.waitForLoadState("networkidle");
    asked.length = 0;
    await page.getByRole("button", { name: button }).click();
    await expect(toast(page, words)).toBeVisible();
    expect(asked, button).toEqual([]);
  };
  page.on("request", (request) => asked.push(request.url()));
  await createAndOpenShipment(page, "Tea");
  await press("Pay Agent Fee", "Action: Pay Agent Fee");
  await page.goto("/");
  await press("Humanitarian Aid", "Humanitarian Aid Clicked");
  await page.context().clearCookies();
  await page.goto("/login");
  await press("Forgot password?", "Feature coming soon!");
});

for (const { motion, runs } of [
  { motion: "no-preference", runs: true },
  { motion: "reduce", runs: false },
] as const) {
  test(`pages ${runs ? "are blended into one another" : "change at once"} with motion '${motion}'`, async ({
    page,
  }) => {
    await page.emulateMedia({ reducedMotion: motion });
    await page.addInitScript(() => {
      const start = document.startViewTransition.bind(document);
      document.startViewTransition = (update) => {
        const transition = start(update);
        const note = () => {
          const animations = document.getAnimations().filter(({ effect }) => {
            const pseudo = effect instanceof KeyframeEffect ? effect.pseudoElement : null;
            return pseudo?.startsWith("::view-transition");
          });
          document.documentElement.dataset.blended = String(animations.length > 0);
        };
        transition.ready.then(note, () => {});
        return transition;
      };
    });
    await page.goto("/");
    await waitForHydration(page);
    await page.locator("header").getByRole("link", { name: "About", exact: true }).click();
    await expect(page).toHaveURL(/\/about$/);
    await expect(page.locator("html")).toHaveAttribute("data-blended", String(runs));
  });
}

test("leaving a page that is still on its way is no error", async ({ page }) => {
  // Keeps the answer's body and the page's module from completing.
  await page.addInitScript(() => {
    const real = window.fetch;
    window.fetch = async (input, init) => {
      const answer = await real(input, init);
      const words = await answer.clone().arrayBuffer();
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(new Uint8Array(words));
          init?.signal?.addEventListener("abort", () => controller.error(init.signal?.reason));
        },
      });
      document.documentElement.dataset.answered = "";
      return new Response(body, { status: answer.status, headers: answer.headers });
    };
  });
  await page.goto("/");
  await waitForHydration(page);
  const link = (name: string) => page.locator("header").getByRole("link", { name, exact: true });
  const services = await page.evaluate(
    () =>
      (window as unknown as { __reactRouterManifest: { routes: Record<string, { module: string }> } })
        .__reactRouterManifest.routes["routes/_site.services"]?.module,
  );
  await page.route(`**${services}`, () => {});
  await link("Services").click();
  await expect(page.locator("html")).toHaveAttribute("data-answered");
  await link("About").click();
  await expect(page).toHaveURL(/\/about$/);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
});
