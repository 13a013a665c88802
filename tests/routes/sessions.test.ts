import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  randomUUID,
} from "node:crypto";
import process from "node:process";
import { decodeJwt, decodeProtectedHeader, exportJWK, type JWTPayload, SignJWT } from "jose";
import { afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { ensureKeys } from "../../app/server/embedded-backend.ts";
import { ambiguousStatuses, faults } from "../support/fault-proxy.ts";
import { getTestApp, noStorePattern, type TestBrowser } from "../support/test-app.ts";

let app: Awaited<ReturnType<typeof getTestApp>>;
let client: TestBrowser;
let email: string;
beforeAll(async () => {
  app = await getTestApp();
  client = app.browser();
  email = await client.signUpAndLogIn("Wanjiru");
});
afterEach(() => app.proxy.fail("none"));

/** Another browser with a copy of this one's cookies. */
function copyBrowser(browser: TestBrowser): TestBrowser {
  const copy = app.browser();
  for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
  return copy;
}

/** Changes some fields of the session in a browser's cookie. */
function changeSession(browser: TestBrowser, session: Record<string, unknown>): void {
  const kept = Buffer.from((browser.cookies.get("session") ?? "").replace(/^base64-/, ""), "base64url").toString();
  const changed = JSON.stringify({ ...JSON.parse(kept), ...session });
  browser.cookies.set("session", `base64-${Buffer.from(changed).toString("base64url")}`);
}

test("a visitor who asks for the portal is sent to the login", async () => {
  const response = await app.browser().get("/portal");
  expect(response.status).toBe(303);
  expect(response.headers.get("Location")).toBe("/login");
  expect(response.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  expect(await response.text()).toBe("");
});

test.each(["/portal/new", "/portal/0b51e3a8-0000-4000-8000-000000000000", "/portal/not-a-uuid"])(
  "a visitor who asks for %s, or posts to it, is sent to the login and comes back to it after",
  async (path) => {
    for (const response of [await app.browser().get(path), await app.browser().post(path, { name: "x" })]) {
      expect(response.status).toBe(303);
      expect(response.headers.get("Location")).toBe(`/login?next=${encodeURIComponent(path)}`);
    }
  },
);

test("a visitor's script gets nothing of the portal's data either", async () => {
  for (const path of ["/portal.data", "/portal.data?_routes=routes%2Fportal", "/portal/new.data"]) {
    const response = await app.browser().get(path);
    expect(response.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    const text = await response.text();
    expect(text).toContain("/login");
    expect(text).not.toMatch(/shipments|hasOlder|idempotencyKey/);
  }
});

test("a client who signed up, confirmed and logged in sees the welcome with the full name", async () => {
  const page = await client.open("/portal");
  expect(page.text).toContain("Welcome, Wanjiru.");
  expect(page.text).toContain('You have no shipments yet. Click "Create Shipment" to get started!');
});

describe("a session cookie that is none means signed out:", () => {
  const part = (from: number, to?: number) => (client.cookies.get("session") ?? "").slice(from, to);
  const json = (value: unknown) => `base64-${Buffer.from(JSON.stringify(value)).toString("base64url")}`;
  test.each<{ what: string; value: () => string }>([
    { what: "nothing", value: () => "" },
    { what: "garbage", value: () => "%%%;garbage" },
    { what: "base64 of nothing", value: () => "base64-" },
    { what: "base64 that is none", value: () => "base64-&&&&" },
    { what: "bytes that are no text", value: () => `base64-${Buffer.from([255, 254, 0, 128]).toString("base64url")}` },
    { what: "half of a session", value: () => part(0, 300) },
    { what: "the end of a session", value: () => part(40) },
    { what: "JSON null", value: () => json(null) },
    { what: "a number", value: () => json(7) },
    { what: "a list", value: () => json([1, 2]) },
    { what: "an empty session", value: () => json({}) },
    { what: "a session with tokens of other kinds", value: () => json({ access_token: 1, refresh_token: {} }) },
    {
      what: "a session with tokens that no header holds",
      value: () => json({ access_token: "a\r\nb", refresh_token: "x", expires_at: 4e9 }),
    },
    {
      what: "a session of another site",
      value: () => json({ access_token: "a.b.c", refresh_token: "x", expires_at: 4e9, user: { id: "1" } }),
    },
    {
      what: "a forged user without a signature",
      value: () => {
        const claims = { sub: "0b51e3a8-0000-4000-8000-000000000000", role: "authenticated", exp: 4e9 };
        const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
        return json({
          access_token: `${encode({ alg: "none", typ: "JWT" })}.${encode(claims)}.`,
          refresh_token: "x",
          expires_at: 4e9,
          expires_in: 3600,
          token_type: "bearer",
          user: { id: claims.sub, user_metadata: { full_name: "Forged" } },
        });
      },
    },
    { what: "a session that ended, with a refresh token nobody has", value: () => json(ended) },
    { what: "100,000 letters", value: () => "a".repeat(100_000) },
  ])("$what", async ({ value }) => {
    const browser = app.browser();
    browser.cookies.set("session", value());
    const response = await browser.get("/portal");
    expect(response.status).toBe(303);
    expect(response.headers.get("Location")).toBe("/login");
    expect(response.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    expect(browser.cookies.has("session")).toBe(false);
    browser.cookies.set("session", value());
    expect((await browser.get("/")).status).toBe(200);
    expect((await browser.get("/login")).status).toBe(200);
  });
  const ended = { access_token: "a.b.c", refresh_token: "nobody", expires_at: 1, expires_in: 1, token_type: "bearer" };

  test("pieces of a session that is cut into several cookies", async () => {
    const browser = app.browser();
    browser.cookies.set("session.0", part(0, 100));
    browser.cookies.set("session.7", "garbage");
    expect((await browser.get("/portal")).headers.get("Location")).toBe("/login");
    expect([...browser.cookies.keys()]).toEqual([]);
  });
});

describe("an access token that auth did not sign, or not for this, means signed out:", () => {
  const token = () => {
    const kept = Buffer.from((client.cookies.get("session") ?? "").replace(/^base64-/, ""), "base64url").toString();
    return (JSON.parse(kept) as { access_token: string }).access_token;
  };
  const claims = (): JWTPayload => ({ ...decodeJwt(token()), exp: Math.floor(Date.now() / 1000) + 3600 });
  const kid = () => decodeProtectedHeader(token()).kid ?? "";
  const another = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const signed = (payload: JWTPayload, header: { kid?: string }, key = another) =>
    new SignJWT(payload).setProtectedHeader({ alg: "ES256", ...header }).sign(key);
  const byAuth = (change: JWTPayload) => {
    const { signingKey } = ensureKeys(process.env.DATA_DIR ?? "");
    return signed({ ...claims(), ...change }, { kid: kid() }, createPrivateKey({ key: signingKey, format: "jwk" }));
  };
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const retold = (change: JWTPayload) => {
    const [header, , signature] = token().split(".");
    return `${header}.${encode({ ...claims(), ...change })}.${signature}`;
  };
  const published = async () => {
    const answer = await fetch(`${app.proxy.url}/auth/v1/.well-known/jwks.json`);
    return ((await answer.json()) as { keys: [JsonWebKey] }).keys[0];
  };
  const byHmac = (header: object, key: string | Buffer) => {
    const said = `${encode(header)}.${encode(claims())}`;
    return `${said}.${createHmac("sha256", key).update(said).digest("base64url")}`;
  };
  test.each<{ what: string; forge: () => string | Promise<string> }>([
    { what: "another key under the name of the right one", forge: () => signed(claims(), { kid: kid() }) },
    { what: "another key under a name of its own", forge: () => signed(claims(), { kid: randomUUID() }) },
    { what: "another key without a name", forge: () => signed(claims(), {}) },
    { what: "the right signature under another person", forge: () => retold({ sub: randomUUID() }) },
    { what: "the right signature under AAL2", forge: () => retold({ aal: "aal2" }) },
    { what: "no algorithm", forge: () => `${encode({ alg: "none", kid: kid() })}.${encode(claims())}.` },
    {
      what: "an algorithm that the key is not for",
      forge: () => `${encode({ alg: "RS256", kid: kid() })}.${encode(claims())}.${token().split(".")[2]}`,
    },
    {
      what: "the published key as a secret",
      forge: async () =>
        byHmac(
          { alg: "HS256", kid: kid() },
          createPublicKey({ key: await published(), format: "jwk" }).export({ type: "spki", format: "pem" }),
        ),
    },
    { what: "auth's own key for somebody else to read", forge: () => byAuth({ aud: "another service" }) },
    { what: "auth's own key for ever", forge: () => byAuth({ exp: undefined }) },
    { what: "auth's own key for nobody", forge: () => byAuth({ sub: undefined }) },
    { what: "auth's own key until a minute ago", forge: () => byAuth({ exp: Math.floor(Date.now() / 1000) - 60 }) },
    { what: "an empty secret", forge: () => byHmac({ alg: "HS256", typ: "JWT" }, "") },
  ])("$what", async ({ forge }) => {
    const browser = copyBrowser(client);
    changeSession(browser, { access_token: await forge() });
    expect((await copyBrowser(browser).get("/login")).status).toBe(200);
    const response = await browser.get("/portal");
    expect([response.status, response.headers.get("Location")]).toEqual([303, "/login"]);
    expect(browser.cookies.has("session")).toBe(false);
    expect((await client.get("/portal")).status).toBe(200);
  });

  test("and one that auth signed for this opens the portal", async () => {
    const browser = copyBrowser(client);
    changeSession(browser, { access_token: await byAuth({}) });
    expect((await browser.get("/portal")).status).toBe(200);
  });

  test("nor once its hour is over, though it was good before", async () => {
    onTestFinished(() => void vi.useRealTimers());
    const browser = copyBrowser(client);
    const now = Math.floor(Date.now() / 1000);
    changeSession(browser, { access_token: await byAuth({ exp: now + 60 }), expires_at: now + 7200 });
    expect((await browser.get("/portal")).status).toBe(200);
    vi.useFakeTimers({ toFake: ["Date"], now: (now + 61) * 1000 });
    expect((await browser.get("/portal")).headers.get("Location")).toBe("/login");
  });

  test("nor by a key that auth has published no longer for ten minutes: auth is asked again", async () => {
    onTestFinished(() => void vi.useRealTimers());
    const askedOfAuth = async () => {
      const calls = await app.proxy.during(() => copyBrowser(client).get("/portal"));
      return calls.filter((call) => call.startsWith("GET /auth/v1/user")).length;
    };
    const now = Date.now();
    const after = (minutes: number) => vi.useFakeTimers({ toFake: ["Date"], now: now + minutes * 60_000 });
    expect(await askedOfAuth()).toBe(0);
    const key = { ...(await exportJWK(createPublicKey(another))), kid: "new", alg: "ES256", use: "sig" };
    app.proxy.answer({ pattern: /jwks/, status: 200, body: { keys: [key] } });
    // The keys come beside the page that has them asked for.
    after(11);
    await expect.poll(askedOfAuth).toBe(1);
    app.proxy.fail("none");
    after(22);
    await expect.poll(askedOfAuth).toBe(0);
  });

  test.each([{ alg: 5 }, { alg: null, kid: "x" }, { alg: "ES256", kid: {} }, [], "ES256"])(
    "a head that is none: %j",
    async (head) => {
      const browser = copyBrowser(client);
      changeSession(browser, { access_token: `${encode(head)}.${encode(claims())}.c2lnbmF0dXJl` });
      const response = await browser.get("/portal");
      expect([response.status, response.headers.get("Location")]).toEqual([303, "/login"]);
      expect(browser.cookies.has("session")).toBe(false);
    },
  );

  test("and fifty of them with names of their own make auth say its keys at most once", async () => {
    const forged = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const browser = copyBrowser(client);
        changeSession(browser, { access_token: await signed(claims(), { kid: randomUUID() }) });
        return browser;
      }),
    );
    const calls = await app.proxy.during(() => Promise.all(forged.map((browser) => browser.get("/portal"))));
    expect(calls.filter((call) => call.includes("jwks.json")).length).toBeLessThanOrEqual(1);
    expect(calls.filter((call) => !call.includes("jwks.json"))).toEqual(Array(50).fill("GET /auth/v1/user"));
  });
});

describe("a token that somebody else than auth does not take:", () => {
  const refusal = (status: number, code: string) => ({ pattern: /\/rest\//, status, body: { code, message: "no" } });
  test.each([
    ["the data API has not heard of the key yet", refusal(401, "PGRST301")],
    ["the clock of the data API is late", refusal(401, "PGRST303")],
    ["the data API has lost its secret", refusal(500, "PGRST300")],
  ])("the session is kept while auth knows it and %s", async (_why, answer) => {
    const browser = copyBrowser(client);
    app.proxy.answer(answer);
    expect((await browser.get("/portal")).status).toBe(503);
    expect((await browser.post("/portal/new", { name: "x", idempotencyKey: randomUUID() })).status).toBe(503);
    app.proxy.fail("none");
    expect((await browser.get("/portal")).status).toBe(200);
  });

  test("it ends when auth does not know it either", async () => {
    const browser = copyBrowser(client);
    const byAuth = { pattern: /\/auth\/v1\/user/, status: 403, body: { code: 403, error_code: "bad_jwt", msg: "no" } };
    app.proxy.answer(refusal(401, "PGRST301"), byAuth);
    expect((await browser.get("/portal")).headers.get("Location")).toBe("/login");
    expect(browser.cookies.has("session")).toBe(false);
  });
});

describe("a flash cookie that is none says nothing:", () => {
  const stolen = async () => {
    const browser = app.browser();
    await browser.post("/actions/forgot-password", {});
    return browser.cookies.get("flash") ?? "";
  };
  test.each<{ what: string; value: () => Promise<string> | string }>([
    { what: "garbage", value: () => "garbage" },
    { what: "broken percent signs", value: () => "%E0%A4%A" },
    { what: "half of a real one", value: async () => (await stolen()).slice(0, 40) },
    { what: "a real one with another signature", value: async () => `${(await stolen()).split(".")[0]}.AAAA` },
    {
      what: "one we did not sign",
      value: () =>
        Buffer.from('{"__flash_toast__":{"toast":{"message":"Hacked","type":"success"}}}').toString("base64"),
    },
    { what: "100,000 letters", value: () => "a".repeat(100_000) },
  ])("$what", async ({ value }) => {
    const browser = app.browser();
    browser.cookies.set("flash", await value());
    const page = await browser.open("/login");
    expect(page.status).toBe(200);
    expect(page.toasts).toEqual([]);
    const theme = app.browser();
    theme.cookies.set("theme", await value());
    expect((await theme.open("/")).all("html")[0]?.getAttribute("class")).toBe("dark");
  });
});

describe("a session past its hour", () => {
  test("is renewed on the way, once for everything on the page", async () => {
    const browser = copyBrowser(client);
    changeSession(browser, { expires_at: 1 });
    const before = browser.cookies.get("session");
    const calls = await app.proxy.during(async () => {
      const response = await browser.get("/portal");
      expect(response.status).toBe(200);
      expect(response.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
      expect(response.headers.getSetCookie()).toContainEqual(expect.stringMatching(/^session=.*HttpOnly/));
    });
    expect(calls.filter((call) => call.includes("grant_type=refresh_token"))).toHaveLength(1);
    expect(browser.cookies.get("session")).not.toBe(before);
    expect((await browser.get("/portal")).status).toBe(200);
  });

  test.each([...faults, ...ambiguousStatuses])("is kept when it cannot be renewed at the moment: %s", async (fault) => {
    // A new session: for one renewed a moment ago the site would not ask the backend again.
    const browser = app.browser();
    await browser.logIn(email);
    changeSession(browser, { expires_at: 1 });
    app.proxy.fail(fault, /grant_type=refresh_token/);
    expect((await browser.get("/portal")).status).toBe(503);
    expect(browser.cookies.has("session")).toBe(true);
    app.proxy.fail("none");
    expect((await browser.get("/portal")).status).toBe(200);
  });

  test("is renewed once for twenty requests at once, without signing anybody out", async () => {
    const browser = app.browser();
    await browser.logIn(email);
    changeSession(browser, { expires_at: 1 });
    const calls = await app.proxy.during(async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => browser.get("/portal")));
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    });
    expect(calls.filter((call) => call.includes("grant_type=refresh_token"))).toHaveLength(1);
    expect((await browser.get("/portal")).status).toBe(200);
  });

  test("is renewed once, too, for who brings the old one a moment later", async () => {
    const browser = app.browser();
    await browser.logIn(email);
    changeSession(browser, { expires_at: 1 });
    const late = copyBrowser(browser);
    const calls = await app.proxy.during(async () => {
      for (const one of [browser, late]) expect((await one.get("/portal")).status).toBe(200);
    });
    expect(calls.filter((call) => call.includes("grant_type=refresh_token"))).toHaveLength(1);
    expect(late.cookies.get("session")).toBe(browser.cookies.get("session"));
  });
});

describe("signing out", () => {
  test("takes the cookie, says so once, and the old cookie opens nothing any more", async () => {
    const browser = app.browser();
    await browser.signUpAndLogIn("Otieno");
    const thieves = [copyBrowser(browser), copyBrowser(browser)];
    changeSession(thieves[1] ?? browser, { expires_at: 1 });
    for (const thief of thieves) expect((await copyBrowser(thief).get("/portal")).status).toBe(200);
    const answer = await browser.submit(await browser.open("/portal"), "Sign out");
    expect(answer.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    expect(browser.cookies.has("session")).toBe(false);
    const login = await browser.follow(answer);
    expect(login.h1).toBe("Client Login");
    expect(login.toasts).toEqual([{ title: "You are signed out", description: "", variant: "default" }]);
    expect(login.all("header a, header button").map((each) => each.text)).not.toContain("Sign out");
    expect((await browser.get("/portal")).headers.get("Location")).toBe("/login");
    for (const thief of thieves) expect((await thief.get("/portal")).headers.get("Location")).toBe("/login");
  });

  test("takes a session that was renewed on the way too, when the backend cannot be told", async () => {
    for (const fault of [500, "close"] as const) {
      const browser = app.browser();
      await browser.logIn(email);
      changeSession(browser, { expires_at: 1 });
      app.proxy.fail(fault, /\/logout/);
      const calls = await app.proxy.during(async () => {
        const answer = await browser.post("/portal/sign-out", {});
        const session = answer.headers.getSetCookie().filter((line) => line.startsWith("session"));
        expect(session.length).toBeGreaterThan(0);
        for (const line of session) expect(line).toMatch(/^session[.\d]*=; Max-Age=0/);
      });
      expect(calls.join()).toContain("grant_type=refresh_token");
      expect(browser.cookies.has("session")).toBe(false);
      expect((await browser.get("/portal")).headers.get("Location")).toBe("/login");
      app.proxy.fail("none");
    }
  });

  test("of a session that was ended elsewhere meanwhile is done all the same", async () => {
    const browser = app.browser();
    await browser.signUpAndLogIn("Kiptoo");
    const left = copyBrowser(browser);
    changeSession(left, { expires_at: 1 });
    await browser.post("/portal/sign-out", {});
    const login = await left.follow(await left.post("/portal/sign-out", {}));
    expect(login.toasts).toEqual([{ title: "You are signed out", description: "", variant: "default" }]);
    expect(left.cookies.has("session")).toBe(false);
  });

  test("leaves the person's other browsers signed in", async () => {
    const browser = app.browser();
    const email = await browser.signUpAndLogIn("Njeri");
    const phone = app.browser();
    await phone.logIn(email);
    await browser.post("/portal/sign-out", {});
    expect((await phone.get("/portal")).status).toBe(200);
  });

  test("by a GET does nothing, and offers the button that does", async () => {
    const page = await client.open("/portal/sign-out");
    expect(page.h1).toBe("You are still signed in");
    expect(page.form("Sign out").fields).toMatchObject({ "sign-out": "" });
    expect((await client.get("/portal")).status).toBe(200);
  });
});
