import { beforeEach, describe, expect, test } from "vitest";
import { createFactorName } from "../../app/models/second-factor.server.ts";
import { getDocument, newClient, newShipment, startFactorSetup } from "../support/route-fixtures.ts";
import { newProtectedClient, newSessionWithoutCode } from "../support/second-factor-suite.ts";
import { getTestApp, getText, type ParsedPage, parsePage, password, type TestBrowser } from "../support/test-app.ts";

const path = "/portal/2fa";
const wrongCodeText = "The code is incorrect. Please try again.";
const clockHint = "Check that your phone's clock is set automatically.";
const usedCodeText = "You have already tried this code. Wait for the next code.";
const toRejectionToast = (description: string) => ({
  ...{ title: "Verification failed", description, variant: "destructive" },
});

const app = await getTestApp();
beforeEach(() => app.proxy.fail("none"));

/** Creates a client and opens its 2FA setup page. Returns the client and an authenticator with the setup key. */
async function newSetup(name: string) {
  const { browser, email } = await newClient(app, name);
  return { browser, email, ...(await startFactorSetup(browser, path)) };
}

/**
 * Checks that the code field is empty, marked as invalid, described by the error, and linked from the error summary.
 */
function expectCodeError(page: ParsedPage, error: string): void {
  expect([page.status, page.title.startsWith("Error: ")]).toEqual([400, true]);
  const [field] = page.all("main input[name=code]");
  expect([field?.getAttribute("aria-invalid"), page.value("code")]).toEqual(["true", ""]);
  const texts = [error, clockHint];
  expect(page.getDescriptions("code")).toContain(texts.join(" "));
  expect(page.problems).toEqual(texts.map((text) => ({ text, id: field?.getAttribute("id") })));
}

const getRemovalPath = async (browser: TestBrowser) => {
  const links = (await browser.open(path)).all("a").map((link) => link.getAttribute("href") ?? "");
  return links.find((href) => href.startsWith(`${path}/`)) ?? "";
};

