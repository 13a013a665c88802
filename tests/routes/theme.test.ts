import { beforeEach, expect, test } from "vitest";
import { getTestApp, type ParsedPage, parsePage, type TestBrowser } from "../support/test-app.ts";

let visitor: TestBrowser;
const app = await getTestApp();
beforeEach(() => {
  visitor = app.browser();
});

const getTheme = (page: ParsedPage) => page.all("html")[0]?.getAttribute("class");
const chooseTheme = (theme: string, to = "/contact") => visitor.post("/actions/theme", { theme, to });

test("The site has the dark theme until the visitor chooses the light theme, and again after the choice of the dark theme.", async () => {
  const first = await visitor.open("/contact");
  expect(getTheme(first)).toBe("dark");
  const light = await visitor.follow(await visitor.submit(first, "Use the light theme"));
  expect([light.h1, getTheme(light)]).toEqual(["Contact", "light"]);
  expect(() => light.form("Use the light theme")).toThrow("No button");
  expect(getTheme(await app.browser().open("/contact"))).toBe("dark");
  expect(getTheme(await visitor.follow(await visitor.submit(light, "Use the dark theme")))).toBe("dark");
});

test.each(["/", "/login", "/actions/quote", "/?quote", "/no-such-page"])(
  "The page %s has the chosen light theme, and its theme button redirects to the same page.",
  async (path) => {
    await chooseTheme("light");
    const page = await visitor.open(path);
    expect(getTheme(page)).toBe("light");
    const response = await visitor.submit(page, "Use the dark theme");
    expect(response.headers.get("Location")?.replace(/=$/, "")).toBe(path);
  },
);

test("A page with form errors and a page with an email draft also have the chosen light theme.", async () => {
  await chooseTheme("light");
  const contact = { name: "A", email: "a@client.example", subject: "S", message: "M" };
  for (const fields of [{}, contact])
    expect(getTheme(await parsePage(await visitor.post("/contact", fields)))).toBe("light");
});

test("The theme cookie ends with the browser session, script cannot read it, and the response that sets it is not cached.", async () => {
  const response = await chooseTheme("light");
  expect(response.status).toBe(303);
  const [cookie = "", ...others] = response.headers.getSetCookie();
  expect(others).toEqual([]);
  expect(cookie).toMatch(/^theme=/);
  expect(cookie.split("; ")).toEqual(expect.arrayContaining(["HttpOnly", "Path=/", "SameSite=Lax"]));
  expect(cookie).not.toMatch(/max-age|expires|domain/i);
});

test("An unknown or missing theme in the form selects the dark theme.", async () => {
  for (const theme of ["purple", "", "LIGHT", 'light" onload="alert(1)', "__proto__"])
    expect(getTheme(await visitor.follow(await chooseTheme(theme))), theme).toBe("dark");
  const response = await visitor.post("/actions/theme", {});
  expect(response.headers.get("Location")).toBe("/");
  expect(getTheme(await visitor.follow(response))).toBe("dark");
});

test("The theme form redirects to the page that contains the form, or to the home page if that page's URL is invalid.", async () => {
  for (const [to, target] of [
    ["/resources/blog?category=Risk%20Management&page=2", "/resources/blog?category=Risk%20Management&page=2"],
    ["//evil.example", "/"],
    ["/contact\r\nSet-Cookie: session=x", "/"],
    ["", "/"],
  ] as const) {
    const response = await chooseTheme("light", to);
    expect([response.status, response.headers.get("Location")]).toEqual([303, target]);
    expect(response.headers.getSetCookie()).toHaveLength(1);
  }
});
