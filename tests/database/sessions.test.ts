import { createHmac, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { calculateJwkThumbprint, decodeProtectedHeader } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { backendKeys } from "../support/backend-keys.ts";
import { decodeClaims, fileColumns, setUpTestBackend } from "../support/database-suite.ts";

const suite = setUpTestBackend();
const { testBackend, query, setUpClient, newShipment, getDocumentId, sendRequest, createAuthHeaders } = suite;

type TokenPair = { access_token: string; refresh_token: string };

const password = "a good password";
const fileContent = "%PDF-1.7 for the owner's eyes";

const owner = setUpClient("owner@client.example");
let shipmentId: string;
let filePath: string;
let documentId: string;
let addressCount = 0;

beforeAll(async () => {
  shipmentId = await newShipment(owner, "Tea for the owner");
  filePath = `${owner.id}/${shipmentId}/packing-list-0123456789ab-x.pdf`;
  const options = { contentType: "application/pdf" };
  await testBackend.serviceRole.storage.from("documents").upload(filePath, fileContent, options);
  documentId = await getDocumentId(shipmentId, "Packing List");
  const file = { uploaded: true, storage_path: filePath, ...fileColumns };
  await testBackend.serviceRole.from("documents").update(file).eq("id", documentId).throwOnError();
});

/**
 * Requests for the owner's data and files. With a valid access token, the owner can read the data, but not the files.
 */
const protectedEndpoints = {
  "reading the account": () => ["GET", "/auth/v1/user"],
  "changing the password": () => ["PUT", "/auth/v1/user", { password: "a stolen password" }],
  "reading shipments": () => ["GET", "/rest/v1/shipments?select=id,name"],
  "creating a shipment": () => ["POST", "/rest/v1/shipments", { name: "Forged", user_id: owner.id }],
  "opening a document": () => ["GET", `/rest/v1/rpc/portal_file?document_id=${documentId}&shipment_id=${shipmentId}`],
  "listing files": () => ["POST", "/storage/v1/object/list/documents", { prefix: `${owner.id}/${shipmentId}` }],
  "reading a file": () => ["GET", `/storage/v1/object/documents/${filePath}`],
  "deleting a file": () => ["DELETE", "/storage/v1/object/documents", { prefixes: [filePath] }],
} satisfies Record<string, () => [method: string, at: string, body?: object]>;
type EndpointName = keyof typeof protectedEndpoints;
const endpointNames = Object.keys(protectedEndpoints) as EndpointName[];

const dataEndpoints = ["reading the account", "reading shipments", "opening a document"] as const;
async function expectReadsData(token: string): Promise<void> {
  for (const endpoint of dataEndpoints) {
    const result = await callEndpoint(endpoint, token);
    expect(result.ok, endpoint).toBe(true);
    expect(leaksData(await result.text()), endpoint).toBe(true);
  }
}

test("With an access token, a client can read the own data but no stored files, even after a refresh.", async () => {
  const session = await newSession();
  const renewed = (await (await refreshSession(session.refresh_token)).json()) as TokenPair;
  for (const token of [owner.accessToken, renewed.access_token]) {
    await expectReadsData(token);
    await expectRejected(token, ["listing files", "reading a file", "deleting a file"]);
  }
  expect(decodeClaims(renewed.access_token)).toMatchObject({ sub: owner.id, role: "authenticated" });
});

const nowInSeconds = () => Math.floor(Date.now() / 1000);
const createClaims = () => ({ ...decodeClaims(owner.accessToken), iat: nowInSeconds(), exp: nowInSeconds() + 3600 });
const forgeries: [string, () => string][] = [
  ["signed with another secret", () => signJwt(createClaims(), "another secret, also longer than thirty-two bytes")],
  ["signed with an empty secret", () => signJwt(createClaims(), "")],
  ["signed with the publishable key", () => signJwt(createClaims(), testBackend.publishableKey)],
  ["signed with another key of the published kind", () => signWithOtherKey(createClaims())],
  ["signed with the published key as a secret", () => signJwt(createClaims(), JSON.stringify(publishedKey))],
  ["that names no algorithm", () => createUnsignedJwt(createClaims(), "none")],
  ["that names no algorithm, in capitals", () => createUnsignedJwt(createClaims(), "NONE")],
  ["with its signature cut off", () => owner.accessToken.split(".").slice(0, 2).concat("").join(".")],
  [
    "with another person's name under the old signature",
    () => alterPayload(owner.accessToken, { sub: owner.id, email: "x@client.example" }),
  ],
  ["with the company's role under the old signature", () => alterPayload(owner.accessToken, { role: "service_role" })],
  [
    "of the company, signed with another secret",
    () => signJwt({ ...createClaims(), role: "service_role" }, "another secret, also longer than thirty-two bytes"),
  ],
  ["of the company, unsigned", () => createUnsignedJwt({ ...createClaims(), role: "service_role" }, "none")],
  ["that is the owner's id", () => owner.id],
  ["that is no token", () => "not.a.token"],
  ["that is empty", () => ""],
];

test.each(forgeries)("An access token %s gives no access.", async (_how, forge) => {
  await expectRejected(forge());
  const move = { shipment_id: shipmentId };
  expect((await sendRequest("POST", "/rest/v1/rpc/move_shipment", createAuthHeaders(forge()), move)).ok).toBe(false);
  expect(await readState()).toMatchObject({ stage: 1 });
});

test("After signing out, the refresh token is invalid, and every request with the access token is rejected.", async () => {
  const session = await newSession();
  expect((await callEndpoint("reading the account", session.access_token)).ok).toBe(true);
  expect((await signOut(session)).status).toBe(204);
  expect((await refreshSession(session.refresh_token)).status).toBe(400);
  await expectRejected(session.access_token);
  const result = await callEndpoint("reading shipments", session.access_token);
  expect([result.status, await result.json()]).toEqual([200, []]);
});

test("Signing out on one device ends only this device's session, and signing out everywhere ends all the client's sessions.", async () => {
  const client = await testBackend.newClient(newEmailAddress(), password);
  const sessions = [await newSession(client.email), await newSession(client.email)];
  const ownerSession = await newSession();
  await signOut(await newSession(client.email));
  for (const session of sessions)
    expect((await callEndpoint("reading the account", session.access_token)).ok).toBe(true);
  await signOut(sessions[0] ?? ownerSession, "global");
  for (const session of sessions) {
    expect((await callEndpoint("reading the account", session.access_token)).ok).toBe(false);
    expect((await refreshSession(session.refresh_token)).ok).toBe(false);
  }
  expect((await callEndpoint("reading the account", ownerSession.access_token)).ok).toBe(true);
});

test("Twenty parallel refreshes with the same refresh token all succeed, and the session remains valid.", async () => {
  const session = await newSession();
  const results = await Promise.all(Array.from({ length: 20 }, () => refreshSession(session.refresh_token)));
  expect(results.every(({ ok }) => ok)).toBe(true);
  const renewed = (await Promise.all(results.map((result) => result.json()))) as TokenPair[];
  for (const { access_token, refresh_token } of [renewed[0], renewed.at(-1)].filter((pair) => !!pair)) {
    expect((await callEndpoint("reading the account", access_token)).ok).toBe(true);
    expect((await refreshSession(refresh_token)).ok).toBe(true);
  }
});

test("A wrong refresh token starts no session and gets the same error as from hosted Supabase Auth.", async () => {
  const malformed = ["validation_failed", "Refresh token is not valid"];
  const expected = {
    ...Object.fromEntries(["another", "zS3kd0Jm2Qpl", "null", "%", "' or true --"].map((token) => [token, malformed])),
    [randomUUID()]: ["refresh_token_not_found", "Invalid Refresh Token: Refresh Token Not Found"],
  };
  for (const [token, error] of Object.entries(expected)) {
    const result = await refreshSession(token);
    const { error_code, msg } = (await result.json()) as { error_code: string; msg: string };
    expect([result.status, error_code, msg], token).toEqual([400, ...error]);
  }
  for (const token of ["", "0"]) expect((await refreshSession(token)).status).toBe(400);
});

test("An access token cannot refresh a session, and a refresh token gives no access.", async () => {
  const session = await newSession();
  expect((await refreshSession(session.access_token)).ok).toBe(false);
  await expectRejected(session.refresh_token);
});

test("An access token is valid for an hour, and an expired access token gives no access.", async () => {
  const { iat, exp } = decodeClaims(owner.accessToken);
  expect(Number(exp) - Number(iat)).toBe(3600);
  const secret = "a secret of tests, at least thirty-two bytes long";
  expect((await callEndpoint("reading the account", signJwt(createClaims(), secret))).ok).toBe(true);
  const expired = { ...createClaims(), iat: nowInSeconds() - 7200, exp: nowInSeconds() - 60 };
  await expectRejected(signJwt(expired, secret));
});

test("A client cannot become a team member by changing the own metadata.", async () => {
  const client = await testBackend.newClient(newEmailAddress(), password);
  const change = (body: object) => sendRequest("PUT", "/auth/v1/user", createAuthHeaders(client.accessToken), body);
  const rejection = await change({ app_metadata: { role: "service_role", provider: "company" } });
  expect([rejection.status, await rejection.json()]).toEqual([
    403,
    expect.objectContaining({ error_code: "not_admin" }),
  ]);
  const result = await change({
    role: "service_role",
    aud: "service_role",
    id: owner.id,
    data: { role: "service_role", sub: owner.id, client_id: "DEM0-C11E-NT00-0001" },
  });
  expect(result.status).toBe(200);
  const renewed = await newSession(client.email);
  expect(decodeClaims(renewed.access_token)).toMatchObject({ sub: client.id, role: "authenticated" });
  const rows = await query("select role, raw_app_meta_data as app from auth.users where id = $1", [client.id]);
  expect(rows).toEqual([{ role: "authenticated", app: { provider: "email", providers: ["email"] } }]);
  const shipments = await sendRequest("GET", "/rest/v1/shipments", createAuthHeaders(renewed.access_token));
  expect(await shipments.json()).toEqual([]);
});

/** Checks that requests with the access token `token` return no data of the owner and change nothing. */
async function expectRejected(token: string, endpoints: EndpointName[] = endpointNames): Promise<void> {
  const before = await readState();
  for (const endpoint of endpoints) {
    const result = await callEndpoint(endpoint, token);
    // Two requests also succeed without access. One returns an empty list of files. The other returns a null file and a
    // null viewer.
    const text = await result.text();
    const isNothing = text === "[]" || text.replaceAll(" ", "") === '{"file":null,"viewer":null}';
    expect(result.ok && !isNothing, `${endpoint}: ${result.status} ${text.slice(0, 80)}`).toBe(false);
    expect(leaksData(text), endpoint).toBe(false);
  }
  expect(await readState()).toEqual(before);
}

function callEndpoint(endpoint: EndpointName, token: string): Promise<Response> {
  const [method, at, body]: [string, string, object?] = protectedEndpoints[endpoint]();
  return sendRequest(method, at, createAuthHeaders(token), body);
}

function leaksData(text: string): boolean {
  const secrets = ["Tea for the owner", fileContent, "packing-list-0123456789ab-x", owner.email];
  return secrets.some((secret) => text.includes(secret));
}

async function readState() {
  const rows = await query(
    `select (select stage from public.shipments where id = $1) as stage,
       (select count(*) from public.shipments)::int as shipments, (select count(*) from storage.objects)::int as files,
       (select encrypted_password from auth.users where id = $2) as password`,
    [shipmentId, owner.id],
  );
  return rows[0];
}

async function newSession(email = owner.email): Promise<TokenPair> {
  return (await (await requestToken("password", { email, password })).json()) as TokenPair;
}

function requestToken(grantType: string, body: object): Promise<Response> {
  const headers = { apikey: testBackend.publishableKey };
  return sendRequest("POST", `/auth/v1/token?grant_type=${grantType}`, headers, body);
}

function refreshSession(token: string): Promise<Response> {
  return requestToken("refresh_token", { refresh_token: token });
}

function signOut(session: TokenPair, scope = "local"): Promise<Response> {
  return sendRequest("POST", `/auth/v1/logout?scope=${scope}`, createAuthHeaders(session.access_token));
}

function newEmailAddress(): string {
  addressCount += 1;
  return `client-${addressCount}@client.example`;
}

const encodeBase64Url = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

function signJwt(payload: object, secret: string): string {
  const content = `${encodeBase64Url({ alg: "HS256", typ: "JWT" })}.${encodeBase64Url(payload)}`;
  return `${content}.${createHmac("sha256", secret).update(content).digest("base64url")}`;
}

const { d: _, ...publishedKey } = backendKeys.signingKey;
const otherSigningKey = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;

/** Returns a token with the key ID of Supabase Auth and the signature of another key. */
function signWithOtherKey(payload: object): string {
  const content = `${encodeBase64Url(decodeProtectedHeader(owner.accessToken))}.${encodeBase64Url(payload)}`;
  const signature = sign("sha256", Buffer.from(content), { key: otherSigningKey, dsaEncoding: "ieee-p1363" });
  return `${content}.${signature.toString("base64url")}`;
}

function createUnsignedJwt(payload: object, alg: string): string {
  return `${encodeBase64Url({ alg, typ: "JWT" })}.${encodeBase64Url(payload)}.`;
}

/** Returns `token` with the claims in `change` and the original signature. */
function alterPayload(token: string, change: object): string {
  const [header, , signature] = token.split(".");
  return `${header}.${encodeBase64Url({ ...decodeClaims(token), ...change })}.${signature}`;
}

describe("API keys", () => {
  beforeAll(async () => {
    await newShipment(owner, "Tea for the owner");
    // The requests below can resend a confirmation email only to an unconfirmed account.
    const issued = await testBackend.serviceRole.rpc("issue_client_ids", {});
    const options = { data: { client_id: issued.data?.[0]?.client_id } };
    const { error } = await testBackend.anonymous().auth.signUp({ email: "waiting@client.example", password, options });
    if (error) throw error;
    await query("update auth.users set confirmation_sent_at = now() - interval '1 hour' where confirmed_at is null");
  });

  test("The public key for access tokens can be read without an API key and does not contain the private key.", async () => {
    const result = await sendRequest("GET", "/auth/v1/.well-known/jwks.json", {});
    const kid = await calculateJwkThumbprint(publishedKey);
    expect(await result.json()).toEqual({
      keys: [{ ...publishedKey, alg: "ES256", kid, use: "sig", key_ops: ["verify"] }],
    });
    expect(decodeProtectedHeader(owner.accessToken)).toEqual({ alg: "ES256", kid, typ: "JWT" });
  });

  test("The secret key as a bearer token gives no service-role access without the API key.", async () => {
    for (const at of ["/rest/v1/client_ids", "/rest/v1/shipments", "/storage/v1/bucket"]) {
      const result = await sendRequest("GET", at, createAuthHeaders(testBackend.secretKey));
      expect(await result.text()).not.toMatch(/account_id|Tea for the owner|"documents"/);
    }
  });

  const keyRequiredRoutes: [string, string, object?][] = [
    ["GET", "/auth/v1/settings"],
    ["GET", "/auth/v1/user"],
    ["POST", "/auth/v1/signup", { email: "x@client.example", password }],
    ["POST", "/auth/v1/token?grant_type=password", { email: "owner@client.example", password }],
    ["POST", "/auth/v1/resend", { type: "signup", email: "waiting@client.example" }],
    ["GET", "/rest/v1/shipments"],
    ["POST", "/rest/v1/rpc/issue_client_ids", {}],
    ["GET", "/storage/v1/bucket"],
    ["POST", "/storage/v1/object/list/documents", { prefix: "" }],
  ];
  test("A request without the API key gets status 401, with and without a valid token.", async () => {
    const token = { authorization: `Bearer ${owner.accessToken}` };
    const keys = ["", "sb_publishable_", "sb_publishable_wrong", owner.accessToken].map((apikey) => ({ apikey }));
    const sentCount = testBackend.emails.length;
    for (const [method, at, body] of keyRequiredRoutes) {
      for (const headers of [{}, token, ...keys, ...keys.map((key) => ({ ...key, ...token }))]) {
        expect((await sendRequest(method, at, headers, body)).status, `${at} ${JSON.stringify(headers)}`).toBe(401);
      }
    }
    expect(testBackend.emails.length).toBe(sentCount);
  });

  test("The URLs of internal endpoints do not exist, even for requests with the secret key.", async () => {
    for (const at of [
      ...["/_system", "/_system/", "/_system/ping", "/_system/config", "/_system/info", "/%5Fsystem/config"],
      ...["//_system/config", "/auth/v1/../../_system/config", "/rest/v1/%2e%2e/%2e%2e/_system/config"],
      ...["/mcp", "/studio", "/"],
    ]) {
      for (const method of ["GET", "POST"]) {
        const body = method === "POST" ? {} : undefined;
        const result = await sendRequest(method, at, { apikey: testBackend.secretKey }, body);
        expect([result.status, await result.text()], `${method} ${at}`).toEqual([404, "Not found"]);
      }
    }
  });
});
