import { beforeEach, describe, expect, test } from "vitest";
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

/** Sends the form. Browsers omit unchecked boxes. */
function saveSettings(settings: Settings, button: Record<string, string> = {}) {
  const checked = optional.filter((name) => settings[name]).map((name) => [name, "on"]);
  return visitor.post(path, { ...Object.fromEntries(checked), ...button });
}

describe("cookie settings page", () => {
  test("A new visitor finds performance and functional cookies on, marketing off, and gets no cookie", async () => {
    const page = await visitor.open(path);
    expect(page.headers.getSetCookie()).toEqual([]);
    expect(page.title).toMatch(/^Cookie Settings · /);
    expect(readBoxes(page)).toEqual(defaults);
  });

  test("The cookie settings name every cookie that the site sets", async () => {
    const page = await visitor.open(path);
    await visitor.post("/actions/theme", { theme: "light" });
    await visitor.post("/actions/lite", { lite: "on" });
    await visitor.post(path, {});
    const cookies = [...visitor.cookies.keys()].sort();
    expect(cookies).toEqual(["cookieSettings", "flash", "lite", "theme"]);
    const listed = page.all("section li .font-mono").map(getText);
    expect(listed).toEqual(expect.arrayContaining([...cookies, "session", "known"]));
  });

  test("Each box has a label and a description, and only the necessary cookies cannot be switched off", async () => {
    const page = await visitor.open(path);
    for (const box of page.all("main input[type=checkbox]")) {
      expect(getText(page.all(`label[for=${box.id}]`)[0]), box.id).not.toBe("");
      expect(page.getDescriptions(box.getAttribute("name") ?? "")[0], box.id).not.toBe("");
      expect(box.hasAttribute("disabled"), box.id).toBe(box.id === "necessary");
    }
  });

  test("The form has a button for the checked boxes and a button for all cookies", async () => {
    const page = await visitor.open(path);
    const [form] = page.all("main form");
    expect([form?.getAttribute("method"), form?.getAttribute("action")]).toEqual(["post", path]);
    const buttons = page.all("main form button");
    expect(buttons.map((button) => [getText(button), button.getAttribute("value")])).toEqual([
      ["Save My Preferences", "chosen"],
      ["Accept All Cookies", "all"],
    ]);
    expect(buttons[1]?.getAttribute("name")).toBe("accept");
  });
});

describe("stored cookie settings", () => {
  test.each(
    [false, true].flatMap((performance) =>
      [false, true].flatMap((functional) => [false, true].map((marketing) => ({ performance, functional, marketing }))),
    ),
  )(
    "The choice of performance $performance, functional $functional, marketing $marketing is saved and shown",
    async (settings) => {
      const page = await visitor.follow(await saveSettings(settings));
      expect(page.toasts).toEqual([
        { title: "Preferences Saved!", description: "Your cookie settings have been updated.", variant: "default" },
      ]);
      const later = await visitor.open(path);
      expect([later.toasts, readBoxes(later)]).toEqual([[], { necessary: true, ...settings }]);
    },
  );

  test("A visitor who accepts all cookies has all boxes checked and can uncheck the boxes again", async () => {
    const page = await visitor.follow(await saveSettings({ marketing: true }, { accept: "all" }));
    expect(page.toasts).toEqual([
      { title: "All Cookies Accepted!", description: "You've enabled all optional cookies.", variant: "default" },
    ]);
    expect(readBoxes(page)).toEqual({ necessary: true, performance: true, functional: true, marketing: true });
    expect(readBoxes(await visitor.follow(await saveSettings({})))).toEqual({
      ...{ necessary: true, performance: false, functional: false, marketing: false },
    });
  });

  test("The cookie with the settings is valid for a year and cannot be read by script", async () => {
    const response = await saveSettings({ performance: true });
    const cookie = response.headers.getSetCookie().find((line) => line.startsWith("cookieSettings=")) ?? "";
    const [, ...attributes] = cookie.toLowerCase().split(/;\s*/);
    expect(attributes).toEqual(expect.arrayContaining(["max-age=31536000", "path=/", "httponly", "samesite=lax"]));
    expect(attributes.join()).not.toContain("domain");
  });

  test("No cache stores the response that sets the cookies, nor the page that deletes the toast's cookie", async () => {
    const saved = await saveSettings({});
    const page = await visitor.get(path);
    expect(page.headers.getSetCookie()).toEqual([expect.stringMatching(/^flash=;.*Max-Age=0/i)]);
    for (const { headers } of [saved, page]) expect(headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  });

  const base64 = (value: unknown) => encodeURIComponent(Buffer.from(JSON.stringify(value)).toString("base64"));
  test.each([
    ["an empty value", ""],
    ["garbage", "%%%garbage"],
    ["broken percent signs", "%E0%A4%A"],
    ["base64 without JSON", "Z2FyYmFnZQ=="],
    ["JSON without base64", '{"performance":false}'],
    ["null", base64(null)],
    ["a list", base64([false, false, true])],
    ["texts in place of booleans", base64({ performance: "no", functional: 0, marketing: "yes" })],
    ["one of three settings", base64({ marketing: true })],
    ["100,000 letters", "a".repeat(100_000)],
  ])("A settings cookie with %s means the defaults and is replaced by the next choice", async (_what, value) => {
    visitor.cookies.set("cookieSettings", value);
    const page = await visitor.open(path);
    expect([page.status, readBoxes(page)]).toEqual([200, defaults]);
    expect(readBoxes(await visitor.follow(await saveSettings({ marketing: true })))).toMatchObject({ marketing: true });
  });
});
