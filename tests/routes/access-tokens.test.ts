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
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { ensureKeys } from "../../app/server/embedded-backend.ts";
import { copyBrowser } from "../support/route-fixtures.ts";
import { changeSession, readSession } from "../support/session-cookie.ts";
import { getTestApp } from "../support/test-app.ts";

const app = await getTestApp();
const client = app.browser();
await client.signUpAndLogIn("Wanjiru");
afterEach(() => app.proxy.fail("none"));

const getToken = () => readSession(client).access_token;
const getSignature = () => getToken().split(".")[2];
const getKid = () => decodeProtectedHeader(getToken()).kid ?? "";
const getNow = () => Math.floor(Date.now() / 1000);
const getClaims = (): JWTPayload => ({ ...decodeJwt(getToken()), exp: getNow() + 3600 });
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

const foreignKey = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const sign = (claims: JWTPayload, header: { kid?: string }, key = foreignKey) =>
  new SignJWT(claims).setProtectedHeader({ alg: "ES256", ...header }).sign(key);

/**
 * Returns the client's access token with the claims in `change`, and with a valid signature by the key of Supabase
 * Auth.
 */
function signAsAuth(change: JWTPayload) {
  const { signingKey } = ensureKeys(process.env.DATA_DIR ?? "");
  const key = createPrivateKey({ key: signingKey, format: "jwk" });
  return sign({ ...getClaims(), ...change }, { kid: getKid() }, key);
}

/**
 * Returns the client's access token with the claims in `change`, and with its original signature, which is then
 * invalid.
 */
const changeClaims = (change: JWTPayload) =>
  `${getToken().split(".")[0]}.${encode({ ...getClaims(), ...change })}.${getSignature()}`;

async function signWithPublicKey(): Promise<string> {
  const response = await fetch(`${app.proxy.url}/auth/v1/.well-known/jwks.json`);
  const { keys } = (await response.json()) as { keys: [JsonWebKey] };
  const key = createPublicKey({ key: keys[0], format: "jwk" }).export({ type: "spki", format: "pem" });
  const text = `${encode({ alg: "HS256", kid: getKid() })}.${encode(getClaims())}`;
  return `${text}.${createHmac("sha256", key).update(text).digest("base64url")}`;
}

const withToken = (access_token: string) => {
  const browser = copyBrowser(app, client);
  changeSession(browser, { access_token });
  return browser;
};

describe("Forged access tokens", () => {
  test.each<[string, () => string | Promise<string>]>([
    ["signed with a foreign key under the right key ID", () => sign(getClaims(), { kid: getKid() })],
    ["signed with a foreign key under its own key ID", () => sign(getClaims(), { kid: randomUUID() })],
    ["signed with a foreign key without a key ID", () => sign(getClaims(), {})],
    ["of the client with AAL2", () => changeClaims({ aal: "aal2" })],
    ["without an algorithm", () => `${encode({ alg: "none", kid: getKid() })}.${encode(getClaims())}.`],
    [
      "with an algorithm that the key is not for",
      () => `${encode({ alg: "RS256", kid: getKid() })}.${encode(getClaims())}.${getSignature()}`,
    ],
    ["signed with the public key as a shared secret", signWithPublicKey],
    ["signed by auth for another audience", () => signAsAuth({ aud: "another service" })],
    ["signed by auth without an expiry", () => signAsAuth({ exp: undefined })],
    ["signed by auth without a subject", () => signAsAuth({ sub: undefined })],
    ["that expired a minute ago", () => signAsAuth({ exp: getNow() - 60 })],
    ...[{ alg: 5 }, { alg: "ES256", kid: {} }, []].map((header): [string, () => string] => [
      `with the header ${JSON.stringify(header)}`,
      () => `${encode(header)}.${encode(getClaims())}.c2lnbmF0dXJl`,
    ]),
  ])("An access token %s gives no access, and the browser's session cookie is deleted.", async (_what, forge) => {
    const token = await forge();
    const browser = withToken(token);
    const response = await browser.get("/portal");
    expect([response.status, response.headers.get("Location")]).toEqual([303, "/login"]);
    expect(browser.cookies.has("session")).toBe(false);
  });

  test("An access token gives access to the portal until the access token expires.", async () => {
    onTestFinished(() => void vi.useRealTimers());
    const now = getNow();
    const browser = withToken(await signAsAuth({ exp: now + 60 }));
    // The `expires_at` of the session is late, because the site would otherwise refresh the session.
    changeSession(browser, { expires_at: now + 7200 });
    expect((await browser.get("/portal")).status).toBe(200);
    vi.useFakeTimers({ toFake: ["Date"], now: (now + 61) * 1000 });
    expect((await browser.get("/portal")).headers.get("Location")).toBe("/login");
  });

  test("Fifty access tokens with different unknown key IDs cause at most one request for the keys of Supabase Auth.", async () => {
    const tokens = await Promise.all(Array.from({ length: 50 }, () => sign(getClaims(), { kid: randomUUID() })));
    const calls = await app.proxy.during(() => Promise.all(tokens.map((token) => withToken(token).get("/portal"))));
    expect(calls.filter((call) => call.includes("jwks.json")).length).toBeLessThanOrEqual(1);
    expect(calls.filter((call) => !call.includes("jwks.json"))).toEqual(Array(50).fill("GET /auth/v1/user"));
  });
});

