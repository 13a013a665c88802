import process from "node:process";
import { describe, expect, test } from "vitest";
import { getConfirmationLink } from "../support/outbox.ts";
import { getHref } from "../support/page-parts.ts";
import { newClient, newEmailAddress, setUpSecondFactor, successToast } from "../support/route-fixtures.ts";
import { issueClientIds } from "../support/service-role.ts";
import { getTestApp, getText, noStorePattern, origin, parsePage, password } from "../support/test-app.ts";

const app = await getTestApp();
const email = await app.browser().signUpAndLogIn("Baraka");

const newLoggedInBrowser = async () => {
  const browser = app.browser();
  await browser.logIn(email);
  return browser;
};

describe("Login page", () => {
  test("The login page has the fields of the specification, and links to the office, the sign-up and the proof of our identity.", async () => {
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
    expect(page.text).toMatch(/Locked out\? Call \+254 700 000 001 or email nairobi@mizigo\.example\./);
    expect(page.text).toContain("We check your identity, then email you a link to set a new password");
  });

  test("A click on 'Forgot password?' shows one toast that says that the feature is coming soon.", async () => {
    const browser = app.browser();
    const response = await browser.submit(await browser.open("/login"), "Forgot password?");
    expect(response.headers.get("Location")).toBe("/login");
    const page = await browser.follow(response);
    expect(page.toasts).toEqual([{ title: "Feature coming soon!", description: "", variant: "default" }]);
    // The toast has no success icon, because the feature does not exist yet. The only icon is on the close button.
    expect(page.all("[data-toast] svg")).toHaveLength(1);
    expect((await browser.open("/login")).toasts).toEqual([]);
  });
});

