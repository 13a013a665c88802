import process from "node:process";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { sendPasswordLink } from "../../app/models/password-link.server.ts";
import { Authenticator } from "../support/authenticator.ts";
import { createPatternedPdf, createResumableUpload } from "../support/resumable-upload.ts";
import { countEmailsTo, emailSender, getLatestLinkTo, newClient, newEmailAddress } from "../support/route-fixtures.ts";
import { issueClientIds } from "../support/service-role.ts";
import {
  createPdf,
  type FormValues,
  getTestApp,
  noStorePattern,
  type ParsedPage,
  parsePage,
  password,
  type TestBrowser,
} from "../support/test-app.ts";

let app: Awaited<ReturnType<typeof getTestApp>>;
let email: string;
beforeAll(async () => {
  process.env.WRITES_PER_MINUTE = "6";
  // Few enough to try here; the tests of the settings cover the default of 100.
  process.env.LOGINS_PER_ACCOUNT = "12";
  app = await getTestApp();
  email = await app.browser().signUpAndLogIn("Limited");
});
afterEach(() => app.proxy.fail("none"));

const wrongPassword = "not the password";
const newEmail = () => `nobody-${Math.random().toString(36).slice(2)}@client.example`;
const browserAt = (address: string): TestBrowser => Object.assign(app.browser(), { address });
const logIn = (browser: TestBrowser, email: string, typed = wrongPassword) =>
  browser.post("/login", { email, password: typed });
const getStatus = async (answer: Promise<Response>) => (await answer).status;
const filterPasswordChecks = (calls: string[]) => calls.filter((call) => call.includes("grant_type=password"));

/** Expects a form's page with 429, this toast, no caching, and a Retry-After of about `most` seconds. */
function expectRateLimited(page: ParsedPage, title: string, words: RegExp, most: number) {
  expect(page.status).toBe(429);
  expect(page.title).toMatch(/^Error: /);
  const wait = Number(page.headers.get("Retry-After"));
  // Part of the wait has passed while the attempts were made.
  expect(wait).toBeGreaterThan(Math.max(most * 0.8, most - 45));
  expect(wait).toBeLessThanOrEqual(most);
  expect(page.toasts.at(-1)).toEqual({ title, description: expect.stringMatching(words), variant: "destructive" });
  expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
}

