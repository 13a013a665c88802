import type { Page } from "@playwright/test";
import {
  createAndOpenShipment,
  expect,
  heading,
  mainLink,
  openHydrated,
  test,
  toast,
  waitForHydration,
} from "../../support/e2e-fixtures.ts";
import { holdForms } from "../../support/held-requests.ts";
import { labels } from "../../support/labels.ts";

const main = (page: Page) => page.locator("main");
const getScrollPosition = (page: Page) => page.evaluate(() => Math.round(scrollY));
const readLocalStorage = (page: Page, key: string) => page.evaluate((name) => localStorage.getItem(name), key);

test("A new page starts at its top with the focus on its content, and the Back button returns to the clicked link.", async ({
  page,
}) => {
  await openHydrated(page, "/services");
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

test("A chosen theme applies before the response, remains on the next page, and is stored in local storage.", async ({
  page,
}) => {
  await page.addInitScript(() => localStorage.setItem("theme", "light"));
  await openHydrated(page, "/about");
  await expect(page.locator("html"), "dark theme before the choice").toHaveClass("dark");
  await expect.poll(() => readLocalStorage(page, "theme")).toBe("dark");
  const { release, sent } = await holdForms(page);
  await page.getByRole("button", { name: labels.useLightTheme }).click();
  await expect(page.locator("html")).toHaveClass("light");
  await expect.poll(() => readLocalStorage(page, "theme")).toBe("light");
  await expect.poll(sent).toBe(1);
  await mainLink(page, "Services").click();
  await expect(page).toHaveTitle(/^Our Services/);
  const answered = page.waitForResponse("**/actions/theme.data");
  const pageAfterwards = page.waitForResponse("**/services.data*");
  await release();
  await Promise.all([answered, pageAfterwards]);
  await expect(page.locator("html")).toHaveClass("light");
  await expect(page.getByRole("button", { name: "Use the dark theme" })).toBeVisible();
  await expect(page).toHaveURL(/\/services$/);
  expect(sent()).toBe(1);
});

test("Saving cookie settings leaves the focus on the button. The settings remain after the cookies are deleted.", async ({
  page,
  context,
}) => {
  await openHydrated(page, "/cookie-settings");
  await page.getByLabel(labels.functionalCookies).uncheck();
  await page.getByRole("button", { name: "Accept All Cookies" }).press("Enter");
  await expect(toast(page, "All Cookies Accepted!")).toBeVisible();
  await expect(page.getByRole("button", { name: "Accept All Cookies" })).toBeFocused();
  await expect(page.getByLabel(labels.functionalCookies)).toBeChecked();

  await page.getByLabel(labels.functionalCookies).uncheck();
  await page.getByRole("button", { name: "Save My Preferences" }).press("Enter");
  await expect(toast(page, "Preferences Saved!")).toBeVisible();
  await expect(page.getByRole("button", { name: "Save My Preferences" })).toBeFocused();
  await expect
    .poll(async () => JSON.parse((await readLocalStorage(page, "cookieSettings")) ?? "null"))
    .toEqual({ performance: true, functional: false, marketing: true });

  await context.clearCookies();
  await page.reload();
  await expect(page.getByLabel("Performance & Analytics")).toBeChecked();
  await expect(page.getByLabel(labels.functionalCookies)).not.toBeChecked();
  await expect(page.getByLabel(labels.marketingCookies)).toBeChecked();
});

test.describe("Cookie settings over a lost connection", () => {
  test.use({ breaksConnection: true });

  test("If saving cookie settings fails, the chosen boxes remain ticked until a later attempt succeeds.", async ({
    page,
  }) => {
    await openHydrated(page, "/cookie-settings");
    await page.route("**/*.data*", (route) => (route.request().method() === "POST" ? route.abort() : route.continue()));
    await page.getByLabel(labels.marketingCookies).check();
    await page.getByRole("button", { name: "Save My Preferences" }).click();
    await expect(page.getByRole("region", { name: labels.errorSummary })).toContainText(labels.typedTextStays);
    await page.unroute("**/*.data*");
    // A change of the theme reloads the page's data.
    const read = page.waitForResponse((answer) => /\.data/.test(answer.url()) && answer.request().method() === "GET");
    await page.getByRole("button", { name: labels.useLightTheme }).click();
    expect((await read).ok()).toBe(true);
    await expect(page.getByRole("button", { name: "Use the dark theme" })).toBeVisible();
    await expect(page.getByLabel(labels.marketingCookies)).toBeChecked();
    await page.getByRole("button", { name: "Save My Preferences" }).click();
    await expect(toast(page, "Preferences Saved!")).toBeVisible();
    await expect(page.getByLabel(labels.marketingCookies)).toBeChecked();
  });
});

test("A click on a button that only shows a toast sends no request.", async ({ page, loggedInClient: _ }) => {
  const requests: string[] = [];
  const clickAndExpectToast = async (button: string, title: string) => {
    await waitForHydration(page);
    await page.waitForLoadState("networkidle");
    requests.length = 0;
    await page.getByRole("button", { name: button }).click();
    await expect(toast(page, title)).toBeVisible();
    expect(requests, button).toEqual([]);
  };
  page.on("request", (request) => requests.push(request.url()));
  await createAndOpenShipment(page, "Tea");
  await clickAndExpectToast("Pay Agent Fee", "Action: Pay Agent Fee");
  await page.goto("/");
  await clickAndExpectToast("Humanitarian Aid", "Humanitarian Aid Clicked");
  await page.context().clearCookies();
  await page.goto("/login");
  await clickAndExpectToast("Forgot password?", "Feature coming soon!");
});

test("Pages fade into one another, except with reduced motion.", async ({ page }) => {
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
  for (const reducedMotion of ["no-preference", "reduce"] as const) {
    await page.emulateMedia({ reducedMotion });
    await openHydrated(page, "/");
    await mainLink(page, "About").click();
    await expect(page).toHaveURL(/\/about$/);
    await expect(page.locator("html")).toHaveAttribute("data-blended", String(reducedMotion === "no-preference"));
  }
});

test("Leaving a page during its loading causes no error.", async ({ page }) => {
  // The response body and the page's script module never arrive completely, so the navigation never ends.
  await page.addInitScript(() => {
    const real = window.fetch;
    window.fetch = async (input, init) => {
      const response = await real(input, init);
      const bytes = await response.clone().arrayBuffer();
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(new Uint8Array(bytes));
          init?.signal?.addEventListener("abort", () => controller.error(init.signal?.reason));
        },
      });
      document.documentElement.dataset.answered = "";
      return new Response(body, { status: response.status, headers: response.headers });
    };
  });
  await openHydrated(page, "/");
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
  await expect(heading(page)).toBeVisible();
});
