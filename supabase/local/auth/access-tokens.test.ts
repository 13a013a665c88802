import { decodeJwt, exportJWK, generateKeyPair, jwtVerify } from "jose";
import { expect, test } from "vitest";
import { type AccessTokens, createAccessTokens } from "./access-tokens.ts";

const secret = "a secret between the backend and the library";

async function createTestTokens(): Promise<AccessTokens> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  return createAccessTokens(await exportJWK(privateKey), secret);
}

const claims = { sub: "a client", role: "authenticated", session_id: "a session", exp: 2_000_000_000 };

/** The token that a request with this one goes on with. */
async function exchangeToken(tokens: AccessTokens, token: string): Promise<string> {
  const request = new Request("http://backend.local/rest/v1/shipments", {
    headers: { authorization: `Bearer ${token}` },
  });
  return (await tokens.withLibraryToken(request)).headers.get("authorization")?.slice("Bearer ".length) ?? "";
}

test("a token of ours goes on as one of the library's with the same claims, each time", async () => {
  const tokens = await createTestTokens();
  const token = await tokens.sign(claims);
  const inner = await exchangeToken(tokens, token);
  expect((await jwtVerify(inner, new TextEncoder().encode(secret))).payload).toEqual(claims);
  expect(await exchangeToken(tokens, token)).toBe(inner);
});

test("one that was known does not make another of its like known", async () => {
  const tokens = await createTestTokens();
  const token = await tokens.sign(claims);
  await exchangeToken(tokens, token);
  const [head, , signature] = token.split(".");
  const body = Buffer.from(JSON.stringify({ ...claims, sub: "somebody else" })).toString("base64url");
  const forged = `${head}.${body}.${signature}`;
  expect(await exchangeToken(tokens, forged)).toBe(forged);
});

test("one whose time is over stays as it is, and one that was known before tells its time to the library", async () => {
  const tokens = await createTestTokens();
  const over = await tokens.sign({ ...claims, exp: 1_000_000_000 });
  expect(await exchangeToken(tokens, over)).toBe(over);
  const token = await tokens.sign(claims);
  await exchangeToken(tokens, token);
  expect(decodeJwt(await exchangeToken(tokens, token)).exp).toBe(claims.exp);
});