describe("logins that fail", () => {
  test("are five per e-mail and address in 15 minutes; then the form says when to come back", async () => {
    const person = await app.browser().signUpAndLogIn("Five");
    const browser = app.browser();
    for (let failed = 0; failed < 5; failed += 1) expect(await getStatus(logIn(browser, person))).toBe(400);
    const form = await browser.open("/login");
    const calls = await app.proxy.during(async () => {
      const page = await parsePage(await browser.submit(form, "Log in", { email: person, password }));
      expectRateLimited(page, "Login Failed", /^Too many attempts to log in\. Try again in 15 minutes\.$/, 900);
      expect(page.value("email")).toBe(person);
      expect(page.html).not.toContain(password);
    });
    expect(filterPasswordChecks(calls)).toEqual([]);
    expect(await getStatus(logIn(app.browser(), person, password))).toBe(303);
  });

  test("look the same for an address that has an account and one that has none", async () => {
    const pages = [];
    for (const person of [await app.browser().signUpAndLogIn("Known"), newEmail()]) {
      const browser = app.browser();
      for (let failed = 0; failed < 5; failed += 1) await logIn(browser, person);
      pages.push(await parsePage(await logIn(browser, person)));
    }
    expect(pages.map((page) => page.status)).toEqual([429, 429]);
    expect(pages[0]?.text).toBe(pages[1]?.text);
  });

  test("are five also when fifty come at once, and the others do not reach the backend", async () => {
    const browser = app.browser();
    const person = newEmail();
    const calls = await app.proxy.during(async () => {
      const statuses = await Promise.all(Array.from({ length: 50 }, () => getStatus(logIn(browser, person))));
      expect(statuses.filter((one) => one === 400)).toHaveLength(5);
      expect(statuses.filter((one) => one === 429)).toHaveLength(45);
    });
    expect(filterPasswordChecks(calls)).toHaveLength(5);
  });

  test("are twenty per address, whoever is tried", async () => {
    const browser = app.browser();
    const statuses = await Promise.all(Array.from({ length: 30 }, () => getStatus(logIn(browser, newEmail()))));
    expect(statuses.filter((one) => one === 400)).toHaveLength(20);
    const page = await parsePage(await logIn(browser, email, password));
    expectRateLimited(page, "Login Failed", /^Too many attempts to log in\. Try again in 1\d minutes\.$/, 900);
  });

  test("are twenty per line of IPv6, which has many addresses", async () => {
    const line = `2001:db8:${Math.floor(Math.random() * 65536).toString(16)}:7`;
    const statuses = await Promise.all(
      Array.from({ length: 25 }, (_, host) => getStatus(logIn(browserAt(`${line}::${host + 1}`), newEmail()))),
    );
    expect(statuses.filter((one) => one === 400)).toHaveLength(20);
  });

  test("are limited per site of IPv6 too, which has many lines: five times as many", async () => {
    const site = `2001:db8:${Math.floor(Math.random() * 65536).toString(16)}`;
    const form = { clientId: "N0TH-1NG0-0F1T-HERE", fullName: "Amina Hassan", password };
    const guess = (line: number) => browserAt(`${site}:${line}::1`).post("/signup", { ...form, email: newEmail() });
    const statuses = await Promise.all(Array.from({ length: 60 }, (_, turn) => getStatus(guess(turn % 6))));
    expect(statuses.filter((one) => one === 400)).toHaveLength(50);
    expect(statuses.filter((one) => one === 429)).toHaveLength(10);
  });

  test("are limited per account in an hour, wherever they come from and however the address is written", async () => {
    const person = newEmail();
    for (let failed = 0; failed < 12; failed += 1) {
      expect(await getStatus(logIn(app.browser(), failed % 2 ? person.toUpperCase() : person))).toBe(400);
    }
    const page = await parsePage(await logIn(app.browser(), person));
    expectRateLimited(page, "Login Failed", /Try again in \d+ minutes\.$/, 3600);
  });
});

describe("a browser that has opened the account", () => {
  /** Fails so often from other addresses that the account is locked for unknown browsers. */
  async function lockOut(person: string) {
    for (let failed = 0; failed < 12; failed += 1) await logIn(app.browser(), person);
    expect(await getStatus(logIn(app.browser(), person, password))).toBe(429);
  }

  test("opens it again while others have it locked for everybody else, and has five failures of its own", async () => {
    const owner = app.browser();
    const person = await owner.signUpAndLogIn("Owner");
    await owner.post("/portal/sign-out", {});
    await lockOut(person);
    expect(await getStatus(logIn(owner, person.toUpperCase(), password))).toBe(303);
    for (let failed = 0; failed < 5; failed += 1) expect(await getStatus(logIn(owner, person))).toBe(400);
    const page = await parsePage(await logIn(owner, person, password));
    expectRateLimited(page, "Login Failed", /^Too many attempts to log in\. Try again in 15 minutes\.$/, 900);
    expect(await getStatus(logIn(owner, newEmail()))).toBe(400);
  });

  test("keeps this for each of its accounts, in a cookie that names none and that nobody else can make", async () => {
    const owner = app.browser();
    const people = [await owner.signUpAndLogIn("First"), await owner.signUpAndLogIn("Second")];
    const cookie = owner.cookies.get("known") ?? "";
    expect(cookie).toMatch(/^[\w-]{22}\.[\w-]{43}\.[\w-]{43}$/);
    const line = (await logIn(owner, people[0] ?? "", password)).headers
      .getSetCookie()
      .find((one) => one.startsWith("known="));
    expect(line).toMatch(/; Max-Age=31536000; .*HttpOnly/);
    for (const person of people) await lockOut(person);
    for (const person of people) expect(await getStatus(logIn(owner, person, password))).toBe(303);

    const [id = "", , mark = ""] = cookie.split(".");
    const forged = [`${id}.${"A".repeat(43)}`, `${"A".repeat(22)}.${mark}`, id, `${id}.`, ".", "%%%", "x".repeat(5000)];
    for (const value of forged) {
      const forger = app.browser();
      forger.cookies.set("known", value);
      expect(await getStatus(logIn(forger, people[0] ?? "", password)), value.slice(0, 80)).toBe(429);
    }
  });

  test("has a cookie with its five newest accounts, and nothing else that was written into it", async () => {
    const browser = app.browser();
    const others = Array.from({ length: 5 }, (_, account) => `${account}`.repeat(43));
    browser.cookies.set("known", ["A".repeat(22), "x".repeat(500), ...others].join("."));
    await browser.signUpAndLogIn("Sixth");
    const [id, own, ...rest] = (browser.cookies.get("known") ?? "").split(".");
    expect([id, rest]).toEqual(["A".repeat(22), others.slice(0, 4)]);
    expect(own).toMatch(/^[\w-]{43}$/);
  });

  test("does not count as one if the login only began, failed, or was on a shared computer", async () => {
    const person = await app.browser().signUpAndLogIn("Cautious");
    const shared = app.browser();
    await shared.post("/login", { email: person, password, shared: "on" });
    const failed = app.browser();
    await logIn(failed, person);
    const { half } = await newClientWithoutCode("Half Way");
    for (const browser of [shared, failed, half]) expect(browser.cookies.has("known")).toBe(false);
  });

  test("counts as one after the code of a second factor", async () => {
    const { half, email, authenticator } = await newClientWithoutCode("Whole Way");
    expect((await half.post("/login/verify", { code: await authenticator.freshCode() })).status).toBe(303);
    await lockOut(email);
    expect(await getStatus(logIn(half, email, password))).toBe(303);
  });
});

