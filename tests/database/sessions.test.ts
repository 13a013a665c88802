import { createHmac, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { decodeProtectedHeader } from "jose";
import { afterEach, beforeAll, expect, test } from "vitest";
import { backendKeys } from "../support/backend-keys.ts";
import { decodeClaims, fileColumns, setUpTestBackend } from "../support/database-suite.ts";

type TokenPair = { access_token: string; refresh_token: string };

const password = "a good password";
const fileContent = "%PDF-1.7 for the owner's eyes";

const suite = setUpTestBackend();
const { testBackend, query, setUpClient, newShipment, getDocumentId, sendRequest, createAuthHeaders } = suite;
const owner = setUpClient("owner@client.example");
let shipmentId: string;
let filePath: string;
let documentId: string;
let addressCount = 0;

beforeAll(async () => {
  shipmentId = await newShipment(owner, "Tea for the owner");
  filePath = `${owner.id}/${shipmentId}/packing-list-0123456789ab-x.pdf`;
  await storeFile();
  documentId = await getDocumentId(shipmentId, "Packing List");
  const { error } = await testBackend.serviceRole
    .from("documents")
    .update({ uploaded: true, storage_path: filePath, ...fileColumns })
    .eq("id", documentId);
  if (error) throw error;
});
// Stores the file again if a failed test has deleted the file.
afterEach(async () => {
  if ((await readState())?.files === 0) await storeFile();
});

/** Requests for the owner's data and files. The owner's valid token gives access to the data, but not to the files. */
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

test.each(["reading the account", "reading shipments", "opening a document"] as const)(
  "A valid access token of a client is accepted for %s.",
  async (endpoint) => {
    const result = await callEndpoint(endpoint, owner.accessToken);
    expect(result.ok).toBe(true);
    expect(leaksData(await result.text())).toBe(true);
  },
);

test.each(["listing files", "reading a file", "deleting a file"] as const)(
  "No client's token is accepted for %s, not even the token of the owner.",
  async (endpoint) => {
    await expectEndpointRejects(endpoint, owner.accessToken);
    await expectEndpointRejects(endpoint, (await newSession()).access_token);
  },
);

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
  for (const endpoint of endpointNames) await expectEndpointRejects(endpoint, forge());
  const result = await sendRequest("POST", "/rest/v1/rpc/move_shipment", createAuthHeaders(forge()), {
    shipment_id: shipmentId,
  });
  expect(result.ok).toBe(false);
  expect(await readState()).toMatchObject({ stage: 1 });
});

test.each(endpointNames)(
  "After signing out, the refresh token is invalid, and the access token is rejected for %s.",
  async (endpoint) => {
    const session = await newSession();
    expect((await callEndpoint("reading the account", session.access_token)).ok).toBe(true);
    expect((await signOut(session)).status).toBe(204);
    expect((await refreshSession(session.refresh_token)).status).toBe(400);
    await expectEndpointRejects(endpoint, session.access_token);
  },
);

test("The data API accepts the token of an ended session, but the policies hide every row.", async () => {
  const session = await newSession();
  expect(JSON.parse(await (await callEndpoint("reading shipments", session.access_token)).text())).toHaveLength(1);
  await signOut(session);
  const result = await callEndpoint("reading shipments", session.access_token);
  expect([result.status, await result.json()]).toEqual([200, []]);
});

test("Signing out on one device does not sign out another device.", async () => {
  const [here, there] = [await newSession(), await newSession()];
  await signOut(here);
  expect((await callEndpoint("reading the account", there.access_token)).ok).toBe(true);
  expect((await refreshSession(there.refresh_token)).ok).toBe(true);
});

test("Signing out everywhere ends every session of the client, and no session of another client.", async () => {
  const client = await testBackend.newClient(newEmailAddress(), password);
  const sessions = [await newSession(client.email), await newSession(client.email)];
  const ownerSession = await newSession();
  await signOut(sessions[0] ?? ownerSession, "global");
  for (const session of sessions) {
    expect((await callEndpoint("reading the account", session.access_token)).ok).toBe(false);
    expect((await refreshSession(session.refresh_token)).ok).toBe(false);
  }
  expect((await callEndpoint("reading the account", ownerSession.access_token)).ok).toBe(true);
});

test("A refreshed session reads the same data as before the refresh.", async () => {
  const session = await newSession();
  const renewed = (await (await refreshSession(session.refresh_token)).json()) as TokenPair;
  for (const endpoint of ["reading the account", "reading shipments", "opening a document"] as const) {
    const result = await callEndpoint(endpoint, renewed.access_token);
    expect(leaksData(await result.text())).toBe(true);
  }
  expect(decodeClaims(renewed.access_token)).toMatchObject({ sub: owner.id, role: "authenticated" });
});

