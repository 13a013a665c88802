/**
 * Access tokens as hosted auth signs them: ES256, with a published key. @supabase/lite knows HS256 and one secret alone, so
 * a token that comes in is verified here and goes on to it signed with that secret.
 */
import { calculateJwkThumbprint, importJWK, type JWK, type JWTPayload, jwtVerify, SignJWT } from "jose";
import { LRUCache } from "lru-cache";
import type { SqlSession } from "../database/database.ts";
import { transaction } from "../database/migrations.ts";

const algorithm = "ES256";
/** How many tokens are known again without a look at their signature: the library reads of each whether its time is over. */
const maxCachedTokens = 1000;

export type AccessTokens = {
  /** The published set of keys, as auth has it under /.well-known/jwks.json. */
  jwks: { keys: JWK[] };
  /** Signs the claims of a session; issue and expiry are among them. */
  sign: (claims: JWTPayload) => Promise<string>;
  /** The request with its token as the library reads it. One that is not ours stays, and the library refuses it. */
  withLibraryToken: (request: Request) => Promise<Request>;
};

/** Reads the private key (a JWK on the curve P-256). Throws when it is none. */
export async function createAccessTokens(signingKey: JWK, jwtSecret: string): Promise<AccessTokens> {
  const { d: _, ...open } = signingKey;
  const kid = await calculateJwkThumbprint(open);
  const [signing, verifying] = await Promise.all([importJWK(signingKey, algorithm), importJWK(open, algorithm)]);
  const secret = new TextEncoder().encode(jwtSecret);
  const known = new LRUCache<string, string>({ max: maxCachedTokens });
  /** The token of the same claims as the library reads it; null for one that is not ours. */
  const exchange = async (token: string): Promise<string | null> => {
    const verified = await jwtVerify(token, verifying, { algorithms: [algorithm] }).catch(() => null);
    if (!verified) return null;
    const inner = await new SignJWT(verified.payload).setProtectedHeader({ alg: "HS256", typ: "JWT" }).sign(secret);
    known.set(token, inner);
    return inner;
  };
  return {
    jwks: { keys: [{ ...open, alg: algorithm, kid, use: "sig", key_ops: ["verify"] }] },
    sign: (claims) => new SignJWT(claims).setProtectedHeader({ alg: algorithm, kid, typ: "JWT" }).sign(signing),
    withLibraryToken: async (request) => {
      // Keys have no dots.
      const [, token = ""] =
        /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
      const inner = known.get(token) ?? (token ? await exchange(token) : null);
      if (!inner) return request;
      const headers = new Headers(request.headers);
      headers.set("authorization", `Bearer ${inner}`);
      return new Request(request, { headers });
    },
  };
}

/**
 * Ends every session whose tokens another key signed: who takes the keys away wants everybody to log in again, and a renewal
 * asks for no key. A database of before the key was noted keeps its sessions.
 */
export async function endSessionsAfterKeyChange(db: SqlSession, { jwks: published }: AccessTokens): Promise<void> {
  const [{ kid } = {}] = published.keys;
  await transaction(db, async () => {
    const { rows } = await db.query("delete from auth.signing_key where kid <> $1 returning kid", [kid]);
    if (rows.length > 0) await db.exec("delete from auth.refresh_tokens; delete from auth.sessions");
    await db.query("insert into auth.signing_key select $1 where not exists (select from auth.signing_key)", [kid]);
  });
}