/**
 * A client with a second factor: the `owner`'s browser, in which it was set up, and another one, `half`, that has given the
 * password and not the code.
 */
async function newClientWithoutCode(name: string) {
  const { browser: owner, email, id } = await newClient(app, name);
  const page = await parsePage(await owner.submit(await owner.open("/portal/2fa"), "Set up 2FA"));
  const link = page.all("a").find((one) => one.getAttribute("href")?.startsWith("otpauth:"));
  const authenticator = Authenticator.fromUri(link?.getAttribute("href") ?? "");
  await owner.submit(page, "Enable 2FA", { code: await authenticator.freshCode() });
  owner.cookies.delete("flash");
  const half = app.browser();
  expect((await half.post("/login", { email, password })).headers.get("Location")).toBe("/login/verify");
  return { owner, half, email, id, authenticator };
}

describe("what is no failure does not count:", () => {
  test("logins that are right, before and after four that fail", async () => {
    const browser = app.browser();
    for (let right = 0; right < 7; right += 1) expect(await getStatus(logIn(browser, email, password))).toBe(303);
    for (let failed = 0; failed < 4; failed += 1) await logIn(browser, email);
    for (let right = 0; right < 7; right += 1) expect(await getStatus(logIn(browser, email, password))).toBe(303);
    expect(await getStatus(logIn(browser, email))).toBe(400);
    expect(await getStatus(logIn(browser, email, password))).toBe(429);
  });

  /** The attempts that calls to a function brought since there were so many bodies. */
  const broughtTo = (name: string, since: number) =>
    app.proxy.bodies
      .slice(since)
      .filter((body) => body.startsWith(`POST /rest/v1/rpc/${name}\n`))
      .map((body) => JSON.parse(body.slice(body.indexOf("\n"))) as { attempt_ids?: string[]; refunded_ids?: string[] });

  test("a login that is right, which the next one gives back, or which is given back soon when none comes", async () => {
    // One more, so that what others left behind is gone with it.
    const earlier = app.proxy.releases();
    expect(await getStatus(logIn(app.browser(), email, password))).toBe(303);
    await expect.poll(app.proxy.releases).toBeGreaterThan(earlier);
    const before = app.proxy.bodies.length;
    for (let right = 0; right < 2; right += 1) {
      expect(await getStatus(logIn(app.browser(), email, password))).toBe(303);
    }
    const givenBack = () => [
      ...broughtTo("consume_rate_limit", before).flatMap(({ refunded_ids = [] }) => refunded_ids),
      ...broughtTo("refund_rate_limits", before).flatMap(({ attempt_ids = [] }) => attempt_ids),
    ];
    await expect.poll(givenBack).toHaveLength(2);
    expect(new Set(givenBack()).size).toBe(2);
  });

  test("logins that are right while the next attempt cannot be counted", async () => {
    for (let right = 0; right < 7; right += 1) {
      const before = app.proxy.releases();
      expect(await getStatus(logIn(app.browser(), email, password))).toBe(303);
      app.proxy.fail(500, /consume_rate_limit/);
      expect(await getStatus(logIn(app.browser(), email, password))).toBe(503);
      app.proxy.fail("none");
      await expect.poll(app.proxy.releases).toBeGreaterThan(before);
    }
  });

  test("logins that the backend did not answer", async () => {
    const browser = app.browser();
    app.proxy.fail(500, /\/auth\/v1\/token/);
    for (let failed = 0; failed < 7; failed += 1) {
      expect(await getStatus(logIn(browser, email, password))).toBe(503);
    }
    app.proxy.fail("none");
    expect(await getStatus(logIn(browser, email, password))).toBe(303);
  });

  test.each([500, "other json"] as const)("a limit that cannot be asked lets nobody through: %s", async (fault) => {
    app.proxy.fail(fault, /consume_rate_limit/);
    const calls = await app.proxy.during(async () => {
      const page = await parsePage(await logIn(app.browser(), email, password));
      expect(page.status).toBe(503);
      expect(page.toasts[0]?.title).toBe("Sign in Failed");
    });
    expect(filterPasswordChecks(calls)).toEqual([]);
  });
});

