import type { Page } from "@playwright/test";
import { expect, newShipment, openHydrated, test, toast } from "../../support/e2e-fixtures.ts";
import { labels } from "../../support/labels.ts";
import { enableSaveData, openMovingPage, pauseButton, setTabHidden, withMotion } from "../../support/motion.ts";
import { advanceShipment } from "../../support/service-role.ts";

test.use(withMotion);
test.beforeEach(() => test.slow());

/** Returns the names of the running endless animations. */
const listRunningAnimations = (page: Page) =>
  page.evaluate(() => [
    ...new Set(
      document
        .getAnimations()
        .filter(({ playState, effect }) => playState === "running" && effect?.getTiming().iterations === Infinity)
        .map((animation) => (animation as CSSAnimation).animationName),
    ),
  ]);

const partners = (page: Page) => page.getByRole("region", { name: labels.partners });

for (const { path, name, items } of [
  { path: "/about", name: labels.partners, items: 13 },
  { path: "/", name: "Testimonials", items: 3 },
]) {
  test(`The strip '${name}' repeats without a jump, and pauses when hovered, out of view or in a hidden tab.`, async ({
    page,
  }) => {
    await page.addInitScript(enableSaveData);
    await openMovingPage(page, path);
    const strip = page.getByRole("region", { name });
    await strip.scrollIntoViewIfNeeded();
    await expect.poll(() => listRunningAnimations(page)).toContain("marquee");
    await expect(strip.getByRole("listitem")).toHaveCount(items);
    await expect(strip.locator("li")).toHaveCount(2 * items);

    await test.step("the strip pauses when hovered, out of view and in a hidden tab", async () => {
      await strip.hover();
      await expect.poll(() => listRunningAnimations(page)).not.toContain("marquee");
      await page.mouse.move(0, 0);
      await expect.poll(() => listRunningAnimations(page)).toContain("marquee");
      await page.getByRole("contentinfo").scrollIntoViewIfNeeded();
      await expect.poll(() => listRunningAnimations(page)).toEqual([]);
      await strip.scrollIntoViewIfNeeded();
      await expect.poll(() => listRunningAnimations(page)).toContain("marquee");
      await setTabHidden(page, true);
      await expect.poll(() => listRunningAnimations(page)).toEqual([]);
      await setTabHidden(page, false);
      await expect.poll(() => listRunningAnimations(page)).toContain("marquee");
    });

    // After a script has paused the animation, the stylesheet no longer starts or stops the animation.
    const seam = await strip.evaluate((strip) => {
      const [animation] = strip.getAnimations({ subtree: true });
      if (!animation) throw new Error("nothing moves");
      animation.pause();
      const getLeft = (round: number) => strip.querySelectorAll("ul")[round]?.getBoundingClientRect().left ?? 0;
      animation.currentTime = 0;
      const [start, width] = [getLeft(0), getLeft(1) - getLeft(0)];
      animation.currentTime = 39_999.99;
      return { gap: Math.round(getLeft(1) - start), fills: width >= strip.clientWidth };
    });
    expect(seam).toEqual({ gap: 0, fills: true });
    expect(await strip.evaluate((strip) => strip.firstElementChild?.getAnimations()[0]?.effect?.getTiming())).toEqual(
      expect.objectContaining({ duration: 40_000, iterations: Infinity }),
    );
  });
}

test("One button pauses all animations, also of later visits, and starts the animations again.", async ({ page }) => {
  await page.clock.install();
  await openMovingPage(page, "/about");
  await page.getByRole("region", { name: labels.story }).scrollIntoViewIfNeeded();
  await expect(pauseButton(page)).toHaveAttribute("aria-pressed", "false");
  await pauseButton(page).click();
  await expect(pauseButton(page)).toHaveAttribute("aria-pressed", "true");
  await expect.poll(() => listRunningAnimations(page)).toEqual([]);
  expect(await page.evaluate(() => localStorage.getItem("motion"))).toBe("paused");
  await page.clock.fastForward(30_000);
  await expect(page.getByRole("group", { name: "1 of 5" })).toBeInViewport();

  await page.reload();
  await expect(pauseButton(page)).toHaveAttribute("aria-pressed", "true");
  await expect(page.locator(".streaks i")).toHaveCount(50);
  expect(await listRunningAnimations(page)).toEqual([]);
  await pauseButton(page).press("Space");
  await expect(pauseButton(page)).toHaveAttribute("aria-pressed", "false");
  await expect.poll(() => listRunningAnimations(page)).toContain("pass");
});

test("The keyboard scrolls a paused strip to its last item.", async ({ page }) => {
  await page.addInitScript(() => localStorage.setItem("motion", "paused"));
  await openMovingPage(page, "/about");
  await expect(partners(page)).toHaveAttribute("tabindex", "0");
  await partners(page).focus();
  const last = partners(page).getByRole("listitem").last();
  await expect(last).not.toBeInViewport();
  await expect(async () => {
    await page.keyboard.press("ArrowRight");
    await expect(last).toBeInViewport({ timeout: 50 });
  }).toPass({ intervals: [20] });
});