describe("Setup of a second factor", () => {
  test("A client can set up 2FA with QR code, setup key or link, and can type spaces in the code.", async () => {
    const { browser, email, page, authenticator } = await newSetup("Setup");
    expect(page.h1).toBe("Set up 2FA");
    expect(page.all("[role=img] svg")).toHaveLength(1);
    const link = page.all("a").find((each) => each.getAttribute("href")?.startsWith("otpauth:"));
    const url = new URL(link?.getAttribute("href") ?? "");
    expect(decodeURIComponent(url.pathname)).toContain(email);
    const secret = url.searchParams.get("secret") ?? "";
    expect(page.text).toContain((secret.match(/.{4}/g) ?? []).join(" "));
    const [field] = page.all("input[name=code]");
    expect([field?.getAttribute("inputmode"), field?.getAttribute("autocomplete")]).toEqual([
      ...["numeric", "one-time-code"],
    ]);
    const code = await authenticator.freshCode();
    const done = await browser.submit(page, "Enable 2FA", { code: ` ${code.slice(0, 3)} ${code.slice(3)} ` });
    expect((await browser.follow(done)).toasts).toContainEqual({
      title: "2FA Enabled!",
      description: "Your account is now more secure.",
      variant: "default",
    });
    expect((await browser.open(path)).text).toContain("Phone added in ");
  });

  test("An authenticator has the name that the client typed, or a default name with the month and a number.", async () => {
    const { browser } = await newClient(app, "Named");
    const listNames = async () => (await browser.open(path)).all("main li span.block").map(getText);
    for (const name of ["", "", ` Wife’s\u200b\nphone ${"x".repeat(70)}`]) {
      const button = (await listNames()).length > 0 ? "Add another authenticator app" : "Set up 2FA";
      // An incomplete 2FA setup must not block the name of its authenticator app for the next setup.
      await startFactorSetup(browser, path, button, name);
      const { page, authenticator } = await startFactorSetup(browser, path, button, name);
      const done = await browser.submit(page, "Enable 2FA", { code: await authenticator.freshCode() });
      expect(done.status).toBe(303);
    }
    const inThisMonth = new Date().toLocaleDateString("en-GB", {
      month: "long",
      year: "numeric",
      timeZone: "Africa/Nairobi",
    });
    expect(await listNames()).toEqual([
      ...[`Phone added in ${inThisMonth}`, `Phone added in ${inThisMonth} (2)`, `Wife’s phone ${"x".repeat(47)}`],
    ]);
  });

  test("After a wrong code, the page marks the code field and has the same setup key, and the next code completes the setup.", async () => {
    const { browser, page, authenticator } = await newSetup("Wrong");
    const typed = { code: await authenticator.wrongCode() };
    const rejected = await parsePage(await browser.submit(page, "Enable 2FA", typed));
    expectCodeError(rejected, wrongCodeText);
    expect(rejected.toasts).toContainEqual(toRejectionToast(wrongCodeText));
    expect(rejected.value("secret")).toBe(page.value("secret"));
    const done = await browser.submit(rejected, "Enable 2FA", { code: await authenticator.freshCode() });
    expect(done.headers.get("Location")).toBe("/portal");
  });

  test("A code without exactly six digits is rejected without a call to Supabase Auth.", async () => {
    const { browser, page } = await newSetup("Shape");
    const calls = await app.proxy.during(async () => {
      for (const code of ["", "1234567", "abcdef"]) {
        const rejected = await parsePage(await browser.submit(page, "Enable 2FA", { code }));
        const areLinked = rejected.problems.map(({ id }) => rejected.has(id));
        expect([code, rejected.status, areLinked]).toEqual([code, 400, [true]]);
      }
    });
    expect(calls.filter((call) => call.includes("/verify"))).toEqual([]);
  });

  test("A client with setups in two tabs can complete the newer setup, and must start the older setup again.", async () => {
    const { browser, ...older } = await newSetup("Tabs");
    const newer = await startFactorSetup(browser, path);
    const complete = async ({ page, authenticator }: typeof newer) =>
      browser.submit(page, "Enable 2FA", { code: await authenticator.freshCode() });
    const late = await parsePage(await complete(older));
    const description = "You started to set up 2FA in another window. Start the setup again.";
    expect([late.status, late.toasts]).toEqual([
      ...[409, [{ title: "Error challenging", description, variant: "destructive" }]],
    ]);
    expect(late.has("confirm-2fa-code")).toBe(false);
    expect(late.form("Set up 2FA").fields).toMatchObject({ name: "", begin: "" });
    expect((await complete(newer)).headers.get("Location")).toBe("/portal");
  });

  test("Each of four parallel setups starts or gets an error that explains the next step.", async () => {
    const { browser } = await newClient(app, "Many");
    const form = await browser.open(path);
    const responses = await Promise.all(Array.from({ length: 4 }, () => browser.submit(form, "Set up 2FA")));
    for (const response of responses) {
      expect([200, 409]).toContain(response.status);
      if (response.status === 409)
        expect((await parsePage(response)).toasts[0]?.description).toMatch(/Start the setup again\.$/);
    }
  });

  test("If a parallel setup makes Supabase Auth fail, the error says to start again.", async () => {
    const { browser, email } = await newClient(app, "Twice");
    const form = await browser.open(path);
    app.proxy.fail(500, /^POST \/auth\/v1\/factors$/);
    app.proxy.butFirst(
      () => app.sql`
        insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret)
        select gen_random_uuid(), id, ${createFactorName()}, 'totp', 'unverified', now(), now(), 'JBSWY3DPEHPK3PXP'
        from auth.users where email = ${email}`,
    );
    const rejected = await parsePage(await browser.submit(form, "Set up 2FA"));
    expect([rejected.status, rejected.toasts[0]?.description]).toEqual([
      409,
      expect.stringMatching(/Start the setup again\.$/),
    ]);
    app.proxy.fail("none");
    expect((await parsePage(await browser.submit(rejected, "Set up 2FA"))).h1).toBe("Set up 2FA");
  });

  test("A form with a damaged setup key or factor ID is rejected, and the error page has a button that starts a new setup.", async () => {
    const { browser, page, authenticator } = await newSetup("Damaged");
    const code = await authenticator.freshCode();
    for (const damage of [
      ...["A".repeat(60_000), "<b>"].map((secret) => ({ secret })),
      { factorId: "x".repeat(60_000) },
    ]) {
      const rejected = await parsePage(await browser.submit(page, "Enable 2FA", { code, ...damage }));
      expect(rejected.status).toBe(400);
      expect(rejected.toasts[0]).toMatchObject({ title: "Verification failed", variant: "destructive" });
      expect(rejected.html.length).toBeLessThan(30_000);
      expect((await parsePage(await browser.submit(rejected, "Set up 2FA"))).h1).toBe("Set up 2FA");
    }
  });
});