test("unknown client IDs are ten per address in an hour, right ones as many as there are", async () => {
  const browser = app.browser();
  const [first = "", second = ""] = await issueClientIds(app.company, 2);
  const signUp = (clientId: string) =>
    browser.post("/signup", { clientId, fullName: "Guessing", email: newEmail(), password });
  expect(await getStatus(signUp(first))).toBe(303);
  for (let guess = 0; guess < 10; guess += 1) expect(await getStatus(signUp(`AAAA-AAAA-AAAA-000${guess}`))).toBe(400);
  const page = await parsePage(await signUp(second));
  expectRateLimited(
    page,
    "Sign up Failed",
    /^Too many Client IDs that are not known\. Try again in 60 minutes\.$/,
    3600,
  );
  expect(page.value("clientId")).toBe(second);
  expect(page.value("fullName")).toBe("Guessing");
  expect(
    await getStatus(app.browser().post("/signup", { clientId: second, fullName: "R", email: newEmail(), password })),
  ).toBe(303);
});

describe("codes of a second factor", () => {
  const give = (browser: TestBrowser, code: string) => browser.post("/login/verify", { code });
  const verifications = (calls: string[]) => calls.filter((call) => call.endsWith("/verify"));

  test("may be wrong five times in 15 minutes, from wherever, and the backend sees no sixth", async () => {
    const { half, email, authenticator } = await newClientWithoutCode("Guessed");
    for (let failed = 0; failed < 5; failed += 1) {
      expect(await getStatus(give(half, await authenticator.wrongCode()))).toBe(400);
    }
    const other = app.browser();
    await other.post("/login", { email, password });
    const fresh = await authenticator.freshCode();
    const calls = await app.proxy.during(async () => {
      const page = await parsePage(await give(other, fresh));
      expectRateLimited(page, "Verification failed", /^Too many wrong codes\. Try again in 15 minutes\.$/, 900);
    });
    expect(verifications(calls)).toEqual([]);
  });

  test("that are right do not count: after four wrong ones the next right one opens", async () => {
    const { half, authenticator } = await newClientWithoutCode("Right");
    for (let failed = 0; failed < 4; failed += 1) {
      expect(await getStatus(give(half, await authenticator.wrongCode()))).toBe(400);
    }
    expect(await getStatus(give(half, await authenticator.freshCode()))).toBe(303);
  });

  test("that were given before do not count either: six times the same wrong one, then the right one opens", async () => {
    const { half, authenticator } = await newClientWithoutCode("Repeated");
    const wrong = await authenticator.wrongCode();
    for (let given = 0; given < 6; given += 1) expect(await getStatus(give(half, wrong))).toBe(400);
    expect(await getStatus(give(half, await authenticator.freshCode()))).toBe(303);
  });

  test("work once, also when fifty come at once with the same one", async () => {
    const { half, email, authenticator } = await newClientWithoutCode("Twice");
    const browsers = [half];
    for (let more = 1; more < 4; more += 1) {
      browsers.push(app.browser());
      await browsers[more]?.post("/login", { email, password });
    }
    const code = await authenticator.freshCode();
    const calls = await app.proxy.during(async () => {
      const all = Array.from({ length: 50 }, (_, index) => give(browsers[index % 4] ?? half, code));
      const flashes = (await Promise.all(all)).flatMap((answer) => answer.headers.getSetCookie());
      expect(flashes.filter((cookie) => cookie.startsWith("flash="))).toHaveLength(1);
    });
    expect(verifications(calls)).toHaveLength(1);
    // Hosted auth accepts a code repeatedly while it is valid, 90 s: so the site remembers used codes that long.
    const remembered = app.proxy.bodies
      .map((body) => /"max_hits":1,"window_seconds":(\d+)/.exec(body)?.[1])
      .filter(Boolean);
    expect(remembered.length).toBeGreaterThanOrEqual(1);
    for (const seconds of remembered) expect(Number(seconds)).toBeGreaterThanOrEqual(90);
  });

  describe("that somebody with the password alone gave until they had to wait", () => {
    /** Somebody who knows the password gives wrong codes until no code is looked at any more, wherever they come from. */
    async function lockOut({ email, authenticator }: Awaited<ReturnType<typeof newClientWithoutCode>>) {
      const strange = [app.browser(), app.browser()];
      for (const browser of strange) await browser.post("/login", { email, password });
      const guess = async (browser?: TestBrowser) =>
        getStatus(give(browser ?? app.browser(), await authenticator.wrongCode()));
      for (let failed = 0; failed < 5; failed += 1) expect(await guess(strange[failed % 2])).toBe(400);
      for (const browser of strange) expect(await guess(browser)).toBe(429);
    }
    const change = async (browser: TestBrowser, code: string) =>
      browser.submit(await browser.open("/portal/account"), "Change password", {
        ...{ currentPassword: password, password: "a new password", code },
      });
    const set = async (link: string, code: string, browser = app.browser()) =>
      browser.submit(await browser.open(link), "Set password", { password: "a new password", code });
    async function linkFor({ id, email }: { id: string; email: string }): Promise<string> {
      expect(await sendPasswordLink(app.company, app.company, emailSender, id)).toEqual({ sent: true });
      return getLatestLinkTo(email);
    }

    test("do not keep the owner out in a browser that has logged in before, which has five wrong ones of its own", async () => {
      const client = await newClientWithoutCode("Locked Login");
      const known = app.browser();
      await known.post("/login", { email: client.email, password });
      expect(await getStatus(give(known, await client.authenticator.freshCode()))).toBe(303);
      await known.post("/portal/sign-out", {});
      await lockOut(client);
      const logInAgain = () => known.post("/login", { email: client.email, password });
      expect((await logInAgain()).headers.get("Location")).toBe("/login/verify");
      const right = await give(known, await client.authenticator.freshCode());
      expect([right.status, right.headers.get("Location")]).toEqual([303, "/portal"]);
      expect(await getStatus(known.get("/portal"))).toBe(200);

      await known.post("/portal/sign-out", {});
      await logInAgain();
      for (let failed = 0; failed < 5; failed += 1)
        expect(await getStatus(give(known, await client.authenticator.wrongCode()))).toBe(400);
      expect(await getStatus(give(known, await client.authenticator.wrongCode()))).toBe(429);
    });

    test("do not keep the owner from changing the password where they are logged in", async () => {
      const client = await newClientWithoutCode("Locked Change");
      await lockOut(client);
      const { owner, email, authenticator } = client;
      expect(await getStatus(change(owner, await authenticator.wrongCode()))).toBe(400);
      expect(await getStatus(change(owner, await authenticator.freshCode()))).toBe(303);
      expect(await getStatus(logIn(app.browser(), email, "a new password"))).toBe(303);
      expect(await getStatus(logIn(app.browser(), email, password))).toBe(400);
    });

    test("do not keep the owner from setting a new password by the link from a mail, in any browser", async () => {
      const client = await newClientWithoutCode("Locked Link");
      await lockOut(client);
      const link = await linkFor(client);
      expect(await getStatus(set(link, await client.authenticator.wrongCode()))).toBe(400);
      expect(await getStatus(set(link, await client.authenticator.freshCode()))).toBe(303);
      expect(await getStatus(logIn(app.browser(), client.email, "a new password"))).toBe(303);
    });

    test("are five behind one link too, from wherever it is opened, and hold up nobody who logs in", async () => {
      const { half, owner, authenticator, ...client } = await newClientWithoutCode("Guessed Link");
      const link = await linkFor(client);
      for (let failed = 0; failed < 5; failed += 1)
        expect(await getStatus(set(link, await authenticator.wrongCode()))).toBe(400);
      const fresh = await authenticator.freshCode();
      // Nor may a browser that the account knows give more of them there.
      for (const browser of [app.browser(), owner]) {
        const calls = await app.proxy.during(async () => {
          const page = await parsePage(await set(link, fresh, browser));
          expectRateLimited(page, "Password not set", /^Too many wrong codes\. Try again in 15 minutes\.$/, 900);
        });
        expect(verifications(calls).filter((call) => call.includes("/factors/"))).toEqual([]);
      }
      expect(await getStatus(give(half, fresh))).toBe(303);
      expect(await getStatus(logIn(app.browser(), client.email, password))).toBe(303);
    });
  });

  test("that the backend could not look at may come again", async () => {
    const { half, authenticator } = await newClientWithoutCode("Again");
    const code = await authenticator.freshCode();
    for (let failed = 0; failed < 6; failed += 1) {
      app.proxy.fail(500, /\/verify$/);
      expect(await getStatus(give(half, code))).toBe(503);
      app.proxy.fail("none");
    }
    expect(await getStatus(give(half, code))).toBe(303);
  });
});

