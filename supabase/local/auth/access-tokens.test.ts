import { exportJWK, generateKeyPair, jwtVerify } from "jose";
import { expect, test } from "vitest";
import { type AccessTokens, createAccessTokens } from "./access-tokens.ts";

const secret = "a secret of the backend and @supabase/lite";

async function createTestTokens(): Promise<AccessTokens> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  return createAccessTokens(await exportJWK(privateKey), secret);
}

const claims = { sub: "a client", role: "authenticated", session_id: "a session", exp: 2_000_000_000 };

/** Returns the token that @supabase/lite receives for a request with this access token. */
async function exchangeToken(tokens: AccessTokens, token: string): Promise<string> {
  const request = new Request("http://backend.local/rest/v1/shipments", {
    headers: { authorization: `Bearer ${token}` },
  });
  return (await tokens.withLibraryToken(request)).headers.get("authorization")?.slice("Bearer ".length) ?? "";
}

test("A valid access token reaches @supabase/lite with the same claims on every request", async () => {
  const tokens = await createTestTokens();
  const token = await tokens.sign(claims);
  const libraryToken = await exchangeToken(tokens, token);
  expect((await jwtVerify(libraryToken, new TextEncoder().encode(secret))).payload).toEqual(claims);
  expect(await exchangeToken(tokens, token)).toBe(libraryToken);
});

test("An expired access token and a forged token with the signature of a cached token are not exchanged", async () => {
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
