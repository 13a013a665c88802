import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { calculateJwkThumbprint, decodeProtectedHeader } from "jose";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { backendKeys } from "../support/backend-keys.ts";
import { startTestBackend } from "../support/test-backend.ts";

type TestClient = Awaited<ReturnType<typeof testBackend.newClient>>;
type TokenPair = { access_token: string; refresh_token: string };

const password = "a good password";
const fileContent = "%PDF-1.7 for the owner's eyes";

let testBackend: Awaited<ReturnType<typeof startTestBackend>>;
let owner: TestClient;
let shipmentId: string;
let filePath: string;
let documentId: string;
let addressCount = 0;

beforeAll(async () => {
  testBackend = await startTestBackend();
  owner = await testBackend.newClient("owner@client.example", password);
  const { data, error } = await owner.supabase
    .from("shipments")
    .insert({ name: "Tea for the owner", user_id: owner.id })
    .select("id")
    .single();
  if (error) throw error;
  shipmentId = data.id;
  filePath = `${owner.id}/${shipmentId}/packing-list-0123456789ab-x.pdf`;
  await storeFile();
  const record = {
    sha256: "0".repeat(64),
    file_name: "x.pdf",
    file_size: fileContent.length,
    media_type: "application/pdf",
  };
  const counted = await testBackend.serviceRole
    .from("documents")
    .update({ uploaded: true, storage_path: filePath, ...record })
    .eq("shipment_id", shipmentId)
    .eq("name", "Packing List")
    .select("id")
    .single();
  if (counted.error) throw counted.error;
  documentId = counted.data.id;
  // An account that waits for its confirmation and may have the mail again.
  const issued = await testBackend.serviceRole.rpc("issue_client_ids", {});
  const waiting = await testBackend.anonymous().auth.signUp({
    email: "waiting@client.example",
    password,
    options: { data: { client_id: issued.data?.[0]?.client_id } },
  });
  if (waiting.error) throw waiting.error;
  await testBackend.backend.db.query(
    "update auth.users set confirmation_sent_at = now() - interval '1 hour' where confirmed_at is null",
  );
});
afterAll(() => testBackend.close());
// A test that fails may have deleted the file: restored, so that the others do not fail too.
afterEach(async () => {
  if ((await readState())?.files === 0) await storeFile();
});

/** Requests to auth, data and storage about what is the owner's. A valid token opens the data; of files it opens none. */
const protectedEndpoints = {
  "who am I": () => ({ method: "GET", at: "/auth/v1/user" }),
  "changing the password": () => ({ method: "PUT", at: "/auth/v1/user", body: { password: "a stolen password" } }),
  "reading shipments": () => ({ method: "GET", at: "/rest/v1/shipments?select=id,name" }),
  "opening a shipment": () => ({
    method: "POST",
    at: "/rest/v1/shipments",
    body: { name: "Forged", user_id: owner.id },
  }),
  "opening a document": () => ({
    method: "GET",
    at: `/rest/v1/rpc/portal_file?document_id=${documentId}&shipment_id=${shipmentId}`,
  }),
  "listing files": () => ({
    method: "POST",
    at: "/storage/v1/object/list/documents",
    body: { prefix: `${owner.id}/${shipmentId}` },
  }),
  "reading a file": () => ({ method: "GET", at: `/storage/v1/object/documents/${filePath}` }),
  "taking a file back": () => ({
    method: "DELETE",
    at: "/storage/v1/object/documents",
    body: { prefixes: [filePath] },
  }),
};
type EndpointName = keyof typeof protectedEndpoints;
const endpointNames = Object.keys(protectedEndpoints) as EndpointName[];

test.each(["who am I", "reading shipments", "opening a document"] as const)(
  "a signed-in client's token opens %s",
  async (door) => {
    const result = await callEndpoint(door, owner.accessToken);
    expect(result.ok).toBe(true);
    expect(leaksData(await result.text())).toBe(true);
  },
);

test.each(["listing files", "reading a file", "taking a file back"] as const)(
  "%s is open to no client's token, not even its owner's",
  async (door) => {
    await expectEndpointRejects(door, owner.accessToken);
    await expectEndpointRejects(door, (await newSession()).access_token);
  },
);

const nowInSeconds = () => Math.floor(Date.now() / 1000);
const createClaims = () => ({
  ...decodePayload(owner.accessToken),
  iat: nowInSeconds(),
  exp: nowInSeconds() + 3600,
});
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