test("Ten minutes after Supabase Auth removes a key, the site asks Supabase Auth about tokens with this key.", async () => {
  onTestFinished(() => void vi.useRealTimers());
  const countChecks = async () => {
    const calls = await app.proxy.during(() => copyBrowser(app, client).get("/portal"));
    return calls.filter((call) => call.startsWith("GET /auth/v1/user")).length;
  };
  const now = Date.now();
  const passMinutes = (minutes: number) => vi.useFakeTimers({ toFake: ["Date"], now: now + minutes * 60_000 });
  expect(await countChecks()).toBe(0);
  const key = { ...(await exportJWK(createPublicKey(foreignKey))), kid: "new", alg: "ES256", use: "sig" };
  app.proxy.answer({ pattern: /jwks/, status: 200, body: { keys: [key] } });
  // The site loads the new keys in the background, so the first check still uses the old keys.
  passMinutes(11);
  await expect.poll(countChecks).toBe(1);
  app.proxy.fail("none");
  passMinutes(22);
  await expect.poll(countChecks).toBe(0);
});

describe("Access tokens that the data API rejects", () => {
  const toRejection = (status: number, code: string) => ({
    pattern: /\/rest\//,
    status,
    body: { code, message: "no" },
  });

  test.each([
    ["does not know the key yet", toRejection(401, "PGRST301")],
    ["has a slow clock", toRejection(401, "PGRST303")],
    ["has lost its secret", toRejection(500, "PGRST300")],
  ])(
    "A session remains valid if Supabase Auth accepts its access token and the data API %s.",
    async (_reason, rejection) => {
      const browser = copyBrowser(app, client);
      app.proxy.answer(rejection);
      expect((await browser.get("/portal")).status).toBe(503);
      expect((await browser.post("/portal/new", { name: "x", idempotencyKey: randomUUID() })).status).toBe(503);
      app.proxy.fail("none");
      expect((await browser.get("/portal")).status).toBe(200);
    },
  );

  test("A session ends if both the data API and Supabase Auth reject its access token.", async () => {
    const browser = copyBrowser(app, client);
    const unknown = { code: 403, error_code: "bad_jwt", msg: "no" };
    app.proxy.answer(toRejection(401, "PGRST301"), { pattern: /\/auth\/v1\/user/, status: 403, body: unknown });
    expect((await browser.get("/portal")).headers.get("Location")).toBe("/login");
    expect(browser.cookies.has("session")).toBe(false);
  });
});
