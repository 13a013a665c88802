import { beforeEach, describe, expect, test } from "vitest";
import { successToast } from "../support/route-fixtures.ts";
import { getTestApp, getText, noStorePattern, type ParsedPage, type TestBrowser } from "../support/test-app.ts";

let visitor: TestBrowser;
const app = await getTestApp();
beforeEach(() => {
  visitor = app.browser();
});

const path = "/cookie-settings";
const optional = ["performance", "functional", "marketing"] as const;
type Settings = Partial<Record<(typeof optional)[number], boolean>>;
const defaults = { necessary: true, performance: true, functional: true, marketing: false };

const readBoxes = (page: ParsedPage) =>
  Object.fromEntries(
    page.all("main input[type=checkbox]").map((box) => [box.getAttribute("name"), box.hasAttribute("checked")]),
  );

/** Sends the form as browsers do, without the unchecked boxes. */
function saveSettings(settings: Settings, button: Record<string, string> = {}) {
  const checked = optional.filter((name) => settings[name]).map((name) => [name, "on"]);
  return visitor.post(path, { ...Object.fromEntries(checked), ...button });
}

describe("Page of the cookie settings", () => {
  test("For a new visitor, performance and functional cookies are on and marketing cookies are off. The page sets no cookie.", async () => {
    const page = await visitor.open(path);
    expect(page.headers.getSetCookie()).toEqual([]);
    expect(page.title).toMatch(/^Cookie Settings · /);
    expect(readBoxes(page)).toEqual(defaults);
    for (const box of page.all("main input[type=checkbox]")) {
      expect(getText(page.all(`label[for=${box.id}]`)[0]), box.id).not.toBe("");
      expect(page.getDescriptions(box.getAttribute("name") ?? "")[0], box.id).not.toBe("");
      expect(box.hasAttribute("disabled"), box.id).toBe(box.id === "necessary");
    }
    const [form] = page.all("main form");
    expect([form?.getAttribute("method"), form?.getAttribute("action")]).toEqual(["post", path]);
    const buttons = page.all("main form button");
    expect(
      buttons.map((button) => [getText(button), ...["name", "value"].map((name) => button.getAttribute(name))]),
    ).toEqual([
      ["Save My Preferences", "accept", "chosen"],
      ["Accept All Cookies", "accept", "all"],
    ]);
  });

  test("The cookie settings list every cookie that the site sets.", async () => {
    const page = await visitor.open(path);
    await visitor.post("/actions/theme", { theme: "light" });
    await visitor.post("/actions/lite", { lite: "on" });
    await visitor.post(path, {});
    const cookies = [...visitor.cookies.keys()].sort();
    expect(cookies).toEqual(["cookieSettings", "flash", "lite", "theme"]);
    const listed = page.all("section li .font-mono").map(getText);
    expect(listed).toEqual(expect.arrayContaining([...cookies, "session", "known"]));
  });
});

describe("Stored cookie settings", () => {
  test.each([
    { performance: true, functional: false, marketing: false },
    { performance: false, functional: true, marketing: true },
    { performance: false, functional: false, marketing: false },
  ])(
    "The choice of performance $performance, functional $functional, marketing $marketing is saved and shown.",
    async (settings) => {
      const page = await visitor.follow(await saveSettings(settings));
      expect(page.toasts).toEqual(successToast("Preferences Saved!", "Your cookie settings have been updated."));
      const later = await visitor.open(path);
      expect([later.toasts, readBoxes(later)]).toEqual([[], { necessary: true, ...settings }]);
    },
  );

  test("Accepting all cookies checks all boxes, and a visitor can uncheck the boxes again.", async () => {
    const page = await visitor.follow(await saveSettings({ marketing: true }, { accept: "all" }));
    expect(page.toasts).toEqual(successToast("All Cookies Accepted!", "You've enabled all optional cookies."));
    expect(readBoxes(page)).toEqual({ necessary: true, performance: true, functional: true, marketing: true });
    expect(readBoxes(await visitor.follow(await saveSettings({})))).toMatchObject({ performance: false });
  });

  test("The cookie with the settings is valid for a year, script cannot read it, and no cache stores the response that sets it.", async () => {
    const saved = await saveSettings({ performance: true });
    const cookie = saved.headers.getSetCookie().find((line) => line.startsWith("cookieSettings=")) ?? "";
    const [, ...attributes] = cookie.toLowerCase().split(/;\s*/);
    expect(attributes).toEqual(expect.arrayContaining(["max-age=31536000", "path=/", "httponly", "samesite=lax"]));
    expect(attributes.join()).not.toContain("domain");
    const page = await visitor.get(path);
    expect(page.headers.getSetCookie()).toEqual([expect.stringMatching(/^flash=;.*Max-Age=0/i)]);
    for (const { headers } of [saved, page]) expect(headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  });

  const base64 = (value: unknown) => encodeURIComponent(Buffer.from(JSON.stringify(value)).toString("base64"));
  test("With a damaged settings cookie, the default settings apply until the next choice replaces the cookie.", async () => {
    const wrongTypes = Object.entries({ performance: "no", functional: 0, marketing: "yes" }).map(([name, value]) => ({
      ...{ performance: false, functional: false, marketing: true },
      [name]: value,
    }));
    for (const value of [
      ...["", "%%%garbage", "%E0%A4%A", "Z2FyYmFnZQ==", '{"performance":false}', "a".repeat(100_000)],
      ...[null, [false, false, true], ...wrongTypes, { marketing: true }].map(base64),
    ]) {
      visitor.cookies.set("cookieSettings", value);
      const page = await visitor.open(path);
      expect([value, page.status, readBoxes(page)]).toEqual([value, 200, defaults]);
    }
    expect(readBoxes(await visitor.follow(await saveSettings({ marketing: true })))).toMatchObject({ marketing: true });
  });
});