test.each(forgeries)("a token %s opens nothing", async (_how, forge) => {
  for (const door of endpointNames) await expectEndpointRejects(door, forge());
  const result = await sendRequest("POST", "/rest/v1/rpc/move_shipment", createAuthHeaders(forge()), {
    shipment_id: shipmentId,
  });
  expect(result.ok).toBe(false);
  expect(await readState()).toMatchObject({ stage: 1 });
});

test("the key of the tokens is published, without its private part, to who brings no key of the API", async () => {
  const result = await sendRequest("GET", "/auth/v1/.well-known/jwks.json", {});
  const kid = await calculateJwkThumbprint(publishedKey);
  expect(await result.json()).toEqual({
    keys: [{ ...publishedKey, alg: "ES256", kid, use: "sig", key_ops: ["verify"] }],
  });
  expect(decodeProtectedHeader(owner.accessToken)).toEqual({ alg: "ES256", kid, typ: "JWT" });
});

test("the secret key as a bearer does not make a visitor the company", async () => {
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
test.each(keyRequiredRoutes)(
  "%s %s without the key is 401, with and without a good token",
  async (method, at, body) => {
    const token = { authorization: `Bearer ${owner.accessToken}` };
    for (const apikey of [undefined, "", "sb_publishable_", "sb_publishable_wrong", owner.accessToken]) {
      const key: Record<string, string> = apikey === undefined ? {} : { apikey };
      const sent = testBackend.emails.length;
      for (const headers of [key, { ...key, ...token }]) {
        const result = await sendRequest(method, at, headers, body);
        expect(result.status, `${at} with ${JSON.stringify(apikey)}`).toBe(401);
      }
      expect(testBackend.emails.length).toBe(sent);
    }
  },
);

test.each([
  "/_system",
  "/_system/",
  "/_system/ping",
  "/_system/config",
  "/_system/info",
  "/%5Fsystem/config",
  "//_system/config",
  "/auth/v1/../../_system/config",
  "/rest/v1/%2e%2e/%2e%2e/_system/config",
  "/mcp",
  "/studio",
  "/",
])("%s is not there, not even for the company", async (at) => {
  for (const method of ["GET", "POST"]) {
    const result = await sendRequest(method, at, { apikey: testBackend.secretKey }, method === "POST" ? {} : undefined);
    expect(result.status).toBe(404);
    expect(await result.text()).toBe("Not found");
  }
});

test("signing out makes the refresh token useless", async () => {
  const session = await newSession();
  expect((await signOut(session)).status).toBe(204);
  const result = await refreshSession(session.refresh_token);
  expect(result.status).toBeGreaterThanOrEqual(400);
  expect(result.status).toBeLessThan(500);
  expect(await result.text()).not.toContain("access_token");
});

test.each(endpointNames)("after signing out, the access token does not open %s", async (door) => {
  const session = await newSession();
  expect((await callEndpoint("who am I", session.access_token)).ok).toBe(true);
  await signOut(session);
  await expectEndpointRejects(door, session.access_token);
});

test("as on hosted Supabase, the data API takes the token of an ended session for what it says: policies let it read nothing", async () => {
  const session = await newSession();
  expect(JSON.parse(await (await callEndpoint("reading shipments", session.access_token)).text())).toHaveLength(1);
  await signOut(session);
  const result = await callEndpoint("reading shipments", session.access_token);
  expect([result.status, await result.json()]).toEqual([200, []]);
});

test("signing out on one device leaves the other signed in", async () => {
  const [here, there] = [await newSession(), await newSession()];
  await signOut(here);
  expect((await callEndpoint("who am I", there.access_token)).ok).toBe(true);
  expect((await refreshSession(there.refresh_token)).ok).toBe(true);
});

test("signing out everywhere ends every session of this client and none of another's", async () => {
  const person = await testBackend.newClient(newEmailAddress(), password);
  const sessions = [await newSession(person.email), await newSession(person.email)];
  const mine = await newSession();
  await signOut(sessions[0] ?? mine, "global");
  for (const session of sessions) {
    expect((await callEndpoint("who am I", session.access_token)).ok).toBe(false);
    expect((await refreshSession(session.refresh_token)).ok).toBe(false);
  }
  expect((await callEndpoint("who am I", mine.access_token)).ok).toBe(true);
});

test("a refresh gives a session that opens what the old one opened", async () => {
  const session = await newSession();
  const renewed = (await (await refreshSession(session.refresh_token)).json()) as TokenPair;
  for (const door of ["who am I", "reading shipments", "opening a document"] as const) {
    const result = await callEndpoint(door, renewed.access_token);
    expect(leaksData(await result.text())).toBe(true);
  }
  expect(decodePayload(renewed.access_token)).toMatchObject({ sub: owner.id, role: "authenticated" });
});

test("refreshing again and again keeps one session", async () => {
  let session = await newSession();
  const { session_id } = decodePayload(session.access_token);
  for (let round = 0; round < 5; round += 1)
    session = (await (await refreshSession(session.refresh_token)).json()) as TokenPair;
  expect(decodePayload(session.access_token).session_id).toBe(session_id);
  await signOut(session);
  expect((await refreshSession(session.refresh_token)).ok).toBe(false);
});

test("twenty refreshes at once with one token all answer, and the session lives", async () => {
  const session = await newSession();
  const results = await Promise.all(Array.from({ length: 20 }, () => refreshSession(session.refresh_token)));
  expect(results.every(({ ok }) => ok)).toBe(true);
  const renewed = (await Promise.all(results.map((result) => result.json()))) as TokenPair[];
  for (const { access_token, refresh_token } of renewed) {
    expect((await callEndpoint("who am I", access_token)).ok).toBe(true);
    expect((await refreshSession(refresh_token)).ok).toBe(true);
  }
});

test.each(["", "0", "null", "aaaaaaaaaaaa", "00000000-0000-4000-8000-000000000000", "%", "' or true --"])(
  "the refresh token %j opens no session",
  async (token) => {
    const result = await refreshSession(token);
    expect(result.status).toBeGreaterThanOrEqual(400);
    expect(result.status).toBeLessThan(500);
    expect(await result.text()).not.toContain("access_token");
  },
);

const malformedTokenError = ["validation_failed", "Refresh token is not valid"];
test.each([
  { token: "another", said: malformedTokenError },
  { token: "zS3kd0Jm2Qpl", said: malformedTokenError },
  {
    token: "5a000000-0000-4000-8000-00000000ffff",
    said: ["refresh_token_not_found", "Invalid Refresh Token: Refresh Token Not Found"],
  },
])("the refresh token $token is refused as hosted auth refuses what it never made, or does not know", async (given) => {
  const result = await refreshSession(given.token);
  expect(result.status).toBe(400);
  const { error_code, msg } = (await result.json()) as { error_code: string; msg: string };
  expect([error_code, msg]).toEqual(given.said);
});

test("an access token is no refresh token, and a refresh token no access token", async () => {
  const session = await newSession();
  expect((await refreshSession(session.access_token)).ok).toBe(false);
  for (const door of endpointNames) await expectEndpointRejects(door, session.refresh_token);
});

test("an access token lasts an hour", async () => {
  const { iat, exp } = decodePayload((await newSession()).access_token);
  expect(Number(exp) - Number(iat)).toBe(3600);
});

test("an access token past its time opens nothing", async () => {
  const secret = "a secret of tests, at least thirty-two bytes long";
  expect((await callEndpoint("who am I", signJwt(createClaims(), secret))).ok).toBe(true);
  for (const door of endpointNames)
    await expectEndpointRejects(
      door,
      signJwt({ ...createClaims(), iat: nowInSeconds() - 7200, exp: nowInSeconds() - 60 }, secret),
    );
});

test("a client who changes what it says about itself stays a client", async () => {
  const person = await testBackend.newClient(newEmailAddress(), password);
  const change = (what: object) => sendRequest("PUT", "/auth/v1/user", createAuthHeaders(person.accessToken), what);
  const rejection = await change({ app_metadata: { role: "service_role", provider: "company" } });
  expect([rejection.status, ((await rejection.json()) as { error_code: string }).error_code]).toEqual([
    403,
    "not_admin",
  ]);
  const result = await change({
    role: "service_role",
    aud: "service_role",
    id: owner.id,
    data: { role: "service_role", sub: owner.id, client_id: "DEM0-C11E-NT00-0001" },
  });
  expect(result.status).toBe(200);
  const renewed = await newSession(person.email);
  expect(decodePayload(renewed.access_token)).toMatchObject({ sub: person.id, role: "authenticated" });
  const { rows } = await testBackend.backend.db.query(
    "select role, raw_app_meta_data as app from auth.users where id = $1",
    [person.id],
  );
  expect(rows).toEqual([{ role: "authenticated", app: { provider: "email", providers: ["email"] } }]);
  const seen = await sendRequest("GET", "/rest/v1/shipments", createAuthHeaders(renewed.access_token));
  expect(await seen.json()).toEqual([]);
});

async function storeFile(): Promise<void> {
  const { error } = await testBackend.serviceRole.storage
    .from("documents")
    .upload(filePath, new TextEncoder().encode(fileContent), { contentType: "application/pdf" });
  if (error) throw error;
}

/** Makes a request with a token, and expects an answer without the owner's data and no change. */
async function expectEndpointRejects(door: EndpointName, token: string): Promise<void> {
  const before = await readState();
  const result = await callEndpoint(door, token);
  // Storage answers a list that nobody may see with an empty one, and the portal who is nobody with nothing.
  const said = await result.text();
  const isNothing = said === "[]" || said.replaceAll(" ", "") === '{"file":null,"viewer":null}';
  expect(result.ok && !isNothing, `${door}: ${result.status} ${said.slice(0, 80)}`).toBe(false);
  expect(leaksData(said)).toBe(false);
  expect(await readState()).toEqual(before);
}

function callEndpoint(door: EndpointName, token: string): Promise<Response> {
  const { method, at, body } = { body: undefined, ...protectedEndpoints[door]() };
  return sendRequest(method, at, createAuthHeaders(token), body);
}

/** Whether an answer contains data of the owner's. */
function leaksData(said: string): boolean {
  return (
    said.includes("Tea for the owner") ||
    said.includes(fileContent) ||
    said.includes("packing-list-0123456789ab-x") ||
    said.includes(owner.email)
  );
}

async function readState() {
  const { rows } = await testBackend.backend.db.query<{
    stage: number;
    shipments: number;
    files: number;
    password: string;
  }>(
    `select (select stage from public.shipments where id = $1) as stage,
       (select count(*) from public.shipments)::int as shipments, (select count(*) from storage.objects)::int as files,
       (select encrypted_password from auth.users where id = $2) as password`,
    [shipmentId, owner.id],
  );
  return rows[0];
}

async function newSession(email = owner.email): Promise<TokenPair> {
  const result = await sendRequest(
    "POST",
    "/auth/v1/token?grant_type=password",
    { apikey: testBackend.publishableKey },
    { email, password },
  );
  return (await result.json()) as TokenPair;
}

function refreshSession(token: string): Promise<Response> {
  return sendRequest(
    "POST",
    "/auth/v1/token?grant_type=refresh_token",
    { apikey: testBackend.publishableKey },
    { refresh_token: token },
  );
}

function signOut(session: TokenPair, scope = "local"): Promise<Response> {
  return sendRequest("POST", `/auth/v1/logout?scope=${scope}`, createAuthHeaders(session.access_token));
}

function sendRequest(method: string, at: string, headers: Record<string, string>, body?: object): Promise<Response> {
  return testBackend.backend.fetch(
    new Request(`http://backend.local${at}`, {
      method,
      headers: { ...headers, ...(body && { "content-type": "application/json" }) },
      body: body && JSON.stringify(body),
    }),
  );
}

function createAuthHeaders(token: string) {
  return { apikey: testBackend.publishableKey, authorization: `Bearer ${token}` };
}

function newEmailAddress(): string {
  addressCount += 1;
  return `client-${addressCount}@client.example`;
}

const encodeBase64Url = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

function decodePayload(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as Record<string, unknown>;
}

/** A JSON web token signed with HS256. */
function signJwt(payload: object, secret: string): string {
  const content = `${encodeBase64Url({ alg: "HS256", typ: "JWT" })}.${encodeBase64Url(payload)}`;
  return `${content}.${createHmac("sha256", secret).update(content).digest("base64url")}`;
}

const { d: _, ...publishedKey } = backendKeys.signingKey;
const otherSigningKey = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;

/** Signed as auth signs, under the name of its key, with another. */
function signWithOtherKey(payload: object): string {
  const content = `${encodeBase64Url(decodeProtectedHeader(owner.accessToken))}.${encodeBase64Url(payload)}`;
  const signature = sign("sha256", Buffer.from(content), { key: otherSigningKey, dsaEncoding: "ieee-p1363" });
  return `${content}.${signature.toString("base64url")}`;
}

function createUnsignedJwt(payload: object, alg: string): string {
  return `${encodeBase64Url({ alg, typ: "JWT" })}.${encodeBase64Url(payload)}.`;
}

/** A token with changed claims and its old signature. */
function alterPayload(token: string, change: object): string {
  const [header, , signature] = token.split(".");
  return `${header}.${encodeBase64Url({ ...decodePayload(token), ...change })}.${signature}`;
}
