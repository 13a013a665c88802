import { beforeAll, expect, test } from "vitest";
import { getTestApp, noStorePattern, type TestBrowser } from "../support/test-app.ts";

let app: Awaited<ReturnType<typeof getTestApp>>;
beforeAll(async () => {
  app = await getTestApp();
});

const readTheme = async (browser: TestBrowser) => (await browser.open("/login")).all("html")[0]?.getAttribute("class");

test("the theme is dark until the person changes it, and stays for this browser session", async () => {
  const browser = app.browser();
  expect(await readTheme(browser)).toBe("dark");
  const answer = await browser.submit(await browser.open("/signup"), "Use the light theme");
  expect(answer.status).toBe(303);
  expect(answer.headers.get("Location")).toBe("/signup");
  expect(answer.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  const [cookie = ""] = answer.headers.getSetCookie();
  expect(cookie).toMatch(/^theme=/);
  expect(cookie.split("; ")).toEqual(expect.arrayContaining(["HttpOnly", "Path=/", "SameSite=Lax"]));
  expect(cookie).not.toMatch(/Max-Age|Expires/i);
  expect(await readTheme(browser)).toBe("light");
  await browser.submit(await browser.open("/login"), "Use the dark theme");
  expect(await readTheme(browser)).toBe("dark");
  expect(await readTheme(app.browser())).toBe("dark");
});

test("the theme is one of two", async () => {
  for (const theme of ["", "pink", 'light" onload="alert(1)']) {
    const browser = app.browser();
    expect((await browser.post("/actions/theme", { theme, to: "/login" })).status).toBe(303);
    expect(await readTheme(browser)).toBe("dark");
  }
});

test.each(["/", "/login", "/portal?page=2", "/portal/0b51e3a8-0000-4000-8000-000000000000", "/resources/blog"])(
  "choosing the theme leads back to %s",
  async (to) => {
    const answer = await app.browser().post("/actions/theme", { theme: "light", to });
    expect(answer.headers.get("Location")).toBe(to);
  },
);

test.each([
  "//evil.example",
  "/\\evil.example",
  "https://evil.example",
  "javascript:alert(1)",
  "/\t/evil.example",
  "/..//evil.example",
  "evil",
  " /x",
  "/a\nb",
  "",
])("choosing the theme never leads to %j", async (to) => {
  const answer = await app.browser().post("/actions/theme", { theme: "light", to });
  expect(answer.status).toBe(303);
  expect(answer.headers.get("Location")).toBe("/");
});

test("choosing the theme without an address leads home, and two addresses are refused", async () => {
  expect((await app.browser().post("/actions/theme", { theme: "dark" })).headers.get("Location")).toBe("/");
  const two = new URLSearchParams("theme=dark&to=/login&to=//evil.example");
  const answer = await app.browser().post("/actions/theme", two);
  expect([answer.status, answer.headers.get("Location")]).toEqual([400, null]);
});