describe("Proof of identity", () => {
  test.each(["/login", "/signup", "/actions/forgot-password"])(
    "Next to its form, the page %s shows a sample shipment, our licence and a link to the proof of our identity.",
    async (path) => {
      const page = await app.browser().open(path);
      const aside = getText(page.all("main form ~ aside, main :has(form) ~ aside")[0]);
      const texts = ["Stage 5/10", "Waiting for you. Pay the Duties & Taxes.", "3/4 verified"];
      for (const text of [...texts, "SAMPLE-CAL-0000", "kra.go.ke"]) expect(aside).toContain(text);
      const [drawing] = page.all("main aside [role=img]");
      expect(drawing?.getAttribute("aria-label")).toMatch(/stage 5 of 10, Payment Clearance/);
      expect(getHref(page, "How to recognise us")).toBe("/additional-info#identity-check");
    },
  );

  test("The proof of our identity has our licence, web address and phone numbers, and says that we never email bank details.", async () => {
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

describe("Login and sign-up of a signed-in client", () => {
  test("The login and sign-up pages redirect a signed-in client to the portal, and a waiting toast appears there.", async () => {
    const browser = await newLoggedInBrowser();
    for (const [path, target] of [
      ["/login", "/portal"],
      ["/signup", "/portal"],
      ["/login?next=/portal/new", "/portal/new"],
      ["/login?next=//evil.example", "/portal"],
    ] as const) {
      const response = await browser.get(path);
      expect([path, response.status, response.headers.get("Location")]).toEqual([path, 303, target]);
      expect(response.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    }
    await browser.post("/actions/forgot-password", {});
    const page = await browser.follow(await browser.get("/login"));
    expect([page.h1, page.toasts[0]?.title]).toEqual(["My Shipments", "Feature coming soon!"]);
    expect(browser.cookies.has("flash")).toBe(false);
  });

  test("With an ended or forged session, the login and sign-up pages show their forms and delete the session cookie.", async () => {
    const leaving = await newLoggedInBrowser();
    const ended = leaving.cookies.get("session") ?? "";
    await leaving.post("/portal/sign-out", {});
    for (const [path, session] of [
      ["/login", ended],
      ["/signup", ended],
      ["/login", "forged"],
      ["/signup", "base64-e30"],
    ] as const) {
      const browser = app.browser();
      browser.cookies.set("session", session);
      const page = await browser.open(path);
      expect([path, page.status, page.all("main form").length > 0]).toEqual([path, 200, true]);
      expect(page.all("header nav a, footer a").map(getText)).not.toContain("My Shipments");
      expect(browser.cookies.has("session")).toBe(false);
    }
  });

  test("If the backend cannot check a client's session, the client sees the login form and stays signed in.", async () => {
    const browser = await newLoggedInBrowser();
    app.proxy.fail(503, /get_viewer/);
    const page = await browser.open("/login");
    app.proxy.fail("none");
    expect([page.status, page.h1]).toEqual([200, "Client Login"]);
    expect((await browser.get("/login")).headers.get("Location")).toBe("/portal");
  });
});

const unknownLink = "/auth/confirm?token_hash=a-token-of-at-least-sixteen-letters";
const wrongLoginText = "The email or password is wrong.";
const expiredText = "This link has been used or has expired.";
const incompleteText = "This link is incomplete. Open the link in our email again.";
const toRejectionToast = (description: string) => [{ title: "Sign in Failed", description, variant: "destructive" }];

async function newUnconfirmedAddress(chosen = password): Promise<string> {
  const [clientId = ""] = await issueClientIds(app.company, 1);
  const email = newEmailAddress("Unconfirmed", "client.example");
  await app.browser().post("/signup", { clientId, fullName: "Unconfirmed", email, password: chosen });
  return email;
}

const logIn = async (email: string, typed = password) =>
  parsePage(await app.browser().post("/login", { email, password: typed }));

test("Opening a confirmation link makes no backend call. Its button confirms the address and logs in, even if clicked twice.", async () => {
  const email = await newUnconfirmedAddress();
  const { pathname, search } = new URL(await getConfirmationLink(process.env.DATA_DIR ?? "", email));
  const visitor = app.browser();
  const calls = await app.proxy.during(() => visitor.open(pathname + search));
  expect(calls).toEqual([]);
  const page = await visitor.open(pathname + search);
  const autocompletes = page.all("main input").map((input) => input.getAttribute("autocomplete"));
  expect(autocompletes).toEqual([undefined, "username", "current-password"]);
  expect(page.value("email")).toBe("");
  const sentence =
    "Enter the email and password that you used to sign up, or ignore our email if someone else signed up.";
  expect(page.all("main form p, main form ~ p").map(getText)).toEqual([sentence]);
  for (const _click of [1, 2]) {
    const portal = await visitor.follow(await visitor.submit(page, "Confirm and log in", { email, password }));
    expect(portal.h1).toBe("My Shipments");
    expect(portal.toasts.slice(0, 1)).toEqual(successToast("Email address confirmed", "You are logged in."));
  }
});

test("A client with a second factor who logs in on the page of a confirmation link must also enter the code.", async () => {
  const { browser, email } = await newClient(app, "Confirming twice");
  await setUpSecondFactor(browser, "/portal/2fa");
  const visitor = app.browser();
  const page = await visitor.open(unknownLink);
  const response = await visitor.submit(page, "Confirm and log in", { email, password });
  expect([response.status, response.headers.get("Location")]).toEqual([303, "/login/verify"]);
  expect((await visitor.get("/portal")).headers.get("Location")).toBe("/login/verify");
});

test("The page of an incomplete confirmation link has no button, and a form with a damaged token is rejected.", async () => {
  for (const query of ["", "?token_hash=", '?token_hash="><script>x']) {
    const page = await app.browser().open(`/auth/confirm${query}`);
    expect(page.text).toContain(incompleteText);
    expect(() => page.form("Confirm and log in")).toThrow("No button");
  }
  const page = await parsePage(await app.browser().post("/auth/confirm", { token: "short" }));
  expect([page.status, page.toasts[0]?.description]).toEqual([400, incompleteText]);
});

test("A person whose email address a stranger used for a sign-up cannot confirm the sign-up without the stranger's password.", async () => {
  const thiefPassword = "the thief's password";
  const email = await newUnconfirmedAddress(thiefPassword);
  const owner = app.browser();
  const page = await parsePage(await owner.confirmEmail(email, "the owner's own"));
  expect([page.status, page.title.startsWith("Error: ")]).toEqual([400, true]);
  expect(page.toasts).toEqual(toRejectionToast(wrongLoginText));
  expect(page.value("email")).toBe(email);
  expect(page.html).not.toContain("the owner's own");
  expect((await logIn(email, thiefPassword)).toasts[0]?.description).toMatch(/^Your email address is not confirmed/);
  const confirmed = await owner.submit(page, "Confirm and log in", { email, password: thiefPassword });
  expect(confirmed.status).toBe(303);
});

test("An unknown link or the link of another sign-up confirms nothing, and the page says how to get a new link.", async () => {
  const [email, stranger] = [await newUnconfirmedAddress(), await newUnconfirmedAddress()];
  const { pathname, search } = new URL(await getConfirmationLink(process.env.DATA_DIR ?? "", email));
  const visitor = app.browser();
  for (const link of [unknownLink, pathname + search]) {
    const form = await visitor.open(link);
    const page = await parsePage(await visitor.submit(form, "Confirm and log in", { email: stranger, password }));
    expect([page.status, page.title.startsWith("Error: ")]).toEqual([400, true]);
    expect(page.toasts).toEqual(toRejectionToast(expiredText));
    expect(page.text).toContain("Has the link expired? Log in and we will email you a new link.");
    expect(page.text).toContain("wait one hour and sign up with your Client ID.");
  }
  expect((await logIn(stranger)).status).toBe(400);
});

test("The page of a confirmation link does not reveal whether an account exists. Wrong passwords count as failed logins.", async () => {
  const accounts = {
    unconfirmed: await newUnconfirmedAddress(),
    confirmed: await app.browser().signUpAndLogIn("Confirmed"),
    unknown: "nobody-at-all@client.example",
  };
  const observations = [];
  for (const email of Object.values(accounts)) {
    const guesser = app.browser();
    const form = await guesser.open(unknownLink);
    const pages = [];
    for (let guess = 0; guess < 6; guess += 1) {
      const response = await guesser.submit(form, "Confirm and log in", { email, password: "a wrong guess" });
      const { status, text, toasts } = await parsePage(response);
      pages.push({ status, text, reason: toasts[0]?.description });
    }
    expect((await guesser.post("/login", { email, password })).status).toBe(429);
    observations.push(pages);
  }
  expect(observations[0]?.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 429]);
  expect(observations[0]?.[0]?.reason).toBe(wrongLoginText);
  expect(observations[1]).toEqual(observations[0]);
  expect(observations[2]).toEqual(observations[0]);
});
