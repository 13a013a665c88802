import { describe, expect, test } from "vitest";
import { getTestApp, getText, noStorePattern, origin, type ParsedPage } from "../support/test-app.ts";

const app = await getTestApp();
const email = await app.browser().signUpAndLogIn("Baraka");

const newLoggedInBrowser = async () => {
  const browser = app.browser();
  await browser.logIn(email);
  return browser;
};

describe("login page", () => {
  test("The login page has the fields of the specification and links to the office, the sign-up and the proof of our identity", async () => {
    const page = await app.browser().open("/login");
    expect(page.all("main label").slice(0, 2).map(getText)).toEqual(["Email", "Password"]);
    expect(page.form("Log in").fields).toMatchObject({ email: "", password: "" });
    expect(page.all("main [name=password]").map((input) => input.getAttribute("type"))).toEqual(["password"]);
    expect(page.all("main a").map((link) => link.getAttribute("href"))).toEqual([
      "tel:+254700000001",
      "mailto:nairobi@mizigo.example",
      "/signup",
      "/additional-info#identity-check",
    ]);
  });

  test("A client who is locked out reads whom to call and where to write", async () => {
    const { text } = await app.browser().open("/login");
    expect(text).toMatch(/Forgot password\? Locked out\? Call \+254 700 000 001 or email nairobi@mizigo\.example\./);
    expect(text).toContain("We check your identity, then email you a link to set a new password");
  });

  test("A click on 'Forgot password?' shows one toast, which says that the feature is coming soon", async () => {
    const browser = app.browser();
    const response = await browser.submit(await browser.open("/login"), "Forgot password?");
    expect(response.headers.get("Location")).toBe("/login");
    const page = await browser.follow(response);
    expect(page.toasts).toEqual([{ title: "Feature coming soon!", description: "", variant: "default" }]);
    // The only icon is on the button. The toast has no tick, because nothing was done.
    expect(page.all("[data-toast] svg")).toHaveLength(1);
    expect((await browser.open("/login")).toasts).toEqual([]);
  });
});

describe("proof of identity", () => {
  test.each(["/login", "/signup", "/actions/forgot-password"])(
    "Below its form, the page %s shows a sample shipment, our licence and a link to the proof of our identity",
    async (path) => {
      const page = await app.browser().open(path);
      const [aside] = page.all("main aside");
      expect(aside?.querySelector("[role=img]")?.getAttribute("aria-label")).toMatch(
        /stage 5 of 10, Payment Clearance/,
      );
      const texts = ["Stage 5/10", "Waiting for you. Pay the Duties & Taxes.", "3/4 verified"];
      for (const text of [...texts, "SAMPLE-CAL-0000", "kra.go.ke"]) expect(getText(aside)).toContain(text);
      expect(page.html.indexOf("<form", page.html.indexOf("<main"))).toBeLessThan(page.html.indexOf("<aside"));
      const link = page.all("main a").find((each) => getText(each) === "How to recognise us");
      expect(link?.getAttribute("href")).toBe("/additional-info#identity-check");
    },
  );

  test("The proof of our identity starts with our licence, has our site and numbers, and says that we email no bank details", async () => {
    const page = await app.browser().open("/additional-info");
    const [section] = page.all("section#identity-check");
    expect(section?.querySelectorAll("h2, h3").map(getText).slice(0, 2)).toEqual([
      "How to recognise us",
      "How to check our licence",
    ]);
    expect(getText(section?.querySelector("section"))).toContain("SAMPLE-CAL-0000");
    const texts = [origin, "+254 700 000 001", "nairobi@mizigo.example", "kra.go.ke", "never send our bank details"];
    for (const text of texts) expect(getText(section)).toContain(text);
  });
});

describe("login and sign-up of a signed-in client", () => {
  test.each([
    ["/login", "/portal"],
    ["/signup", "/portal"],
    ["/login?next=/portal/new", "/portal/new"],
    ["/login?next=//evil.example", "/portal"],
  ])("A signed-in client who opens %s is redirected to %s", async (path, target) => {
    const response = await (await newLoggedInBrowser()).get(path);
    expect([response.status, response.headers.get("Location")]).toEqual([303, target]);
    expect(response.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  });

  test("A toast that waits in a cookie appears in the portal when the login page redirects a signed-in client", async () => {
    const browser = await newLoggedInBrowser();
    await browser.post("/actions/forgot-password", {});
    const page = await browser.follow(await browser.get("/login"));
    expect([page.h1, page.toasts[0]?.title]).toEqual(["My Shipments", "Feature coming soon!"]);
    expect(browser.cookies.has("flash")).toBe(false);
  });

  test.each(["an ended session", "forged", "base64-e30"])(
    "A browser whose session cookie is %j sees the login and sign-up forms and loses the cookie",
    async (value) => {
      const browser = await newLoggedInBrowser();
      const session = browser.cookies.get("session") ?? "";
      await browser.post("/portal/sign-out", {});
      for (const path of ["/login", "/signup"]) {
        browser.cookies.clear();
        browser.cookies.set("session", value === "an ended session" ? session : value);
        const page: ParsedPage = await browser.open(path);
        expect([page.status, page.all("main form").length > 0]).toEqual([200, true]);
        expect(page.all("header nav a, footer a").map(getText)).not.toContain("My Shipments");
        expect(browser.cookies.has("session")).toBe(false);
      }
    },
  );

  test("A client whose session cannot be checked sees the login form and stays signed in", async () => {
    const browser = await newLoggedInBrowser();
    app.proxy.fail(503, /get_viewer/);
    const page = await browser.open("/login");
    app.proxy.fail("none");
    expect([page.status, page.h1]).toEqual([200, "Client Login"]);
    expect((await browser.get("/login")).headers.get("Location")).toBe("/portal");
  });
});