test("With reduced motion, no animation runs, all text is readable, and no pause button is shown.", async ({
  page,
}) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.clock.install();
  for (const { path, name, items } of [
    { path: "/", name: "Testimonials", items: 3 },
    { path: "/about", name: labels.partners, items: 13 },
  ]) {
    await page.goto(path);
    await expect(page.locator(".streaks")).toBeAttached();
    const strip = page.getByRole("region", { name });
    for (const item of await strip.locator("li").all()) {
      await item.scrollIntoViewIfNeeded();
      await expect(item).toBeInViewport();
    }
    await expect(strip.locator("li")).toHaveCount(items);
    expect(await listRunningAnimations(page)).toEqual([]);
    await expect(pauseButton(page)).toBeHidden();
    await expect(page.locator(".streaks")).toBeHidden();
  }
  const scenes = page.getByRole("region", { name: labels.story });
  await scenes.scrollIntoViewIfNeeded();
  await page.clock.fastForward(30_000);
  await expect(scenes.getByRole("group", { name: "1 of 5" })).toBeInViewport();
  await scenes.getByRole("button", { name: labels.nextScene }).click();
  await expect(scenes.getByRole("group", { name: "2 of 5" })).toBeInViewport({ ratio: 0.99 });
});

for (const width of [320, 1280]) {
  test(`At a window width of ${width} px, hydration does not move any element of the page.`, async ({ page }) => {
    await page.addInitScript(() => localStorage.setItem("motion", "paused"));
    await page.setViewportSize({ width, height: 800 });
    for (const path of ["/", "/about"]) {
      let arrive = () => {};
      const arrived = new Promise<void>((resolve) => {
        arrive = resolve;
      });
      await page.route("**/*.js", async (route) => {
        await arrived;
        await route.continue();
      });
      await page.goto(path, { waitUntil: "commit" });
      await expect(page.getByRole("contentinfo")).toBeVisible();
      const places = () =>
        page
          .locator("header :is(a, form, summary), main :is(h1, h2, h3, p, dd, figure, section), footer :is(p, a)")
          .evaluateAll((all) =>
            all.map((each) => {
              const { x, y, width, height } = each.getBoundingClientRect();
              return [each.textContent?.slice(0, 30), x, y + scrollY, width, height];
            }),
          );
      const before = await places();
      arrive();
      await expect(pauseButton(page)).toBeVisible();
      await expect(page.getByRole("button", { name: /^Next/ })).toBeVisible();
      expect(await places()).toEqual(before);
      await page.unroute("**/*.js");
    }
  });
}

test("A dialog, a new stage and a toast are animated, except with reduced motion or while motion is paused.", async ({
  page,
  loggedInClient: _,
  serviceRole: company,
}) => {
  await page.addInitScript(enableSaveData);
  // Records the element and the properties of each animation that the site's script starts.
  await page.addInitScript(() => {
    const seen: string[] = [];
    Object.assign(window, { animated: seen });
    const animate = Element.prototype.animate;
    Element.prototype.animate = function (...given) {
      seen.push(`${this.localName} ${Object.keys(given[0] ?? {}).filter((name) => !/offset|easing/.test(name))}`);
      return animate.apply(this, given);
    };
  });
  const listAnimated = () => page.evaluate(() => (window as unknown as { animated: string[] }).animated);
  const hasOnly = async (moves: boolean, names: string[]) =>
    expect.poll(async () => [...new Set(await listAnimated())].sort()).toEqual(moves ? names : []);
  const name = `Tea ${crypto.randomUUID()}`;
  const id = await newShipment(page, name);

  for (const [index, mode] of ["with motion", "with reduced motion", "paused"].entries()) {
    await test.step(mode, async () => {
      const moves = mode === "with motion";
      await page.emulateMedia({ reducedMotion: mode === "with reduced motion" ? "reduce" : "no-preference" });
      if (mode === "paused") await page.evaluate(() => localStorage.setItem("motion", "paused"));
      await openHydrated(page, `/portal/${id}`);

      await page.getByRole("link", { name: labels.share }).click();
      const dialog = page.getByRole("dialog");
      await expect(dialog).toBeVisible();
      await page.keyboard.press("Escape");
      await expect(dialog).toHaveCount(0);
      await hasOnly(moves, ["dialog opacity", "dialog scale"]);
      await expect(page.getByRole("link", { name: labels.share })).toBeFocused();

      // If the stage has changed since the last visit, the marker moves along the drawn route.
      await page.getByRole("link", { name: "My Shipments" }).click();
      await expect(page).toHaveURL("/portal");
      await advanceShipment(company, id, "Kilindini");
      await page.getByRole("link", { name }).first().click();
      await expect(page.getByText(`Stage ${index + 2}/10`)).toBeVisible();
      await hasOnly(moves, ["circle translate", "dialog opacity", "dialog scale", "path scale"]);

      await page.getByRole("button", { name: "Pay Agent Fee" }).click();
      await expect(toast(page, "Action: Pay Agent Fee")).toBeVisible();
      await page.keyboard.press("Escape");
      await expect(toast(page)).toHaveCount(0);
      const times = (await listAnimated()).filter((name) => name === "li translate").length;
      expect(times, "animations of the toast's arrival and departure").toBe(moves ? 2 : 0);
    });
  }
});