describe("Session before the code", () => {
  test("Before the code, a session cannot open pages, files, data or forms of the portal and the account page.", async () => {
    const client = await newProtectedClient(app, "Locked");
    const { id, portal } = await newShipment(app, client, "Nobody may read this", ["Packing List"]);
    const document = await getDocument(app.company, id, "Packing List");
    const half = await newSessionWithoutCode(app, client.email);
    const account = "/portal/account";
    for (const target of [
      ...["/portal", "/portal/new", "/portal/shipments.csv", path, account, `${account}/data.zip`],
      ...[portal, `${portal}/change`, `${portal}/print`, `${portal}/share`, `${portal}/documents/${document.id}`],
      ...["/portal.data", `${portal}.data`],
    ]) {
      const response = await half.get(target);
      const body = await response.text();
      expect(body).not.toContain("Nobody may read this");
      expect(response.headers.get("Location") ?? body, target).toContain("/login/verify");
      expect(response.headers.get("Cache-Control"), target).toBe("private, no-store");
    }
    const idempotencyKey = crypto.randomUUID();
    const forms: [string, Record<string, string>][] = [
      ["/portal/new", { name: "Mine", idempotencyKey }],
      ...["name", "sign-out-others", "erase"].map((intent): [string, Record<string, string>] => [
        account,
        { intent, form: intent, fullName: "Half Way" },
      ]),
    ];
    for (const [target, fields] of forms)
      expect((await half.post(target, fields)).headers.get("Location"), target).toContain("/login/verify");
    expect((await client.browser.open("/portal")).text).not.toContain("Mine");
    expect((await client.browser.open(account)).value("fullName")).toBe(client.name);
    const login = await half.get("/login?next=/portal/new");
    expect(login.headers.get("Location")).toBe("/login/verify?next=%2Fportal%2Fnew");
  });

  test("The page for the code says whom to call about a lost phone, rejects used and wrong codes, and leads to the requested page.", async () => {
    const { browser, email, authenticator } = await newProtectedClient(app, "Enter");
    const shipment = await browser.createShipment("Tea");
    const half = await newSessionWithoutCode(app, email);
    const redirect = await half.get(shipment);
    expect(redirect.headers.get("Location")).toBe(`/login/verify?next=${encodeURIComponent(shipment)}`);
    const page = await half.follow(redirect);
    expect(page.headers.get("X-Robots-Tag")).toBe("noindex");
    expect(page.all("main a")[0]?.getAttribute("href")).toBe("tel:+254700000001");
    expect(page.text).toContain("Lost your phone? Call +254 700 000 001. We check your identity");
    const used = await parsePage(await half.submit(page, "Verify", { code: await authenticator.lastCode() }));
    expectCodeError(used, usedCodeText);
    expect(used.toasts[0]).toEqual(toRejectionToast(usedCodeText));
    const wrong = await parsePage(await half.submit(used, "Verify", { code: await authenticator.wrongCode() }));
    expectCodeError(wrong, wrongCodeText);
    const entered = await half.submit(wrong, "Verify", { code: await authenticator.freshCode() });
    expect(entered.headers.get("Location")).toBe(shipment);
    expect((await half.follow(entered)).toasts).toContainEqual(expect.objectContaining({ title: "Login Successful" }));
  });

  test("The page for the code redirects visitors to the login page, and clients without a second factor to the portal.", async () => {
    expect((await app.browser().get("/login/verify")).headers.get("Location")).toBe("/login");
    const { browser } = await newClient(app, "No factor");
    expect((await browser.get("/login/verify")).headers.get("Location")).toBe("/portal");
  });
});

test("The page advises a client with one authenticator to add a new phone before removing the old phone.", async () => {
  const { browser } = await newProtectedClient(app, "New phone");
  const advice =
    "New phone? First add an authenticator app on your new phone. Then remove your old phone from this list.";
  expect((await browser.open(path)).text).toContain(advice);
  const { page, authenticator } = await startFactorSetup(browser, path, "Add another authenticator app");
  await browser.submit(page, "Enable 2FA", { code: await authenticator.freshCode() });
  const both = await browser.open(path);
  expect([both.all("main li").length, both.text.includes(advice)]).toEqual([2, false]);
});

test("Only the client can open an authenticator's page and remove the authenticator, which needs an unused code.", async () => {
  const { browser, email, authenticator } = await newProtectedClient(app, "Remover");
  const removalPath = await getRemovalPath(browser);
  const { browser: stranger } = await newClient(app, "Curious");
  expect((await stranger.get(removalPath)).status).toBe(404);
  const page = await browser.open(removalPath);
  const used = await parsePage(await browser.submit(page, "Remove", { code: await authenticator.lastCode() }));
  expectCodeError(used, usedCodeText);
  const wrong = await parsePage(await browser.submit(used, "Remove", { code: await authenticator.wrongCode() }));
  expectCodeError(wrong, wrongCodeText);
  expect(wrong.toasts[0]).toEqual(toRejectionToast(wrongCodeText));
  const removed = await browser.submit(wrong, "Remove", { code: await authenticator.freshCode() });
  expect(removed.headers.get("Location")).toBe("/portal");
  expect((await app.browser().post("/login", { email, password })).headers.get("Location")).toBe("/portal");
});

test("A client can remove the authenticator app of a lost phone with a code from another app.", async () => {
  const { browser, authenticator: lost } = await newProtectedClient(app, "Lost old phone");
  const removalPath = await getRemovalPath(browser);
  const { page, authenticator } = await startFactorSetup(browser, path, "Add another authenticator app", "New phone");
  await browser.submit(page, "Enable 2FA", { code: await authenticator.freshCode() });
  const removal = await browser.open(removalPath);
  const wrong = await parsePage(await browser.submit(removal, "Remove", { code: await lost.wrongCode() }));
  expectCodeError(wrong, wrongCodeText);
  await browser.submit(wrong, "Remove", { code: await authenticator.freshCode() });
  const [left, ...others] = (await browser.open(path)).all("main li").map(getText);
  expect([left, others]).toEqual([expect.stringContaining("New phone"), []]);
});
