import { calculateJwkThumbprint, decodeProtectedHeader } from "jose";
import { beforeAll, expect, test } from "vitest";
import { backendKeys } from "../support/backend-keys.ts";
import { setUpTestBackend } from "../support/database-suite.ts";

const { testBackend, query, setUpClient, newShipment, sendRequest, createAuthHeaders } = setUpTestBackend();
const password = "a good password";
const owner = setUpClient("owner@client.example");
beforeAll(async () => {
  await newShipment(owner, "Tea for the owner");
  // Creates an unconfirmed account to which a confirmation email can be sent again.
  const issued = await testBackend.serviceRole.rpc("issue_client_ids", {});
  const options = { data: { client_id: issued.data?.[0]?.client_id } };
  const { error } = await testBackend.anonymous().auth.signUp({ email: "waiting@client.example", password, options });
  if (error) throw error;
  await query("update auth.users set confirmation_sent_at = now() - interval '1 hour' where confirmed_at is null");
});

test("The public key of the tokens is published without an API key and without its private part.", async () => {
  const result = await sendRequest("GET", "/auth/v1/.well-known/jwks.json", {});
  const kid = await calculateJwkThumbprint(publishedKey);
  expect(await result.json()).toEqual({
    keys: [{ ...publishedKey, alg: "ES256", kid, use: "sig", key_ops: ["verify"] }],
  });
  expect(decodeProtectedHeader(owner.accessToken)).toEqual({ alg: "ES256", kid, typ: "JWT" });
});

test("The secret key as a bearer token without the API key gives no service-role access.", async () => {
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
  "A request %s %s without the API key gets status 401, with and without a valid token.",
  async (method, at, body) => {
    const token = { authorization: `Bearer ${owner.accessToken}` };
    for (const apikey of [undefined, "", "sb_publishable_", "sb_publishable_wrong", owner.accessToken]) {
      const key: Record<string, string> = apikey === undefined ? {} : { apikey };
      const sentCount = testBackend.emails.length;
      for (const headers of [key, { ...key, ...token }]) {
        const result = await sendRequest(method, at, headers, body);
        expect(result.status, `${at} with ${JSON.stringify(apikey)}`).toBe(401);
      }
      expect(testBackend.emails.length).toBe(sentCount);
    }
  },
);

test.each([
  ...["/_system", "/_system/", "/_system/ping", "/_system/config", "/_system/info", "/%5Fsystem/config"],
  ...["//_system/config", "/auth/v1/../../_system/config", "/rest/v1/%2e%2e/%2e%2e/_system/config"],
  ...["/mcp", "/studio", "/"],
])("The path %s does not exist, even for the secret key.", async (at) => {
  for (const method of ["GET", "POST"]) {
    const result = await sendRequest(method, at, { apikey: testBackend.secretKey }, method === "POST" ? {} : undefined);
    expect(result.status).toBe(404);
    expect(await result.text()).toBe("Not found");
  }
});

const { d: _, ...publishedKey } = backendKeys.signingKey;