describe("a client's writes are so many in a minute", () => {
  test("then the form comes back with what was typed, the pages still open, and others are not held up", async () => {
    const browser = app.browser();
    await browser.signUpAndLogIn("Busy");
    const path = await browser.createShipment("First");
    for (let made = 1; made < 6; made += 1) await browser.createShipment(`Shipment ${made}`);
    const form = await browser.open("/portal/new");
    const calls = await app.proxy.during(async () => {
      const page = await parsePage(await browser.submit(form, "Create Shipment", { name: "One too many" }));
      const words = /^Too many changes in one minute\. Try again in \d+ seconds?\.$/;
      expectRateLimited(page, "Failed to create shipment", words, 60);
      expect(page.value("name")).toBe("One too many");
      expect(page.value("idempotencyKey")).toBe(form.value("idempotencyKey"));
    });
    expect(calls.filter((call) => call.startsWith("POST /rest/v1/shipments"))).toEqual([]);

    const shipment = await browser.open(path);
    expect(shipment.status).toBe(200);
    const sent = await app.proxy.during(async () => {
      const upload = await parsePage(await browser.submit(shipment, "Upload the Packing List", { file: createPdf() }));
      expect(upload.status).toBe(429);
      expect(upload.toasts.at(-1)).toMatchObject({ title: "Upload failed", description: /^Too many changes/ });
    });
    expect(sent.filter((call) => call.includes("/storage/"))).toEqual([]);
    const setup = await parsePage(await browser.submit(await browser.open("/portal/2fa"), "Set up 2FA"));
    expect(setup.status).toBe(429);
    expect(setup.toasts.at(-1)?.title).toBe("Error setting up 2FA");
    expect(Number(setup.headers.get("Retry-After"))).toBeGreaterThan(0);

    const other = app.browser();
    await other.signUpAndLogIn("Calm");
    expect(await other.createShipment("Not held up")).toMatch(/^\/portal\/[0-9a-f-]{36}$/);
    expect(await getStatus(browser.post("/portal/sign-out", {}))).toBe(303);
    expect(browser.cookies.has("session")).toBe(false);
  });

  test("and so is each part of a large file, though asking how much is there is none", async () => {
    const browser = app.browser();
    await browser.signUpAndLogIn("Parts");
    const path = await browser.createShipment("Parts");
    const document = (await browser.open(path)).form("Upload the Packing List").fields.document as string;
    const upload = await createResumableUpload(browser, path, document, createPatternedPdf("list.pdf", 1_200_000));
    for (let part = 0; part < 5; part += 1) {
      expect((await upload.ask()).there).toBe(part * 200_000);
      expect((await upload.send(part * 200_000, (part + 1) * 200_000)).status).toBe(200);
    }
    const calls = await app.proxy.during(async () => {
      for (const answer of [await upload.send(1_000_000), await upload.finish()]) {
        const toast = { title: "Upload failed", description: expect.stringMatching(/^Too many changes in one minute/) };
        expect(answer).toMatchObject({ status: 429, toast });
      }
    });
    expect(calls.filter((call) => call.includes("/storage/"))).toEqual([]);
    expect(await upload.ask()).toMatchObject({ status: 200, there: 1_000_000 });
  });

  test("and each form of the account that changes how it is opened, or its mails, is one of them", async () => {
    const { browser, email } = await newClient(app, "Fickle");
    const next = newEmailAddress("Fickle Address", "client.example");
    const form = await browser.open("/portal/account");
    const forms: [string, FormValues][] = [
      ["Save notices", { enabled: "yes" }],
      ["Change password", { currentPassword: wrongPassword, password: "a new password" }],
      ["Change email", { currentPassword: wrongPassword, email: next }],
    ];
    for (const _twice of [1, 2]) {
      const statuses = [];
      for (const [button, typed] of forms) statuses.push(await getStatus(browser.submit(form, button, typed)));
      expect(statuses).toEqual([303, 400, 400]);
    }
    browser.cookies.delete("flash");
    const { enabled: _, ...unticked } = form.form("Save notices").fields as Record<string, string>;
    const answers = [
      await browser.post("/portal/account", unticked),
      await browser.submit(form, "Change password", { currentPassword: password, password: "a new password" }),
      await browser.submit(form, "Change email", { currentPassword: password, email: next }),
    ];
    for (const answer of answers) {
      const page = await parsePage(answer);
      expect([page.status, Number(page.headers.get("Retry-After")) > 0]).toEqual([429, true]);
      const description = expect.stringMatching(/^Too many changes in one minute\. Try again in \d+ seconds?\.$/);
      expect(page.toasts.at(-1)).toEqual({ title: "Not done", description, variant: "destructive" });
    }
    expect(await getStatus(logIn(app.browser(), email, password))).toBe(303);
    expect([await countEmailsTo(email), await countEmailsTo(next)]).toEqual([0, 0]);
    const [box] = (await browser.open("/portal/account")).all("#shipment-emails input[name=enabled]");
    expect(box?.hasAttribute("checked")).toBe(true);
  });

  test("also when fifty come at once", async () => {
    const browser = app.browser();
    const email = await browser.signUpAndLogIn("Flood");
    const answers = await Promise.all(
      Array.from({ length: 50 }, () =>
        browser.post("/portal/new", { name: "Flood", idempotencyKey: crypto.randomUUID() }),
      ),
    );
    expect(answers.filter((answer) => answer.status === 303)).toHaveLength(6);
    expect(answers.filter((answer) => answer.status === 429)).toHaveLength(44);
    const { data } = await app.company.from("shipments").select("id").eq("name", "Flood");
    expect(data, email).toHaveLength(6);
  });

  test("and reading is not counted, nor asked about", async () => {
    const browser = app.browser();
    await browser.signUpAndLogIn("Reader");
    const path = await browser.createShipment("Read");
    const calls = await app.proxy.during(async () => {
      for (const page of ["/portal", path, "/portal/new", "/portal/2fa", "/contact", "/"]) {
        expect(await getStatus(browser.get(page))).toBe(200);
      }
    });
    expect(calls.filter((call) => call.includes("attempt"))).toEqual([]);
  });
});

test("no e-mail address and no network address is written down for a limit", async () => {
  const browser = browserAt("203.0.113.77");
  const person = newEmail();
  const before = app.proxy.bodies.length;
  await logIn(browser, person);
  const sent = app.proxy.bodies.slice(before).filter((body) => body.includes("consume_rate_limit"));
  expect(sent).toHaveLength(1);
  expect(sent.join()).toMatch(/"key":"[\w-]{43}"/);
  for (const secret of [person, person.split("@")[0] ?? "", "203.0.113", "login"])
    expect(sent.join()).not.toContain(secret);
});