test("Repeated refreshes continue one session.", async () => {
  let session = await newSession();
  const { session_id } = decodeClaims(session.access_token);
  for (let round = 0; round < 5; round += 1)
    session = (await (await refreshSession(session.refresh_token)).json()) as TokenPair;
  expect(decodeClaims(session.access_token).session_id).toBe(session_id);
  await signOut(session);
  expect((await refreshSession(session.refresh_token)).ok).toBe(false);
});

test("Twenty parallel refreshes with one token all succeed, and the session stays valid.", async () => {
  const session = await newSession();
  const results = await Promise.all(Array.from({ length: 20 }, () => refreshSession(session.refresh_token)));
  expect(results.every(({ ok }) => ok)).toBe(true);
  const renewed = (await Promise.all(results.map((result) => result.json()))) as TokenPair[];
  for (const { access_token, refresh_token } of renewed) {
    expect((await callEndpoint("reading the account", access_token)).ok).toBe(true);
    expect((await refreshSession(refresh_token)).ok).toBe(true);
  }
});

const malformed = ["validation_failed", "Refresh token is not valid"];
test.each([
  ...["another", "zS3kd0Jm2Qpl", "null", "%", "' or true --"].map((token) => [token, malformed] as const),
  [randomUUID(), ["refresh_token_not_found", "Invalid Refresh Token: Refresh Token Not Found"]] as const,
])(
  "The refresh token %j opens no session and gets the same error as on hosted Supabase Auth.",
  async (token, expected) => {
    const result = await refreshSession(token);
    expect(result.status).toBe(400);
    const { error_code, msg } = (await result.json()) as { error_code: string; msg: string };
    expect([error_code, msg]).toEqual(expected);
  },
);

test.each(["", "0"])("The refresh token %j opens no session.", async (token) => {
  expect((await refreshSession(token)).status).toBe(400);
});

test("An access token cannot refresh a session, and a refresh token gives no access.", async () => {
  const session = await newSession();
  expect((await refreshSession(session.access_token)).ok).toBe(false);
  for (const endpoint of endpointNames) await expectEndpointRejects(endpoint, session.refresh_token);
});

test("An access token is valid for an hour.", async () => {
  const { iat, exp } = decodeClaims((await newSession()).access_token);
  expect(Number(exp) - Number(iat)).toBe(3600);
});

test("An expired access token gives no access.", async () => {
  const secret = "a secret of tests, at least thirty-two bytes long";
  expect((await callEndpoint("reading the account", signJwt(createClaims(), secret))).ok).toBe(true);
  for (const endpoint of endpointNames)
    await expectEndpointRejects(
      endpoint,
      signJwt({ ...createClaims(), iat: nowInSeconds() - 7200, exp: nowInSeconds() - 60 }, secret),
    );
});

test("A client who changes their own metadata still has the role of a client.", async () => {
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

async function storeFile(): Promise<void> {
  const { error } = await testBackend.serviceRole.storage
    .from("documents")
    .upload(filePath, new TextEncoder().encode(fileContent), { contentType: "application/pdf" });
  if (error) throw error;
}

/** Expects that a request with the token returns none of the owner's data and changes nothing. */
async function expectEndpointRejects(endpoint: EndpointName, token: string): Promise<void> {
  const before = await readState();
  const result = await callEndpoint(endpoint, token);
  // Without rights, storage lists no file and the portal returns no viewer.
  const text = await result.text();
  const isNothing = text === "[]" || text.replaceAll(" ", "") === '{"file":null,"viewer":null}';
  expect(result.ok && !isNothing, `${endpoint}: ${result.status} ${text.slice(0, 80)}`).toBe(false);
  expect(leaksData(text)).toBe(false);
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

/** Returns a token with the key ID of Supabase Auth but signed with another key. */
function signWithOtherKey(payload: object): string {
  const content = `${encodeBase64Url(decodeProtectedHeader(owner.accessToken))}.${encodeBase64Url(payload)}`;
  const signature = sign("sha256", Buffer.from(content), { key: otherSigningKey, dsaEncoding: "ieee-p1363" });
  return `${content}.${signature.toString("base64url")}`;
}

function createUnsignedJwt(payload: object, alg: string): string {
  return `${encodeBase64Url({ alg, typ: "JWT" })}.${encodeBase64Url(payload)}.`;
}

/** Returns a token with changed claims and its old signature. */
function alterPayload(token: string, change: object): string {
  const [header, , signature] = token.split(".");
  return `${header}.${encodeBase64Url({ ...decodeClaims(token), ...change })}.${signature}`;
}
