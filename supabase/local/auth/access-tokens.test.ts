import { exportJWK, generateKeyPair, jwtVerify } from "jose";
import { expect, test } from "vitest";
import { type AccessTokens, createAccessTokens } from "./access-tokens.ts";

const secret = "a secret of the backend and @supabase/lite";

async function createTestTokens(): Promise<AccessTokens> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  return createAccessTokens(await exportJWK(privateKey), secret);
}

const claims = { sub: "a client", role: "authenticated", session_id: "a session", exp: 2_000_000_000 };

/**
 * Sends a request with the access token `token`. Returns the access token that the backend passes to @supabase/lite.
 */
async function exchangeToken(tokens: AccessTokens, token: string): Promise<string> {
  const request = new Request("http://backend.local/rest/v1/shipments", {
    headers: { authorization: `Bearer ${token}` },
  });
  return (await tokens.withLibraryToken(request)).headers.get("authorization")?.slice("Bearer ".length) ?? "";
}

test("The backend passes a valid access token to @supabase/lite with the same claims on every request.", async () => {
  const tokens = await createTestTokens();
  const token = await tokens.sign(claims);
  const libraryToken = await exchangeToken(tokens, token);
  expect((await jwtVerify(libraryToken, new TextEncoder().encode(secret))).payload).toEqual(claims);
  expect(await exchangeToken(tokens, token)).toBe(libraryToken);
});

test("The backend passes an expired access token, or a forged token with a cached token's signature, on unchanged.", async () => {
  const tokens = await createTestTokens();
  const expired = await tokens.sign({ ...claims, exp: 1_000_000_000 });
  expect(await exchangeToken(tokens, expired)).toBe(expired);
  const token = await tokens.sign(claims);
  await exchangeToken(tokens, token);
  const [header, , signature] = token.split(".");
  const body = Buffer.from(JSON.stringify({ ...claims, sub: "somebody else" })).toString("base64url");
  const forged = `${header}.${body}.${signature}`;
  expect(await exchangeToken(tokens, forged)).toBe(forged);
});
