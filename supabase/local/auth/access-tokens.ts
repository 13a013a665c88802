/** Access tokens are signed with ES256. For @supabase/lite, which supports only HS256, each token is signed again. */
import { calculateJwkThumbprint, importJWK, type JWK, type JWTPayload, jwtVerify, SignJWT } from "jose";
import { LRUCache } from "lru-cache";
import type { SqlSession } from "../database/database.ts";
import { transaction } from "../database/migrations.ts";

const algorithm = "ES256";
const maxCachedTokens = 1000;

export type AccessTokens = {
  jwks: { keys: JWK[] };
  sign: (claims: JWTPayload) => Promise<string>;
  /**
   * Returns the request with an HS256 token in place of a valid access token, because @supabase/lite rejects all other
   * tokens. Returns other requests unchanged.
   */
  withLibraryToken: (request: Request) => Promise<Request>;
};

export async function createAccessTokens(signingKey: JWK, jwtSecret: string): Promise<AccessTokens> {
  const { d: _, ...publicKey } = signingKey;
  const kid = await calculateJwkThumbprint(publicKey);
  const [signing, verifying] = await Promise.all([importJWK(signingKey, algorithm), importJWK(publicKey, algorithm)]);
  const secret = new TextEncoder().encode(jwtSecret);
  // The cache needs no expiry time, because @supabase/lite rejects a cached token that has expired.
  const libraryTokens = new LRUCache<string, string>({ max: maxCachedTokens });
  const exchange = async (token: string): Promise<string | null> => {
    const verified = await jwtVerify(token, verifying, { algorithms: [algorithm] }).catch(() => null);
    if (!verified) return null;
    const libraryToken = await new SignJWT(verified.payload)
      .setProtectedHeader({ alg: "HS256", typ: "JWT" })
      .sign(secret);
    libraryTokens.set(token, libraryToken);
    return libraryToken;
  };
  return {
    jwks: { keys: [{ ...publicKey, alg: algorithm, kid, use: "sig", key_ops: ["verify"] }] },
    sign: (claims) => new SignJWT(claims).setProtectedHeader({ alg: algorithm, kid, typ: "JWT" }).sign(signing),
    withLibraryToken: async (request) => {
      // Does not match API keys, which the authorization header can also contain. An API key has no dots.
      const [, token = ""] =
        /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
      const libraryToken = libraryTokens.get(token) ?? (token ? await exchange(token) : null);
      if (!libraryToken) return request;
      const headers = new Headers(request.headers);
      headers.set("authorization", `Bearer ${libraryToken}`);
      return new Request(request, { headers });
    },
  };
}

/** Ends all sessions after a change of the signing key. Otherwise the old refresh tokens would still work. */
export async function endSessionsAfterKeyChange(db: SqlSession, { jwks: published }: AccessTokens): Promise<void> {
  const [{ kid } = {}] = published.keys;
  await transaction(db, async () => {
    const { rows } = await db.query("delete from auth.signing_key where kid <> $1 returning kid", [kid]);
    if (rows.length > 0) await db.exec("delete from auth.refresh_tokens; delete from auth.sessions");
    await db.query("insert into auth.signing_key select $1 where not exists (select from auth.signing_key)", [kid]);
  });
}
